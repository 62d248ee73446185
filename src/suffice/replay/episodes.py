"""Recorded runs and how they are read from files: episodes, traces and corpora.

An episode file is JSONL with one run per line, gzipped or not. A trace is the JSONL event stream of one run, written by
``suffice ask … --trace FILE``. A recording may lack texts, scores, tokens or readings; what is missing is unknown, not zero.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from zlib import crc32

from suffice.errors import InputError
from suffice.types import Readings

Texts = Mapping[str, tuple[str, str]]  # Title and text by passage id.


@dataclass(frozen=True, slots=True)
class RecordedHit:
    id: str
    title: str | None = None
    text: str | None = None
    score: float | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedRound:
    """A round as meters see it (a ``RoundView``), with the readings, tokens and answer recorded for it."""

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
    """One recorded run with its gold passages and true answers, as far as they are known.

    ``stop`` and ``report`` are those of a trace, ``None`` if the run did not get that far.
    """

    id: str
    question: str
    gold: frozenset[str]
    answers: tuple[str, ...]
    agent: str | None
    rounds: tuple[RecordedRound, ...]
    seed: int = 0
    stop: dict[str, Any] | None = None
    report: dict[str, Any] | None = None


def read_episodes(path: Path, texts: Texts | None = None) -> list[Episode]:
    """Read the episodes of a file, or a trace as one episode. ``texts`` adds titles and texts by passage id."""
    if _is_trace(path):
        return [read_trace(path)]
    episodes = []
    for number, (_, item) in enumerate(read_jsonl(path), 1):
        try:
            episodes.append(_parse_episode(item, texts or {}))
        except KeyError as error:
            raise InputError(f"{path}, episode {number}: {error} is missing or empty") from error
        except (TypeError, AttributeError) as error:
            raise InputError(f"{path}, episode {number}: it has the wrong shape ({error})") from error
    if not episodes:
        raise InputError(f"{path} holds no episodes")
    return episodes


def read_trace(path: Path) -> Episode:
    """Read a trace file. Raises ``InputError`` with the number of the first unreadable line."""
    events = []
    for number, event in read_jsonl(path, allow_partial_end=True):
        if not isinstance(event.get("type"), str):
            raise InputError(f"{path}, line {number}, is not an event of a trace")
        events.append(event)
    return build_trace(events, str(path))


def read_corpus(path: Path) -> dict[str, tuple[str, str]]:
    """Read a JSONL corpus. Returns title and text by passage id."""
    try:
        return {str(item["id"]): (str(item.get("title") or ""), str(item["text"])) for _, item in read_jsonl(path)}
    except KeyError as error:
        raise InputError(f"{path}: a record of a corpus needs {error}") from error


def _is_trace(path: Path) -> bool:
    """Whether the file begins with an event. Episodes may have a type as well (HotpotQA), but they also have rounds."""
    try:
        with _open(path) as lines:
            first = json.loads(next(lines, b"null"))
    except (OSError, EOFError, ValueError):
        return False
    return isinstance(first, dict) and "type" in first and "rounds" not in first


def build_trace(events: list[dict[str, Any]], origin: str) -> Episode:
    """Build the recorded run from its events. Error messages name the ``origin`` of the events."""
    by_type: dict[str, dict[str, Any]] = {event["type"]: event for event in events}
    if "round" not in by_type:
        if "started" in by_type:
            raise InputError(f"{origin} is a run without rounds of search, so no stop rule took part in it")
        raise InputError(f"{origin} holds no rounds; write a trace with: suffice ask … --trace FILE")
    started = by_type.get("started", {})
    try:
        rounds = _parse_rounds([event for event in events if event["type"] == "round"], {})
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{origin} holds a round that cannot be read ({type(error).__name__}: {error})") from error
    return Episode(
        id=str(events[0].get("run", "")),
        question=str(started.get("task", "")),
        gold=frozenset(),
        answers=(),
        agent=None,
        rounds=rounds,
        seed=int(started.get("seed", 0)),
        stop=by_type.get("stopped", {}).get("stop"),
        report=by_type.get("report", {}).get("report"),
    )


def deduplicate_hits(hits: Iterable[RecordedHit]) -> tuple[RecordedHit, ...]:
    """Return each passage once, at its first position. Two queries of a round may find the same one."""
    found: dict[str, RecordedHit] = {}
    for hit in hits:
        found.setdefault(hit.id, hit)
    return tuple(found.values())


def _parse_episode(item: dict[str, Any], texts: Texts) -> Episode:
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
        rounds=_parse_rounds(rounds, texts),
        # Each run makes its own random draws (epsilon), and the same ones in every replay.
        seed=crc32(f"{item['id']} {item.get('agent')}".encode()),
    )


def _parse_rounds(items: list[dict[str, Any]], texts: Texts) -> tuple[RecordedRound, ...]:
    """Parse rounds in order. A passage is new in the first round that has it.

    Older versions could leave the results of a round unread (``skipped``). Such a round counts as one that found nothing.
    """
    seen: set[str] = set()
    rounds = []
    has_skipped = False
    for number, item in enumerate(items, 1):
        _validate_round(item)
        is_skipped = bool(item.get("skipped"))
        has_skipped |= is_skipped
        hits = deduplicate_hits(_parse_hit(hit, texts) for hit in item["passages"] if not is_skipped)
        new = tuple(hit for hit in hits if hit.id not in seen)
        seen.update(hit.id for hit in new)
        readings = {} if is_skipped else item.get("readings") or {}
        if has_skipped and (readings or is_skipped):  # The run did not count the rounds that it skipped.
            readings = {**readings, "spend.rounds": float(number)}
        rounds.append(
            RecordedRound(
                index=number,
                queries=tuple(item["queries"]),
                raw=hits,
                new=new,
                readings=readings,
                tokens=item.get("tokens"),
                answer=item.get("answer"),
                accepted=is_skipped or item.get("accepted", True),
            )
        )
    return tuple(rounds)


def _validate_round(item: dict[str, Any]) -> None:
    """Raise ``TypeError`` for a field of the wrong type, so that it is reported here and not by a meter."""
    if isinstance(item["queries"], str):
        raise TypeError("queries must be a list")
    if not isinstance(item.get("readings") or {}, Mapping):
        raise TypeError("readings must be an object")
    if not isinstance(item.get("tokens"), int | float | None):
        raise TypeError("tokens must be a number")
    if not all(isinstance(hit.get("score"), int | float | None) for hit in item["passages"]):
        raise TypeError("score must be a number")


def _parse_hit(hit: dict[str, Any], texts: Texts) -> RecordedHit:
    title, text = texts.get(str(hit["id"]), (None, None))
    return RecordedHit(
        id=str(hit["id"]),
        title=hit.get("title") or title,
        text=hit.get("text") if hit.get("text") is not None else text,
        score=hit.get("score"),
        location=hit.get("location"),
    )


def read_jsonl(path: Path, *, allow_partial_end: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line numbers and objects. A killed run may leave half a last line; ``allow_partial_end`` skips it."""
    number = 0
    try:
        with _open(path) as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    item = json.loads(line.decode("utf-8"))
                except ValueError:  # Also half a character.
                    if allow_partial_end and number > 1 and not line.endswith(b"\n"):
                        return
                    raise
                if not isinstance(item, dict):
                    raise ValueError("not an object")
                yield number, item
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a recording: it is not text") from error
    except ValueError as error:
        raise InputError(f"{path}, line {number}, is not a JSON object; a recording has one per line") from error


def _open(path: Path) -> IO[bytes]:
    """Open a file for reading by line, gzipped or not. As bytes, so that only a line feed ends a line."""
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]
