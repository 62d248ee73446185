"""Readings of discovery: how much seems to be left to find.

unseen.mass, unseen.richness                     Good–Turing and Chao1 over the passages that came back
unseen.mass.entities, unseen.richness.entities   the same over the names they hold
question.residual                                share of the question's words that no passage has matched
bridges.open                                     names that passages introduced and no query has used
score.drop                                       how far this round's best score lies below the first round's, as a share
"""

import re
from collections import defaultdict

from suffice.measure.richness import Sightings
from suffice.meters.base import Context, Moment, Sight
from suffice.text.entities import facets, names, stems
from suffice.text.tokens import word_set, words
from suffice.types import Readings

_LATIN = re.compile(r"[\x00-\u024f\u2010-\u2044]*")  # In other scripts an index may cut words elsewhere than we do.


class Unseen:
    moment: Moment = "after"
    names: tuple[str, ...] = (
        "unseen.mass",
        "unseen.richness",
        "unseen.mass.entities",
        "unseen.richness.entities",
    )

    def __init__(self, context: Context = Context()) -> None:
        self._passages, self._entities = Sightings(), Sightings()
        self._of: dict[str, list[str]] = {}
        self._blind = False

    def read(self, sight: Sight) -> Readings:
        self._passages.add(hit.id for hit in sight.raw)
        for hit in sight.raw:
            if hit.text is None:
                self._blind = True  # Entities of a passage without text cannot be counted, then or later.
            elif hit.id not in self._of:
                self._of[hit.id] = [name.lower() for name in names(hit.text)]
            self._entities.add(self._of.get(hit.id, ()))
        passages = None if sight.failed else self._passages
        named = None if sight.failed or self._blind else self._entities
        return {
            "unseen.mass": None if passages is None else passages.unseen_mass(),
            "unseen.richness": None if passages is None else passages.richness(),
            "unseen.mass.entities": None if named is None else named.unseen_mass(),
            "unseen.richness.entities": None if named is None else named.richness(),
        }


class Bridges:
    """An entity is open until queries have named all of its words."""

    moment: Moment = "after"
    names: tuple[str, ...] = ("bridges.open",)

    def __init__(self, context: Context = Context()) -> None:
        self._named = set(words(context.question or ""))
        self._introduced: set[str] = set()
        self._missing: dict[str, int] = {}
        self._waiting: dict[str, list[str]] = defaultdict(list)
        self._blind = False

    def read(self, sight: Sight) -> Readings:
        for word in {word for query in sight.queries for word in words(query)} - self._named:
            self._named.add(word)
            for name in self._waiting.pop(word, ()):
                self._missing[name] -= 1
                if not self._missing[name]:
                    del self._missing[name]
        for hit in sight.new:
            if hit.text is None:
                self._blind = True
            for name in names(hit.text or ""):
                self._introduce(name.lower())
        return {"bridges.open": None if self._blind or sight.failed else float(len(self._missing))}

    def _introduce(self, name: str) -> None:
        if name in self._introduced:
            return
        self._introduced.add(name)
        missing = [word for word in dict.fromkeys(words(name)) if word not in self._named]
        if missing:
            self._missing[name] = len(missing)
            for word in missing:
                self._waiting[word].append(name)


class Residual:
    """Which part of the question nobody has matched yet; unknown without a question or without texts."""

    moment: Moment = "after"
    names: tuple[str, ...] = ("question.residual",)

    def __init__(self, context: Context = Context()) -> None:
        parts = facets(context.question or "", most=50)
        self._all = len(frozenset[str]().union(*(part.stems for part in parts)))
        self._left = set[str]().union(*(part.stems for part in parts))
        self._blind = not self._all
        self._met: set[str] = set()
        # A word and its stem begin with the same two letters, but for ``dying``, whose stem is ``die``.
        self._starts = {stem[:2].replace("y", "i") for stem in self._left}

    def read(self, sight: Sight) -> Readings:
        for hit in sight.new:
            if hit.text is None:
                self._blind = True
            elif self._left and (unmet := self._unmet(f"{hit.title or ''} ", hit.text)):
                self._left.difference_update(stems(unmet))
        return {"question.residual": None if self._blind else len(self._left) / self._all}

    def _unmet(self, title: str, text: str) -> str:
        """What has to be looked at: of a Latin text only words that no passage had before and that may be one wanted."""
        if not all(part.isascii() or _LATIN.fullmatch(part) for part in (title, text)):
            return title + text
        new = (word_set(text) - self._met) | (word_set(title) - self._met)
        self._met |= new
        starts = self._starts
        return " ".join(
            word for word in new if word[:2].replace("y", "i") in starts or "_" in word or not word.isascii()
        )


class ScoreDrop:
    moment: Moment = "after"
    names: tuple[str, ...] = ("score.drop",)

    def __init__(self, context: Context = Context()) -> None:
        self._first: float | None = None

    def read(self, sight: Sight) -> Readings:
        best = max((hit.score for hit in sight.raw if hit.score is not None), default=None)
        if self._first is None:
            self._first = best
        if best is None or not self._first:
            return {"score.drop": None}
        return {"score.drop": 1 - best / self._first}
