"""``suffice ask``: answers, citations, exit statuses, and what goes to which stream."""

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
    "insufficient_termination", "degraded_mode", "error_log", "raw", "metadata", "short_answer", "excerpts",
    "closest", "left_undone", "notices", "disagreements", "removed", "findings", "aspects", "below",
}  # fmt: skip


def parse_json(text: str) -> Any:
    """Parse JSON as other languages do: without NaN and Infinity."""

    def reject(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=reject)


def assert_report_fields(report: dict[str, Any]) -> None:
    """Check that the report has the published fields."""
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


def count_valid_quotes(report: dict[str, Any]) -> int:
    """Check that every quote is in its file at its lines, with the same white space; return how many there are."""
    spans = [span for claim in report["claims"] for span in claim["spans"]]
    for span in spans:
        path, first, last = re.fullmatch(r"(.+):(\d+)-(\d+)", span["location"]).groups()  # type: ignore[union-attr]
        lines = Path(path).read_text(encoding="utf-8").split("\n")
        assert span["quote"] in "\n".join(lines[int(first) - 1 : int(last)])
    return len(spans)


def test_an_answer_is_quoted_and_cited(suffice: Callable, docs: Path) -> None:
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1)
    assert result.status == 0
    assert "Karl von Frisch decoded the dance in 1927." in result.out
    assert " [1]\n" in result.out
    assert "docs/bees.md:" in result.out
    assert result.out.splitlines()[-1].startswith("Stopped after ")
    assert "Gate:" not in result.out
    assert "round 1" in result.err
    assert "stop: " in result.err
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--quiet", "--verbose")
    assert "Gate:" in result.out.partition("## Why it stopped")[2]
    assert result.err == ""


def test_a_broad_question_over_a_folder_that_was_read_whole_says_so_in_its_last_round(
    suffice: Callable, docs: Path
) -> None:
    result = suffice("ask", "Give an overview of the waggle dance", "--docs", docs, "--alpha", 1, "--breadth", "broad")
    assert result.status == 0
    assert "stop: everything in scope was read" in result.err


def test_with_json_standard_output_holds_only_json(program: Callable, docs: Path) -> None:
    result = program(
        "ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", "--out", "report.md", "--strategy", "reflect"
    )
    report = parse_json(result.out)
    assert result.status == 0
    assert_report_fields(report)
    assert report["status"] == "answered"
    assert report["task"] == QUESTION
    assert isinstance(report["sufficient"], bool)


def test_quotes_are_found_at_the_cited_lines(suffice: Callable, docs: Path) -> None:
    for question in (QUESTION, "What do the angle and the duration of the dance show?", "Who designed the bridge?"):
        report = parse_json(suffice("ask", question, "--docs", "docs", "--alpha", 1, "--json").out)
        assert count_valid_quotes(report) >= 1
        assert {claim["support"] for claim in report["claims"]} == {"supported"}
        cited = {citation for claim in report["claims"] for citation in claim["citations"]}
        assert cited == {source["id"] for source in report["sources"]}


def test_a_sentence_over_two_lines_is_cited_with_both_lines(suffice: Callable, docs: Path) -> None:
    question = "Does the angle of the waggle dance show the direction relative to the sun?"
    report = parse_json(suffice("ask", question, "--docs", docs, "--alpha", 1, "--json").out)
    places = {span["quote"]: span["location"] for claim in report["claims"] for span in claim["spans"]}
    [quote] = [quote for quote in places if quote.startswith("Its angle")]
    assert "duration\nshows" in quote
    assert places[quote].endswith("bees.md:4-5")


def test_embeddings_find_an_answer_in_other_words(suffice: Callable, docs: Path) -> None:
    report = parse_json(suffice("ask", "Which scientist worked out how bees signal?", "--docs", docs, "--json").out)
    assert report["status"] == "answered"
    assert "Karl von Frisch decoded the dance in 1927." in report["excerpts"][0]["text"]
    assert count_valid_quotes(report) >= 1


@pytest.mark.parametrize(
    "question",
    ["What is the melting point of tungsten?", "Who painted Guernica?", "How many moons does Jupiter have?"],
)
@pytest.mark.parametrize("alpha", [1, 0.5])
def test_without_evidence_there_is_no_report(suffice: Callable, docs: Path, question: str, alpha: float) -> None:
    result = suffice("ask", question, "--docs", docs, "--alpha", alpha)
    assert result.status == 3
    assert result.out == ""
    assert "No evidence" in result.err


def test_json_without_evidence(suffice: Callable, docs: Path) -> None:
    result = suffice("ask", "Who painted Guernica?", "--docs", docs, "--alpha", 1, "--json")
    report = parse_json(result.out)
    assert_report_fields(report)
    assert result.status == 3
    assert (report["status"], report["final_answer"], report["sources"], report["claims"]) == (
        "no_evidence",
        "",
        [],
        [],
    )
    assert report["summary"] == ""
    assert report["key_findings"] == []


def test_an_answer_is_partial_if_a_limit_ends_the_search(suffice: Callable, docs: Path) -> None:
    question = "When did Karl von Frisch decode the dance, and who designed the Eiffel Tower?"
    result = suffice(
        "ask", question, "--docs", docs, "--alpha", 1, "--strategy", "reflect", "--max-rounds", 1, "--json"
    )
    report = parse_json(result.out)
    assert result.status == 0
    assert report["status"] == "partial"
    assert report["stop"]["reason"] == "budget_rounds"
    assert report["insufficient_termination"] is True
    assert any("Eiffel" in gap for gap in report["gaps"])
    assert len(report["stop"]["rounds"]) == 1


@pytest.mark.parametrize(
    ("options", "reason", "rounds"),
    [(("--stop", "fixed(2)"), "budget_rounds", 2), (("--max-queries", 1, "--stop", "fixed(9)"), "budget_queries", 1)],
)
def test_stop_rule_and_limits_end_the_search(
    suffice: Callable, docs: Path, options: tuple, reason: str, rounds: int
) -> None:
    report = parse_json(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", *options).out)
    assert report["stop"]["reason"] == reason
    assert len(report["stop"]["rounds"]) == rounds


@pytest.mark.parametrize("options", [("--tier", "auto"), ("--tier", "simple"), ("--strategy", "reflect"), ("-k", 1)])
def test_other_options_find_the_same_answer(suffice: Callable, docs: Path, options: tuple) -> None:
    report = parse_json(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", *options).out)
    assert report["status"] in ("answered", "partial")
    assert "Karl von Frisch decoded the dance in 1927." in report["excerpts"][0]["text"]


def test_an_option_overrides_a_limit_of_the_environment(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEARCH_MAX_ITERS", "1")
    arguments = ("ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", "--stop", "fixed(9)")
    assert len(parse_json(suffice(*arguments).out)["stop"]["rounds"]) == 1
    assert len(parse_json(suffice(*arguments, "--max-rounds", 2).out)["stop"]["rounds"]) == 2


def test_the_same_question_gets_the_same_answer(suffice: Callable, docs: Path) -> None:
    first, second = (parse_json(suffice("ask", QUESTION, "--docs", docs, "--json").out) for _ in range(2))
    assert first["final_answer"] == second["final_answer"]
    assert first["claims"] == second["claims"]


def test_out_writes_every_format(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    outs = [tmp_path / f"report{ending}" for ending in (".md", ".html", ".json")]
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, *(word for out in outs for word in ("--out", out)))
    markdown, html, as_json = (out.read_text(encoding="utf-8") for out in outs)
    assert result.status == 0
    assert "Karl von Frisch" in markdown
    assert "Karl von Frisch" in html
    assert "<svg" in html
    assert_report_fields(parse_json(as_json))
    assert all(str(out) in result.err for out in outs)


def test_quiet_prints_nothing_to_standard_error(suffice: Callable, docs: Path) -> None:
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--quiet")
    assert (result.status, result.err) == (0, "")
    assert "Karl von Frisch" in result.out


def test_quiet_still_warns_of_files_that_cannot_be_read(suffice: Callable, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--quiet")
    assert len(result.err.splitlines()) == 1
    assert result.err.endswith("broken.pdf: is not a valid PDF; export it again.\n")


def test_a_refusal_without_passages_says_what_was_read(suffice: Callable, docs: Path) -> None:
    result = suffice(
        "ask", "What do the documents say about submarine volcanoes?", "--docs", docs, "--breadth", "broad"
    )
    assert (result.status, result.out) == (3, "")
    assert "passages were read" in result.err


def test_the_trace_holds_the_published_fields(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--strategy", "reflect", "--trace", trace)
    events = [parse_json(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    assert all({"type", "run", "at"} <= set(event) for event in events)
    assert len({event["run"] for event in events}) == 1
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", event["at"]) for event in events)
    [one] = [event for event in events if event["type"] == "round"]
    assert set(one) >= {"index", "accepted", "queries", "passages", "readings", "verdicts", "tokens"}
    assert set(one["passages"][0]) >= {"id", "title", "location", "score", "text"}
    [stopped] = [event for event in events if event["type"] == "stopped"]
    assert stopped["stop"]["reason"] == "sufficient"


def test_an_infinite_limit_is_rejected_or_leaves_a_readable_trace(
    suffice: Callable, docs: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.jsonl"
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--trace", trace, "--max-seconds", "inf")
    assert result.status in (0, 2)
    if result.status == 0:
        assert [parse_json(line) for line in trace.read_text(encoding="utf-8").splitlines()]


def test_several_docs_and_patterns(suffice: Callable, docs: Path) -> None:
    both = suffice("ask", QUESTION, "--docs", docs / "bees.md", "--docs", docs / "bridge.txt", "--alpha", 1)
    only = suffice("ask", QUESTION, "--docs", docs, "--include", "*.md", "--alpha", 1)
    without = suffice("ask", QUESTION, "--docs", docs, "--exclude", "*.md", "--alpha", 1)
    assert (both.status, only.status, without.status) == (0, 0, 3)


def test_standard_input_is_a_document(suffice: Callable, docs: Path) -> None:
    text = (docs / "bees.md").read_bytes()
    result = suffice("ask", QUESTION, "--docs", "-", "--alpha", 1, "--json", stdin=text)
    report = parse_json(result.out)
    assert result.status == 0
    assert "Karl von Frisch decoded the dance in 1927." in report["excerpts"][0]["text"]


def test_standard_input_beside_a_folder(suffice: Callable, docs: Path) -> None:
    text = b"The waggle dance was named by a translator."
    report = parse_json(
        suffice("ask", QUESTION, "--docs", docs, "--docs", "-", "--alpha", 1, "--json", "-k", 5, stdin=text).out
    )
    assert report["stop"]["rounds"][0]["new_passages"] == 2  # The document about the bridge does not match.


def test_text_that_is_not_utf8_is_read(suffice: Callable, docs: Path) -> None:
    latin = "The café waggle dance was decoded by René Frisch.\n".encode("latin-1")
    (docs / "latin.txt").write_bytes(latin)
    asked = ("ask", "Who decoded the café waggle dance?", "--alpha", 1)
    from_file = suffice(*asked, "--docs", docs / "latin.txt")
    from_stdin = suffice(*asked, "--docs", "-", stdin=latin)
    for result in (from_file, from_stdin):
        assert result.status == 0, result.err
        assert "The café waggle dance was decoded by René Frisch. [1]" in result.out


def test_an_unreadable_file_in_a_folder_is_named_once_and_skipped(suffice: Callable, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    (docs / "sheet.xlsx").write_bytes(b"PK")
    for _ in range(2):  # The second run finds the index up to date and must still name them.
        result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1)
        assert result.status == 0
        assert result.err.count("broken.pdf") == 1
        assert result.err.count("sheet.xlsx") == 1
        assert "Karl von Frisch" in result.out


def test_an_unwritable_cache_is_reported_once(
    suffice: Callable, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "occupied").write_text("a file, not a folder")
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "occupied" / "cache"))
    result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1)
    assert result.status == 0
    assert len([line for line in result.err.splitlines() if "occupied" in line]) == 1
    dense = suffice("ask", QUESTION, "--docs", docs)
    assert dense.status == 0
    assert len([line for line in dense.err.splitlines() if "vectors" in line]) == 1


def test_markup_in_a_source_is_quoted_unchanged(suffice: Callable, tmp_path: Path) -> None:
    sentence = "The waggle dance [bold]costs[/bold] *ten* <b>beats</b> as `beat_count` says in [1]."
    (tmp_path / "odd.txt").write_text(sentence + "\n")
    report = parse_json(
        suffice("ask", "What does the waggle dance cost?", "--docs", "odd.txt", "--alpha", 1, "--json").out
    )
    [claim] = report["claims"]
    # A claim is compared without markup and citations.
    assert claim["text"] == "The waggle dance [bold]costs[/bold] ten beats as beat_count says in."
    assert report["excerpts"][0]["text"] == sentence
    assert claim["spans"][0]["quote"] == sentence
    assert claim["citations"] == ["[1]"]


MODEL = """
from suffice.errors import ModelError
from suffice.models.extractive import ExtractiveModel

class Silent(ExtractiveModel):
    name = "silent"
    is_language_model = True

    async def __call__(self, prompt):
        if prompt.role == "draft":
            raise ModelError("the model server does not answer")
        return await super().__call__(prompt)
"""


def test_what_was_found_is_quoted_when_a_model_fails(program: Callable, plugin: Callable, docs: Path) -> None:
    site = plugin(MODEL, "[suffice.models]\nsilent = thirdparty:Silent\n")
    result = program("ask", QUESTION, "--docs", docs, "--alpha", 1, "--model", "silent", "--json", PYTHONPATH=site)
    report = parse_json(result.out)
    assert result.status == 0
    assert_report_fields(report)
    assert (report["status"], report["degraded_mode"]) == ("partial", True)
    assert "1927" in report["final_answer"], "what was found is quoted"
    assert "The language model could not be used" in report["final_answer"]
    assert any("does not answer" in failure["message"] for failure in report["error_log"])
    assert "Traceback" not in result.err
