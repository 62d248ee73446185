"""Recorded runs, ours and other agents': the lab's interchange format, and traces read as episodes.

A recording may lack texts, scores, tokens or readings: what is missing is unknown, never zero.
"""

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


def read_episodes(path: Path, texts: Mapping[str, tuple[str, str]] | None = None) -> list[Episode]:
    """The episodes of a file: JSONL of episodes (also gzipped), or a trace. ``texts`` joins (title, text) by passage id."""
    objects = list(_objects(path))
    if objects and objects[0].get("type") is not None:
        from suffice.replay.trace import episode_of

        return [episode_of(objects, path)]
    episodes = []
    for number, item in enumerate(objects, 1):
        try:
            episodes.append(_episode(item, texts or {}))
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}, episode {number}: {_missing(error)}") from error
    if not episodes:
        raise InputError(f"{path} holds no episodes")
    return episodes


def read_corpus(path: Path) -> dict[str, tuple[str, str]]:
    """A JSONL corpus as id → (title, text)."""
    try:
        return {str(item["id"]): (str(item.get("title") or ""), str(item["text"])) for item in _objects(path)}
    except KeyError as error:
        raise InputError(f"{path}: a record of a corpus needs {error}") from error


def rounds_of(items: list[dict[str, Any]], texts: Mapping[str, tuple[str, str]]) -> tuple[RecordedRound, ...]:
    """Rounds in order; what an earlier round had is no longer new."""
    seen: set[str] = set()
    rounds = []
    for number, item in enumerate(items, 1):
        hits = tuple(_hit(hit, texts) for hit in item["passages"])
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


def _episode(item: dict[str, Any], texts: Mapping[str, tuple[str, str]]) -> Episode:
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
        rounds=rounds_of(rounds, texts),
    )


def _hit(hit: dict[str, Any], texts: Mapping[str, tuple[str, str]]) -> RecordedHit:
    title, text = texts.get(str(hit["id"]), (None, None))
    return RecordedHit(
        id=str(hit["id"]),
        title=hit.get("title") or title,
        text=hit.get("text") if hit.get("text") is not None else text,
        score=hit.get("score"),
        location=hit.get("location"),
    )


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    opener = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                number += 1
                if line.strip():
                    item = json.loads(line)
                    if not isinstance(item, dict):
                        raise ValueError("not an object")
                    yield item
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a recording: it is not text") from error
    except ValueError as error:
        raise InputError(f"{path}, line {number}, is not a JSON object: a recording has one a line") from error


def _missing(error: Exception) -> str:
    return f"{error} is missing or empty" if isinstance(error, KeyError) else f"it has the wrong shape ({error})"
