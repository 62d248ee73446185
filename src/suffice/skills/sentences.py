"""What a run's evidence says, line by line, with handles: what skills without a language model write with."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from suffice.answers import Quotation, Statement
from suffice.memory.evidence import Evidence
from suffice.text.blocks import ITEM_MARKER, TextBlock, split_blocks
from suffice.text.citations import strip_citations
from suffice.text.entities import content_stems
from suffice.text.markdown import escape_markdown, strip_markdown
from suffice.text.quotations import read_cells
from suffice.text.sentences import split_sentences
from suffice.types import ROW_KINDS, Passage

MIN_WORDS = 3  # A shorter sentence is a heading, a caption or a fragment.
MAX_CHARS = 400  # A longer one is a list or a table that lost its layout.
_WORD = re.compile(r"[^\W\d_]{2,}")
# A message of a chat begins with its time in brackets.
_SENTENCE = re.compile(r"(?:\[\d[^\]]*\] )?[\"“'‘(]?[A-ZÀ-ÖØ-Þ\d`].*[.!?…][\"”'’)]*\Z", re.DOTALL)


@dataclass(frozen=True)
class QuotedSentence:
    """A sentence, an item of a list or a row of a table in one line, where it stands, and its passage's handle."""

    text: str
    quotation: Quotation
    handle: str
    heading: str = field(default="", compare=False)
    """The nearest heading above it."""
    paragraph: str = field(default="", compare=False)
    """The text that it is part of; an item or a row stands by itself."""

    @property
    def passage(self) -> Passage:
        return self.quotation.passage

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings above it, that of its document first."""
        return tuple(dict.fromkeys([*self.passage.title.split(" > "), self.heading]))

    @property
    def stems(self) -> frozenset[str]:
        return content_stems(self.text)

    @property
    def statement(self) -> Statement:
        """The sentence as a statement that cites its passage."""
        return Statement(f"{escape_markdown(self.text)} {self.handle}", (self.handle,))


def list_sentences(evidence: Evidence, passages: Iterable[Passage] | None = None) -> Iterator[QuotedSentence]:
    """Yield what the evidence says, each line once, or what some of its passages say."""
    seen: set[str] = set()
    for passage in evidence if passages is None else passages:
        heading = passage.title.split(" > ")[-1]
        for block in _split_blocks(passage):
            around = passage.text[block.start : block.end]
            heading = around if block.is_heading else heading
            for above, text, quotation in _list_lines(passage, block):
                heading = above or heading
                if text and text not in seen:
                    seen.add(text)
                    paragraph = around if block.format == "prose" else text
                    yield QuotedSentence(text, quotation, evidence.get_handle(passage), heading, paragraph)


def _split_blocks(passage: Passage) -> tuple[TextBlock, ...]:
    if passage.kind not in ROW_KINDS or passage.kind == "csv":  # What was counted over all rows of a file has no lines.
        return split_blocks(passage.text, passage.kind) if passage.kind != "csv" or passage.place.lines else ()
    return (TextBlock(0, len(passage.text), "table", ((0, len(passage.text)),)),)


def _list_lines(passage: Passage, block: TextBlock) -> Iterator[tuple[str, str, Quotation]]:
    """Yield the lines of a block: a heading right above, the text in one line, and where it stands."""
    text = passage.text
    width = max(map(len, text[block.start : block.end].splitlines()), default=0)
    for first, last in () if block.is_heading or block.format == "code" else block.units:
        if block.format == "table":
            row = (first, last)
            quotation = Quotation(passage, (block.head, row) if block.head else (row,), "table", (row,))
            cells = read_cells(quotation).items()
            yield "", "; ".join(f"{name}: {value}" if name else value for name, value in cells if value), quotation
            continue
        mark = ITEM_MARKER.match(text, first, last) if block.format == "list" else None
        for start, end in split_sentences(text, mark.end() if mark else first, last):
            column = start - text.rfind("\n", 0, start) - 1
            above, rest = split_heading(text[start:end], width - column) if mark is None else ("", text[start:end])
            said = clean_sentence(rest) or (strip_markdown(rest)[:MAX_CHARS] if mark else "")
            yield above, said, Quotation(passage, ((end - len(rest), end),))


def find_head(text: str) -> str:
    """Return what stands above the first whole sentence: a title, a letterhead, the header of a mail."""
    spans = (span for block in split_blocks(text) for span in split_sentences(text, block.start, block.end))
    return text[: next((start for start, end in spans if clean_sentence(text[start:end])), 0)]


def split_heading(text: str, width: int) -> tuple[str, str]:
    """Return the lines above a sentence and the sentence. Such a line ends although the next word, with a capital, fits.

    >>> split_heading("Price\\nThe mill costs 40 euros.", 24), split_heading("The old mill of\\nAnna Lind burnt.", 16)
    (('Price', 'The mill costs 40 euros.'), ('', 'The old mill of\\nAnna Lind burnt.'))
    """
    above = ""
    while (lines := text.partition("\n"))[1]:
        word = next(iter(lines[2].split()), "")
        if not word[:1].isupper() or len(lines[0]) + 1 + len(word) > width:
            break
        above, text = lines[0], lines[2]
    return above, text


def clean_sentence(text: str) -> str:
    """Return a sentence in one line, without markup and citations; empty if it is not a whole sentence."""
    plain = " ".join(strip_citations(strip_markdown(text)).split())
    if len(plain) > MAX_CHARS or len(_WORD.findall(plain)) < MIN_WORDS or not _SENTENCE.match(plain) or "|" in plain:
        return ""
    return plain
