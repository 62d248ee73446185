"""Split a text into its claims: each sentence or independent clause, with its offsets and the handles it cites.

Headings, code, source lists and table heads make no claims. This module also drops and reports citations
of sources that the run does not have.
"""

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from suffice.claims.checkers.features import IRREGULAR_VERBS, extract_features
from suffice.text.citations import (
    REFERENCE_MARK,
    list_handles,
    replace_citations,
    skip_citations,
    strip_citations,
    trailing_citations_start,
)
from suffice.text.markdown import find_prose_blocks, mask_inline_code, mask_quote_markers, strip_markdown
from suffice.text.quoting import format_title
from suffice.text.sentences import Offsets, split_sentences

# Written after a claim that a lenient run keeps; not part of the claim.
UNSUPPORTED_MARK = "*(not supported by the sources)*"
CONTRADICTED_MARK = "*(the sources say otherwise)*"
_NON_TEXT = re.compile(
    rf"{re.escape(UNSUPPORTED_MARK)}|{re.escape(CONTRADICTED_MARK)}|{REFERENCE_MARK}"
    r"|(?<!\\)!?\[(?P<label>[^\[\]]*)\]\([^()\s]*\)|(?<!\\)</?[A-Za-z][^<>]*>"
)
_TAG = r"</?(?!https?:)[A-Za-z][^<>]*>"
_TAGS, _LAST_TAG = re.compile(rf"(?:{_TAG}\s*)+"), re.compile(rf"\s*{_TAG}$")
# Two clauses are independent when the second has its own subject (a name, or a noun with an article) and verb.
_CLAUSE_JOINT = re.compile(r"(?P<semicolon>;\s+)|,\s+(?:and|but|while|whereas)\s+")
_SUBJECT = re.compile(r"(?:[Tt]he|[Aa]n?|[Tt]hese|[Tt]hose|[Ee]ach|[Ee]very)\s+[\w-]+\s+\w|[A-Z][\w.'’-]*\s+\w")
_VERB = re.compile(
    r"(?:is|are|was|were|has|have|had|does|do|did|can|could|may|might|must|shall|will|would"
    rf"|lies|lives|uses|holds|takes|makes|gives|returns|contains|remains|{'|'.join(IRREGULAR_VERBS)}|\w{{3,}}ed)$"
)
# Words that introduce a claim and are not part of it.
_LEAD_IN = re.compile(
    r"^(?:please )?(?:(?:note|remember|keep in mind|bear in mind|recall)(?: also)?,? that"
    r"|(?:(?:short|final|direct|the) )?answer\s*:"
    r"|it (?:should|must) (?:also )?be noted that"
    r"|it is (?:also )?(?:worth noting|worth mentioning|important to note|notable|clear|well known) that)\s+",
    re.IGNORECASE,
)
_QUOTATION = re.compile(r"(?:^[ \t]*>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_EXCERPT_HEADING = re.compile(r"#{2,3} (?:\d+\. )?(?P<title>.*?)(?: · `[^`]*`)?")
_QUESTION_END = re.compile(r"\?[\"'”’)\]*_]*$")
_ADDRESS = re.compile(r"https?://\S+")
_COLON_END = re.compile(r":[*_]*$")
_OPINION = re.compile(
    r"\b(?:I|we)\s+(?:think|believe|feel|hope|guess|recommend|suggest|suspect)\b|\bin (?:my|our) (?:opinion|view)\b"
    r"|\b(?:should|ought to|please)\b|\blet(?:'s|’s| us)\b",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"^(?:use|run|install|see|note|consider|make sure|click|open|add|check|ensure|try|avoid|remember|call|keep|read|write"
    r"|choose|do not|don't|never)\s+(?!(?:is|was|are|were|has|had)\b)",
    re.IGNORECASE,
)
_META_STATEMENT = re.compile(
    r"\bthis (?:answer|search|report|summary) (?:is|was|may|might|does|can|could|cannot|covers|draws|relies|rests)\b"
    r"|\bsearch(?:es)? (?:was|were) limited\b"
    r"|\b(?:sources?|evidence|documents?|passages?|notes?)\b.{0,60}\b(?:do|does|did|is|are|was|were) not\b"
    r"|\b(?:no|none of the) (?:sources?|evidence|documents?|passages?|information)\b"
    r"|\b(?:is|are|remains?) (?:not known|unknown|unclear)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ClaimText:
    """A claim as it stands in a text."""

    text: str
    """The exact words, without trailing citations and punctuation."""
    plain_text: str
    """The words without markup, for comparing."""
    full_span: Offsets
    """Offsets of the claim with its citations and full stop."""
    handles: tuple[str, ...]
    """The handles that the claim cites."""
    sentence_span: Offsets
    """Offsets of the sentence that the claim is, or is a clause of."""

    @property
    def skip_reason(self) -> str:
        """Why the claim cannot be checked against sources; empty for a claim that can."""
        if _QUESTION_END.search(self.text):
            return "a question"
        if _COLON_END.search(self.text):
            return "it introduces what follows"
        features = extract_features(self.plain_text)
        if not (self.handles or features.numbers):  # A citation or a number makes any sentence a statement.
            if _OPINION.search(self.plain_text) or _INSTRUCTION.search(self.plain_text):
                return "advice or opinion"
            if _META_STATEMENT.search(self.plain_text):
                return "it is about the search itself"
        has_cited_number = bool(self.handles and features.numbers)
        if len(features.stems) + len(features.numbers) < 2 and not has_cited_number:
            return "it says too little to be checked"
        return ""


def extract_claims(
    markdown: str, skip_asides: bool = True, titles: Collection[str] = frozenset()
) -> Iterator[ClaimText]:
    """Yield the claims of a text in reading order.

    ``skip_asides`` leaves out sections that make no claims, such as a list of sources. ``titles`` are the titles of the
    excerpts that the text quotes: above an excerpt they say where it stands, also where they read like a statement.
    """
    quotations = _find_quotations(markdown)
    headings = {format_title(title) for title in titles}
    for start, end in find_prose_blocks(markdown, skip_asides):
        if headings and _parse_excerpt_heading(markdown, start) in headings:
            continue
        handles = next((cited for first, last, cited in quotations if first <= start < last), ())
        yield from _extract_block_claims(markdown[start:end], start, handles)


def _parse_excerpt_heading(markdown: str, position: int) -> str | None:
    """Return the title in the heading of an excerpt at an offset; ``None`` where the line is no such heading."""
    line_end = markdown.find("\n", position)
    line = markdown[markdown.rfind("\n", 0, position) + 1 : line_end if line_end >= 0 else None]
    heading = _EXCERPT_HEADING.fullmatch(line.rstrip())
    return heading["title"] if heading else None


def _find_quotations(markdown: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return each block quotation that ends with citations, with the handles: they are the source of all its sentences."""
    found = []
    for match in _QUOTATION.finditer(markdown):
        cut = trailing_citations_start(match.group().rstrip())
        if handles := list_handles(match.group()[cut:]):
            found.append((match.start(), match.end(), handles))
    return found


def drop_unknown_citations(markdown: str, resolve: Callable[[str], str | None]) -> tuple[str, list[str]]:
    """Return the text with each citation as ``resolve`` gives it, and the citations that it does not know.

    Unknown citations are removed from the text.
    """
    unknown: list[str] = []

    def replace(citation: str) -> str:
        if (handle := resolve(citation)) is not None:
            return handle
        unknown.append(citation)
        return ""

    cleaned = replace_citations(markdown, replace, anchors=True)
    return (re.sub(r"[ \t]+([.,;:!?])", r"\1", cleaned) if unknown else cleaned), list(dict.fromkeys(unknown))


def strip_claim_markup(markdown: str) -> str:
    """Return the words of a claim: no citations, links or markup."""
    text = mask_quote_markers(markdown)
    pieces, position = [], 0
    for match in _NON_TEXT.finditer(mask_inline_code(text)):
        label = match["label"] or ""
        pieces += [text[position : match.start()], "" if label.strip().isdecimal() else label]
        position = match.end()
    return strip_markdown("".join([*pieces, text[position:]]).replace("\n", " "))


def _extract_block_claims(block: str, offset: int, quoted: tuple[str, ...] = ()) -> Iterator[ClaimText]:
    """Yield the claims of one block. Citations after a full stop belong to the sentence before it.

    ``quoted`` are the handles of the quotation that the block is part of.
    """
    masked = mask_quote_markers(mask_inline_code(block))
    sentences: list[Offsets] = []
    for start, end in split_sentences(masked):
        after = skip_citations(block, start, end)
        if sentences and after > start:
            after += after < end and block[after] in ".,;"
            sentences[-1] = sentences[-1][0], after
            start = end - len(block[after:end].lstrip())
        start, end = _trim_tags(masked, start, end)
        if any(map(str.isalnum, block[start:end])):
            sentences.append((start, end))
    for start, end in sentences:
        handles = list_handles(block[start:end]) or quoted
        for clause in _split_clauses(masked, start, end):
            yield from _build_claim_text(block, clause, (start, end), offset, handles)


def _trim_tags(text: str, start: int, end: int) -> Offsets:
    """Return the offsets without the HTML tags around a sentence, which stay where they are when it is removed."""
    if opening := _TAGS.match(text, start, end):
        start = opening.end()
    while end > start and text[end - 1] == ">" and (closing := _LAST_TAG.search(text, start, end)):
        end = closing.start()
    return start, end


def _build_claim_text(
    block: str, clause: Offsets, sentence: Offsets, offset: int, sentence_handles: tuple[str, ...]
) -> Iterator[ClaimText]:
    """Yield the claim of a clause, if it has words; an address has none. Without handles of its own it has those of its
    sentence."""
    start, end = clause
    handles = list_handles(block[start:end]) or sentence_handles
    while (cut := trailing_citations_start(block, start, end, punctuation=".,;:!?")) < end:
        end = cut
    plain_text = _LEAD_IN.sub("", strip_claim_markup(block[start:end]))
    if any(map(str.isalnum, _ADDRESS.sub("", plain_text))):
        full_span, sentence_span = ((offset + first, offset + last) for first, last in (clause, sentence))
        yield ClaimText(block[start:end], plain_text, full_span, handles, sentence_span)


def _split_clauses(text: str, start: int, end: int) -> list[Offsets]:
    """Return the sentence, or its coordinated clauses where each is independent."""
    found: list[Offsets] = []
    begin = start
    for joint in _CLAUSE_JOINT.finditer(text, start, end):
        if _is_independent_clause(text[begin : joint.start()]) and _is_independent_clause(text[joint.end() : end]):
            found.append((begin, joint.start()))
            begin = joint.end()
    return [*found, (begin, end)]


def _is_independent_clause(clause: str) -> bool:
    clause = strip_citations(clause)
    return bool(
        _SUBJECT.match(clause)
        and len(clause.split()) >= 4
        and any(_VERB.match(word) for word in re.findall(r"[\w']+", clause)[1:6])
        and not re.search(
            r"\b(?:if|whether|unless|that|because|although|though|when|both|either|neither)\b", clause, re.I
        )
    )
