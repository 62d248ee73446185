"""Meters: readings of each round, which gates judge.

Meters that need no model are always read, so that a recorded run can later be judged by any gate.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

from suffice import plugins
from suffice.meters.base import LiveRun, Meter, MeterContext, ModelMeter, Moment, RoundView
from suffice.types import Embed, Readings, Round

# Readings taken before a round is accepted; all others are taken after.
BEFORE_READINGS = frozenset({"novelty.words", "novelty.embedding", "novelty.model", "evidence.chars"})

# Readings that an embedding model improves; without one, novelty is unknown and coverage compares words.
EMBEDDING_READINGS = frozenset({"novelty.embedding", "coverage.mean", "coverage.min", "coverage.gain"})


# Tokens of memory that a round is compared with: a summary or a belief fits whole, of a long history the latest part.
KNOWN_TOKENS = 8_000


class MeterSet:
    """The meters of one run. Model meters whose readings are not in ``needs`` are left out."""

    def __init__(self, meters: Iterable[Meter | ModelMeter], needs: frozenset[str] = frozenset()) -> None:
        self._meters: list[Meter] = []
        self._model_meters: list[ModelMeter] = []
        for meter in meters:
            if not isinstance(meter, ModelMeter):
                self._meters.append(meter)
            elif not needs.isdisjoint(meter.names):
                self._model_meters.append(meter)

    def read(self, moment: Moment, view: RoundView) -> dict[str, float | None]:
        """Return the readings that need no model: those of a recorded round, or of a round in someone's own loop."""
        readings: dict[str, float | None] = {}
        for meter in self._meters:
            if meter.moment == moment:
                readings.update(meter.read(view))
        return readings

    async def read_live(self, moment: Moment, round: Round, run: LiveRun) -> dict[str, float | None]:
        """Return all readings of a round of a running search; those of the model are unknown when the time is up."""
        if run.outline.topics:
            self._tell("set_topics", run.outline.hypothetical_answers)
            self._tell("name_topics", run.outline.topics)
        if moment == "before":
            self._tell("set_known", run.render_memory(KNOWN_TOKENS))
        # In a thread: a round of a broad question has thousands of passages.
        readings = await asyncio.to_thread(self.read, moment, round)
        for meter in self._model_meters:
            if meter.moment == moment:
                readings.update(await _read_in_time(meter, round, run))
        return readings

    def _tell(self, method: str, value: Any) -> None:
        for meter in self._meters:
            if hasattr(meter, method):
                getattr(meter, method)(value)


async def _read_in_time(meter: ModelMeter, round: Round, run: LiveRun) -> Readings:
    try:
        async with run.budget.time_limit():
            return await meter.read_with_model(round, run)
    except TimeoutError:
        return dict.fromkeys(meter.names)


def build_meters(
    needs: frozenset[str] = frozenset(), question: str | None = None, embed: Embed | None = None
) -> MeterSet:
    """Return all installed meters. ``needs`` are the readings that the gate needs."""
    context = MeterContext(question, needs, embed)
    meters = (plugins.load_plugin("meters", name)(context) for name in plugins.list_plugins("meters"))
    return MeterSet(meters, needs)
