"""How much seems to be left to find.

unseen.mass, unseen.richness                     Good–Turing and Chao1 estimates over the passages found
relevance.seen, .low, .high                      share of all results that was seen, with its interval (Chao)
question.residual                                share of the question's words that no passage has
bridges.open                                     names that passages introduced and no query has used
score.drop                                       how far this round's best score is below the first round's, as a share
evidence.chars                                   characters of evidence before this round
"""

from suffice.measure.richness import SightingCounter
from suffice.meters.base import Meter, MeterContext, Moment, RoundView
from suffice.text.entities import extract_facets, extract_names, stem_words
from suffice.text.tokens import tokenize
from suffice.types import Readings

_MIN_ROUNDS = 2  # One round finds everything once, so it tells nothing about what is left.


class UnseenMeter(Meter):
    names: tuple[str, ...] = ("unseen.mass", "unseen.richness")

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._passages = SightingCounter()

    def read(self, view: RoundView) -> Readings:
        self._passages.add(hit.id for hit in view.raw)
        if view.failed:
            return dict.fromkeys(self.names)
        return {
            "unseen.mass": self._passages.estimate_unseen_mass(),
            "unseen.richness": self._passages.estimate_richness(),
        }


class RelevanceMeter(Meter):
    """The share of all results that was seen, from how often the same ones came back in different rounds.

    Only if the gate needs it. A run that surveys everything in scope knows more and replaces these readings.
    """

    names: tuple[str, ...] = ("relevance.seen", "relevance.low", "relevance.high")

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._is_needed = "relevance.seen" in context.needs
        self._sources = SightingCounter()

    def read(self, view: RoundView) -> Readings:
        if not self._is_needed:
            return {}
        self._sources.add(hit.id for hit in view.raw)
        seen = None if view.failed or view.index < _MIN_ROUNDS else self._sources.estimate_seen()
        return dict(zip(self.names, seen or (None, None, None), strict=True))


class BridgesMeter(Meter):
    """A name is open until queries have used all of its words."""

    names: tuple[str, ...] = ("bridges.open",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._query_words = set(tokenize(context.question or ""))
        self._open_names: dict[str, frozenset[str]] = {}
        self._is_text_missing = False

    def read(self, view: RoundView) -> Readings:
        self._query_words.update(word for query in view.queries for word in tokenize(query))
        for hit in view.new:
            self._is_text_missing |= hit.text is None
            self._open_names |= {name.lower(): frozenset(tokenize(name)) for name in extract_names(hit.text or "")}
        self._open_names = {name: words for name, words in self._open_names.items() if not words <= self._query_words}
        return {"bridges.open": None if self._is_text_missing or view.failed else float(len(self._open_names))}


class ResidualMeter(Meter):
    """Unknown without a question or without texts."""

    names: tuple[str, ...] = ("question.residual",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        parts = extract_facets(context.question or "", limit=50)
        self._unmatched = set[str]().union(*(part.stems for part in parts))
        self._total = len(self._unmatched)
        self._is_unmeasurable = not self._total

    def read(self, view: RoundView) -> Readings:
        for hit in view.new:
            if hit.text is None:
                self._is_unmeasurable = True
            elif self._unmatched:
                self._unmatched.difference_update(stem_words(f"{hit.title or ''} {hit.text}"))
        return {"question.residual": None if self._is_unmeasurable else len(self._unmatched) / self._total}


class ScoreDropMeter(Meter):
    names: tuple[str, ...] = ("score.drop",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._first_best_score: float | None = None

    def read(self, view: RoundView) -> Readings:
        best = max((hit.score for hit in view.raw if hit.score is not None), default=None)
        if self._first_best_score is None:
            self._first_best_score = best
        if best is None or not self._first_best_score:
            return {"score.drop": None}
        return {"score.drop": 1 - best / self._first_best_score}


class VolumeMeter(Meter):
    moment: Moment = "before"
    names: tuple[str, ...] = ("evidence.chars",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._total_chars: int | None = 0

    def read(self, view: RoundView) -> Readings:
        before = self._total_chars
        if before is not None:
            known = [hit.text for hit in view.new if hit.text is not None]
            self._total_chars = before + sum(map(len, known)) if len(known) == len(view.new) else None
        return {"evidence.chars": None if before is None else float(before)}
