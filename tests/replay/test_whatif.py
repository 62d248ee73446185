"""Another gate over a recorded run: where it would have stopped, and what it would have missed."""

from suffice.gates.parse import parse_gate
from suffice.replay.episodes import Trace, build_trace
from suffice.replay.judge import what_if
from suffice.report.chart import render_chart


def recorded(cited: str = "c.md") -> Trace:
    rounds = [
        {
            "type": "round",
            "index": number,
            "queries": [f"query {number}"],
            "passages": [{"id": name, "title": name.upper(), "location": f"{name}.md", "text": name}],
            "readings": {"spend.rounds": float(number), "novelty.words": 10.0 - 4 * number},
        }
        for number, name in enumerate("abc", 1)
    ]
    report = {"type": "report", "report": {"sources": [{"location": cited}]}}
    return build_trace([{"type": "started", "run": "r", "task": "What?", "seed": 7}, *rounds, report], "here")


def test_it_says_where_and_what_is_missed() -> None:
    found = what_if(recorded(), parse_gate("fixed(2)"))
    assert found.stop_point.rounds == 2
    assert [hit.title for hit in found.missed] == ["C"]
    assert [hit.title for hit in found.cited] == ["C"]
    assert "round 2 of 3" in str(found)
    assert "missed 1 passages, 1 of them cited" in str(found)


def test_a_gate_that_rejects_a_round_misses_it_too() -> None:
    found = what_if(recorded(), parse_gate("saturation"))
    assert (found.stop_point.rounds, found.stop_point.kept_rounds) == (2, 1)
    assert [hit.title for hit in found.missed] == ["B", "C"]


def test_a_gate_that_never_fires_misses_nothing() -> None:
    found = what_if(recorded(), parse_gate("fixed(9)"))
    assert not found.stop_point.fired
    assert found.missed == ()
    assert "would not have stopped" in str(found)


def test_an_unknown_reading_is_named() -> None:
    assert what_if(recorded(), parse_gate("gain")).unknown == ("coverage.gain",)


def test_the_chart_shows_all_rounds_and_where_it_would_have_ended() -> None:
    found = what_if(recorded(), parse_gate("fixed(2)"))
    assert len(found.stop.rounds) == 3
    assert found.stop.round == 2
    assert "<svg" in render_chart(found.stop)
