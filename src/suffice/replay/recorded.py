"""The nouns of a recording: a run as somebody wrote it down, perhaps without texts, scores, tokens or readings.

What is missing is unknown, never zero.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
