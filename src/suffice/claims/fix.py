"""Apply verdicts to a text: keep, cite, mark, replace or remove each claim, and leave everything else as it is.

    supported by its citation ─▶ stays, byte for byte
    supported by another source ─▶ gets that citation
    neither, but a source has a near sentence about the same subject ─▶ is replaced by it
    else ─▶ is removed, together with the sentences whose "he" or "it" referred to it

A lenient fix marks the claims of the last two cases instead.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from itertools import groupby

from suffice.claims.checkers.features import SentenceFeatures, extract_features
from suffice.claims.split import CONTRADICTED_MARK, UNSUPPORTED_MARK, strip_claim_markup
from suffice.claims.verdict import ClaimVerdict, Quote
from suffice.text.citations import trailing_citations_start
from suffice.text.markdown import drop_empty_headings, escape_markdown, find_headings
from suffice.text.sentences import Offsets
from suffice.types import Passage

_MIN_REPLACEMENT_OVERLAP = 0.7  # A quote that shares this much with a claim may replace it.
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]*_]*(?:\[\^[\w-]+\])*$")
_BLOCK_OPENING = re.compile(r"\A(?=#|>|\||```|~~~|[-*+]\s)|\A\d+(?=[.)]\s)")
_UNDERLINE = re.compile(r"\A {0,3}(?:=+|-+)[ \t]*(?:\r?\n|\Z)")
_SPACES = re.compile(r"[ \t]*")
# A sentence that says something about the subject of the one before it, also after a time or a place: "In 1924 she …".
_PERSON = r"(?P<person>he|she|his|her)"
_PRONOUN_OPENING = re.compile(
    r"\W*(?:(?:(?:in|on|at|by|since|until|during) (?:[\w’'-]+,? ){1,4}?|(?-i:After|Before) (?:(?-i:[a-z\d]+),? ){1,4}?"
    r"|(?:later|then|today|also|soon|finally|however|meanwhile|afterwards),? )?"
    rf"(?:{_PERSON}|it|they|its|their)|this|these|those|such|that (?:is|was|year)|both (?:of|are|were|have|had)"
    r"|the (?:former|latter))\b",
    re.I,
)
# "It" refers to what follows: "It is possible to …".
_EXPLETIVE = re.compile(r"\W*it (?:is|was|will be|may be|can be|has been)(?: \w+){1,3}? (?:to|that)\b", re.I)


@dataclass(frozen=True, slots=True)
class FixRules:
    """How claims are fixed."""

    cite: Callable[[Passage], str]
    """Returns the citation of a passage, such as ``[3]``; empty where the text has no citations."""
    strict: bool = True
    """Whether an unsupported claim is replaced or removed; otherwise it is marked."""
    require_citation: bool = True
    """Whether a supported claim must cite its source."""
    allow_replacement: bool = True


@dataclass(frozen=True, slots=True)
class FixedText:
    """A fixed text, and the verdicts on the claims that were removed from it or replaced by a quote."""

    text: str
    removed: tuple[ClaimVerdict, ...] = ()
    replaced: tuple[tuple[ClaimVerdict, Quote], ...] = ()


def apply_fixes(text: str, verdicts: Sequence[ClaimVerdict], rules: FixRules) -> FixedText:
    """Return the text with each claim fixed. ``verdicts`` are in reading order."""
    sentences = [(span, list(own)) for span, own in groupby(verdicts, key=lambda one: one.claim.sentence_span)]
    heading_starts = [heading.start for heading in find_headings(text)]
    fixes: list[tuple[Offsets, str | None]] = []
    removed: list[ClaimVerdict] = []
    replaced: list[tuple[ClaimVerdict, Quote]] = []
    rewritten: list[str] = []
    removed_subject, section = "", -1  # The sentence that a pronoun may refer to, if it is gone.
    for span, own in sentences:
        above = bisect_right(heading_starts, span[0])
        if above != section:  # Below a new heading a pronoun refers to nothing above it.
            removed_subject, section = "", above
        pronoun = _find_reference(text[span[0] : span[1]])
        if pronoun and removed_subject and (not pronoun["person"] or _has_name(removed_subject)):
            fixes.append((span, ""))
            removed += own
            continue
        fix = _fix_sentence(text, own, rewritten, rules, removed, replaced)
        fixes.append((span, fix))
        rewritten += [fix] if fix else []
        if not pronoun:
            removed_subject = text[span[0] : span[1]] if fix == "" else ""
    fixed = _replace_sentences(text, fixes)
    if removed:
        empty = Counter(_list_headings(text)) - Counter(_list_headings(drop_empty_headings(text)))
        fixed = drop_empty_headings(fixed, keep=empty).strip("\r\n")
        if fixed:
            fixed = text[: len(text) - len(text.lstrip("\r\n"))] + fixed + text[len(text.rstrip("\r\n")) :]
    return FixedText(fixed, tuple(removed), tuple(replaced))


def _list_headings(text: str) -> list[str]:
    return [text[heading.start : heading.body_start].strip() for heading in find_headings(text)]


def _fix_sentence(
    text: str,
    verdicts: Sequence[ClaimVerdict],
    rewritten: Sequence[str],
    rules: FixRules,
    removed: list[ClaimVerdict],
    replaced: list[tuple[ClaimVerdict, Quote]],
) -> str | None:
    """Return what takes the place of a sentence: ``None`` keeps it, an empty text removes it.

    A quote that the text or a sentence that was ``rewritten`` already has is not repeated.
    """
    if all(_is_acceptable(verdict, rules) for verdict in verdicts):
        return None
    pieces = []
    for verdict in verdicts:
        claim = verdict.claim
        original = text[claim.full_span[0] : claim.full_span[1]].strip()
        support = (verdict.uncited_support,) if verdict.uncited_support is not None else verdict.supporting
        if _is_acceptable(verdict, rules):
            pieces.append(_to_sentence(original))
        elif support:
            needed = support if verdict.is_joint else support[:1]
            pieces.append(
                " ".join(filter(None, (_to_sentence(claim.text), *(rules.cite(one.passage) for one in needed))))
            )
        elif not rules.strict:
            mark = CONTRADICTED_MARK if verdict.support == "contradicted" else UNSUPPORTED_MARK
            pieces.append(f"{_to_sentence(original)} {mark}")
        elif (quote := _find_replacement(verdict, rules)) and not any(
            _format_quote(quote, rules) in present for present in (text, *rewritten)
        ):
            pieces.append(_format_quote(quote, rules))
            replaced.append((verdict, quote))
        else:
            removed.append(verdict)
    return " ".join(pieces)


def _is_acceptable(verdict: ClaimVerdict, rules: FixRules) -> bool:
    is_cited = bool(verdict.claim.handles) or not rules.require_citation
    return verdict.support == "unknown" or (verdict.support == "supported" and is_cited)


def _find_replacement(verdict: ClaimVerdict, rules: FixRules) -> Quote | None:
    quote = next(iter(verdict.contradicting), verdict.nearest)
    if not rules.allow_replacement or quote is None or quote.passage.kind == "code":
        return None
    if quote.span.overlap < _MIN_REPLACEMENT_OVERLAP:
        return None
    return quote if _has_same_subject(verdict.claim.plain_text, quote) else None


def _has_same_subject(claim: str, quote: Quote) -> bool:
    """Whether claim and quote name the same thing first. The title of the passage counts as named in the quote.

    A quote that begins with a pronoun needs a sentence before it that names its subject, as a claim that does so has.
    """
    if _PRONOUN_OPENING.match(quote.text) and not _PRONOUN_OPENING.match(claim):
        return False
    ours, theirs = extract_features(claim), extract_features(" ".join(quote.text.split()))
    title = extract_features(quote.passage.title).stems
    our_name = _first_name(ours, ours.names | set(ours.possible_name.split()))
    their_name = "" if _PRONOUN_OPENING.match(quote.text) else _first_name(theirs, theirs.names)
    return (not our_name or our_name in theirs.stems | title) and (not their_name or their_name in ours.stems | title)


def _first_name(features: SentenceFeatures, names: Set[str]) -> str:
    return next((token.stem for token in features.tokens if token.stem in names), "")


def _format_quote(quote: Quote, rules: FixRules) -> str:
    return f"{escape_markdown(' '.join(quote.text.split()))} {rules.cite(quote.passage)}".rstrip()


def _find_reference(sentence: str) -> re.Match[str] | None:
    """Return the pronoun that refers to the sentence before; ``None`` when there is none."""
    return None if _EXPLETIVE.match(sentence) else _PRONOUN_OPENING.match(sentence)


def _has_name(sentence: str) -> bool:
    features = extract_features(strip_claim_markup(sentence))
    return bool(features.names or features.possible_name)


def _to_sentence(text: str) -> str:
    """Return a clause as a sentence: with a capital letter and a full stop before its citations."""
    text = text.strip().rstrip(",;")
    cut = trailing_citations_start(text)
    body, citations = text[:cut], text[cut:]
    if not _SENTENCE_END.search(body):
        body += "."
    return body[:1].upper() + body[1:] + citations


def _replace_sentences(text: str, fixes: Sequence[tuple[Offsets, str | None]]) -> str:
    """Return the text with each sentence replaced by its fix: ``None`` keeps it, an empty one removes it.

    The last sentence is replaced first and nothing before it is touched but white space, so that all offsets stay right.
    """
    original = text
    stays_after, next_start = False, len(text)  # Whether a sentence that stays follows on the same line.
    for number, ((start, end), fix) in reversed(list(enumerate(fixes))):
        stays_after = stays_after and "\n" not in original[end:next_start]
        if fix == "":
            line_start = original.rfind("\n", 0, start) + 1
            first = number  # The first sentence that ends on this line or after it.
            while first and fixes[first - 1][0][1] > line_start:
                first -= 1
            on_line = fixes[first:number]
            stays_before = any(other != "" for _, other in on_line)
            is_shared = any(span[0] < line_start for span, _ in on_line)  # One that is removed later.
            text = _remove_span(text, start, end, keep_line=stays_before or stays_after or is_shared)
        else:
            text = text if fix is None else text[:start] + fix + text[end:]
            stays_after = True
        next_start = start
    return text


def _remove_span(text: str, start: int, end: int, *, keep_line: bool) -> str:
    """Return the text without a span. Unless ``keep_line``, a line that has no words left goes with it."""
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    last = len(text) if last < 0 else last
    if keep_line or any(map(str.isalpha, text[first:start] + text[end:last])):
        before, after = text[:start], text[end:]
        if not text[end:last].strip():
            return before.rstrip(" ") + after.lstrip(" ")
        after = after.lstrip(" ") if not before or before[-1].isspace() or before[-1] == ">" else after
        if start == first:  # What stood inside a line does not become a heading, a list item, a quotation or a fence.
            after = _BLOCK_OPENING.sub(lambda match: f"{match[0]}\\", after, count=1)
        return before + after
    before, after = text[:first], text[last + 1 :]
    if not text[first:start].strip():  # A line without a marker that was underlined is a heading.
        after = _UNDERLINE.sub("", after, count=1)
    cut = len(before.rstrip())
    kept = before[: cut + len(_SPACES.match(before, cut)[0])] if cut else ""  # type: ignore[index]
    rest = after.lstrip("\r\n")
    gap = before[len(kept) :] + after[: len(after) - len(rest)]
    return kept + ("\r\n" if "\r\n" in gap else "\n") * min(2, gap.count("\n")) + rest
