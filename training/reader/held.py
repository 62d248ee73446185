"""The rows that nobody trained on: claims and questions whose passage is in the development or the test part."""

import json
import lzma
from dataclasses import dataclass
from pathlib import Path
from random import Random


@dataclass(frozen=True)
class Claim:
    """A claim, its passage, and what people or rules say of it."""

    text: str
    passage: str
    label: str
    source: str
    kind: str


@dataclass(frozen=True)
class Question:
    """A question, a passage, where the passage answers it (empty for none), and whether it answers it at all."""

    text: str
    passage: str
    spans: list[list[int]]
    answerable: bool
    source: str
    kind: str


def load_part(folder: Path, part: str) -> tuple[list[Claim], list[Question]]:
    """Return claims and questions of one part, in random order that never changes."""
    rows: dict[str, list] = {}
    with lzma.open(folder / "examples.jsonl.xz", "rt", encoding="utf-8") as file:
        for line in file:
            kind, count = json.loads(line)
            rows[kind] = [json.loads(next(file)) for _ in range(count)]
    texts = [row[0] for row in rows["passages"]]
    inside = [row[1] == part for row in rows["passages"]]
    claims = [Claim(row[0], texts[row[1]], *row[2:5]) for row in rows["claims"] if inside[row[1]]]
    questions = []
    for text, passage, spans, source, kind, others in rows["questions"]:
        if inside[passage]:
            questions.append(Question(text, texts[passage], spans, kind != "altered", source, kind))
            questions += [Question(text, texts[other], [], False, source, "other") for other in others[:1]]
    Random(0).shuffle(claims)
    Random(0).shuffle(questions)
    return claims, questions
