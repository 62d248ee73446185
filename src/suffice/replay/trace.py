"""A trace written by ``--trace``: the events of one run, read back."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.errors import InputError
from suffice.replay.recorded import Episode, RecordedRound, parse_rounds


@dataclass(frozen=True, slots=True)
class Trace:
    """One recorded run: its rounds and, when it got that far, how it stopped and what it reported."""

    run: str
    task: str
    seed: int
    rounds: tuple[RecordedRound, ...]
    stop: dict[str, Any] | None
    report: dict[str, Any] | None

    def to_episode(self) -> Episode:
        """The trace as an episode; nobody knows its gold."""
        return Episode(self.run, self.task, frozenset(), (), None, self.rounds, self.seed)


def read_trace(path: Path) -> Trace:
    """A trace file; an ``InputError`` naming the line that cannot be read."""
    try:
        lines = path.read_bytes().splitlines()  # Of bytes: only a line feed ends a line, U+2028 in a source does not.
    except OSError as error:
        raise InputError(f"The trace {path} cannot be read: {error.strerror}") from error
    events: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            event = json.loads(line)
            if not isinstance(event["type"], str):
                raise TypeError("type")
        except (ValueError, KeyError, TypeError) as error:
            if number == len(lines) and events:
                break  # A run that was killed may have left half a line: the rest is good.
            raise InputError(f"{path}, line {number}, is not an event of a trace") from error
        events.append(event)
    return build_trace(events, str(path))


def is_trace(path: Path) -> bool:
    """Whether the file begins with an event. An episode may have a type of its own (HotpotQA), but it has rounds."""
    try:
        with path.open(encoding="utf-8") as lines:
            first = json.loads(next(lines, "null"))
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and "type" in first and "rounds" not in first


def build_trace(events: list[dict[str, Any]], where: str) -> Trace:
    """The recorded run that these events tell; ``where`` they come from is for the message."""
    by_type: dict[str, dict[str, Any]] = {event["type"]: event for event in events}
    if "round" not in by_type:
        raise InputError(f"{where} holds no rounds; a trace is written by: suffice ask … --trace FILE")
    started = by_type.get("started", {})
    try:
        rounds = parse_rounds([event for event in events if event["type"] == "round"], {})
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{where} holds a round that cannot be read ({type(error).__name__}: {error})") from error
    return Trace(
        run=str(events[0].get("run", "")),
        task=str(started.get("task", "")),
        seed=int(started.get("seed", 0)),
        rounds=rounds,
        stop=by_type.get("stopped", {}).get("stop"),
        report=by_type.get("report", {}).get("report"),
    )
