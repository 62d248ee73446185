"""``suffice explain``: why a recorded run stopped, and where another gate would have."""

from pathlib import Path

from suffice import settings
from suffice.cli.terminal import print_stop
from suffice.errors import InputError
from suffice.gates.parse import parse_gate
from suffice.replay.episodes import Trace, read_trace
from suffice.replay.judge import what_if
from suffice.storage import runs
from suffice.types import Stop


def explain(name: str, expression: str | None) -> int:
    """``name``: a trace file, or a kept run."""
    path = Path(name)
    if not path.exists():
        path = runs.find_run_dir(settings.load().data_dir, name) / runs.EVENTS_FILE
    trace = read_trace(path)
    gate = None if expression is None else parse_gate(expression)
    stop = _read_stop(trace, path)
    if stop is None:
        print(f"The run {trace.run} was cut off after round {len(trace.rounds)}: no stop is recorded.")
    else:
        if trace.task:
            print(f"{trace.task}\n")
        print_stop(stop)
    if gate is not None:
        print(f"\n{what_if(trace, gate)}")
    return 0


def _read_stop(trace: Trace, path: Path) -> Stop | None:
    import msgspec

    try:
        return None if trace.stop is None else msgspec.convert(trace.stop, Stop)
    except msgspec.ValidationError as error:
        raise InputError(f"{path} holds a stop that cannot be read ({error})") from error
