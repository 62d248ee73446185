"""``--strategy predicates``, ``--memory`` and ``--with`` through the command line, without a language model."""

import json

import pytest

PAGES = {
    "film.md": "# The Silver Lamp\n\nThe director of The Silver Lamp was Ada Lind. It was shown in 1954.\n",
    "lind.md": "# Ada Lind\n\nAda Lind was a director. Ada Lind was born in Graz.\n",
    "rain.md": "# Weather\n\nIt rained for forty days in the north.\n",
}
QUESTION = "Where was the director of The Silver Lamp born?"


@pytest.fixture
def film(tmp_path):
    folder = tmp_path / "film"
    folder.mkdir()
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("memory", ["freeform", "structured", "rolling", "lobotomized", "trajectory"])
def test_open_questions_are_answered_and_the_trace_shows_the_belief(suffice, film, memory, tmp_path):
    trace = tmp_path / "run.jsonl"
    options = ["--strategy", "predicates", "--memory", memory, "--alpha", "1", "-k", "1", "--trace", trace, "--json"]
    ended = suffice("ask", QUESTION, "--docs", film, "--model", "extractive", *options)
    assert ended.status == 0, ended.err
    report = json.loads(ended.out)
    assert "Ada Lind" in report["final_answer"]
    assert report["metadata"]["preset"]["memory"] == memory
    rounds = [event for event in map(json.loads, trace.read_text().splitlines()) if event["type"] == "round"]
    assert all(set(event["belief"]) == {"notes", "open"} for event in rounds)
    assert rounds[-1]["readings"]["belief.open"] == len(rounds[-1]["belief"]["open"])
    assert suffice("explain", trace).status == 0


def test_remedies_are_given_by_name_and_shown_in_the_gate(suffice, film):
    options = [
        "--with",
        "gap_aware",
        "--with",
        "resample",
        "--strategy",
        "reflect",
        "--stop",
        "exhaustion",
        "--alpha",
        "1",
    ]
    ended = suffice("ask", QUESTION, "--docs", film, "--model", "extractive", *options, "--json")
    assert ended.status == 0, ended.err
    report = json.loads(ended.out)
    assert report["metadata"]["interventions"] == ["gap_aware", "resample"]
    assert report["stop"]["expression"].startswith("exhaustion.gap_aware(0).resample(1) | budget(")


def test_an_unknown_remedy_is_named_with_those_there_are(suffice, film):
    ended = suffice("ask", QUESTION, "--docs", film, "--with", "magic")
    assert ended.status == 2
    assert "no intervention 'magic'" in ended.err
    assert "gap_aware, entity_grounded, resample, observation_filter" in ended.err
