"""Recorded runs, ours and other agents': the lab's interchange format, and traces read as episodes."""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from suffice.errors import InputError
from suffice.replay.recorded import Episode, parse_rounds
from suffice.replay.trace import is_trace, read_trace


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
