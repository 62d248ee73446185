"""Traces read back, as a run and as an episode."""

import asyncio
import json
from pathlib import Path

import pytest

from suffice.api import research
from suffice.errors import InputError
from suffice.events import serialize_event
from suffice.prompts import PlanResponse, ReflectionResponse, SynthesisResponse
from suffice.prompts.planning import PlannedQuery
from suffice.replay.episodes import read_episodes, read_trace
from suffice.testing import FixtureSearch, ScriptedModel, make_passage
from suffice.types import Report, Usage

MODEL = {
    "plan": [PlanResponse((PlannedQuery("first"),))],
    "reflect": [ReflectionResponse(False, 0.2, ("x",), ("second",)), ReflectionResponse(True, 0.9)],
    "draft": [SynthesisResponse("Bees dance [1].")],
}
FOUND = {
    "first": [make_passage("a", "Bees dance.", "Bees"), make_passage("b", "Old\u2028news.", "B")],
    "second": [make_passage("a", "Bees dance.", "Bees"), make_passage("c", "Hives hum.", "C")],
}


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Report]:
    path = tmp_path / "trace.jsonl"
    lines: list[str] = []
    model = ScriptedModel(MODEL, usage=Usage(1, 100, 10))
    report = asyncio.run(
        research(
            "Do bees dance?",
            search=FixtureSearch(FOUND),
            model=model,
            strategy="reflect",
            seed=7,
            on_event=lambda event: lines.append(json.dumps(serialize_event(event, "r1"), ensure_ascii=False)),
        )
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, report


def test_a_trace_holds_the_run(recorded: tuple[Path, Report]) -> None:
    trace = read_trace(recorded[0])
    assert (trace.run, trace.task, trace.seed) == ("r1", "Do bees dance?", 7)
    assert [round.queries for round in trace.rounds] == [("first",), ("second",)]
    assert [[hit.id for hit in round.new] for round in trace.rounds] == [["a", "b"], ["c"]]
    assert trace.stop is not None
    assert trace.stop["reason"] == recorded[1].stop.reason == "sufficient"
    assert trace.report is not None


def test_what_a_recorded_hit_knows(recorded: tuple[Path, Report]) -> None:
    hit = read_trace(recorded[0]).rounds[0].raw[0]
    assert (hit.id, hit.title, hit.text, hit.location) == ("a", "Bees", "Bees dance.", "notes.txt:1-1")


def test_a_trace_is_an_episode(recorded: tuple[Path, Report]) -> None:
    [episode] = read_episodes(recorded[0])
    assert (episode.question, episode.gold, episode.seed) == ("Do bees dance?", frozenset(), 7)
    assert [len(round.new) for round in episode.rounds] == [2, 1]


def test_tokens_of_an_episode_are_those_of_the_round(recorded: tuple[Path, Report]) -> None:
    """Plan and reflection cost 110 each: 220 in the first round, 110 in the second."""
    [episode] = read_episodes(recorded[0])
    assert sum(round.tokens or 0 for round in episode.rounds) == 330


@pytest.mark.parametrize("cut", [1, 15, 40])
def test_half_a_last_line_loses_only_itself(recorded: tuple[Path, Report], cut: int) -> None:
    path, _ = recorded
    path.write_bytes(path.read_bytes()[:-cut])
    assert len(read_trace(path).rounds) == 2
    assert len(read_episodes(path)[0].rounds) == 2


def test_damage_in_the_middle_is_named_by_its_line(recorded: tuple[Path, Report]) -> None:
    path, _ = recorded
    lines = path.read_bytes().split(b"\n")
    lines[1] = lines[1][:20]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match="line 2"):
        read_trace(path)


@pytest.mark.parametrize("content", [b"", b"{}\n", b"no\n", b'{"type": "started"}\n', b'{"type": 3}\n', b"\xff\xfe\n"])
def test_what_is_no_trace(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x\.jsonl"):
        read_trace(path)
