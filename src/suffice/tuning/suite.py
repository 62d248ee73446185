"""The tasks that instructions are evaluated on.

A suite is a JSONL file with one task a line: ``{"question": str, "answer": str?, "aliases": [str]?, "gold": [str]?, "id": str?,
"held_out": bool?}``. ``gold`` are passage ids or locations that a good search finds. Without ``held_out`` every third task is
held out, in an order that depends only on the questions.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.errors import InputError
from suffice.replay.episodes import read_jsonl

HELD_OUT_EVERY = 3


@dataclass(frozen=True)
class TuningTask:
    """A question and what is known about its answer."""

    id: str
    question: str
    answers: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()
    is_held_out: bool = False

    def __str__(self) -> str:
        return f"{self.question} (expected: {self.answers[0]})" if self.answers else self.question


def load_suite(path: Path) -> list[TuningTask]:
    """Return the tasks of a file; raise ``InputError`` for a line that is not a task."""
    rows: list[dict[str, Any]] = []
    for number, row in read_jsonl(path):
        if not isinstance(row.get("question"), str) or not row["question"].strip():
            raise InputError(
                f'{path}, line {number}: a task is a JSON object such as {{"question": "…", "answer": "…"}}'
            )
        rows.append(row)
    if len({row["question"] for row in rows}) < len(rows):
        raise InputError(f"{path} has a question twice; the same task in both parts would hide over-fitting")
    by_digest = sorted(rows, key=lambda row: hashlib.sha256(row["question"].encode()).digest())
    held_out = {row["question"] for row in by_digest[::HELD_OUT_EVERY]}
    is_marked = any("held_out" in row for row in rows)
    return [
        TuningTask(
            id=str(row.get("id") or number),
            question=row["question"],
            answers=tuple(filter(None, [row.get("answer"), *(row.get("aliases") or [])])),
            gold=tuple(row.get("gold") or ()),
            is_held_out=bool(row.get("held_out")) if is_marked else row["question"] in held_out,
        )
        for number, row in enumerate(rows, 1)
    ]
