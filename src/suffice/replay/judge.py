"""A gate over recorded readings: where would it have stopped? No model, no search, no clock."""

from collections.abc import Sequence
from dataclasses import dataclass

from suffice.gates.base import Gate
from suffice.leads import Embed
from suffice.meters import BEFORE_READINGS, build_meters
from suffice.replay.recorded import Episode
from suffice.types import Readings, Verdict


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
