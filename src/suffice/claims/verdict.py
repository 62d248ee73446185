"""Judge one claim against passages: supported, contradicted, unsupported or unknown, with exact quotes.

A claim that cites sources is judged by those sources. Support from another source is reported, but does not make the citation
right. A claim that cites nothing is judged by the passages that match it best. Passages are first judged one by one; where none
supports the claim, and none that has all its names and numbers contradicts it, they are judged together.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from suffice.claims.checkers import Checker, EvidenceSpan
from suffice.claims.checkers.base import Stance
from suffice.claims.checkers.features import SentenceFeatures, extract_features
from suffice.claims.checkers.lexical import find_verbatim, lacks_a_number
from suffice.claims.checkers.names import find_missing_names
from suffice.claims.checkers.quantities import Quantity
from suffice.claims.split import ClaimText
from suffice.text.entities import content_stems
from suffice.text.sentences import quotable_spans
from suffice.types import Excerpt, Passage, SupportLabel

# Sources count as disagreeing about a supported claim only where claim and quote are about the same matter: this many
# content words in common, and this share of the words of both.
_MIN_COMMON_STEMS = 4
_MIN_COMMON_SHARE = 0.75
_MIN_EQUAL_STEMS = (
    3  # Or all their content words, if they have at least this many: "… was opened in 1894", "… in 1955".
)
_MIN_NEAR_OVERLAP = 0.5  # A sentence of a source that shares this much with a removed claim is shown beside it.
_MAX_PARTS = 3  # Passages that are judged together.
_LABEL = re.compile(
    r"\b(?:season|series|episode|chapter|volume|part|round|phase|stage|game|week|day|no\.|number|version|release)\s$",
    re.I,
)
_WHICH_WORDS = frozenset("first second third last final previous next former latter".split())
_PRONOUN_OPENING = re.compile(r"\s*(?:he|she|it|they|this|these|his|her|its|their)\b", re.I)
_WORD = re.compile(r"[^\W_][\w.,'’%-]*[^\W_]|[^\W_]")
_HEADING = re.compile(r"#{1,6}\s")
_MAX_CONTEXT_CHARS = 500  # A quote with the sentences around it is not longer, unless the quote itself is.
_MAX_QUOTES = 2  # Quotes shown for each side; more would bury the claim.


@dataclass(frozen=True, slots=True)
class Quote:
    """An exact quote from a passage and what it says about a claim."""

    passage: Passage
    span: EvidenceSpan

    @property
    def text(self) -> str:
        return self.passage.text[self.span.start : self.span.end]

    @property
    def location(self) -> str:
        return str(self.passage.place.narrowed(self.passage.text, self.span.start, self.span.end))


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A claim and what the passages say about it."""

    claim: ClaimText
    support: SupportLabel
    supporting: tuple[Quote, ...] = ()
    contradicting: tuple[Quote, ...] = ()
    """Also beside a supported claim, where the sources disagree."""
    uncited_support: Quote | None = None
    """Support from a source that the claim does not cite."""
    nearest: Quote | None = None
    """The quote most like the claim, where none supports or contradicts it."""
    note: str = ""
    """Why the claim is not supported, in a few words."""
    is_joint: bool = False
    """Whether the supporting quotes support the claim only together."""


async def judge_claim(
    claim: ClaimText, cited: Sequence[Passage], others: Sequence[Passage], checker: Checker
) -> ClaimVerdict:
    """Return the verdict on a claim, given the passages it cites and others that may be about it."""
    if claim.skip_reason:  # A sentence copied verbatim from a cited source counts as supported, even a question.
        verbatim = [Quote(passage, span) for passage in cited if (span := find_verbatim(claim.plain_text, passage))]
        if verbatim:
            return ClaimVerdict(claim, "supported", tuple(verbatim))
        return ClaimVerdict(claim, "unknown", note=claim.skip_reason)
    if any(find_verbatim(claim.plain_text, passage) for passage in cited):  # The others can only disagree.
        others = [passage for passage in others if _may_disagree(claim.plain_text, passage)]
    cited_ids = {passage.id for passage in cited}
    pool = [*cited, *(passage for passage in others if passage.id not in cited_ids)]
    spans = await checker(claim.plain_text, pool)
    found = ((passage, span) for passage, span in zip(pool, spans, strict=True) if span is not None)
    quotes = [Quote(passage, _discount_code(passage, span)) for passage, span in found]
    quotes.sort(key=lambda quote: -quote.span.score)
    # Without citations every passage counts; with citations only the cited ones do.
    counting = [quote for quote in quotes if not cited_ids or quote.passage.id in cited_ids]
    supporting = [quote for quote in counting if quote.span.stance == "supports"]
    if supporting:
        against = (quote for quote in quotes if quote.span.stance == "contradicts")
        disagreeing = [
            quote
            for quote in against
            if _is_same_topic(claim.plain_text, quote.text) and not _is_other_matter(supporting[0], quote)
        ]
        return ClaimVerdict(claim, "supported", tuple(supporting[:_MAX_QUOTES]), tuple(disagreeing[:_MAX_QUOTES]))
    uncited = next((quote for quote in quotes if quote.span.stance == "supports"), None)
    contradicting = [quote for quote in counting if quote.span.stance == "contradicts"]
    # A passage that lacks a name or a number of the claim speaks of a part of it only.
    if all(_lacks_name_or_number(claim, f"{quote.passage.title}\n{quote.passage.text}") for quote in contradicting):
        spans_by_id = {quote.passage.id: quote.span for quote in quotes}
        candidates = [
            quote
            for passage in cited or others
            if (quote := _quote_nearest(claim, passage, spans_by_id.get(passage.id)))
        ]
        parts = candidates[:_MAX_PARTS] if cited else _select_complementary(claim, candidates)
        if await _is_jointly_supported(claim, parts, checker):
            return ClaimVerdict(claim, "supported", tuple(parts), is_joint=True)
    if contradicting:
        note = contradicting[0].span.reason
        return ClaimVerdict(claim, "contradicted", (), tuple(contradicting[:_MAX_QUOTES]), uncited, note=note)
    nearest = max(quotes, key=lambda quote: quote.span.overlap, default=None)
    note = _explain_unsupported(bool(cited_ids), uncited, nearest)
    return ClaimVerdict(claim, "unsupported", (), (), uncited, nearest, note)


def share_disagreements(verdicts: Sequence[ClaimVerdict]) -> Iterator[ClaimVerdict]:
    """Yield the verdicts; a claim that is the disputed part of a sentence, such as a short answer, is disputed as well."""
    disputed = [(verdict, quote) for verdict in verdicts if verdict.contradicting for quote in verdict.supporting]
    for verdict in verdicts:
        words = verdict.claim.plain_text.strip(" .")
        whole = next(
            (
                replace(verdict, supporting=(quote,), contradicting=other.contradicting)
                for other, quote in disputed
                if not verdict.contradicting
                and any(own.passage.id == quote.passage.id for own in verdict.supporting)
                and _has_words(quote.text, words)
                and not any(_has_words(against.text, words) for against in other.contradicting)
            ),
            verdict,
        )
        yield whole


def _has_words(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", " ".join(text.split())) is not None


def list_quotes(verdict: ClaimVerdict) -> Iterator[tuple[Quote, Stance]]:
    """Yield the quotes to show, each with its stance. Support from an uncited source is shown where there is no other."""
    supporting = verdict.supporting or ((verdict.uncited_support,) if verdict.uncited_support is not None else ())
    yield from ((quote, "supports") for quote in supporting)
    yield from ((quote, "contradicts") for quote in verdict.contradicting)


def find_quote_instead(verdict: ClaimVerdict) -> Quote | None:
    """Return what a source says instead of a claim that is not supported; ``None`` if no source speaks of the same."""
    if verdict.contradicting:
        return verdict.contradicting[0]
    return verdict.nearest if verdict.nearest and verdict.nearest.span.overlap >= _MIN_NEAR_OVERLAP else None


def build_evidence(verdict: ClaimVerdict, source: str) -> Excerpt | None:
    """Return the deciding quote with a sentence of context on each side; ``None`` where there is no quote.

    The highlighted words are those that the quote has in common with the claim; of a contradiction, the whole quote.
    """
    quote = get_deciding_quote(verdict)
    if quote is None:
        return None
    text, span = quote.passage.text, quote.span
    around = [one for one in quotable_spans(text, quote.passage.kind) if one[1] <= span.start or one[0] >= span.end]
    headings = [one for one in around if _HEADING.match(text, *one)]  # Context ends there.
    section_start = max((end for _, end in headings if end <= span.start), default=0)
    section_end = min((start for start, _ in headings if start >= span.end), default=len(text))
    around = [(start, end) for start, end in around if section_start <= start and end <= section_end]
    before = [start for start, end in around if end <= span.start and span.end - start <= _MAX_CONTEXT_CHARS]
    after = [end for start, end in around if start >= span.end and end - span.start <= _MAX_CONTEXT_CHARS]
    start, end = (before[-1] if before else span.start), (after[0] if after else span.end)
    wanted = extract_features(verdict.claim.plain_text)
    marks = [(span.start, span.end)] if span.stance == "contradicts" else _find_common_words(quote, wanted)
    highlight = tuple((first - start, last - start) for first, last in marks)
    location = str(quote.passage.place.narrowed(text, start, end))
    return Excerpt(text[start:end], "prose", highlight, source, location, quote.passage.title)


def get_deciding_quote(verdict: ClaimVerdict) -> Quote | None:
    """Return the quote that decided the verdict, or the nearest one where none did."""
    found = next(list_quotes(verdict), None)
    return found[0] if found else verdict.nearest


def _find_common_words(quote: Quote, wanted: SentenceFeatures) -> list[tuple[int, int]]:
    """Return the offsets of the quote's words that the claim has too; neighbours are joined."""
    text, found = quote.passage.text, list[tuple[int, int]]()
    stems = wanted.stems | {token.stem for token in wanted.tokens}
    for match in _WORD.finditer(text, quote.span.start, quote.span.end):
        features = extract_features(match.group())
        if features.stems & stems or any(any(map(number.matches, wanted.numbers)) for number in features.numbers):
            joins = bool(found) and match.start() - found[-1][1] <= 1
            found[-1:] = [(found[-1][0], match.end())] if joins else [*found[-1:], match.span()]
    return found


def _discount_code(passage: Passage, span: EvidenceSpan) -> EvidenceSpan:
    """Return the span without a stance where the reader, which knows prose only, sees a contradiction in unrelated code."""
    is_misread = passage.kind == "code" and span.checker == "reader" and span.overlap < _MIN_NEAR_OVERLAP
    if not is_misread or span.stance != "contradicts":
        return span
    return replace(span, stance=None, score=0.0, reason="", checker="", probability=None)


def _is_same_topic(claim: str, quote: str) -> bool:
    one, other = extract_features(claim), extract_features(" ".join(quote.split()))
    ours, theirs = one.stems - one.antonym_stems, other.stems - other.antonym_stems
    if one.stems == other.stems and len(one.stems) >= _MIN_EQUAL_STEMS:
        return True
    return len(ours & theirs) >= _MIN_COMMON_STEMS and len(ours & theirs) >= _MIN_COMMON_SHARE * len(ours | theirs)


def _may_disagree(claim: str, passage: Passage) -> bool:
    """Whether a sentence of a passage, or two in a row, are about what the claim is about."""
    spans = quotable_spans(passage.text, passage.kind)
    joined = [(first, last) for (first, _), (_, last) in pairwise(spans)]
    return any(_is_same_topic(claim, passage.text[start:end]) for start, end in (*spans, *joined))


def _quote_nearest(claim: ClaimText, passage: Passage, span: EvidenceSpan | None) -> Quote | None:
    """Return the span that the checker found, else the sentence that shares most words with the claim."""
    if span is not None:
        return Quote(passage, span)
    wanted = content_stems(claim.plain_text)
    shared = [
        (len(wanted & content_stems(passage.text[start:end])), start, end)
        for start, end in quotable_spans(passage.text, passage.kind)
    ]
    count, start, end = max(shared, key=lambda row: row[0], default=(0, 0, 0))
    return Quote(passage, EvidenceSpan(start, end, None, 0.0, count / len(wanted))) if count else None


def _select_complementary(claim: ClaimText, quotes: Sequence[Quote]) -> list[Quote]:
    """Return the few quotes that have most of the claim's words together; each adds a word that those before lack."""
    missing = set(content_stems(claim.plain_text))
    selected: list[Quote] = []
    while missing and len(selected) < _MAX_PARTS:
        best = max(quotes, key=lambda quote: len(missing & content_stems(quote.text)), default=None)
        if best is None or not missing & content_stems(best.text):
            break
        selected.append(best)
        missing -= content_stems(best.text)
    return selected


def _is_other_matter(supporting: Quote, contradicting: Quote) -> bool:
    """Whether two quotes differ because they are about different years, seasons or things, not because one is wrong."""
    one, other = (extract_features(" ".join(quote.text.split())) for quote in (supporting, contradicting))
    if (
        one.names - other.stems
        or other.names - one.stems
        or (one.months and other.months and one.months != other.months)
    ):
        return True
    if one.words & _WHICH_WORDS != other.words & _WHICH_WORDS:
        return True
    has_name = bool(one.names or one.possible_name) and not _PRONOUN_OPENING.match(contradicting.text)
    if not has_name and supporting.passage.title.casefold() != contradicting.passage.title.casefold():
        return True
    ours = [number for number in one.numbers if not any(map(number.matches, other.numbers))]
    theirs = [number for number in other.numbers if not any(map(number.matches, one.numbers))]
    if len(ours) > 1 or len(theirs) > 1:  # "2020: 120 t" and "2021: 150 t" are both right.
        return True
    # A year or a number in a row says when or which, unless it is all that the sentence counts.
    pairs = ((ours, one, supporting), (theirs, other, contradicting))
    return any(_is_label(own[0], quote) and len(read.numbers) > 1 for own, read, quote in pairs if own)


def _is_label(number: Quantity, quote: Quote) -> bool:
    text = " ".join(quote.text.split())
    return number.is_year or number.unit == "ordinal" or _LABEL.search(text, 0, number.start) is not None


async def _is_jointly_supported(claim: ClaimText, parts: Sequence[Quote], checker: Checker) -> bool:
    """Whether the quotes of several sources support the claim together; every name and number of it must be in one."""
    if len(parts) < 2:
        return False
    joined = replace(parts[0].passage, text="\n\n".join(quote.text for quote in parts), title="")
    if _lacks_name_or_number(claim, joined.text):
        return False
    [span] = await checker(claim.plain_text, [joined])
    return span is not None and span.stance == "supports"


def _lacks_name_or_number(claim: ClaimText, text: str) -> bool:
    return lacks_a_number(claim.plain_text, text) or bool(find_missing_names(claim.plain_text, text))


def _explain_unsupported(is_cited: bool, uncited: Quote | None, nearest: Quote | None) -> str:
    if uncited is not None:
        return "the cited source does not say it; another one does"
    if nearest is not None and nearest.span.reason:
        return nearest.span.reason
    return "the cited source does not say it" if is_cited else "no source says it"
