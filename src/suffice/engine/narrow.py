"""Read narrow: of the results of a round, read only those that are worth reading (``--with narrow``).

A passage is valued as if it were a round of its own, by the model of ``worth`` that judges previews: which words of the
question it adds to what was read, whether it links to a passage that was read, whether the question names it. Where the reader
is installed, the chance that the passage answers the question counts too. Both count as far as its words are new. The best
passage is taken first, and the others are valued again as if it had been read. Below the price the rest stays unread: nothing
of it enters the evidence, the belief or a reading, and a later search may find it again.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from suffice.gates.worth import estimate_preview, load_weights
from suffice.memory.evidence import Evidence
from suffice.meters.base import MeterContext
from suffice.meters.worth import WorthMeter
from suffice.models.reader import find_reader
from suffice.text.tokens import word_set
from suffice.types import Passage, Readings, Round

DEFAULT_PRICE = 0.02  # A fifth of the price of a round in `worth`: a round usually has five passages.


class PassageNarrower:
    """Leaves passages of one run unread whose chance of new evidence is below ``price``. What cannot be valued is read."""

    def __init__(self, price: float = DEFAULT_PRICE) -> None:
        self.price = price
        self._meter: WorthMeter | None = None
        self._belief: Readings = {}
        self._known: set[str] = set()
        self._words: set[str] = set()

    async def __call__(self, task: str, evidence: Evidence, round: Round) -> Round:
        """Return the round with the passages worth reading, best first, and the number of those left unread."""
        answers = await asyncio.to_thread(_read_answers, task, round.new)
        self._meter = self._meter or WorthMeter(MeterContext(task))
        if unknown := tuple(passage for passage in evidence if passage.id not in self._known):
            self._add(self._meter, replace(round, raw=unknown, new=()), unknown)
        waiting, chosen = list(round.new), list[Passage]()
        while waiting:
            values = ((self._estimate(self._meter, round, passage, answers), passage) for passage in waiting)
            chance, best = max(values, key=lambda pair: pair[0])
            if chance < self.price:
                break
            waiting.remove(best)
            chosen.append(best)
            self._add(self._meter, replace(round, raw=(), new=(best,)), [best])
        ids = {passage.id for passage in chosen}
        raw = tuple(passage for passage in round.raw if passage.id in ids or passage.id in evidence)
        return replace(round, raw=raw, new=tuple(chosen), unread=len(waiting))

    def _add(self, meter: WorthMeter, round: Round, passages: Sequence[Passage]) -> None:
        """Take passages as read."""
        self._belief = meter.read(round)
        self._known.update(passage.id for passage in passages)
        self._words.update(*(word_set(passage.text) for passage in passages))

    def _estimate(self, meter: WorthMeter, round: Round, passage: Passage, answers: dict[str, float]) -> float:
        """Return the chance that a passage is new evidence."""
        preview = {"preview.round": float(round.index), **meter.preview(replace(round, raw=(), new=(passage,)))}
        gain = estimate_preview(preview, self._belief, load_weights(None))
        words = word_set(passage.text)
        if gain is None or not words:
            return 1.0
        # Two reasons to read a passage: it adds to what is known, or it answers the question.
        chance = 1 - (1 - gain.p) * (1 - answers.get(passage.id, 0.0))
        return chance * len(words - self._words) / len(words)


def _read_answers(task: str, passages: Sequence[Passage]) -> dict[str, float]:
    """Return the chance that each passage answers the question by id; nothing without the reader."""
    reader = find_reader()
    if reader is None:
        return {}
    spans = reader.read(task, [f"{passage.title}\n{passage.text}" for passage in passages])
    return {passage.id: span.probability for passage, span in zip(passages, spans, strict=True)}
