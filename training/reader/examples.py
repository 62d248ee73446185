"""Training examples as token ids: how they are stored, drawn and put into batches. Needs torch and numpy only.

A passage is stored once. A claim has a passage and a label. A question has the passage that answers it (with the tokens of the
answer, where they are known) and passages that do not. Whatever needs two examples is made while drawing: passages hidden among
others of their source, claims of two facts joined, and facts joined by a cause that no passage states.
"""

import io
import json
import lzma
import random
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy
import torch

LABELS = {"supported": 0, "contradicted": 1, "unsupported": 2, "not_supported": 3}
PARTS = ("train", "dev", "test")
MAX_TOKENS, MAX_FIRST = 512, 160
CLS, SEP, PERIOD = 101, 102, 1012
AND = [
    [1998],
    [1010, 1998],
    [1025],
    [1012],
    [1010, 2096],
    [1010, 2004, 2092, 2004],
]  # and | , and | ; | . | , while | , as well as
CAUSE = [
    [2138],
    [1010, 2138],
    [1010, 2061],
    [1010, 2029, 2003, 2339],
    [1010, 3568],
    [1025, 3568],
]  # because | so | which is why | therefore
PACKING = [{"id": lzma.FILTER_LZMA2, "preset": 6, "lc": 0, "lp": 1, "pb": 1}]  # For numbers of two bytes.
PIECE_BYTES = 15 * 2**20


class Ragged:
    """A list of arrays of different lengths, stored end to end."""

    def __init__(self, flat: numpy.ndarray, lengths: numpy.ndarray) -> None:
        self.flat = flat
        self.ends = numpy.concatenate([[0], numpy.cumsum(lengths, dtype=numpy.int64)])

    def __getitem__(self, number: int) -> numpy.ndarray:
        return self.flat[self.ends[number] : self.ends[number + 1]]

    def __len__(self) -> int:
        return len(self.ends) - 1


def write_examples(folder: Path, passages: list, claims: list[dict], questions: list[dict], sources: list[str]) -> None:
    """Write examples in pieces ``examples.000`` …; ``passages`` are pairs of token ids and part."""
    arrays: dict[str, numpy.ndarray] = {"sources": numpy.frombuffer(json.dumps(sources).encode(), numpy.uint8)}

    def ragged(name: str, rows: list, kind: type) -> None:
        arrays[f"{name}.flat"] = numpy.concatenate([numpy.asarray(row, kind) for row in rows] or [numpy.zeros(0, kind)])
        arrays[f"{name}.lengths"] = numpy.array([len(row) for row in rows], numpy.uint16)

    ragged("passages", [ids for ids, _ in passages], numpy.uint16)
    arrays["parts"] = numpy.array([PARTS.index(part) for _, part in passages], numpy.uint8)
    for name, rows in (("claims", claims), ("questions", questions)):
        ragged(f"{name}.ids", [row["ids"] for row in rows], numpy.uint16)
        arrays[f"{name}.passage"] = numpy.array([row["passage"] for row in rows], numpy.int32)
        arrays[f"{name}.source"] = numpy.array([row["source"] for row in rows], numpy.uint8)
    arrays["claims.label"] = numpy.array([row["label"] for row in claims], numpy.uint8)
    arrays["questions.answerable"] = numpy.array([row["answerable"] for row in questions], numpy.uint8)
    ragged("questions.spans", [numpy.ravel(row["spans"]) for row in questions], numpy.uint16)
    ragged("questions.others", [row["others"] for row in questions], numpy.int32)
    buffer = io.BytesIO()
    numpy.savez(buffer, **arrays)
    packed = lzma.compress(buffer.getvalue(), format=lzma.FORMAT_XZ, filters=PACKING)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("examples.[0-9]*"):
        old.unlink()
    for number, start in enumerate(range(0, len(packed), PIECE_BYTES)):
        (folder / f"examples.{number:03d}").write_bytes(packed[start : start + PIECE_BYTES])


class Examples:
    """What ``write_examples`` wrote."""

    def __init__(self, folder: Path) -> None:
        packed = b"".join(
            path.read_bytes() for path in sorted(folder.rglob("examples.[0-9]*"), key=lambda path: path.name)
        )
        with numpy.load(io.BytesIO(lzma.decompress(packed))) as found:
            arrays = dict(found)

        def ragged(name: str) -> Ragged:
            return Ragged(arrays[f"{name}.flat"], arrays[f"{name}.lengths"])

        self.sources: list[str] = json.loads(arrays["sources"].tobytes())
        self.passages, self.parts = ragged("passages"), arrays["parts"]
        self.claim_ids, self.claim_passage = ragged("claims.ids"), arrays["claims.passage"]
        self.claim_source, self.claim_label = arrays["claims.source"], arrays["claims.label"]
        self.question_ids, self.question_passage = ragged("questions.ids"), arrays["questions.passage"]
        self.question_source, self.answerable = arrays["questions.source"], arrays["questions.answerable"]
        self.spans, self.others = ragged("questions.spans"), ragged("questions.others")


class Example:
    """One pair of texts: token ids, length of the first segment, and what the heads should say (-1 or none: not asked)."""

    __slots__ = ("answerable", "first", "ids", "label", "source", "spans")

    def __init__(self, first, passage, label=-1, answerable=-1, spans=(), source=0) -> None:
        first = first[:MAX_FIRST]
        passage = passage[: MAX_TOKENS - 3 - len(first)]
        self.ids = numpy.concatenate([[CLS], first, [SEP], passage, [SEP]]).astype(numpy.int32)
        self.first = len(first) + 2
        self.label, self.answerable, self.source = label, answerable, source
        kept = [(start + self.first, end + self.first) for start, end in spans if end + self.first < len(self.ids) - 1]
        if answerable == 1 and len(spans) and not kept:
            self.answerable = 0  # The answer is cut off at the end.
        self.spans = kept if self.answerable == 1 else []


class Draws(torch.utils.data.IterableDataset):
    """Endless batches of claims and of questions with several passages, one of which answers."""

    def __init__(self, examples: Examples, weights: dict[str, float], questions: float, negatives: int, hide: float, tokens: int, pool: int, seed: int) -> None:  # fmt: skip
        self.data, self.share, self.negatives, self.hide = examples, questions, negatives, hide
        self.tokens, self.pool, self.seed = tokens, pool, seed
        self.claims, self.claim_weights = self.grouped(examples.claim_source, examples.claim_passage, weights)
        self.questions, self.question_weights = self.grouped(
            examples.question_source, examples.question_passage, weights
        )
        self.same: dict[int, list[int]] = defaultdict(list)
        for rows in self.claims:
            for row in rows:
                self.same[int(examples.claim_passage[row])].append(int(row))

    def grouped(self, sources: numpy.ndarray, passages: numpy.ndarray, weights: dict[str, float]) -> tuple[list, list]:
        """Return the training rows of each source, and how often a source is drawn."""
        training = self.data.parts[passages] == 0
        rows = [numpy.flatnonzero((sources == number) & training) for number in range(len(self.data.sources))]
        rates = [weights.get(name, 1.0) * len(row) for name, row in zip(self.data.sources, rows, strict=True)]
        return rows, rates

    def __iter__(self) -> Iterator[dict[str, numpy.ndarray]]:
        worker = torch.utils.data.get_worker_info()
        self.random = random.Random(1000 * self.seed + (worker.id if worker else 0))
        while True:
            asked = self.share
            units = [self.question() if self.random.random() < asked else [self.claim()] for _ in range(self.pool)]
            for batch in batches(units, self.tokens, self.random):
                yield collate([units[number] for number in batch])

    def pick(self, groups: list, weights: list) -> tuple[int, numpy.ndarray]:
        source = self.random.choices(range(len(groups)), weights)[0]
        return int(self.random.choice(groups[source])), groups[source]

    def claim(self) -> Example:
        row, rows = self.pick(self.claims, self.claim_weights)
        if self.data.claim_label[row] == 0 and self.random.random() < 0.15:
            return self.joined(row, rows)
        number = int(self.data.claim_passage[row])
        passage, _ = self.surround(number, rows, self.data.claim_passage, 90)
        return Example(self.data.claim_ids[row], passage, label=int(self.data.claim_label[row]), source=int(self.data.claim_source[row]))  # fmt: skip

    def joined(self, row: int, rows: numpy.ndarray) -> Example:
        """A supported claim and another one in one sentence: of the same passage, of two passages, or with one of them missing."""
        data, passage = self.data, int(self.data.claim_passage[row])
        near = [other for other in self.same[passage] if other != row]
        other = self.random.choice(near) if near and self.random.random() < 0.5 else int(self.random.choice(rows))
        label, place = int(data.claim_label[other]), int(data.claim_passage[other])
        texts = [data.passages[passage], *([data.passages[place]] if place != passage else [])]
        firsts = [data.claim_ids[row], data.claim_ids[other]]
        words = self.random.choice(AND)
        if label == 0 and (chance := self.random.random()) < 0.35:
            if chance < 0.15 or len(texts) == 1:
                words, label = self.random.choice(CAUSE), LABELS["unsupported"]
            else:
                texts.pop(self.random.randrange(2))
                label = LABELS["unsupported"]
        self.random.shuffle(firsts)
        self.random.shuffle(texts)
        if firsts[0][-1:] == PERIOD:
            firsts[0] = firsts[0][:-1]
        room = (MAX_TOKENS - 3 - min(MAX_FIRST, sum(map(len, firsts)) + 4)) // len(texts)
        if any(len(text) > room for text in texts):  # What supports it might be cut off.
            return Example(data.claim_ids[row], data.passages[passage], label=0, source=int(data.claim_source[row]))
        return Example(numpy.concatenate([firsts[0], words, firsts[1]]), numpy.concatenate(texts), label=label, source=int(data.claim_source[row]))  # fmt: skip

    def question(self) -> list[Example]:
        row, rows = self.pick(self.questions, self.question_weights)
        data = self.data
        ids, number, source = data.question_ids[row], int(data.question_passage[row]), int(data.question_source[row])
        spans = data.spans[row].reshape(-1, 2).astype(numpy.int64)
        passage, shift = self.surround(number, rows, data.question_passage, 120)
        answerable = int(data.answerable[row])  # 2: it tells of what is asked, but does not answer.
        found = [Example(ids, passage, answerable=answerable if answerable < 2 else -1, spans=[(a + shift, b + shift) for a, b in spans.tolist()], source=source)]  # fmt: skip
        if not answerable:
            return found
        others = [int(other) for other in data.others[row] if data.parts[other] == 0]
        self.random.shuffle(others)
        while len(others) < self.negatives:
            others.append(int(data.question_passage[self.random.choice(rows)]))
        for other in others[: self.negatives]:
            if other != number:
                found.append(Example(ids, self.surround(other, rows, data.question_passage, 120, number)[0], answerable=0, source=source))  # fmt: skip
        return found

    def surround(self, number: int, rows: numpy.ndarray, places: numpy.ndarray, longest: int, avoid: int = -1) -> tuple:
        """Return a passage, hidden among others for a share of the draws, and how many tokens stand before it."""
        ids = self.data.passages[number]
        if len(ids) >= longest or self.random.random() >= self.hide:
            return ids, 0
        chosen = [int(places[self.random.choice(rows)]) for _ in range(self.random.randint(1, 3))]
        pieces = [self.data.passages[other][: self.random.randint(40, 130)] for other in chosen if other not in (number, avoid)]  # fmt: skip
        place = self.random.randint(0, len(pieces))
        return numpy.concatenate([*pieces[:place], ids, *pieces[place:]]), sum(map(len, pieces[:place]))


def batches(units: list[list[Example]], tokens: int, shuffle: random.Random | None = None) -> list[list[int]]:
    """Group units of similar length so that a batch has at most ``tokens`` padded tokens; a unit stays whole."""
    sizes = [max(len(example.ids) for example in unit) for unit in units]
    order = sorted(range(len(units)), key=lambda i: (sizes[i] // 16, shuffle.random() if shuffle else i))
    found: list[list[int]] = []
    batch: list[int] = []
    longest = count = 0
    for i in order:
        if batch and max(longest, sizes[i]) * (count + len(units[i])) > tokens:
            found.append(batch)
            batch, longest, count = [], 0, 0
        batch.append(i)
        longest, count = max(longest, sizes[i]), count + len(units[i])
    if batch:
        found.append(batch)
    if shuffle:
        shuffle.shuffle(found)
    return found


def collate(units: list[list[Example]]) -> dict[str, numpy.ndarray]:
    """Return padded arrays; lengths are rounded up to 16. The first of a unit of several is the passage that answers."""
    examples = [example for unit in units for example in unit]
    shape = (len(examples), min(MAX_TOKENS, -(-max(len(example.ids) for example in examples) // 16) * 16))
    ids = numpy.zeros(shape, dtype=numpy.int32)
    starts, ends = numpy.zeros(shape, dtype=bool), numpy.zeros(shape, dtype=bool)
    for row, example in enumerate(examples):
        ids[row, : len(example.ids)] = example.ids
        for start, end in example.spans or [(0, 0)]:
            starts[row, start] = ends[row, end] = True
    numbers = {
        "lengths": [len(example.ids) for example in examples],
        "firsts": [example.first for example in examples],
        "labels": [example.label for example in examples],
        "source": [example.source for example in examples],
        "answerable": [example.answerable for example in examples],
        "spanned": [int(example.answerable == 0 or bool(example.spans)) for example in examples],
        "unit": [number for number, unit in enumerate(units) for _ in unit],
        "ranked": [int(len(unit) > 1) for unit in units for _ in unit],
        "best": [int(place == 0) for unit in units for place, _ in enumerate(unit)],
    }
    arrays = {name: numpy.array(values, dtype=numpy.int64) for name, values in numbers.items()}
    return {"ids": ids, "starts": starts, "ends": ends, **arrays}


def place(arrays: dict[str, numpy.ndarray], device: str) -> dict[str, torch.Tensor]:
    """Move a batch to the device and add mask and segments."""
    batch = {name: torch.from_numpy(array).to(device, non_blocking=True) for name, array in arrays.items()}
    positions = torch.arange(batch["ids"].shape[1], device=device)[None, :]
    batch["mask"] = positions < batch["lengths"][:, None]
    batch["kinds"] = batch["mask"] & (positions >= batch["firsts"][:, None])
    return batch
