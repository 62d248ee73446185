"""``suffice explain``: why a recorded run stopped, and where another gate would have."""

from pathlib import Path

from suffice.doors.terminal import print_stop
from suffice.gates.parse import parse
from suffice.replay.judge import halt
from suffice.replay.trace import Trace, read_trace
from suffice.types import Stop


def explain(path: Path, expression: str | None) -> int:
    trace = read_trace(path)
    if trace.stop is None:
        print(f"The run {trace.run} was cut off after round {len(trace.rounds)}: no stop is recorded.")
    else:
        import msgspec

        if trace.task:
            print(f"{trace.task}\n")
        print_stop(msgspec.convert(trace.stop, Stop))
    if expression is not None:
        print("\n" + what_if(trace, expression))
    return 0


def what_if(trace: Trace, expression: str) -> str:
    """Where the gate would have stopped this run, and what it would have missed."""
    gate = parse(expression)
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
