"""The sentences of a run's evidence, with their handles: what skills without a language model write with."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from suffice.answers import Statement
from suffice.memory.evidence import Evidence
from suffice.text.blocks import split_blocks
from suffice.text.citations import strip_citations
from suffice.text.entities import content_stems
from suffice.text.markdown import escape_markdown, strip_markdown
from suffice.text.sentences import split_sentences
from suffice.types import Passage

MIN_WORDS = 3  # A shorter sentence is a heading, a caption or a fragment.
MAX_CHARS = 400  # A longer one is a list or a table that lost its layout.
_WORD = re.compile(r"[^\W\d_]{2,}")
# A message of a chat begins with its time in brackets.
_SENTENCE = re.compile(r"(?:\[\d[^\]]*\] )?[\"“'‘(]?[A-ZÀ-ÖØ-Þ\d`].*[.!?…][\"”'’)]*\Z", re.DOTALL)


@dataclass(frozen=True)
class QuotedSentence:
    """A sentence of a source in one line, its passage, the passage's handle, and the nearest heading above it."""

    text: str
    passage: Passage
    handle: str
    heading: str = field(default="", compare=False)

    @property
    def stems(self) -> frozenset[str]:
        return content_stems(self.text)

    @property
    def statement(self) -> Statement:
        """The sentence as a statement that cites its passage."""
        return Statement(f"{escape_markdown(self.text)} {self.handle}", (self.handle,))


def list_sentences(evidence: Evidence, passages: Iterable[Passage] | None = None) -> Iterator[QuotedSentence]:
    """Yield the whole sentences of the evidence, each once, or those of some of its passages."""
    seen: set[str] = set()
    for passage in evidence if passages is None else passages:
        heading = passage.title.split(" > ")[-1]
        for block in split_blocks(passage.text, passage.kind):
            if block.is_heading:
                heading = passage.text[block.start : block.end]
            elif block.format != "code":
                width = max(map(len, passage.text[block.start : block.end].splitlines()), default=0)
                for start, end in split_sentences(passage.text, block.start, block.end):
                    column = start - passage.text.rfind("\n", 0, start) - 1
                    above, rest = split_heading(passage.text[start:end], width - column)
                    heading, text = above or heading, clean_sentence(rest)
                    if text and text not in seen:
                        seen.add(text)
                        yield QuotedSentence(text, passage, evidence.get_handle(passage), heading)


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
