"""``suffice explain``: say why a run stopped, and where another gate would have stopped it."""

from pathlib import Path

from suffice import settings
from suffice.cli.options import argument, flag
from suffice.errors import InputError


def explain(
    trace: str = argument(
        ...,
        "A file written by --trace, or a stored run ('last' is the newest; 'suffice runs' lists them).",
        "TRACE|RUN",
    ),
    stop: str | None = flag(
        None, "Also show where this stop rule would have ended the run and what it would have missed.", metavar="EXPR"
    ),
) -> None:
    """Say why a run stopped, and compare another stop rule."""
    import msgspec

    from suffice.cli.terminal import print_stop
    from suffice.gates.parse import parse_gate
    from suffice.replay.episodes import read_trace
    from suffice.replay.judge import what_if
    from suffice.storage import runs
    from suffice.types import Stop

    path = Path(trace)
    if not path.exists():
        path = runs.find_run_dir(settings.load().data_dir, trace) / runs.EVENTS_FILE
    recorded = read_trace(path)
    gate = None if stop is None else parse_gate(stop)
    try:
        recorded_stop = None if recorded.stop is None else msgspec.convert(recorded.stop, Stop)
    except msgspec.ValidationError as error:
        raise InputError(f"{path} has a stop record that cannot be read: {error}") from error
    if recorded_stop is None:
        print(f"The run {recorded.id} was cut off after round {len(recorded.rounds)}; it has no recorded stop.")
    else:
        if recorded.question:
            print(f"{recorded.question}\n")
        print_stop(recorded_stop)
    if gate is not None:
        print(f"\n{what_if(recorded, gate)}")
