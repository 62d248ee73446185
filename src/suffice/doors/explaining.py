"""``suffice explain``: why a recorded run stopped, and where another gate would have."""

from pathlib import Path

from suffice.doors.terminal import print_stop
from suffice.gates.parse import parse
from suffice.meters import before_names
from suffice.replay.episodes import Trace, first_stop, read_trace
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
    unknown = sorted(gate.needs - {name for reading in readings for name in reading})
    note = f" It has no reading of {', '.join(unknown)}, so those parts abstain." if unknown else ""
    found = first_stop(gate, readings, before_names(), trace.seed)
    if found is None:
        return f"{gate} would not have stopped this run within its {len(readings)} rounds.{note}"
    done, kept, verdict = found
    missed = [hit for round in trace.rounds[done if kept else done - 1 :] if round.accepted for hit in round.new]
    where = (
        f"{gate} would have stopped it {'after' if kept else 'at'} round {done} of {len(readings)}: {verdict.reason}"
    )
    cited = cited_among(trace, {hit.id for hit in missed})
    loss = (
        f"It would have missed {len(missed)} passages, {cited} of them cited in the answer."
        if missed
        else ("It would have missed nothing.")
    )
    return f"{where} ({verdict.because}). {loss}{note}"


def cited_among(trace: Trace, ids: set[str]) -> int:
    locations = {source["location"] for source in (trace.report or {}).get("sources", ())}
    by_id = {hit.id for round in trace.rounds for hit in round.hits if hit.id in ids and hit.location in locations}
    return len(by_id)
