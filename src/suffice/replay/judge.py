"""A gate over recorded readings: where would it have stopped? No model, no search, no clock."""

from collections.abc import Sequence
from dataclasses import dataclass

from suffice.gates.base import Gate
from suffice.meters import BEFORE_READINGS, build_meters
from suffice.replay.episodes import Episode, RecordedHit, Trace
from suffice.types import Embed, Readings, RoundRecord, Stop, Verdict


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Where a gate ends a recorded run: after this many rounds, keeping the last one or not, and whether it fired."""

    rounds: int
    kept_rounds: int
    fired: bool
    verdict: Verdict


def measure_readings(episode: Episode, needs: frozenset[str], embed: Embed | None = None) -> list[Readings]:
    """The readings of every round: measured from the recording, and what was recorded on top."""
    meters = build_meters(needs, episode.question, embed)
    found: list[Readings] = []
    queries, sources = 0, 0
    tokens: int | None = 0
    for round in episode.rounds:
        queries, sources = queries + len(round.queries), sources + len(round.new)
        tokens = None if tokens is None or round.tokens is None else tokens + round.tokens
        spend = {"rounds": len(found) + 1, "queries": queries, "sources": sources}
        readings = meters.read("before", round) | meters.read("after", round)
        readings |= {f"spend.{name}": float(value) for name, value in spend.items()}
        readings["spend.tokens"] = None if tokens is None else float(tokens)
        found.append({**readings, **round.readings})
    return found


def find_stop(gate: Gate, readings: Sequence[Readings], seed: int = 0) -> StopPoint:
    """As in the loop: each round is judged on what is read before it may change the belief, then on everything."""
    judges_before = not BEFORE_READINGS.isdisjoint(gate.needs)
    grown: list[Readings] = []
    verdict = Verdict(str(gate), None)
    for number, known in enumerate(readings, 1):
        if judges_before:
            grown.append({name: value for name, value in known.items() if name in BEFORE_READINGS})
            verdict = gate.judge(grown, seed)
            grown.pop()
            if verdict.stop:
                return StopPoint(number, number - 1, True, verdict)
        grown.append(known)
        verdict = gate.judge(grown, seed)
        if verdict.stop:
            return StopPoint(number, number, True, verdict)
    return StopPoint(len(readings), len(readings), False, verdict)


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
