"""Judge recorded rounds by a gate: where would it have stopped? No model, no search, no clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from suffice.gates.base import Gate
from suffice.meters import BEFORE_READINGS, MeterSet, build_meters
from suffice.replay.episodes import Episode, RecordedHit
from suffice.text.plain import count
from suffice.types import Embed, Readings, RoundRecord, Stop, Verdict


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Where a gate ends a recorded run.

    ``rounds`` were searched and ``kept_rounds`` accepted: one fewer if the gate rejected the last. ``fired`` is false when
    the recording ended first.
    """

    rounds: int
    kept_rounds: int
    fired: bool
    verdict: Verdict


def measure_readings(
    episode: Episode, needs: frozenset[str], embed: Embed | None = None, meters: MeterSet | None = None
) -> list[Readings]:
    """Return the readings of every round, by all meters or those given. Recorded readings replace measured ones."""
    meters = meters or build_meters(needs, episode.question, embed)
    found: list[Readings] = []
    queries, sources = 0.0, 0.0
    for number, (round, tokens) in enumerate(zip(episode.rounds, accumulate_tokens(episode), strict=True), 1):
        queries, sources = queries + len(round.queries), sources + len(round.new)
        spent = {
            "spend.rounds": float(number),
            "spend.queries": queries,
            "spend.sources": sources,
            "spend.tokens": tokens,
        }
        measured = meters.read("before", round) | meters.read("after", round)
        found.append({**measured, **spent, **round.readings})
    return found


def accumulate_tokens(episode: Episode) -> list[int | None]:
    """Return the tokens used up to each round; unknown from the first round on that lacks them."""
    tokens = (round.tokens for round in episode.rounds)
    return list(accumulate(tokens, lambda total, own: None if total is None or own is None else total + own))


def find_stop(gate: Gate, readings: Sequence[Readings], seed: int = 0) -> StopPoint:
    """Return where the gate stops a run with these readings.

    Rounds are judged as the live loop does: on what is known before a round is accepted, then on all of its readings.
    """
    judges_before = not BEFORE_READINGS.isdisjoint(gate.needs)
    verdict = Verdict(str(gate), None)
    for number, now in enumerate(readings, 1):
        if judges_before:
            before = {name: now[name] for name in now.keys() & BEFORE_READINGS}
            verdict = gate.judge([*readings[: number - 1], before], seed)
            if verdict.stop:
                return StopPoint(number, number - 1, True, verdict)
        verdict = gate.judge(readings[:number], seed)
        if verdict.stop:
            return StopPoint(number, number, True, verdict)
    return StopPoint(len(readings), len(readings), False, verdict)


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A recorded run under another gate. ``stop`` holds all rounds, so that a chart can show those after the stop."""

    stop_point: StopPoint
    stop: Stop
    missed: tuple[RecordedHit, ...]
    cited: tuple[RecordedHit, ...]
    """The missed passages that the answer cites."""
    unknown: tuple[str, ...]
    """Readings that the gate needs and this run lacks. Gates that need them abstain."""

    def __str__(self) -> str:
        rounds = len(self.stop.rounds)
        note = (
            f" This run has no reading of {', '.join(self.unknown)}, so what needs it abstains." if self.unknown else ""
        )
        if rounds < 2:
            outcome = "have stopped there too" if self.stop_point.fired else "have gone on"
            return f"With {count(rounds, 'round')} no rule could end this run sooner; {self.stop.gate} would {outcome}.{note}"
        if not self.stop_point.fired:
            return f"{self.stop.gate} would not have stopped this run within its {count(rounds, 'round')}.{note}"
        how = "after" if self.stop_point.kept_rounds == self.stop_point.rounds else "in"
        verdict = self.stop_point.verdict
        where = (
            f"{self.stop.gate} would have stopped it {how} round {self.stop_point.rounds} of {rounds}: {verdict.reason}"
        )
        missed = count(len(self.missed), "passage")
        loss = f"It would have missed {missed}, {len(self.cited)} of them cited in the answer."
        return f"{where} ({verdict.because}). {loss if self.missed else 'It would have missed nothing.'}{note}"


def what_if(trace: Episode, gate: Gate) -> WhatIf:
    """Judge the recorded readings of a run by another gate."""
    readings = [round.readings for round in trace.rounds]
    stop_point = find_stop(gate, readings, trace.seed)
    left_out = trace.rounds[stop_point.kept_rounds :]
    missed = tuple(hit for round in left_out if round.accepted for hit in round.new)
    cited_locations = {source["location"] for source in (trace.report or {}).get("sources", ())}
    cited = tuple(hit for hit in missed if hit.location in cited_locations)
    known = {name for reading in readings for name, value in reading.items() if value is not None}
    records = []
    for number, round in enumerate(trace.rounds, 1):
        verdicts = (gate.judge(readings[:number], trace.seed),)
        new = len(round.new)
        records.append(RoundRecord(round.index, round.accepted, round.queries, new, round.readings, verdicts))
    verdict = stop_point.verdict
    rounds = stop_point.rounds if stop_point.fired else 0
    stop = Stop(verdict.reason, str(gate), rounds, verdict.promise, verdict.because, tuple(records))
    return WhatIf(stop_point, stop, missed, cited, tuple(sorted(gate.needs - known)))
