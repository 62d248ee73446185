"""Recorded runs as a lab and ``explain`` read them: a trace written by ``--trace``."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.errors import InputError
from suffice.gates.base import Gate
from suffice.types import Readings, Verdict


@dataclass(frozen=True, slots=True)
class RecordedHit:
    """A passage as a recording holds it: perhaps without its text or score."""

    id: str
    title: str | None = None
    text: str | None = None
    score: float | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedRound:
    index: int
    accepted: bool
    queries: tuple[str, ...]
    hits: tuple[RecordedHit, ...]
    new: tuple[RecordedHit, ...]
    readings: Readings


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded run: its rounds and, when it got that far, how it stopped."""

    run: str
    task: str
    seed: int
    rounds: tuple[RecordedRound, ...]
    stop: dict[str, Any] | None
    report: dict[str, Any] | None


def read_trace(path: Path) -> Trace:
    """A trace file; an ``InputError`` naming the line that cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"The trace {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a trace: it is not text") from error
    events: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
            event["type"]
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines) and events:
                break  # A run that was killed may have left half a line: the rest is good.
            raise InputError(f"{path}, line {number}, is not an event of a trace") from error
        events.append(event)
    if not any(event["type"] == "round" for event in events):
        raise InputError(f"{path} holds no rounds; a trace is written by: suffice ask … --trace FILE")
    return _trace(events)


def first_stop(
    gate: Gate, readings: Sequence[Readings], before: frozenset[str], seed: int
) -> tuple[int, bool, Verdict] | None:
    """Where a gate would have stopped: the round (from 1), whether it would have kept that round, and the verdict.

    A round is judged twice, as in the loop: on the readings taken before it may change the belief, then on all of them.
    """
    for done in range(1, len(readings) + 1):
        known = readings[done - 1]
        early = {name: value for name, value in known.items() if name in before}
        verdict = gate.judge([*readings[: done - 1], early], seed)
        if verdict.stop:
            return done, False, verdict
        verdict = gate.judge(readings[:done], seed)
        if verdict.stop:
            return done, True, verdict
    return None


def _trace(events: list[dict[str, Any]]) -> Trace:
    by_type: dict[str, dict[str, Any]] = {event["type"]: event for event in events}
    started = by_type.get("started", {})
    return Trace(
        run=str(events[0].get("run", "")),
        task=str(started.get("task", "")),
        seed=int(started.get("seed", 0)),
        rounds=tuple(_round(event) for event in events if event["type"] == "round"),
        stop=by_type.get("stopped", {}).get("stop"),
        report=by_type.get("report", {}).get("report"),
    )


def _round(event: dict[str, Any]) -> RecordedRound:
    keys = ("id", "title", "text", "score", "location")
    hits = [RecordedHit(*(hit.get(key) for key in keys)) for hit in event["passages"]]
    new = {hit["id"] for hit in event["passages"] if hit.get("new", True)}
    return RecordedRound(
        index=event["index"],
        accepted=event.get("accepted", True),
        queries=tuple(event["queries"]),
        hits=tuple(hits),
        new=tuple(hit for hit in hits if hit.id in new),
        readings=event.get("readings") or {},
    )
