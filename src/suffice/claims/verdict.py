"""Judge one claim against passages: supported, contradicted, unsupported or unknown, with exact quotes.

    word for word in a passage ─▶ supported
    else the reader: each passage alone, then the nearest sentences of all cited passages together ─▶ supported, contradicted
    a figure of the claim that those passages do not have ─▶ never supported

A claim that cites sources is judged by those sources. Support from another source is reported, but does not make the citation
right. A claim that cites nothing is judged by the passages that were found for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from suffice.answers import Role, Statement
from suffice.claims.checker import MAX_TEXT_CHARS, Checker, Probabilities, rank_sentences, read_whole, select_text
from suffice.claims.figures import find_missing_figure, list_claim_figures
from suffice.claims.split import ClaimText, strip_claim_markup
from suffice.claims.verbatim import find_sentences
from suffice.text.entities import content_stems
from suffice.text.sentences import quotable_spans
from suffice.types import COMPUTED_KIND, ROW_KINDS, Excerpt, Passage, Reason, SupportLabel

MAX_CLAIM_CHARS = 2_000  # A longer claim is not checked; no sentence that a person reads is as long.
MAX_CLAIM_FIGURES = 50  # Nor is a longer row of figures.
MIN_DISAGREEMENT = 0.75  # The probability from which on a source counts as disagreeing with one that supports a claim.
_NEAR = 0.5  # A sentence that has this share of a claim's words is about the same matter.
_SAME_MATTER = 0.75  # To speak against a claim that does not cite it: similar things are not the same.
_MIN_SHARED = 0.2  # A passage that is not cited is read if a sentence has this share: 96 % of supported claims have it.
_UNCITED_CHARS = 700  # Read of a passage that is not cited; 1,600 characters gain one point and take twice the time.
_MAX_JOINED = 4  # Cited passages that are read together.
_MAX_SENTENCES = 5  # Sentences that are read one by one to find the deciding one.
_MAX_CONTEXT_CHARS = 500  # A quote with the sentences around it is not longer, unless the quote itself is.
_MAX_QUOTES = 2  # Quotes shown for each side; more would bury the claim.

Stance = Literal["supports", "contradicts"]
Checkable = Statement | ClaimText
"""What can be judged: a sentence as Markdown, and the handles that it cites."""


@dataclass(frozen=True, slots=True)
class Quote:
    """An exact quote from a passage. ``checker`` is what judged it: verbatim, reader, words, figures or model."""

    passage: Passage
    start: int
    end: int
    checker: str = ""
    probability: float | None = None

    @property
    def text(self) -> str:
        return self.passage.text[self.start : self.end]

    @property
    def location(self) -> str:
        return str(self.passage.place.narrowed(self.passage.text, self.start, self.end))


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A claim and what the passages say about it."""

    claim: Checkable
    support: SupportLabel
    supporting: tuple[Quote, ...] = ()
    contradicting: tuple[Quote, ...] = ()
    """Also beside a supported claim, where the sources disagree."""
    uncited_support: Quote | None = None
    """Support from a source that the claim does not cite."""
    nearest: Quote | None = None
    """The quote about the same matter, where none supports or contradicts the claim."""
    reason: Reason | None = None
    """Why the claim is not supported."""
    role: Role | None = None
    """What the claim is, where a language model said so."""

    def about(self, claim: Checkable) -> "ClaimVerdict":
        """Return the verdict on the same words as they are in another text."""
        return replace(self, claim=claim)

    def moved_to_support(self) -> "ClaimVerdict":
        """Return the verdict once the claim cites the source that supports it; a sure contradiction is a disagreement now."""
        assert self.uncited_support is not None, "another source supports it"
        against = (quote for quote in self.contradicting if (quote.probability or 1.0) >= MIN_DISAGREEMENT)
        return ClaimVerdict(self.claim, "supported", (self.uncited_support,), tuple(against), role=self.role)

    @property
    def plain_text(self) -> str:
        """The words of the claim, without markup."""
        return strip_claim_markup(self.claim.text)

    @property
    def quotes(self) -> tuple[tuple[Quote, Stance], ...]:
        """The quotes to show. Support from an uncited source is shown where there is no other."""
        supporting = self.supporting or ((self.uncited_support,) if self.uncited_support is not None else ())
        against: Iterator[tuple[Quote, Stance]] = ((quote, "contradicts") for quote in self.contradicting)
        return (*((quote, "supports") for quote in supporting), *against)

    @property
    def deciding_quote(self) -> Quote | None:
        """The quote that decided, or the nearest one where none did."""
        return self.quotes[0][0] if self.quotes else self.nearest


async def judge_claim(
    claim: Checkable, cited: Sequence[Passage], others: Sequence[Passage], checker: Checker
) -> ClaimVerdict:
    """Return the verdict on a claim, given the passages it cites and others that may be about it."""
    words = strip_claim_markup(claim.text)
    cited_ids = {passage.id for passage in cited}
    others = [passage for passage in others if passage.id not in cited_ids]
    quotes = _find_verbatim(words, cited or others) or _find_computed(words, cited)
    if not quotes and (skipped := find_skip_reason(words, bool(claim.handles))):
        return ClaimVerdict(claim, "unknown", reason=Reason(skipped))
    if not quotes:
        quotes = await _find_support(words, cited or others, bool(cited), checker)
    if quotes:
        against = await _find_disagreement(words, [*cited, *others], quotes, checker)
        return ClaimVerdict(claim, "supported", quotes[:_MAX_JOINED], against)
    uncited = await _find_uncited_support(words, others, checker) if cited else None
    nearest, reason = _find_nearest(words, cited or others), None
    same = nearest if cited else _find_nearest(words, others, _SAME_MATTER)
    if missing := find_missing_figure(words, _list_texts(words, cited or others), same.text if same else ""):
        reason = Reason("figure", missing.source_value, missing.claim_value)
    if same is not None and reason is not None and reason.source_value:
        against = (replace(same, checker="figures"),)
    else:
        # The reader understands prose: no program, and of code that a claim does not cite only figures.
        able = [
            one for one in cited or others if one.kind != COMPUTED_KIND and (cited or missing or one.kind != "code")
        ]
        against = await _find_contradiction(words, able, bool(cited), checker)
    if against:
        return ClaimVerdict(claim, "contradicted", (), against, uncited, reason=reason or Reason("contradicted"))
    if uncited is not None:
        reason = Reason("other_source")
    return ClaimVerdict(
        claim, "unsupported", (), (), uncited, nearest, reason or Reason("not_stated" if cited else "not_found")
    )


@lru_cache(maxsize=1024)
def find_skip_reason(words: str, is_cited: bool) -> str | None:
    """Return why a sentence cannot be checked against sources; ``None`` for one that can."""
    if len(words) > MAX_CLAIM_CHARS or len(list_claim_figures(words)) > MAX_CLAIM_FIGURES:
        return "too_long"
    if words.rstrip("\"'”’)]*_ ").endswith("?"):
        return "question"
    if words.rstrip("*_ ").endswith(":"):
        return "introduction"
    is_short = sum(not stem[0].isdigit() for stem in content_stems(words)) < 2  # A row of figures names nothing.
    return "too_little" if is_short and not (is_cited and list_claim_figures(words)) else None


def build_evidence(verdict: ClaimVerdict, source: str) -> Excerpt | None:
    """Return the deciding quote, highlighted, with a sentence of prose on each side; ``None`` where there is no quote."""
    quote = verdict.deciding_quote
    if quote is None:
        return None
    text = quote.passage.text
    spans = [] if quote.passage.kind in ("code", *ROW_KINDS) else quotable_spans(text, quote.passage.kind)
    around = [one for one in spans if one[1] <= quote.start or one[0] >= quote.end]
    headings = [one for one in around if text.startswith("#", one[0])]  # Context ends there.
    section_start = max((end for _, end in headings if end <= quote.start), default=0)
    section_end = min((start for start, _ in headings if start >= quote.end), default=len(text))
    before = [one for one, end in around if section_start <= one and end <= quote.start]
    after = [end for one, end in around if quote.end <= one and end <= section_end]
    start = next((one for one in before[-1:] if quote.end - one <= _MAX_CONTEXT_CHARS), quote.start)
    end = next((one for one in after[:1] if one - quote.start <= _MAX_CONTEXT_CHARS), quote.end)
    location = str(quote.passage.place.narrowed(text, start, end))
    highlight = quote.start - start, quote.end - start
    return Excerpt(text[start:end], "prose", (highlight,), source, location, quote.passage.title)


def _find_verbatim(words: str, passages: Sequence[Passage]) -> tuple[Quote, ...]:
    found = ((passage, find_sentences(words, passage)) for passage in passages)
    return tuple(Quote(passage, *span, "verbatim") for passage, span in found if span is not None)[:_MAX_QUOTES]


def _find_computed(words: str, cited: Sequence[Passage]) -> tuple[Quote, ...]:
    """Return the line of a cited computation that has all figures of a claim: the reader knows no arithmetic."""
    computed = [passage for passage in cited if passage.kind == COMPUTED_KIND]
    if not computed or not list_claim_figures(words) or find_missing_figure(words, _list_texts(words, computed)):
        return ()
    nearest = _find_nearest(words, computed)
    return (replace(nearest, checker="figures"),) if nearest is not None else ()


async def _judge(
    words: str, passages: Sequence[Passage], are_cited: bool, checker: Checker
) -> list[tuple[Passage, Probabilities]]:
    """Return what each passage says of a claim. Of passages that are not cited, less is read."""
    read = passages if are_cited else [one for one in passages if _find_nearest(words, [one], _MIN_SHARED)]
    size = MAX_TEXT_CHARS if are_cited else _UNCITED_CHARS
    return list(zip(read, await checker([(words, select_text(words, one, size)) for one in read]), strict=True))


async def _find_support(
    words: str, passages: Sequence[Passage], are_cited: bool, checker: Checker
) -> tuple[Quote, ...]:
    """Return quotes of the passages that support a claim alone, else of the cited ones that support it together."""
    able = [one for one in passages if not find_missing_figure(words, _list_texts(words, [one]))]
    for group in [able] if are_cited else [[one] for one in able]:  # Of passages found, the first one is enough.
        rows = [(passage, found.supported) for passage, found in await _judge(words, group, are_cited, checker)]
        passage, probability = max(rows, key=lambda row: row[1], default=(None, 0.0))
        if passage is not None and probability >= checker.min_supported:
            return (await _quote(words, passage, 0, probability, checker),)
    parts = passages[:_MAX_JOINED]
    if not are_cited or len(parts) < 2 or find_missing_figure(words, _list_texts(words, passages)):
        return ()
    share = MAX_TEXT_CHARS // len(parts)
    [together] = await checker([(words, "\n\n".join(select_text(words, passage, share) for passage in parts))])
    if together.supported < checker.min_supported:
        return ()
    nearest = (_find_nearest(words, [passage], min_share=0.0) for passage in parts)
    return tuple(replace(one, checker=checker.name, probability=together.supported) for one in nearest if one)


async def _find_uncited_support(words: str, others: Sequence[Passage], checker: Checker) -> Quote | None:
    """Return support from a passage that the claim does not cite."""
    near = [passage for passage in others if _find_nearest(words, [passage])]
    found = _find_verbatim(words, near) or await _find_support(words, near, False, checker)
    return found[0] if found else None


async def _find_contradiction(
    words: str, passages: Sequence[Passage], are_cited: bool, checker: Checker
) -> tuple[Quote, ...]:
    """Return quotes that contradict a claim. A passage that is not cited must have a sentence about the same matter."""
    able = passages if are_cited else [one for one in passages if _find_nearest(words, [one], _SAME_MATTER)]
    rows = [
        (passage, found.contradicted)
        for passage, found in await _judge(words, able, are_cited, checker)
        if found.contradicted >= checker.min_contradicted
    ]
    if not rows:
        return ()
    passage, probability = max(rows, key=lambda row: row[1])
    return (await _quote(words, passage, 1, probability, checker),)


async def _find_disagreement(
    words: str, passages: Sequence[Passage], supporting: Sequence[Quote], checker: Checker
) -> tuple[Quote, ...]:
    """Return near sentences that almost certainly contradict a claim which another passage supports.

    Rows of one file are about different things.
    """
    known = {quote.passage.id for quote in supporting}
    files = {quote.passage.place.path for quote in supporting if quote.passage.kind in ROW_KINDS}
    others = [one for one in passages if one.id not in known and one.place.path not in files]
    near = [one for passage in others if (one := _find_nearest(words, [passage], _SAME_MATTER))]
    return (await find_contradicting(words, near, MIN_DISAGREEMENT, checker))[:_MAX_QUOTES]


async def find_contradicting(words: str, quotes: Sequence[Quote], least: float, checker: Checker) -> tuple[Quote, ...]:
    """Return the quotes that contradict a claim with at least this probability."""
    judged = await checker([(words, _read(quote.text)) for quote in quotes])
    rows = [(quote, found.contradicted) for quote, found in zip(quotes, judged, strict=True)]
    return tuple(replace(one, checker=checker.name, probability=sure) for one, sure in rows if sure >= least)


async def _quote(words: str, passage: Passage, stance: int, probability: float, checker: Checker) -> Quote:
    """Return the sentence that alone says most surely what the passage says, one with the claim's figures if there is one.

    If none does alone, it is the one without which the passage says it least. ``stance`` is an index of ``Probabilities``.
    """
    text = passage.text
    spans = [span for _, span in rank_sentences(words, passage)[:_MAX_SENTENCES]] or [(0, len(text))]
    sure = [one[stance] for one in await checker([(words, _read(text[slice(*span)])) for span in spans])]
    if max(sure) < (checker.min_supported, checker.min_contradicted)[stance]:
        rest = [replace(passage, text=text[:start] + text[end:]) for start, end in spans]
        sure = [1 - one[stance] for one in await checker([(words, select_text(words, one)) for one in rest])]
    quotes = [Quote(passage, *span, checker.name, probability) for span in spans]
    weights = [(not find_missing_figure(words, [one.text]), own) for one, own in zip(quotes, sure, strict=True)]
    return quotes[weights.index(max(weights))]


def _find_nearest(words: str, passages: Sequence[Passage], min_share: float = _NEAR) -> Quote | None:
    """Return the sentence that shares most words with a claim; ``None`` if all share too little."""
    rows = [(*row, passage) for passage in passages for row in rank_sentences(words, passage)[:1]]
    share, span, passage = max(rows, key=lambda row: row[0], default=(0.0, (0, 0), None))
    return Quote(passage, *span) if passage is not None and share and share >= min_share else None


def _read(sentence: str) -> str:
    return " ".join(sentence[:MAX_TEXT_CHARS].split())


def _list_texts(words: str, passages: Sequence[Passage]) -> list[str]:
    return [f"{passage.title}\n{read_whole(words, passage)}" for passage in passages]
