"""``suffice tune`` finds a better instruction where one exists, with a model behind a real server."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import SENSIBLE, FakeLlm, role_of

CAPTAINS = """Alba:Marta Lindqvist Brenta:Jonas Okafor Corvo:Ines Duarte Delos:Peter Hallam Eider:Ruth Anderson
Fulmar:Karim Nasser Gannet:Olga Petrova Heron:Tomas Varga Ibis:Helen Strand Jacana:Luis Moreno"""
SHIPS = re.findall(r"(\w+):(\w+) (\w+)", CAPTAINS)
STYLE = "A person is named by the surname alone."


def behave(body: dict) -> str:
    """Answer as a model does that reads its sources, follows its instruction, and proposes what it can see is wanted."""
    prompt = body["messages"][0]["content"]
    if prompt.startswith("You improve an instruction"):
        text = prompt.split("<<<\n")[1].split("\n>>>")[0]
        tried = prompt.split("Changes tried before")[1]
        if "Accuracy" not in tried:
            return json.dumps({"hypothesis": "Accuracy is asked for.", "text": text + "\nBe accurate."})
        wanted = re.findall(r"\(expected: (\w+)\)", prompt)  # Single words: what is wanted are surnames.
        return json.dumps({"hypothesis": "Surnames are wanted.", "text": f"{text}\n{STYLE}" if wanted else text})
    if role_of(body) != "answer":
        return SENSIBLE[role_of(body)]
    ship = re.findall(r"captain of the ferry (\w+)\?", prompt)[-1]
    first, last = re.findall(rf"(\w+) (\w+) is the captain of the ferry {ship}", prompt)[0]
    sentence = f"{first} {last} is the captain of the ferry {ship} [1]."
    return f"Answer: {sentence}\nShort answer: {last if STYLE in prompt else f'{first} {last}'}"


def test_a_better_instruction_is_found_and_kept(
    suffice: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs, suite = tmp_path / "register", tmp_path / "suite.jsonl"
    docs.mkdir()
    rows = []
    for ship, first, last in SHIPS:
        (docs / f"{ship}.md").write_text(f"# Ferry {ship}\n\n{first} {last} is the captain of the ferry {ship}.\n")
        question = f"Who is the captain of the ferry {ship}?"
        rows.append({"question": question, "answer": last, "held_out": len(rows) >= 6})
    suite.write_text("\n".join(map(json.dumps, rows)))
    monkeypatch.setenv("SUFFICE_WRITER", "sentence")
    monkeypatch.setenv("RESEARCH_MAX_ITERS", "1")
    with FakeLlm(behave) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = suffice(
            *("tune", "answer", "--suite", suite, "--docs", docs, "--model", "openai", "--scorer", "f1"),
            *("--experiments", "2", "--concurrency", "4", "--out", tmp_path / "out", "--json"),
        )
    assert result.status == 0, result.err
    first, second = json.loads(result.out)["experiments"]
    assert (first["decision"], second["decision"]) == ("futile", "kept")
    assert second["development"]["gain"] == pytest.approx(1 / 3, abs=0.01)
    assert second["held_out"]["gain"] == pytest.approx(1 / 3, abs=0.01)
    assert STYLE in (tmp_path / "out" / "best.md").read_text()
