"""``suffice explain``: why a recorded run stopped, and where another gate would have."""

from pathlib import Path

from suffice.doors.terminal import print_stop
from suffice.errors import InputError
from suffice.gates.base import Gate
from suffice.gates.parse import parse
from suffice.replay.judge import halt
from suffice.replay.trace import Trace, read_trace
from suffice.types import Stop


def explain(path: Path, expression: str | None) -> int:
    trace = read_trace(path)
    gate = None if expression is None else parse(expression)
    stop = _stop(trace, path)
    if stop is None:
        print(f"The run {trace.run} was cut off after round {len(trace.rounds)}: no stop is recorded.")
    else:
        if trace.task:
            print(f"{trace.task}\n")
        print_stop(stop)
    if gate is not None:
        print("\n" + what_if(trace, gate))
    return 0


def _stop(trace: Trace, path: Path) -> Stop | None:
    import msgspec

    try:
        return None if trace.stop is None else msgspec.convert(trace.stop, Stop)
    except msgspec.ValidationError as error:
        raise InputError(f"{path} holds a stop that cannot be read ({error})") from error


def what_if(trace: Trace, gate: Gate) -> str:
    """Where the gate would have stopped this run, and what it would have missed."""
    readings = [round.readings for round in trace.rounds]
    unknown = sorted(
        gate.needs - {name for reading in readings for name, value in reading.items() if value is not None}
    )
    note = f" This run has no reading of {', '.join(unknown)}, so what needs it abstains." if unknown else ""
    halted = halt(gate, readings, trace.seed)
    if not halted.fired:
        return f"{gate} would not have stopped this run within its {len(readings)} rounds.{note}"
    missed = {hit.id for round in trace.rounds[halted.kept :] if round.accepted for hit in round.new}
    how = "after" if halted.kept == halted.rounds else "in"
    where = f"{gate} would have stopped it {how} round {halted.rounds} of {len(readings)}: {halted.verdict.reason}"
    loss = f"It would have missed {len(missed)} passages, {_cited(trace, missed)} of them cited in the answer."
    return f"{where} ({halted.verdict.because}). {loss if missed else 'It would have missed nothing.'}{note}"


def _cited(trace: Trace, ids: set[str]) -> int:
    cited = {source["location"] for source in (trace.report or {}).get("sources", ())}
    return len({hit.id for round in trace.rounds for hit in round.raw if hit.id in ids and hit.location in cited})
