"""From a text to its claims: each sentence or free-standing clause, where it stands, and the handles behind it.

Headings, code, source lists and table heads state nothing. A claim's ``text`` is an exact stretch of the text; ``said`` is
the same without markup, for comparing. The existence check lives here too: a handle that no source has is dropped and
reported, never shown.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from suffice.claims.checkers.reading import extract_features
from suffice.text.markdown import CITATION, CITATION_OR_ANCHOR, find_prose_blocks, mask_inline_code, strip_markdown
from suffice.text.sentences import Offsets, split_sentences

_LEADING_CITATIONS = re.compile(r"(?:\s*\[\d{1,4}\])+[.,;]?")
_TRAILING_CITATIONS = re.compile(r"(?:\s*\[\d{1,4}\](?:\([^()\s]*\))?)+\s*[.,;:!?]*$")
# What a lenient run writes behind a claim that it keeps; no part of what the claim says.
UNSUPPORTED_MARK = "*(not supported by the sources)*"
CONTRADICTED_MARK = "*(the sources say otherwise)*"
_NON_TEXT = re.compile(
    rf"{re.escape(UNSUPPORTED_MARK)}|{re.escape(CONTRADICTED_MARK)}|"
    r"(?<!\\)\[[^\[\]\n:]{1,40}:[^\[\]\n]{1,60}\](?!\()|"  # Anchors such as [THESIS:MSFT:long] mark a claim, as citations do.
    r"(?<!\\)!?\[(?P<label>[^\[\]]*)\]\([^()\s]*\)|(?<!\\)\[\^[\w-]+\]|(?<!\\)</?[A-Za-z][^<>]*>|【[^】]*】"
)
_QUOTE_MARK = re.compile(r"\n[ \t]*(?:>[ \t]*)+")
# Two clauses stand alone when the second brings its own subject (a name, or a noun with an article) and verb.
_CLAUSE_JOINT = re.compile(r"(?P<semicolon>;\s+)|,\s+(?:and|but|while|whereas)\s+")
_SUBJECT = re.compile(r"(?:[Tt]he|[Aa]n?|[Tt]hese|[Tt]hose|[Ee]ach|[Ee]very)\s+[\w-]+\s+\w|[A-Z][\w.'’-]*\s+\w")
_VERB = re.compile(
    r"(?:is|are|was|were|has|have|had|does|do|did|can|could|may|might|must|shall|will|would|became|began|came|gave|got|grew|held"
    r"|kept|knew|led|left|lost|made|met|rose|fell|ran|said|saw|sold|sent|spent|stood|took|went|won|wrote|built|bought"
    r"|lies|lives|uses|holds|takes|makes|gives|returns|contains|remains|\w{3,}ed)$"
)
# Said in front of a claim and no part of it.
_LEAD_IN = re.compile(
    r"^(?:please )?(?:(?:note|remember|keep in mind|bear in mind|recall)(?: also)?,? that"
    r"|it (?:should|must) (?:also )?be noted that"
    r"|it is (?:also )?(?:worth noting|worth mentioning|important to note|notable|clear|well known) that)\s+",
    re.IGNORECASE,
)
_QUESTION_END = re.compile(r"\?[\"'”’)\]*_]*$")
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
    """A claim of a text: its exact stretch, where that stands, and the handles behind it.

    ``whole`` is its stretch with citations and full stop; ``sentence`` that of the sentence it is, or is a clause of.
    """

    text: str
    plain_text: str
    start: int
    full_span: Offsets
    handles: tuple[str, ...]
    sentence_span: Offsets

    @property
    def skip_reason(self) -> str:
        """Why nothing can be held against the sources here; empty for a claim that can be checked."""
        if _QUESTION_END.search(self.text):
            return "a question"
        if _COLON_END.search(self.text):
            return "it introduces what follows"
        reading = extract_features(self.plain_text)
        if not (self.handles or reading.numbers):  # Whoever cites a source or gives a figure states something.
            if _OPINION.search(self.plain_text) or _INSTRUCTION.search(self.plain_text):
                return "advice or opinion"
            if _META_STATEMENT.search(self.plain_text):
                return "it speaks of the search itself"
        cited_figure = bool(self.handles and reading.numbers)
        if len(reading.stems) + len(reading.numbers) < 2 and not cited_figure:
            return "it says too little to be checked"
        return ""


def drop_unknown_citations(markdown: str, resolve: Callable[[str], str | None]) -> tuple[str, list[str]]:
    """The text with each citation as its source's handle, without those that nobody gave out, and those."""
    invented: list[str] = []

    def keep(match: re.Match[str]) -> str:
        if (handle := resolve(match.group())) is not None:
            return handle
        invented.append(match.group())
        return ""

    cleaned = CITATION_OR_ANCHOR.sub(keep, markdown)
    return (re.sub(r"[ \t]+([.,;:!?])", r"\1", cleaned) if invented else cleaned), list(dict.fromkeys(invented))


def extract_claims(markdown: str, skip_asides: bool = True) -> Iterator[ClaimText]:
    """The claims of a text in reading order; ``asides``: it may have sections that state nothing, such as a list of sources."""
    for start, end in find_prose_blocks(markdown, skip_asides):
        yield from _extract_block_claims(markdown[start:end], start)


def strip_claim_markup(stretch: str) -> str:
    """The words of a stretch of Markdown: no citations, links or markup."""
    text = _QUOTE_MARK.sub(_blank_quote_marker, stretch)
    pieces, position = [], 0
    for match in _NON_TEXT.finditer(mask_inline_code(text)):
        label = match["label"] or ""
        pieces += [text[position : match.start()], "" if label.strip().isdecimal() else label]
        position = match.end()
    return strip_markdown("".join([*pieces, text[position:]]).replace("\n", " "))


def _extract_block_claims(block: str, offset: int) -> Iterator[ClaimText]:
    """Claims of one block; citations that stand behind a full stop belong to the sentence before it."""
    blotted = _QUOTE_MARK.sub(_blank_quote_marker, mask_inline_code(block))
    wholes: list[Offsets] = []
    for start, end in split_sentences(blotted):
        leading = _LEADING_CITATIONS.match(block, start, end)
        if wholes and leading:
            wholes[-1] = wholes[-1][0], leading.end()
            start = end - len(block[leading.end() : end].lstrip())
        if any(character.isalnum() for character in block[start:end]):
            wholes.append((start, end))
    for start, end in wholes:
        cited = _find_handles(block[start:end])
        for clause in _split_clauses(blotted, start, end):
            yield from _build_claim_text(block, clause, (start, end), offset, cited)


def _blank_quote_marker(match: re.Match[str]) -> str:
    return "\n" + " " * (len(match.group()) - 1)


def _build_claim_text(
    block: str, clause: Offsets, sentence: Offsets, offset: int, cited: tuple[str, ...]
) -> Iterator[ClaimText]:
    """``cited``: the handles of the whole sentence, for a clause that has none of its own."""
    start, end = clause
    handles = _find_handles(block[start:end]) or cited
    while trailing := _TRAILING_CITATIONS.search(block, start, end):
        end = trailing.start()
    said = _LEAD_IN.sub("", strip_claim_markup(block[start:end]))
    if any(character.isalnum() for character in said):
        whole, around = ((offset + first, offset + last) for first, last in (clause, sentence))
        yield ClaimText(block[start:end], said, offset + start, whole, handles, around)


def _find_handles(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match.group() for match in CITATION.finditer(text)))


def _split_clauses(text: str, start: int, end: int) -> list[Offsets]:
    """The sentence, or its coordinated clauses where each stands alone."""
    found: list[Offsets] = []
    begin = start
    for joint in _CLAUSE_JOINT.finditer(text, start, end):
        if _is_independent_clause(text[begin : joint.start()]) and _is_independent_clause(text[joint.end() : end]):
            found.append((begin, joint.start()))
            begin = joint.end()
    return [*found, (begin, end)]


def _is_independent_clause(clause: str) -> bool:
    clause = re.sub(r"\s*\[\d{1,4}\]", "", clause)
    subject = _SUBJECT.match(clause)
    return bool(
        subject
        and len(clause.split()) >= 4
        and any(_VERB.match(word) for word in re.findall(r"[\w']+", clause)[1:6])
        and not re.search(
            r"\b(?:if|whether|unless|that|because|although|though|when|both|either|neither)\b", clause, re.I
        )
    )
