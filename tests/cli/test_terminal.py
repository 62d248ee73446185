"""The report as a person at a terminal sees it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from rich.style import Style
from rich.text import Text

from suffice import research
from suffice.cli.terminal import print_report
from suffice.types import ClosestPassage


def test_every_part_of_the_report_is_printed(
    docs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = asyncio.run(research("Who decoded the waggle dance?", docs=docs, model="extractive", alpha=1))
    report = replace(
        report,
        recommendations=("Visit a hive [1].",),
        open_questions=("Left out, because no source supports it: pigs fly",),
        usage=replace(report.usage, estimated_calls=2, input_tokens=10),
    )
    monkeypatch.setenv("FORCE_COLOR", "1")  # Makes the output a terminal; a pipe would get Markdown.
    print_report(report, verbose=True)
    printed = capsys.readouterr().out
    for text in (
        "Karl von Frisch",
        "Visit a hive",
        "Open questions",
        "pigs fly",
        "estimated for 2 calls",
        "Why it stopped",
    ):
        assert text in printed


def test_a_report_ends_with_one_line_on_the_search_and_one_on_the_stop(
    docs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = asyncio.run(research("Who decoded the waggle dance?", docs=docs, model="extractive", alpha=1))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    print_report(report)
    *_, searched, stopped = capsys.readouterr().out.splitlines()
    assert "Searched docs" in searched
    assert "no language model" in searched
    assert "Stopped after" in stopped
    assert report.run in stopped
    for jargon in ("worth", "tokens", "gate"):
        assert jargon not in searched + stopped


def test_a_narrow_terminal_does_not_tear_paths(
    docs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = asyncio.run(research("Who decoded the waggle dance?", docs=docs, model="extractive", alpha=1))
    long = "company/department of very long names/archive of the year/dances.txt:3-7"
    [first, *_] = report.excerpts
    report = replace(
        report,
        final_answer=report.final_answer.replace(first.location, long),
        excerpts=(replace(first, location=long),),
        sources=(replace(report.sources[0], location=long),),
    )
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    print_report(report)
    lines = [Text.from_ansi(line).plain for line in capsys.readouterr().out.splitlines()]
    assert sum("company/…/dances.txt:3-7" in line for line in lines) == 2
    assert max(len(line) for line in lines if "dances.txt" in line) <= 40


def test_a_refusal_begins_with_no_answer_and_headings_of_what_is_nearest_stand_out(
    docs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = asyncio.run(research("Who decoded the waggle dance?", docs=docs, model="extractive", alpha=1))
    nearest = ClosestPassage("It ends.\n\nRent\n\nThe rent is due.", "prose", (), "Lease", headings=((10, 14),))
    refused = replace(report, status="no_evidence", final_answer="", short_answer="", sources=(), closest=(nearest,))
    monkeypatch.setenv("FORCE_COLOR", "1")
    print_report(refused)
    lines = [Text.from_ansi(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0].plain.startswith("No answer")
    assert "which do not answer" in "\n".join(line.plain for line in lines)
    [heading] = [line for line in lines if line.plain == "Rent"]
    assert any(Style.parse(str(span.style)).bold for span in heading.spans)
