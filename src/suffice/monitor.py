"""StopMonitor: a stop gate for your own search loop.

    monitor = StopMonitor(exhaustion(p=2) | budget(rounds=8))
    verdict = monitor.observe(queries=["…"], passages=[{"id": "…", "text": "…"}])
    if verdict.stop: print(verdict.reason)

It uses the same meters as ``suffice ask``, needs no model, and explains why it stopped.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from suffice.errors import InputError
from suffice.gates.base import Gate
from suffice.gates.explanation import explain_stop
from suffice.gates.parse import resolve_gate
from suffice.meters import build_meters
from suffice.replay.episodes import RecordedHit, RecordedRound, deduplicate_hits
from suffice.types import Embed, Readings, RoundRecord, Verdict


class StopMonitor:
    """Judges the rounds of one search loop. Make a new monitor for each run.

    ``question`` is used by gates that compare the results with the question, ``embed`` by gates that compare meanings. Both
    are optional: without them, the readings that need them are unknown, and gates that need those abstain. The clock starts
    when the monitor is made.
    """

    def __init__(
        self,
        gate: Gate | str,
        *,
        question: str | None = None,
        embed: Embed | None = None,
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
        previews: None = None,
    ) -> None:
        if previews is not None:
            raise InputError("StopMonitor(previews=…) was withdrawn: the results of every round are read; leave it out")
        self.gate = resolve_gate(gate)
        self._meters = build_meters(self.gate.needs, question, embed)
        self._seed = seed
        self._clock, self._started_at = clock, clock()
        self._seen: set[str] = set()
        self._queries = 0
        self._tokens: int | None = 0
        self.readings: list[Readings] = []
        self.rounds: list[RoundRecord] = []
        self.verdict = Verdict(str(self.gate), None)

    def observe(
        self,
        queries: Sequence[str],
        passages: Sequence[Mapping[str, Any]],
        *,
        tokens: int | None = None,
        readings: Readings | None = None,
        failed: bool = False,
    ) -> Verdict:
        """Judge a round and return the verdict. After a stop, further rounds are ignored.

        ``readings`` adds what only the caller can measure, such as ``sufficiency.model``. ``failed`` means that the search
        did not answer, which differs from finding nothing.
        """
        if isinstance(queries, str) or not all(isinstance(query, str) for query in queries):
            raise InputError("observe(queries=…) takes a list of texts; put a single query into a list")
        if self.verdict.stop:
            return self.verdict
        hits = deduplicate_hits(map(parse_hit, passages))
        new = tuple(hit for hit in hits if hit.id not in self._seen)
        self._queries += len(queries)
        self._tokens = None if self._tokens is None or tokens is None else self._tokens + tokens
        view = RecordedRound(len(self.rounds) + 1, tuple(queries), hits, new, {}, tokens, failed=failed)
        now = self._meters.read("before", view)
        self.readings.append(now)
        self._seen.update(hit.id for hit in new)
        self.verdict = self.gate.judge(self.readings, self._seed)
        accepted = not self.verdict.stop
        if accepted:
            now |= self._meters.read("after", view) | self._measure_spend() | dict(readings or {})
            self.verdict = self.gate.judge(self.readings, self._seed)
            now |= {**self.verdict.values, **now}
        leaves = self.verdict.leaves
        self.rounds.append(RoundRecord(view.index, accepted, view.queries, len(new), now, leaves))
        return self.verdict

    def explain(self) -> str:
        """Explain in a paragraph why it stopped, or that it has not."""
        if not self.verdict.stop:
            return f"Not stopped after round {len(self.rounds)}: {self.verdict.because or 'no gate has fired'}."
        return explain_stop(self.verdict.reason, self.verdict.because, self.verdict.promise, self.rounds)

    def _measure_spend(self) -> dict[str, float | None]:
        return {
            "spend.rounds": float(len(self.readings)),
            "spend.queries": float(self._queries),
            "spend.sources": float(len(self._seen)),
            "spend.tokens": self._tokens,
            "spend.seconds": round(self._clock() - self._started_at, 3),
        }


def parse_hit(passage: Mapping[str, Any]) -> RecordedHit:
    """Return a passage of another framework as a hit; raise ``InputError`` if it has no id."""
    try:
        if passage["id"] is None:
            raise KeyError("id")
        return RecordedHit(str(passage["id"]), passage.get("title"), passage.get("text"), passage.get("score"))
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            'A passage must be a mapping with an "id"; "text", "title" and "score" are optional'
        ) from error
