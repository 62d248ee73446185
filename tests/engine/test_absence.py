"""A refusal over files on this machine says what was read and how much of the rest can answer."""

import asyncio
import json
from pathlib import Path

import pytest

from suffice import research
from suffice.engine.absence import SAMPLED
from suffice.events import Event, Finished, serialize_event
from suffice.report.html import render_html
from suffice.report.markdown import render_markdown
from suffice.storage import report_json
from suffice.types import Report


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    docs = tmp_path / "docs"
    docs.mkdir()
    for n in range(60):
        text = f"# Room {n}\n\nThe cupboard in room {n} holds {n + 3} chairs. Its lamp was mended in May.\n"
        (docs / f"room-{n}.md").write_text(text, encoding="utf-8")
    (docs / "canteen.md").write_text("# Canteen\n\nLunch begins at noon and ends at two.\n", encoding="utf-8")
    return docs


def ask(folder: Path, question: str) -> tuple[Report, list[Event]]:
    events: list[Event] = []
    report = asyncio.run(research(question, docs=folder, model="extractive", on_event=events.append))
    return report, events


def test_a_refusal_says_what_was_read_and_what_can_be_left(folder: Path) -> None:
    report, events = ask(folder, "What is the boiling point of mercury in kelvin?")
    assert not report.final_answer
    absence = report.stop.absence
    assert absence is not None
    assert absence.passages == 61
    assert absence.read + absence.sampled == 61
    assert 0 < absence.at_most < 1
    assert absence.confidence == 0.95
    sentence = "No passage was found to state this. All 61 passages were read; at most"
    assert sentence in render_markdown(report)
    assert sentence in render_html(report)
    assert report_json.loads(report_json.dumps(report)).stop.absence == absence
    finished = next(serialize_event(event, report.run) for event in events if isinstance(event, Finished))
    assert json.loads(json.dumps(finished))["report"]["stop"]["absence"]["passages"] == 61


def test_an_answer_has_no_bound(folder: Path) -> None:
    report, _ = ask(folder, "When does lunch begin?")
    assert report.final_answer
    assert report.stop.absence is None
    assert "were read; at most" not in render_markdown(report)


def test_of_a_large_corpus_a_sample_is_drawn_and_the_counts_are_stated(folder: Path) -> None:
    for n in range(200):
        text = f"# Shelf {n}\n\nShelf {n} has boxes of green lamp oil.\n"
        (folder / f"shelf-{n}.md").write_text(text, encoding="utf-8")
    question = "Who composed the opera about the green lamp?"
    report, _ = ask(folder, question)
    absence = report.stop.absence
    assert absence is not None
    assert (0 < absence.read <= 40, absence.sampled) == (True, SAMPLED)
    assert absence.passages == 261
    assert f"The {absence.read} nearest of {absence.passages} passages and {SAMPLED} drawn at random were read" in (
        render_markdown(report)
    )
    assert ask(folder, question)[0].stop.absence == absence
