"""``suffice ask``: answers, citations that open, exit statuses and what stands on which stream."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

QUESTION = "Who decoded the waggle dance of the honeybee?"
KEYS = {
    "run", "task", "status", "summary", "final_answer", "key_findings", "recommendations", "risks", "open_questions",
    "sources", "claims", "stop", "usage", "sufficient", "confidence", "gaps", "failed_queries",
    "insufficient_termination", "degraded_mode", "error_log", "raw", "metadata",
}  # fmt: skip


def strict(text: str) -> Any:
    """JSON as other languages read it: no NaN, no Infinity."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def holds_contract(report: dict[str, Any]) -> None:
    assert set(report) == KEYS
    assert set(report["stop"]) >= {"reason", "gate", "round", "promise", "explanation", "rounds"}
    for number, record in enumerate(report["stop"]["rounds"], 1):
        assert set(record) >= {"index", "accepted", "queries", "new_passages", "readings", "verdicts"}
        assert record["index"] == number
        for verdict in record["verdicts"]:
            assert set(verdict) >= {"gate", "stop", "reason", "signals"}
            assert all(len(signal) == 2 for signal in verdict["signals"].values())
    usage = report["usage"]
    assert set(usage) >= {
        "model", "calls", "input_tokens", "output_tokens", "searches", "pages_read", "seconds", "cost_usd", "by_role",
    }  # fmt: skip
    assert usage["calls"] == sum(role["calls"] for role in usage["by_role"].values())
    assert [source["id"] for source in report["sources"]] == [f"[{n + 1}]" for n in range(len(report["sources"]))]
    for claim in report["claims"]:
        assert set(claim) >= {"text", "citations", "support", "spans"}


def opens(report: dict[str, Any]) -> int:
    """Every span's quote stands in the named file at the named lines, white space kept; how many there were."""
    spans = [span for claim in report["claims"] for span in claim["spans"]]
    for span in spans:
        path, first, last = re.fullmatch(r"(.+):(\d+)-(\d+)", span["location"]).groups()  # type: ignore[union-attr]
        lines = Path(path).read_text(encoding="utf-8").split("\n")
        assert span["quote"] in "\n".join(lines[int(first) - 1 : int(last)])
    return len(spans)


def test_an_answer_is_quoted_and_cited(suffice: Callable, docs: Path) -> None:
    ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1)
    assert ended.status == 0
    assert "Karl von Frisch decoded the dance in 1927. [1]" in ended.out
    assert "docs/bees.md:" in ended.out
    assert "Why it stopped" in ended.out
    assert "round 1" in ended.err


def test_json_keeps_standard_output_pure(program: Callable, docs: Path) -> None:
    ended = program(
        "ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", "--out", "report.md", "--strategy", "reflect"
    )
    report = strict(ended.out)
    assert ended.status == 0
    holds_contract(report)
    assert report["status"] == "answered"
    assert report["task"] == QUESTION
    assert report["sufficient"] is True


def test_citations_open(suffice: Callable, docs: Path) -> None:
    for question in (QUESTION, "What do the angle and the duration of the dance show?", "Who designed the bridge?"):
        report = strict(suffice("ask", question, "--docs", "docs", "--alpha", 1, "--json").out)
        assert opens(report) >= 1
        assert {claim["support"] for claim in report["claims"]} == {"supported"}
        cited = {citation for claim in report["claims"] for citation in claim["citations"]}
        assert cited == {source["id"] for source in report["sources"]}


def test_a_sentence_over_two_lines_is_cited_with_both(suffice: Callable, docs: Path) -> None:
    question = "Does the angle of the waggle dance show the direction relative to the sun?"
    report = strict(suffice("ask", question, "--docs", docs, "--alpha", 1, "--json").out)
    places = {span["quote"]: span["location"] for claim in report["claims"] for span in claim["spans"]}
    [quote] = [quote for quote in places if quote.startswith("Its angle")]
    assert "duration\nshows" in quote
    assert places[quote].endswith("bees.md:4-5")


def test_with_embeddings(suffice: Callable, docs: Path) -> None:
    report = strict(suffice("ask", "Which scientist worked out how bees signal?", "--docs", docs, "--json").out)
    assert report["status"] == "answered"
    assert "Karl von Frisch decoded the dance in 1927." in report["final_answer"]
    assert opens(report) >= 1


@pytest.mark.parametrize(
    "question",
    ["What is the melting point of tungsten?", "Who painted Guernica?", "How many moons does Jupiter have?"],
)
@pytest.mark.parametrize("alpha", [1, 0.5])
def test_without_evidence_there_is_no_report(suffice: Callable, docs: Path, question: str, alpha: float) -> None:
    ended = suffice("ask", question, "--docs", docs, "--alpha", alpha)
    assert ended.status == 3
    assert ended.out == ""
    assert "No evidence" in ended.err


def test_json_without_evidence(suffice: Callable, docs: Path) -> None:
    ended = suffice("ask", "Who painted Guernica?", "--docs", docs, "--alpha", 1, "--json")
    report = strict(ended.out)
    holds_contract(report)
    assert ended.status == 3
    assert (report["status"], report["final_answer"], report["sources"], report["claims"]) == (
        "no_evidence",
        "",
        [],
        [],
    )
    assert report["summary"] == ""
    assert report["key_findings"] == []


def test_a_limit_makes_it_partial(suffice: Callable, docs: Path) -> None:
    question = "When did Karl von Frisch decode the dance, and who designed the Eiffel Tower?"
    ended = suffice("ask", question, "--docs", docs, "--alpha", 1, "--strategy", "reflect", "--max-rounds", 1, "--json")
    report = strict(ended.out)
    assert ended.status == 0
    assert report["status"] == "partial"
    assert report["stop"]["reason"] == "budget_rounds"
    assert report["insufficient_termination"] is True
    assert any("Eiffel" in gap for gap in report["gaps"])
    assert len(report["stop"]["rounds"]) == 1


@pytest.mark.parametrize(
    ("options", "reason", "rounds"),
    [(("--stop", "fixed(2)"), "budget_rounds", 2), (("--max-queries", 1, "--stop", "fixed(9)"), "budget_queries", 1)],
)
def test_stop_and_bounds_decide(suffice: Callable, docs: Path, options: tuple, reason: str, rounds: int) -> None:
    report = strict(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", *options).out)
    assert report["stop"]["reason"] == reason
    assert len(report["stop"]["rounds"]) == rounds


@pytest.mark.parametrize("options", [("--tier", "auto"), ("--tier", "simple"), ("--strategy", "reflect"), ("-k", 1)])
def test_choices_that_answer_all_the_same(suffice: Callable, docs: Path, options: tuple) -> None:
    report = strict(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", *options).out)
    assert report["status"] in ("answered", "partial")
    assert "Karl von Frisch decoded the dance in 1927." in report["final_answer"]


def test_the_environment_bounds_and_the_option_beats_it(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEARCH_MAX_ITERS", "1")
    arguments = ("ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", "--stop", "fixed(9)")
    assert len(strict(suffice(*arguments).out)["stop"]["rounds"]) == 1
    assert len(strict(suffice(*arguments, "--max-rounds", 2).out)["stop"]["rounds"]) == 2


def test_the_same_question_gets_the_same_answer(suffice: Callable, docs: Path) -> None:
    first, second = (strict(suffice("ask", QUESTION, "--docs", docs, "--json").out) for _ in range(2))
    assert first["final_answer"] == second["final_answer"]
    assert first["claims"] == second["claims"]


def test_every_format_of_out_is_written(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    outs = [tmp_path / f"report{ending}" for ending in (".md", ".html", ".json")]
    ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *(word for out in outs for word in ("--out", out)))
    markdown, html, as_json = (out.read_text(encoding="utf-8") for out in outs)
    assert ended.status == 0
    assert "Karl von Frisch" in markdown
    assert "Karl von Frisch" in html
    assert "<svg" in html
    holds_contract(strict(as_json))
    assert all(str(out) in ended.err for out in outs)


def test_quiet_says_nothing_on_standard_error(suffice: Callable, docs: Path) -> None:
    ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--quiet")
    assert (ended.status, ended.err) == (0, "")
    assert "Karl von Frisch" in ended.out


def test_the_trace_is_json_lines_of_the_contract(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--strategy", "reflect", "--trace", trace)
    events = [strict(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert all({"type", "run", "at"} <= set(event) for event in events)
    assert len({event["run"] for event in events}) == 1
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", event["at"]) for event in events)
    [one] = [event for event in events if event["type"] == "round"]
    assert set(one) >= {"index", "accepted", "queries", "passages", "readings", "verdicts", "tokens"}
    assert set(one["passages"][0]) >= {"id", "title", "location", "score", "text"}
    [stopped] = [event for event in events if event["type"] == "stopped"]
    assert stopped["stop"]["reason"] == "sufficient"


def test_a_bound_without_end_leaves_the_trace_readable(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    """Refused, or written as JSON that other languages read too."""
    trace = tmp_path / "trace.jsonl"
    ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--trace", trace, "--max-seconds", "inf")
    assert ended.status in (0, 2)
    if ended.status == 0:
        assert [strict(line) for line in trace.read_text(encoding="utf-8").splitlines()]


def test_several_docs_and_globs(suffice: Callable, docs: Path) -> None:
    both = suffice("ask", QUESTION, "--docs", docs / "bees.md", "--docs", docs / "bridge.txt", "--alpha", 1)
    only = suffice("ask", QUESTION, "--docs", docs, "--include", "*.md", "--alpha", 1)
    without = suffice("ask", QUESTION, "--docs", docs, "--exclude", "*.md", "--alpha", 1)
    assert (both.status, only.status, without.status) == (0, 0, 3)


def test_standard_input_is_a_document(suffice: Callable, docs: Path) -> None:
    text = (docs / "bees.md").read_bytes()
    ended = suffice("ask", QUESTION, "--docs", "-", "--alpha", 1, "--json", stdin=text)
    report = strict(ended.out)
    assert ended.status == 0
    assert "Karl von Frisch decoded the dance in 1927." in report["final_answer"]


def test_standard_input_beside_a_folder(suffice: Callable, docs: Path) -> None:
    text = b"The waggle dance was named by a translator."
    report = strict(
        suffice("ask", QUESTION, "--docs", docs, "--docs", "-", "--alpha", 1, "--json", "-k", 5, stdin=text).out
    )
    assert report["stop"]["rounds"][0]["new_passages"] == 2  # The tower's page has nothing to do with it.


def test_text_that_is_not_utf8_is_read(suffice: Callable, docs: Path) -> None:
    latin = "The café waggle dance was decoded by René Frisch.\n".encode("latin-1")
    (docs / "latin.txt").write_bytes(latin)
    asked = ("ask", "Who decoded the café waggle dance?", "--alpha", 1)
    from_file = suffice(*asked, "--docs", docs / "latin.txt")
    from_stdin = suffice(*asked, "--docs", "-", stdin=latin)
    for ended in (from_file, from_stdin):
        assert ended.status == 0, ended.err
        assert "The café waggle dance was decoded by René Frisch. [1]" in ended.out


def test_a_bad_file_in_a_folder_is_named_once_and_passed_over(suffice: Callable, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    (docs / "sheet.xlsx").write_bytes(b"PK")
    for _ in range(2):  # the second run finds the index in step and must say it as well
        ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1)
        assert ended.status == 0
        assert ended.err.count("broken.pdf") == 1
        assert ended.err.count("sheet.xlsx") == 1
        assert "Karl von Frisch" in ended.out


def test_a_cache_that_cannot_be_written_is_said_once(
    suffice: Callable, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "occupied").write_text("a file, not a folder")
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "occupied" / "cache"))
    ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1)
    assert ended.status == 0
    assert len([line for line in ended.err.splitlines() if "occupied" in line]) == 1
    dense = suffice("ask", QUESTION, "--docs", docs)
    assert dense.status == 0
    assert len([line for line in dense.err.splitlines() if "vectors" in line]) == 1


def test_markup_in_a_source_is_shown_as_it_is(suffice: Callable, tmp_path: Path) -> None:
    said = "The waggle dance [bold]costs[/bold] *ten* <b>beats</b> as `beat_count` says in [1]."
    (tmp_path / "odd.txt").write_text(said + "\n")
    report = strict(suffice("ask", "What does the waggle dance cost?", "--docs", "odd.txt", "--alpha", 1, "--json").out)
    [claim] = report["claims"]
    assert claim["text"] == said
    assert claim["spans"][0]["quote"] == said
    assert claim["citations"] == ["[1]"]


MODEL = """
from suffice.errors import ModelError
from suffice.models.extractive import Extractive

class Silent(Extractive):
    name = "silent"

    async def __call__(self, ask):
        if ask.role == "draft":
            raise ModelError("the model server does not answer")
        return await super().__call__(ask)
"""


def test_a_model_that_fails_is_exit_4(program: Callable, plugin: Callable, docs: Path) -> None:
    site = plugin(MODEL, "[suffice.models]\nsilent = stranger:Silent\n")
    ended = program("ask", QUESTION, "--docs", docs, "--alpha", 1, "--model", "silent", "--json", PYTHONPATH=site)
    report = strict(ended.out)
    assert ended.status == 4
    holds_contract(report)
    assert (report["status"], report["final_answer"]) == ("failed", "")
    assert "does not answer" in ended.err.splitlines()[-1]
    assert "Traceback" not in ended.err
