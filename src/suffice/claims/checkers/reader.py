"""Check claims by meaning with the reader, the small model that comes with the package; rules for figures and names veto it.

The reader is good at other words for the same thing and bad at telling 1887 from 1889. So it is asked about what words and
figures leave open, and a passage that lacks a number or a name of the claim, or has another one in its place, never supports
the claim whatever the reader says. Where its file cannot be loaded, the cascade goes on without it.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from suffice.claims.checkers.base import CheckerThresholds, EvidenceSpan, load_thresholds
from suffice.claims.checkers.lexical import compare_sentences, find_verbatim, lacks_a_name, lacks_a_number
from suffice.models.reader import Reader, get_reader
from suffice.text.entities import content_stems
from suffice.text.sentences import quotable_spans
from suffice.types import Passage

_MAX_SENTENCES = 3  # Sentences that are read one by one to find the deciding one: those that share most words.


class ReaderChecker:
    """Asks the reader what each passage says of a claim and caches its answers."""

    name = "reader"

    def __init__(self, reader: Reader | None = None, thresholds: CheckerThresholds | None = None) -> None:
        self._reader = reader or get_reader()
        self._thresholds = thresholds or load_thresholds()
        self._answers: dict[tuple[str, str], EvidenceSpan | None] = {}  # Claims are checked again after each change.

    async def __call__(self, claim: str, passages: Sequence[Passage]) -> list[EvidenceSpan | None]:
        return await asyncio.to_thread(lambda: [self._check_once(claim, passage) for passage in passages])

    def _check_once(self, claim: str, passage: Passage) -> EvidenceSpan | None:
        key = claim, f"{passage.title}\n{passage.text}"
        if key not in self._answers:
            self._answers[key] = self.check(claim, passage)
        return self._answers[key]

    def check(self, claim: str, passage: Passage) -> EvidenceSpan | None:
        """Return the span of the passage that decides about the claim, or the nearest one where none does."""
        if verbatim := find_verbatim(claim, passage):
            return verbatim
        spans = _rank_sentences(claim, passage)
        if not spans:
            return None
        start, end, overlap = spans[0]
        nearest = EvidenceSpan(start, end, None, 0.0, overlap)
        veto = find_veto(claim, passage)
        supported, contradicted, _ = map(float, self._reader.judge([(claim, _to_text(passage))])[0])
        if not veto and supported >= self._thresholds.reader_supports:
            span = self._find_deciding(claim, passage, spans, 0)
            return replace(span, stance="supports", score=supported, checker=self.name, probability=supported)
        if contradicted >= self._thresholds.reader_contradicts:
            span = self._find_deciding(claim, passage, spans, 1)
            reason = veto or "the source says something else"
            return replace(
                span,
                stance="contradicts",
                score=contradicted,
                reason=reason,
                checker=self.name,
                probability=contradicted,
            )
        return replace(nearest, reason=veto)

    def _find_deciding(
        self, claim: str, passage: Passage, spans: Sequence[tuple[int, int, float]], column: int
    ) -> EvidenceSpan:
        """Return the sentence that says most surely what the passage says."""
        spans = spans[:_MAX_SENTENCES]
        texts = [" ".join(passage.text[start:end].split()) for start, end, _ in spans]
        found = self._reader.judge([(claim, text) for text in texts])[:, column] if len(spans) > 1 else [1.0]
        start, end, overlap = spans[max(range(len(spans)), key=lambda number: found[number])]
        return EvidenceSpan(start, end, None, 0.0, overlap)


def find_veto(claim: str, passage: Passage) -> str:
    """Return why the passage cannot support the claim whatever it means, in a few words; empty when nothing is against it."""
    text = f"{passage.title}\n{passage.text}"
    if lacks_a_number(claim, text):
        return "the source does not have a number of the claim"
    if lacks_a_name(claim, text):
        return "the source does not have a name of the claim"
    rows = [comparison for _, _, comparison in compare_sentences(claim, passage)]
    best = max(rows, key=lambda comparison: comparison.overlap, default=None)
    if best is not None and best.conflict and best.overlap >= 0.65:
        return best.conflict
    return ""


def _to_text(passage: Passage) -> str:
    """Return the passage as the reader was trained to see it: with its title, unless it opens with it."""
    opens_with_title = passage.text[:200].casefold().startswith(passage.title.casefold())
    return passage.text if opens_with_title else f"{passage.title}. {passage.text}"


def _rank_sentences(claim: str, passage: Passage) -> list[tuple[int, int, float]]:
    """Return the passage's sentences with the share of the claim's words in each, the highest share first."""
    wanted = content_stems(claim)
    found = [
        (start, end, len(wanted & content_stems(passage.text[start:end])) / max(1, len(wanted)))
        for start, end in quotable_spans(passage.text, passage.kind)
    ]
    return sorted(found, key=lambda row: -row[2])
