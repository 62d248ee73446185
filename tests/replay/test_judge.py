"""Gates over recordings: where they stop, and what a run would have missed."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from suffice import budget, exhaustion, fixed, parse_gate, research, saturation, sufficiency
from suffice.events import serialize_event
from suffice.replay.compare import compare_gates
from suffice.replay.episodes import Episode, build_trace, read_episodes
from suffice.replay.judge import find_stop, measure_readings, what_if
from suffice.report.chart import render_chart
from suffice.testing import FixtureSearch, make_passage


def episode(name: str, gold: list[str], *rounds: list[str], texts: bool = True) -> dict[str, object]:
    return {
        "id": name,
        "question": "Who?",
        "answer": "Ada",
        "gold": gold,
        "rounds": [
            {
                "queries": [f"query {number}"],
                "passages": [{"id": id, "text": f"text of {id}" if texts else None} for id in ids],
                "tokens": 100,
                "answer": "Ada" if number == len(rounds) else "Bob",
            }
            for number, ids in enumerate(rounds, 1)
        ],
    }


@pytest.fixture
def episodes(tmp_path: Path) -> list[Episode]:
    path = tmp_path / "e.jsonl"
    items = [
        episode("one", ["a", "c"], ["a"], ["b"], ["c"], ["a"]),
        episode("two", ["a"], ["a"], ["a"], ["a"]),
        episode("three", ["z"], ["a"], ["b"]),
    ]
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return read_episodes(path)


def test_spend_is_counted_over_rounds(episodes: list[Episode]) -> None:
    readings = measure_readings(episodes[0], frozenset())
    assert [reading["spend.rounds"] for reading in readings] == [1, 2, 3, 4]
    assert [reading["spend.tokens"] for reading in readings] == [100, 200, 300, 400]
    assert [reading["overlap.upr"] for reading in readings] == [1, 1, 1, 0]


def test_where_gates_stop(episodes: list[Episode]) -> None:
    readings = measure_readings(episodes[0], frozenset())
    assert (find_stop(fixed(2), readings).rounds, find_stop(fixed(2), readings).fired) == (2, True)
    assert (find_stop(fixed(9), readings).rounds, find_stop(fixed(9), readings).fired) == (4, False)
    assert find_stop(budget(tokens=250), readings).rounds == 3
    never = find_stop(sufficiency(), readings)
    assert (never.rounds, never.fired, never.verdict.stop) == (4, False, None)


def test_a_gate_that_judges_before_rejects_its_round(episodes: list[Episode]) -> None:
    stopped = find_stop(saturation(), measure_readings(episodes[1], frozenset()))
    assert (stopped.rounds, stopped.kept_rounds, stopped.fired) == (2, 1, True)


def test_missing_text_is_unknown_and_never_stops(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(json.dumps(episode("x", ["a"], ["a"], ["a"], ["a"], texts=False)) + "\n")
    [sparse] = read_episodes(path)
    readings = measure_readings(sparse, frozenset())
    assert all(reading["novelty.words"] is None for reading in readings)
    assert not find_stop(saturation(), readings).fired


@pytest.mark.parametrize(
    "gate", ["exhaustion(p=1)", "fixed(2)", "saturation", "saturation.epsilon(0.5)", "budget(queries=3)"]
)
def test_a_replay_stops_where_the_run_did(tmp_path: Path, gate: str) -> None:
    hits = [make_passage(f"p{n}", f"Bees dance in hive {n}.", f"Hive {n}") for n in range(9)]
    path = tmp_path / "trace.jsonl"
    lines: list[str] = []
    report = asyncio.run(
        research(
            "Where do Bees and Wasps and Ants dance?",
            search=FixtureSearch(default=hits),
            stop=gate,
            seed=3,
            k=2,
            on_event=lambda event: lines.append(json.dumps(serialize_event(event, "r"))),
        )
    )
    path.write_text("\n".join(lines))
    [recorded] = read_episodes(path)
    if report.stop.gate == "planner":
        return
    stopped = find_stop(parse_gate(gate), measure_readings(recorded, parse_gate(gate).needs), recorded.seed)
    assert stopped.fired == (not report.stop.gate.startswith("budget(rounds=5"))
    assert stopped.rounds == report.stop.round
    assert stopped.kept_rounds == sum(round.accepted for round in report.stop.rounds)


def test_the_table_of_gates(episodes: list[Episode]) -> None:
    rows = {row.gate: row for row in compare_gates(episodes, [exhaustion(), fixed(2)], draws=50)}
    assert list(rows)[-1] == "oracle"
    assert {"fixed(1)", "fixed(2)", "fixed(3)", "fixed(4)"} <= set(rows)
    assert rows["oracle"].stops == (3, 1, 1)
    assert rows["oracle"].recall == pytest.approx((1 + 1 + 0) / 3)
    assert rows["fixed(1)"].recall == pytest.approx((0.5 + 1 + 0) / 3)
    assert rows["fixed(1)"].stops == (1, 1, 1)
    assert rows["fixed(4)"].stops == (4, 3, 2)
    assert rows["fixed(4)"].mean_rounds == 3
    assert rows["fixed(4)"].mean_tokens == 300
    assert rows["fixed(4)"].answer_f1 == 1
    assert rows["fixed(1)"].answer_f1 == 0
    for name in ("fixed(1)", "fixed(4)"):
        assert rows[name].lift == pytest.approx(0, abs=1e-9)
    assert rows["oracle"].gap_closed == pytest.approx(1)
    assert rows["oracle"].lift is not None
    assert rows["oracle"].lift > 0


def test_without_gold_there_is_no_recall(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    path.write_text(json.dumps(episode("x", [], ["a"], ["b"])) + "\n")
    for row in compare_gates(read_episodes(path), [fixed(1)], draws=10):
        assert (row.recall, row.lift, row.lift_ci, row.gap_closed) == (None, None, None, None)


def record_trace(cited: str = "c.md") -> Episode:
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
    return build_trace([{"type": "started", "run": "r", "task": "What?", "seed": 7}, *rounds, report], "the test")


def test_what_if_names_the_stop_and_the_missed_passages() -> None:
    found = what_if(record_trace(), parse_gate("fixed(2)"))
    assert found.stop_point.rounds == 2
    assert [hit.title for hit in found.missed] == ["C"]
    assert [hit.title for hit in found.cited] == ["C"]
    assert "round 2 of 3" in str(found)
    assert "missed 1 passage, 1 of them cited" in str(found)


def test_what_if_counts_a_rejected_round_as_missed() -> None:
    found = what_if(record_trace(), parse_gate("saturation"))
    assert (found.stop_point.rounds, found.stop_point.kept_rounds) == (2, 1)
    assert [hit.title for hit in found.missed] == ["B", "C"]


def test_what_if_of_a_gate_that_never_fires() -> None:
    found = what_if(record_trace(), parse_gate("fixed(9)"))
    assert not found.stop_point.fired
    assert found.missed == ()
    assert "would not have stopped" in str(found)


@pytest.mark.parametrize(("gate", "outcome"), [("fixed(1)", "have stopped there too"), ("fixed(9)", "have gone on")])
def test_a_run_of_one_round_could_not_end_sooner(gate: str, outcome: str) -> None:
    trace = record_trace()
    said = str(what_if(replace(trace, rounds=trace.rounds[:1]), parse_gate(gate)))
    assert said == f"With 1 round no rule could end this run sooner; {gate} would {outcome}."


def test_what_if_names_unknown_readings() -> None:
    assert what_if(record_trace(), parse_gate("gain")).unknown == ("coverage.gain",)


def test_what_if_has_all_rounds_for_the_chart() -> None:
    found = what_if(record_trace(), parse_gate("fixed(2)"))
    assert len(found.stop.rounds) == 3
    assert found.stop.round == 2
    assert "<svg" in render_chart(found.stop)
