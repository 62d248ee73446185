"""The nouns of a recording: a run as somebody wrote it down, perhaps without texts, scores, tokens or readings.

What is missing is unknown, never zero.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from suffice.errors import InputError
from suffice.types import Readings


@dataclass(frozen=True, slots=True)
class RecordedHit:
    """A passage as a recording holds it."""

    id: str
    title: str | None = None
    text: str | None = None
    score: float | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedRound:
    """A round as a meter sees it (``raw``, ``new``, ``queries``, ``failed``), with what was recorded beside."""

    index: int
    queries: tuple[str, ...]
    raw: tuple[RecordedHit, ...]
    new: tuple[RecordedHit, ...]
    readings: Readings
    tokens: int | None = None
    answer: str | None = None
    accepted: bool = True
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Episode:
    """One recorded run with what is known about the truth."""

    id: str
    question: str
    gold: frozenset[str]
    answers: tuple[str, ...]
    agent: str | None
    rounds: tuple[RecordedRound, ...]
    seed: int = 0


def parse_rounds(items: list[dict[str, Any]], texts: Mapping[str, tuple[str, str]]) -> tuple[RecordedRound, ...]:
    """Rounds in order; what an earlier round had is no longer new."""
    seen: set[str] = set()
    rounds = []
    for number, item in enumerate(items, 1):
        _validate_round(item)
        if isinstance(item["queries"], str):
            raise TypeError("queries are a list")
        hits = deduplicate_hits(_parse_hit(hit, texts) for hit in item["passages"])
        new = tuple(hit for hit in hits if hit.id not in seen)
        seen.update(hit.id for hit in new)
        rounds.append(
            RecordedRound(
                index=number,
                queries=tuple(item["queries"]),
                raw=hits,
                new=new,
                readings=item.get("readings") or {},
                tokens=item.get("tokens"),
                answer=item.get("answer"),
                accepted=item.get("accepted", True),
            )
        )
    return tuple(rounds)


def _validate_round(item: dict[str, Any]) -> None:
    """A recording comes from anywhere: what has the wrong shape is named here, not found out in a meter."""
    if isinstance(item["queries"], str):
        raise TypeError("queries must be a list")
    if not isinstance(item.get("readings") or {}, Mapping):
        raise TypeError("readings must be an object")
    if not isinstance(item.get("tokens"), int | float | None):
        raise TypeError("tokens must be a number")
    if not all(isinstance(hit.get("score"), int | float | None) for hit in item["passages"]):
        raise TypeError("score must be a number")


def deduplicate_hits(hits: Iterable[RecordedHit]) -> tuple[RecordedHit, ...]:
    """Each passage once, where it came first: two queries of a round may find the same one."""
    found: dict[str, RecordedHit] = {}
    for hit in hits:
        found.setdefault(hit.id, hit)
    return tuple(found.values())


def _parse_hit(hit: dict[str, Any], texts: Mapping[str, tuple[str, str]]) -> RecordedHit:
    title, text = texts.get(str(hit["id"]), (None, None))
    return RecordedHit(
        id=str(hit["id"]),
        title=hit.get("title") or title,
        text=hit.get("text") if hit.get("text") is not None else text,
        score=hit.get("score"),
        location=hit.get("location"),
    )


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


def read_episodes(path: Path, texts: Mapping[str, tuple[str, str]] | None = None) -> list[Episode]:
    """The episodes of a file: JSONL of episodes (also gzipped), or a trace. ``texts`` joins (title, text) by passage id."""
    if is_trace(path):
        return [read_trace(path).to_episode()]
    episodes = []
    for number, item in enumerate(_read_jsonl(path), 1):
        try:
            episodes.append(_parse_episode(item, texts or {}))
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}, episode {number}: {_describe_error(error)}") from error
    if not episodes:
        raise InputError(f"{path} holds no episodes")
    return episodes


def read_corpus(path: Path) -> dict[str, tuple[str, str]]:
    """A JSONL corpus as id → (title, text)."""
    try:
        return {str(item["id"]): (str(item.get("title") or ""), str(item["text"])) for item in _read_jsonl(path)}
    except KeyError as error:
        raise InputError(f"{path}: a record of a corpus needs {error}") from error


def _parse_episode(item: dict[str, Any], texts: Mapping[str, tuple[str, str]]) -> Episode:
    rounds = item["rounds"]
    if not rounds:
        raise KeyError("rounds")
    answer = item.get("answer")
    return Episode(
        id=str(item["id"]),
        question=str(item["question"]),
        gold=frozenset(map(str, item.get("gold") or ())),
        answers=() if answer is None else (str(answer), *map(str, item.get("aliases") or ())),
        agent=item.get("agent"),
        rounds=parse_rounds(rounds, texts),
        # Every run draws its own chances (ε), and the same ones each time it is replayed.
        seed=crc32(f"{item['id']} {item.get('agent')}".encode()),
    )


def _read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    number, is_trace = 0, False
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                number += 1
                if line.strip():
                    try:
                        item = json.loads(line)
                    except ValueError:
                        if is_trace and not line.endswith("\n"):
                            return  # A run that was killed may have left half a line: the rest is good.
                        raise
                    if not isinstance(item, dict):
                        raise ValueError("not an object")
                    is_trace = is_trace or "type" in item
                    yield item
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a recording: it is not text") from error
    except ValueError as error:
        raise InputError(f"{path}, line {number}, is not a JSON object: a recording has one a line") from error


def _describe_error(error: Exception) -> str:
    return f"{error} is missing or empty" if isinstance(error, KeyError) else f"it has the wrong shape ({error})"
