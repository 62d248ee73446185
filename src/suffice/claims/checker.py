"""Judge whether texts support claims: by the reader, or by shared words where the reader's files are missing."""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from suffice.answers import Quotation
from suffice.models.reader.model import ReaderModel, find_reader
from suffice.text.blocks import split_blocks
from suffice.text.entities import content_stems, extract_names
from suffice.text.quotations import read_cells
from suffice.text.sentences import Offsets, quotable_spans
from suffice.types import ROW_KINDS, Passage

MAX_TEXT_CHARS = 1_600  # What the reader takes in at once, with a claim of usual length.
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d.,]*(?!\w)")  # Not that of a name such as GW-2.
_WORDS_SUPPORT = 0.8  # The share of a claim's words that a text must have where there is no reader.


class Probabilities(NamedTuple):
    """How likely a text supports a claim, and how likely it contradicts it."""

    supported: float
    contradicted: float


class Checker:
    """Judges pairs of claim and text, many at once. Answers are cached: a claim is checked again after each change."""

    def __init__(self, reader: ReaderModel | None = None, known: Mapping[str, Probabilities] | None = None) -> None:
        """Without a reader the share of common words decides. ``known`` is what ``judged`` was in an earlier run."""
        self._reader = reader
        self._known, self._version = known or {}, str(getattr(reader, "digest", ""))
        self._cache: dict[tuple[str, str], Probabilities] = {}
        self.pairs_read = 0  # By the reader, in this run.
        self.name = "words" if reader is None else "reader"
        self.min_supported, self.min_contradicted = (_WORDS_SUPPORT, 1.0) if reader is None else _load_thresholds()

    async def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[Probabilities]:
        """Return the probabilities of each pair, in order."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._cache]
        if new and self._reader is None:
            self._cache.update((pair, Probabilities(share_words(*pair), 0.0)) for pair in new)
        elif new and self._reader is not None:
            self._cache.update((pair, self._known[key]) for pair in new if (key := self._hash(pair)) in self._known)
            unread = [pair for pair in new if pair not in self._cache]
            rows = (await asyncio.to_thread(self._reader.judge, unread)).tolist() if unread else []
            self._cache.update((pair, Probabilities(row[0], row[1])) for pair, row in zip(unread, rows, strict=True))
            self.pairs_read += len(unread)
        return [self._cache[pair] for pair in pairs]

    @property
    def judged(self) -> dict[str, Probabilities]:
        """What the reader judged, by a hash of reader, claim and text; empty without a reader."""
        return {} if self._reader is None else {self._hash(pair): found for pair, found in self._cache.items()}

    def _hash(self, pair: tuple[str, str]) -> str:
        return hashlib.sha256("\0".join((self._version, *pair)).encode("utf-8", "replace")).hexdigest()[:16]


def default_checker(known: Mapping[str, Probabilities] | None = None) -> Checker:
    """Return the checker with the reader that comes with the package, if its files are there and unchanged."""
    return Checker(find_reader(), known)


@cache
def _load_thresholds() -> tuple[float, float]:
    """Return the probabilities from which on the reader's answer counts; ``python -m bench.claims fit`` stores them."""
    stored = json.loads((files("suffice.claims") / "thresholds.json").read_text(encoding="utf-8"))
    return float(stored["supported"]), float(stored["contradicted"])


def share_words(claim: str, text: str) -> float:
    """Return the share of the claim's content words that a text has."""
    wanted = content_stems(claim)
    return len(wanted & content_stems(text)) / len(wanted) if wanted else 0.0


def list_readable(claim: str, passage: Passage) -> list[Offsets]:
    """Return the sentences of a passage; of a table the rows that can be about the claim."""
    rows = _list_rows(passage)
    dropped = rows.keys() - _choose_rows(claim, passage.title, rows)
    spans = quotable_spans(passage.text, passage.kind)
    return [span for span in spans if span not in dropped]


def read_whole(claim: str, passage: Passage) -> str:
    """Return a passage's text; of a table the rows that can be about the claim, with the names of their columns."""
    rows, text = _list_rows(passage), passage.text
    chosen = _choose_rows(claim, passage.title, rows)
    for start, end in sorted(rows, reverse=True):
        text = text[:start] + (rows[start, end] if (start, end) in chosen else "") + text[end:]
    return text.strip() if rows else text


def _list_rows(passage: Passage) -> dict[Offsets, str]:
    """Return the rows of the passage's tables with the names of their columns; a header, which states nothing, as empty."""
    text, rows = passage.text, dict[Offsets, str]()
    if passage.kind in ROW_KINDS:
        return {span: text[slice(*span)] for span in quotable_spans(text, passage.kind)}
    for block in split_blocks(text, passage.kind):
        if block.format == "table" and block.head is not None:
            cells = {row: read_cells(Quotation(passage, (block.head, row), "table")) for row in block.units}
            rows |= {row: "; ".join(f"{name}: {cell}" for name, cell in own.items()) for row, own in cells.items()}
            rows[block.head] = ""
    return rows


def _choose_rows(claim: str, title: str, rows: Mapping[Offsets, str]) -> set[Offsets]:
    """Return, for each name of the claim, else of all rows, those with most of its words, and those with words that they lack.

    A figure of another row says nothing of what the claim is about. Figures do not tell which row that is: they may be wrong.
    """
    if not rows:
        return set()
    wanted = content_stems(_NUMBER.sub(" ", claim))
    texts = {row: f"{title} {text}".casefold() for row, text in rows.items() if text}
    named = [[row for row in texts if name.casefold() in texts[row]] for name in extract_names(claim)]
    best = set[Offsets]()
    for group in [group for group in named if group] or [list(texts)]:
        held = {row: wanted & content_stems(texts[row]) for row in group}
        while most := max(map(len, held.values()), default=0):
            found = {row: words for row, words in held.items() if len(words) == most}
            held = {row: words.difference(*found.values()) for row, words in held.items()}
            best.update(found)
    return best or set(texts)


def rank_sentences(claim: str, passage: Passage) -> list[tuple[float, Offsets]]:
    """Return the passage's sentences with the share of the claim's words that each has, the highest first."""
    rows, spans = _list_rows(passage), list_readable(claim, passage)
    shares = [(share_words(claim, rows.get(span) or passage.text[slice(*span)]), span) for span in spans]
    return sorted(shares, key=lambda row: (-row[0], row[1]))


def select_text(claim: str, passage: Passage, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Return what the reader reads of a passage: its title and all of it, or of a long one the sentences nearest the claim.

    Each of them comes with the sentences beside it, in the order of the text.
    """
    passage = replace(passage, text=read_whole(claim, passage))
    text, title = passage.text, passage.title.strip()
    if len(text) > max_chars:
        spans = quotable_spans(text, passage.kind)
        places = {span: number for number, span in enumerate(spans)}
        chosen, size = set[int](), 0
        for _, span in rank_sentences(claim, passage):
            for number in range(max(0, places[span] - 1), min(len(spans), places[span] + 2)):
                length = spans[number][1] - spans[number][0]
                if number not in chosen and size + length <= max_chars:
                    chosen.add(number)
                    size += length + 1
            if size >= max_chars * 0.9:
                break
        text = " ".join(text[slice(*spans[number])] for number in sorted(chosen)) or text[:max_chars]
    return text if text.casefold().startswith(title.casefold()) else f"{title}. {text}"
