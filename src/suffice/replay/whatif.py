"""What if another gate had judged this run: where it would have stopped, and what that would have missed."""

from dataclasses import dataclass

from suffice.gates.base import Gate
from suffice.replay.judge import StopPoint, find_stop
from suffice.replay.recorded import RecordedHit
from suffice.replay.trace import Trace
from suffice.types import Readings, RoundRecord, Stop


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The same rounds under another gate. ``stop`` holds all rounds, so that a chart can show what came after it."""

    stop_point: StopPoint
    stop: Stop
    missed: tuple[RecordedHit, ...]
    cited: tuple[RecordedHit, ...]
    """Those of the missed that the answer cites."""
    unknown: tuple[str, ...]
    """Readings that the gate needs and this run does not have: what needs them abstains."""

    def __str__(self) -> str:
        rounds = len(self.stop.rounds)
        note = (
            f" This run has no reading of {', '.join(self.unknown)}, so what needs it abstains." if self.unknown else ""
        )
        if not self.stop_point.fired:
            return f"{self.stop.gate} would not have stopped this run within its {rounds} rounds.{note}"
        how = "after" if self.stop_point.kept_rounds == self.stop_point.rounds else "in"
        verdict = self.stop_point.verdict
        where = (
            f"{self.stop.gate} would have stopped it {how} round {self.stop_point.rounds} of {rounds}: {verdict.reason}"
        )
        loss = f"It would have missed {len(self.missed)} passages, {len(self.cited)} of them cited in the answer."
        return f"{where} ({verdict.because}). {loss if self.missed else 'It would have missed nothing.'}{note}"


def what_if(trace: Trace, gate: Gate) -> WhatIf:
    """Judge the recorded readings again. No model, no search."""
    readings = [round.readings for round in trace.rounds]
    halted = find_stop(gate, readings, trace.seed)
    missed = tuple(hit for round in trace.rounds[halted.kept_rounds :] if round.accepted for hit in round.new)
    places = {source["location"] for source in (trace.report or {}).get("sources", ())}
    known = {name for reading in readings for name, value in reading.items() if value is not None}
    return WhatIf(
        halted,
        _build_stop(trace, gate, halted, readings),
        missed,
        tuple(hit for hit in missed if hit.location in places),
        tuple(sorted(gate.needs - known)),
    )


def _build_stop(trace: Trace, gate: Gate, halted: StopPoint, readings: list[Readings]) -> Stop:
    records = tuple(
        RoundRecord(
            round.index,
            round.accepted,
            round.queries,
            len(round.new),
            round.readings,
            (gate.judge(readings[: round.index], trace.seed),),
        )
        for round in trace.rounds
    )
    verdict = halted.verdict
    return Stop(
        verdict.reason, str(gate), halted.rounds if halted.fired else 0, verdict.promise, verdict.because, records
    )
