"""Broad questions over local files: everything relevant is read, findings are reported, and how complete that is."""

import asyncio
import json
import re
from html import unescape
from pathlib import Path

import pytest

from suffice import research
from suffice.errors import InputError
from suffice.events import Event, RoundDone, Started
from suffice.gates.parse import parse_gate
from suffice.replay.episodes import read_trace
from suffice.replay.judge import what_if
from suffice.report.html import render_html
from suffice.report.markdown import render_markdown
from suffice.storage import report_json
from suffice.text.sections import ReportSection
from suffice.types import Report

QUESTION = "How can Kolbe Mills use solar power to improve grain quality?"
FACTS = [
    "The solar dryers of Kolbe Mills cut spoiled grain by 14 % in 2023.",
    "A roof for solar power at Kolbe Mills costs 90,000 euros and lasts 25 years.",
    "Better grain quality raised the price of Kolbe flour by 6 cents.",
    "Half of the solar power, 40 kW at noon, runs the sieves that clean the grain.",
    "Kolbe Mills measures grain quality twice a day; 3 of 200 samples failed in May.",
    "With batteries of 60 kWh the solar dryers also run at night.",
    "The state pays 20 % of every new solar roof on a mill.",
    "Moisture of the grain fell from 17 % to 13 % with solar drying.",
    "Two millers were trained for 5 days to run the solar dryers of Kolbe Mills.",
]
OTHERS = [
    "The canteen serves {n} kinds of soup. Lunch begins at noon and ends at two.",
    "The choir meets in room {n}. New members are welcome every Tuesday.",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    docs = tmp_path / "docs"
    docs.mkdir()
    for n in range(9):
        (docs / f"mill-{n}.md").write_text(f"# Mill notes\n\n{FACTS[n]}\n", encoding="utf-8")
        for copy in range(6):
            text = OTHERS[copy % 2].format(n=10 * n + copy)
            (docs / f"office-{n}-{copy}.md").write_text(f"# House notes\n\n{text}\n", encoding="utf-8")
    return docs


def ask(folder: Path, question: str = QUESTION, **options: object) -> tuple[Report, list[Event]]:
    events: list[Event] = []
    run = research(question, docs=folder, model="extractive", on_event=events.append, **options)  # type: ignore[arg-type]
    report = asyncio.run(run)
    return report, events


def test_a_broad_question_reads_every_relevant_file(folder: Path) -> None:
    report, events = ask(folder)
    assert report.metadata["breadth"] == "broad"
    assert next(event.breadth for event in events if isinstance(event, Started)) == "broad"
    assert report.status == "answered"
    cited = {source.location.rpartition("/")[2].partition(":")[0] for source in report.sources}
    assert {f"mill-{n}.md" for n in range(9)} <= cited
    assert not any(name.startswith("office") for name in cited)
    coverage = report.stop.coverage
    assert coverage is not None
    assert coverage.low <= coverage.share <= coverage.high
    assert coverage.share >= 0.9
    assert coverage.files_read < coverage.files == 63
    assert report.stop.reason == "sufficient"
    assert report.stop.promise == "estimate"
    assert report.stop.sufficiency == "yes"
    assert ReportSection.COVERAGE in render_markdown(report)
    assert "Read as a broad question" not in report.final_answer
    assert "Read as a broad question" in render_markdown(report).partition("## Why it stopped")[2]


def test_findings_and_aspects_are_in_the_report(folder: Path) -> None:
    report, _ = ask(folder)
    assert report.findings
    assert all(finding.quotation and finding.sources for finding in report.findings)
    assert {finding.aspect for finding in report.findings} <= {aspect.name for aspect in report.aspects}
    read = report_json.loads(report_json.dumps(report))
    assert (read.findings, read.aspects, read.stop.coverage) == (report.findings, report.aspects, report.stop.coverage)
    encoded = json.loads(report_json.dumps(report))
    assert set(encoded["stop"]["coverage"]) == {"share", "low", "high", "files_read", "files", "method"}
    page = render_html(report)
    assert "Which source covers what" in page
    assert 'href="#source-1"' in page
    headings = re.findall(r"^## (.+)$", report.final_answer, re.MULTILINE)
    assert [unescape(row) for row in re.findall(r'<th scope="row" dir="auto">(.+?)</th>', page)] == headings


def test_readings_can_be_judged_again(folder: Path, tmp_path: Path) -> None:
    from suffice.events import serialize_event

    report, events = ask(folder, stop="coverage(0.99)", breadth="broad", strategy="survey")
    readings = [event.readings["relevance.seen"] for event in events if isinstance(event, RoundDone)]
    assert readings == sorted(readings)
    path = tmp_path / "trace.jsonl"
    path.write_text("\n".join(json.dumps(serialize_event(event, report.run)) for event in events), encoding="utf-8")
    earlier = what_if(read_trace(path), parse_gate("coverage(.3)"))
    assert earlier.stop_point.fired
    assert earlier.stop_point.rounds < len(report.stop.rounds)


def test_breadth_can_be_overridden(folder: Path) -> None:
    report, _ = ask(folder, breadth="narrow")
    assert report.stop.coverage is None
    assert not report.findings
    report, _ = ask(folder, "Who runs the canteen?", breadth="broad")
    assert report.stop.coverage is not None


def test_a_narrow_question_is_not_surveyed(folder: Path) -> None:
    report, _ = ask(folder, "When does lunch begin?")
    assert report.metadata["breadth"] == "narrow"
    assert report.stop.coverage is None
    assert ReportSection.COVERAGE not in report.final_answer


def test_the_deep_tier_reads_more(folder: Path) -> None:
    usual, _ = ask(folder)
    deep, _ = ask(folder, tier="deep")
    assert usual.stop.coverage is not None
    assert deep.stop.coverage is not None
    assert deep.stop.coverage.share >= 0.98 > 0.9 <= usual.stop.coverage.share


def test_the_skill_deep_reads_a_broad_question_to_its_end(folder: Path) -> None:
    report, _ = ask(folder, f"/deep {QUESTION}")
    assert report.metadata["breadth"] == "broad"
    assert report.stop.coverage is not None
    assert report.stop.coverage.share >= 0.98
    assert report.stop.reason == "sufficient"


def test_a_limit_of_the_user_holds_and_is_no_full_coverage(folder: Path) -> None:
    report, _ = ask(folder, tier="deep", max_rounds=1)
    assert len(report.stop.rounds) == 1
    assert report.stop.coverage is not None
    assert (report.stop.sufficiency == "yes") == (report.stop.coverage.share >= 0.98)


def test_length_shortens_the_report(folder: Path) -> None:
    long, _ = ask(folder)
    short, _ = ask(folder, length=40)
    assert len(short.final_answer.split()) < len(long.final_answer.split())


@pytest.mark.parametrize(
    "options", [{"breadth": "wide"}, {"stop": "coverage(0)"}, {"stop": "coverage(1.5)"}, {"length": 3}]
)
def test_bad_values_are_refused(folder: Path, options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        ask(folder, **options)
