"""Split a text into its claims: each sentence, with its offsets and the handles it cites.

Headings, code, source lists and table heads make no claims.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from suffice.text.citations import REFERENCE_MARK, list_handles, split_cited_sentences, trailing_citations_start
from suffice.text.markdown import find_prose_blocks, mask_inline_code, mask_quote_markers, strip_markdown
from suffice.text.plain import replace_spans
from suffice.text.sentences import Offsets

# Written after a claim that a lenient run keeps; not part of the claim.
UNSUPPORTED_MARK = "*(unsupported)*"
CONTRADICTED_MARK = "*(contradicted)*"
_NON_TEXT = re.compile(
    rf"{re.escape(UNSUPPORTED_MARK)}|{re.escape(CONTRADICTED_MARK)}|{REFERENCE_MARK}"
    r"|(?<!\\)!?\[(?P<label>[^\[\]]*)\]\([^()\s]*\)|(?<!\\)</?[A-Za-z][^<>]*>"
)
_TAG = r"</?(?!https?:)[A-Za-z][^<>]*>"
_TAGS, _LAST_TAG = re.compile(rf"(?:{_TAG}\s*)+"), re.compile(rf"(?:(?<!\s)\s++)?{_TAG}$")
_QUOTATION = re.compile(r"(?:^[ \t]*>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_ADDRESS = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class ClaimText:
    """A sentence of a text that states something."""

    text: str
    """The exact words, without trailing citations and punctuation."""
    span: Offsets
    """Offsets of the sentence with its citations and full stop."""
    handles: tuple[str, ...]
    """The handles that the sentence cites."""


def extract_claims(markdown: str) -> Iterator[ClaimText]:
    """Yield the claims of a text in reading order. Sections that make none, such as a list of sources, are left out."""
    quotations = _find_quotations(markdown)
    for start, end in find_prose_blocks(markdown):
        handles = next((cited for first, last, cited in quotations if first <= start < last), ())
        yield from _extract_block_claims(markdown[start:end], start, handles)


def _find_quotations(markdown: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return each block quotation that ends with citations, with the handles: they are the source of all its sentences."""
    found = []
    for match in _QUOTATION.finditer(markdown):
        cut = trailing_citations_start(match.group().rstrip())
        if handles := list_handles(match.group()[cut:]):
            found.append((match.start(), match.end(), handles))
    return found


@lru_cache(maxsize=2048)
def strip_claim_markup(markdown: str) -> str:
    """Return the words of a claim: no citations, links or markup."""
    text = mask_quote_markers(markdown)
    spans = []
    for match in _NON_TEXT.finditer(mask_inline_code(text)):
        label = text[slice(*match.span("label"))] if match["label"] else ""
        spans.append((*match.span(), "" if label.strip().isdecimal() else label))
    return strip_markdown(replace_spans(text, spans).replace("\n", " "))


def _extract_block_claims(block: str, offset: int, quoted: tuple[str, ...] = ()) -> Iterator[ClaimText]:
    """Yield the claims of one block. ``quoted`` are the handles of the quotation that the block is part of."""
    masked = mask_quote_markers(mask_inline_code(block))
    for sentence in split_cited_sentences(block, masked):
        start, end = _trim_tags(masked, *sentence)
        handles, cut = list_handles(block[start:end]) or quoted, end
        while (earlier := trailing_citations_start(block, start, cut, punctuation=".,;:!?")) < cut:
            cut = earlier
        text = block[start:cut]
        if any(map(str.isalnum, _ADDRESS.sub("", strip_claim_markup(text)))):  # An address alone states nothing.
            yield ClaimText(text, (offset + start, offset + end), handles)


def _trim_tags(text: str, start: int, end: int) -> Offsets:
    """Return the offsets without the HTML tags around a sentence, which stay where they are when it is removed."""
    if opening := _TAGS.match(text, start, end):
        start = opening.end()
    while end > start and text[end - 1] == ">" and (closing := _LAST_TAG.search(text, start, end)):
        end = closing.start()
    return start, end
