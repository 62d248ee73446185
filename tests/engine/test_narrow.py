"""``--with narrow``: of a round's results, only those worth reading are read."""

import asyncio
from types import SimpleNamespace

import pytest

from suffice.api import research
from suffice.engine import narrow
from suffice.engine.interventions import validate_interventions
from suffice.errors import InputError
from suffice.events import RoundDone, serialize_event
from suffice.gates.parse import parse_gate
from suffice.replay.episodes import build_trace
from suffice.replay.judge import what_if
from suffice.testing import FixtureSearch, make_passage

TASK = "Where was the director of The Silver Lamp born?"
FILM = make_passage("film", "The director of The Silver Lamp was Ada Lind.", "The Silver Lamp", score=3.0)
ADA = make_passage("ada", "Ada Lind was born in Graz.", "Ada Lind", score=2.0)
COPY = make_passage("copy", f"{FILM.text} 1931.", "Films", score=1.5)
RAIN = make_passage("rain", "It poured for weeks.", "Weather", score=1.0)


@pytest.fixture(autouse=True)
def without_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "find_reader", lambda: None)


def ask(*passages, task=TASK, price="narrow=0.2", **options):
    events = []
    options = {"search": FixtureSearch(default=list(passages)), "stop": "fixed(1)", **options}
    report = asyncio.run(research(task, model="extractive", interventions=(price,), on_event=events.append, **options))
    return report, [event for event in events if isinstance(event, RoundDone)]


def list_read(rounds):
    return [[passage.id for passage in event.round.new] for event in rounds]


def test_a_passage_that_adds_nothing_is_left_unread_and_the_report_says_so():
    report, rounds = ask(FILM, ADA, RAIN)
    assert list_read(rounds) == [["film", "ada"]]
    assert [passage.id for passage in rounds[0].round.raw] == ["film", "ada"]
    assert report.stop.rounds[0].unread == rounds[0].readings["preview.unread"] == 1
    assert report.stop.rounds[0].new_passages == 2
    assert "1 result was left unread as not worth reading" in report.stop.explanation


def test_a_passage_that_repeats_a_chosen_one_is_left_unread():
    _, rounds = ask(FILM, COPY, ADA)
    assert list_read(rounds) == [["film", "ada"]]


def test_a_low_price_reads_everything_and_a_high_one_only_the_first_passage():
    assert list_read(ask(FILM, ADA, RAIN, price="narrow=0.001")[1])[0] == ["film", "ada", "rain"]
    assert list_read(ask(FILM, ADA, RAIN, price="narrow=0.999")[1])[0] == ["film"]


def test_what_was_left_unread_may_be_found_again():
    _, rounds = ask(FILM, RAIN, stop="fixed(2)", strategy="iterretgen")
    assert [event.readings.get("preview.unread") for event in rounds] == [1.0, 1.0]


def test_without_a_value_everything_is_read():
    _, rounds = ask(FILM, RAIN, task="Who is it?")
    assert list_read(rounds) == [["film", "rain"]]
    assert "preview.unread" not in rounds[0].readings


def test_a_passage_that_the_reader_finds_an_answer_in_is_read(monkeypatch):
    class Reader:
        def read(self, question, passages):
            return [SimpleNamespace(probability=0.9 if "poured" in text else 0.0) for text in passages]

    monkeypatch.setattr(narrow, "find_reader", Reader)
    assert list_read(ask(FILM, COPY, RAIN)[1]) == [["film", "rain"]]


def test_a_replay_sees_only_what_was_read():
    _, rounds = ask(FILM, ADA, RAIN)
    written = [serialize_event(event, "r") for event in rounds]
    trace = build_trace([{"type": "started", "task": TASK, "run": "r"}, *written], "trace")
    assert [hit.id for hit in trace.rounds[0].raw] == ["film", "ada"]
    assert trace.rounds[0].readings["preview.unread"] == 1.0
    assert "after round 1" in str(what_if(trace, parse_gate("fixed(1)")))


@pytest.mark.parametrize("wrong", ["narrow=2", "narrow=0", "narrow=", "narrow=nan", "narrow=much", "leads=1"])
def test_a_wrong_price_is_refused(wrong):
    with pytest.raises(InputError, match=wrong.partition("=")[0]):
        validate_interventions(wrong)
