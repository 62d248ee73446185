"""Judge recorded rounds by a gate: where would it have stopped? No model, no search, no clock."""

from collections.abc import Sequence
from dataclasses import dataclass

from suffice.gates.base import Gate
from suffice.measure.spend import spend_readings
from suffice.meters import BEFORE_READINGS, PREVIEW_READINGS, MeterSet, build_meters
from suffice.replay.episodes import Episode, RecordedHit, Trace
from suffice.types import Embed, Readings, RoundRecord, Stop, Verdict


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Where a gate ends a recorded run.

    ``rounds`` were searched and ``kept_rounds`` accepted: one fewer if the gate rejected the last. ``fired`` is false when
    the recording ended first. ``skipped`` are the numbers of the rounds that were searched and not read.
    """

    rounds: int
    kept_rounds: int
    fired: bool
    verdict: Verdict
    skipped: tuple[int, ...] = ()

    @property
    def read_rounds(self) -> list[int]:
        """The numbers of the rounds whose passages were used."""
        return [number for number in range(1, self.kept_rounds + 1) if number not in self.skipped]


def measure_readings(
    episode: Episode, needs: frozenset[str], embed: Embed | None = None, meters: MeterSet | None = None
) -> list[Readings]:
    """Return the readings of every round, by all meters or those given. Recorded readings replace measured ones."""
    meters = meters or build_meters(needs, episode.question, embed)
    found: list[Readings] = []
    queries, sources = 0, 0
    for round, tokens in zip(episode.rounds, accumulate_tokens(episode), strict=True):
        queries, sources = queries + len(round.queries), sources + len(round.new)
        measured = meters.preview(round) | meters.read("before", round) | meters.read("after", round)
        spent = spend_readings(rounds=len(found) + 1, queries=queries, sources=sources, tokens=tokens)
        found.append({**measured, **spent, **round.readings})
    return found


def accumulate_tokens(episode: Episode) -> list[int | None]:
    """Return the tokens used up to each round; unknown from the first round on that lacks them."""
    total: int | None = 0
    totals: list[int | None] = []
    for round in episode.rounds:
        total = None if total is None or round.tokens is None else total + round.tokens
        totals.append(total)
    return totals


def find_stop(gate: Gate, readings: Sequence[Readings], seed: int = 0) -> StopPoint:
    """Return where the gate stops a run with these readings.

    A round that the run skipped stays skipped. The preview of a round is as it was recorded, even if this gate skips an
    earlier round that the run read; ``follow_episode`` measures it again.
    """
    return _follow(gate, len(readings), _RecordedReadings(readings), seed)


def follow_episode(gate: Gate, episode: Episode, meters: MeterSet) -> StopPoint:
    """Return where the gate stops a run, measured as the gate goes: a round that it skips is unknown to later ones."""
    return _follow(gate, len(episode.rounds), _MeasuredReadings(episode, meters), episode.seed)


class _RecordedReadings:
    """Readings of rounds as they were recorded. Rounds are numbered from 1."""

    def __init__(self, readings: Sequence[Readings]) -> None:
        self._readings = readings

    def was_skipped(self, number: int) -> bool:
        return bool(self._readings[number - 1].get("preview.skipped"))

    def preview(self, number: int) -> dict[str, float | None]:
        return {name: value for name, value in self._readings[number - 1].items() if name in PREVIEW_READINGS}

    def measure_spend(self, number: int) -> dict[str, float | None]:
        return {name: value for name, value in self._readings[number - 1].items() if name.startswith("spend.")}

    def read(self, number: int) -> Readings:
        return self._readings[number - 1]


class _MeasuredReadings:
    """Readings of rounds that are measured when they are asked for, in order. Recorded readings replace measured ones."""

    def __init__(self, episode: Episode, meters: MeterSet) -> None:
        self._rounds, self._tokens = episode.rounds, accumulate_tokens(episode)
        self._meters = meters
        self._sources = 0

    def was_skipped(self, number: int) -> bool:
        return self._rounds[number - 1].skipped

    def preview(self, number: int) -> dict[str, float | None]:
        return self._meters.preview(self._rounds[number - 1])

    def measure_spend(self, number: int) -> dict[str, float | None]:
        queries = sum(len(round.queries) for round in self._rounds[:number])
        return spend_readings(rounds=number, queries=queries, sources=self._sources, tokens=self._tokens[number - 1])

    def read(self, number: int) -> Readings:
        round = self._rounds[number - 1]
        self._sources += len(round.new)
        measured = self._meters.preview(round) | self._meters.read("before", round) | self._meters.read("after", round)
        recorded = {name: value for name, value in round.readings.items() if name not in PREVIEW_READINGS}
        return {**measured, **self.measure_spend(number), **recorded}


def _follow(gate: Gate, rounds: int, source: _RecordedReadings | _MeasuredReadings, seed: int) -> StopPoint:
    """Judge rounds as the live loop does: on the preview, then on what is known before a round is accepted, then on all."""
    judges_before = not BEFORE_READINGS.isdisjoint(gate.needs)
    so_far: list[Readings] = []
    skipped: list[int] = []
    in_row = 0
    verdict = Verdict(str(gate), None)
    for number in range(1, rounds + 1):
        preview = source.preview(number)
        if source.was_skipped(number) or (gate.skips and gate.judge([*so_far, preview], seed).skip):
            skipped.append(number)
            in_row += 1
            spent = source.measure_spend(number) | _count_rounds(len(so_far), len(skipped), in_row)
            verdict = gate.judge([*so_far, preview | spent], seed)
            if verdict.stop:
                return StopPoint(number, number, True, verdict, tuple(skipped))
            continue
        in_row = 0
        now = source.read(number)
        if judges_before:
            before = {name: now[name] for name in now.keys() & BEFORE_READINGS}
            verdict = gate.judge([*so_far, preview | before], seed)
            if verdict.stop:
                return StopPoint(number, number - 1, True, verdict, tuple(skipped))
        so_far.append({**now, **_count_rounds(len(so_far) + 1, len(skipped), 0)} if skipped else now)
        verdict = gate.judge(so_far, seed)
        if verdict.stop:
            return StopPoint(number, number, True, verdict, tuple(skipped))
    return StopPoint(rounds, rounds, False, verdict, tuple(skipped))


def _count_rounds(read: int, skipped: int, in_row: int) -> dict[str, float | None]:
    return {"spend.rounds": float(read), "spend.previews": float(skipped), "preview.skipped": float(in_row)}


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
        if not self.stop_point.fired:
            limit = "1 round" if rounds == 1 else f"{rounds} rounds"
            return f"{self.stop.gate} would not have stopped this run within its {limit}.{note}"
        how = "after" if self.stop_point.kept_rounds == self.stop_point.rounds else "in"
        verdict = self.stop_point.verdict
        where = (
            f"{self.stop.gate} would have stopped it {how} round {self.stop_point.rounds} of {rounds}: {verdict.reason}"
        )
        skips = len(self.stop_point.skipped)
        where += f", after skipping {skips} round{'' if skips == 1 else 's'}" if skips else ""
        passages = "passage" if len(self.missed) == 1 else "passages"
        loss = f"It would have missed {len(self.missed)} {passages}, {len(self.cited)} of them cited in the answer."
        return f"{where} ({verdict.because}). {loss if self.missed else 'It would have missed nothing.'}{note}"


def what_if(trace: Trace, gate: Gate) -> WhatIf:
    """Judge the recorded readings of a run by another gate."""
    readings = [round.readings for round in trace.rounds]
    stop_point = find_stop(gate, readings, trace.seed)
    kept = set(stop_point.read_rounds)
    missed = tuple(hit for round in trace.rounds if round.accepted and round.index not in kept for hit in round.new)
    cited_locations = {source["location"] for source in (trace.report or {}).get("sources", ())}
    known = {name for reading in readings for name, value in reading.items() if value is not None}
    return WhatIf(
        stop_point,
        _build_stop(trace, gate, stop_point),
        missed,
        tuple(hit for hit in missed if hit.location in cited_locations),
        tuple(sorted(gate.needs - known)),
    )


def _build_stop(trace: Trace, gate: Gate, stop_point: StopPoint) -> Stop:
    records: list[RoundRecord] = []
    read: list[Readings] = []
    for round in trace.rounds:
        skipped = round.skipped or round.index in stop_point.skipped
        verdict = gate.judge([*read, round.readings], trace.seed)
        records.append(
            RoundRecord(
                round.index,
                round.accepted and not skipped,
                round.queries,
                len(round.new),
                round.readings,
                (verdict,),
                skipped=skipped,
            )
        )
        if not skipped:
            read.append(round.readings)
    verdict = stop_point.verdict
    rounds = stop_point.rounds if stop_point.fired else 0
    return Stop(verdict.reason, str(gate), rounds, verdict.promise, verdict.because, tuple(records))
