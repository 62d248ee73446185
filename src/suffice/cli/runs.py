"""``suffice runs`` and ``suffice memory``: look at what is kept on this machine, take it out, and delete it."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

runs_app = typer.Typer(help="The runs kept on this machine.", invoke_without_command=True)
memory_app = typer.Typer(help="What earlier runs found out.", no_args_is_help=True)

RunArgument = Annotated[str, typer.Argument(help="Its id, the beginning of it, or 'last'.", metavar="RUN")]
Json = Annotated[bool, typer.Option("--json", help="JSON on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
_DEFAULT_COUNT = 20


@runs_app.callback()
def list_runs(
    context: typer.Context,
    number: Annotated[int, typer.Option("-n", help="How many, the newest last.", min=1)] = _DEFAULT_COUNT,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the runs kept on this machine, the newest last; with --json as lines of the log."""
    if context.invoked_subcommand is not None:
        return
    from suffice.storage.runs import list_unfinished_runs, read_log

    cut_off = [{"run": run, "status": "unfinished"} for run in list_unfinished_runs(_data_dir())]
    chosen = sorted([*read_log(_data_dir()), *cut_off], key=lambda row: str(row["run"]))[-number:]
    for row in chosen:
        print(json.dumps(row, ensure_ascii=False) if as_json else _format_run(row))
    if not chosen and not as_json:
        print("No run is kept yet; suffice ask keeps each one.")


@runs_app.command()
def show(run: RunArgument, as_json: Json = False, debug: Debug = False) -> None:
    """Show the report of a run again."""
    from suffice.cli.terminal import print_report
    from suffice.storage.report_json import dumps
    from suffice.storage.runs import find_run_dir, load_report

    report = load_report(find_run_dir(_data_dir(), run))
    if as_json:
        print(dumps(report))
    elif report.final_answer:
        print_report(report)
    else:
        print(f"{report.task}\n\nNo report was written: {report.stop.explanation}")


@runs_app.command()
def export(
    run: RunArgument,
    out: Annotated[Path, typer.Argument(help="DATABASE_NAME.jsonl for the trace; .md, .html or .json for the report.")],
    debug: Debug = False,
) -> None:
    """Write a run's trace or report to a file."""
    from suffice.cli.ask import validate_output_path, write_report
    from suffice.errors import InputError
    from suffice.storage.runs import EVENTS_FILE, find_run_dir, load_report

    folder = find_run_dir(_data_dir(), run)
    if out.suffix.lower() != ".jsonl":
        validate_output_path(out, "FILE")
        return write_report(load_report(folder), out)
    try:
        out.write_bytes((folder / EVENTS_FILE).read_bytes())
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}") from error


@runs_app.command()
def delete(
    names: Annotated[list[str] | None, typer.Argument(help="Ids, or beginnings of them.", metavar="RUN...")] = None,
    every: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    debug: Debug = False,
) -> None:
    """Forget runs: their line in the log, their trace, their report, and what is remembered of them."""
    from suffice.errors import InputError
    from suffice.storage.runs import delete_runs, find_run_dir, list_unfinished_runs, read_log

    data_dir = _data_dir()
    logged = {row["run"] for row in read_log(data_dir)}
    if every == bool(names):
        raise InputError("Name the runs to delete, or all of them with --all")
    chosen = (
        logged.union(list_unfinished_runs(data_dir))
        if every
        else {name if name in logged else find_run_dir(data_dir, name).name for name in names or ()}
    )
    known = {finding.run: finding.id for finding in _open_findings().search("")} if chosen else {}
    remembered = [known[run] for run in chosen if run in known]
    if chosen:
        delete_runs(data_dir, sorted(chosen))
        _open_findings().forget(remembered)
    left = f" and {_pluralize(len(remembered), 'finding')}" if remembered else ""
    print(f"Deleted {_pluralize(len(chosen), 'run')}{left}.")


@memory_app.command()
def search(
    text: Annotated[str, typer.Argument(help="What it is about; without it, everything.", metavar="TEXT")] = "",
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what earlier runs found out about something."""
    found = _open_findings().search(text)
    for finding in found:
        if as_json:
            facts = [{"text": fact.text, "sources": list(fact.sources)} for fact in finding.facts]
            told = {"id": finding.id, "run": finding.run, "task": finding.task, "facts": facts, "score": finding.score}
            print(json.dumps(told, ensure_ascii=False))
        else:
            print(f"{finding.id}  {finding.title}  (run {finding.run})")
            for fact in finding.facts:
                print(f"    {fact.text}  [{'; '.join(fact.sources)}]")
    if not found and not as_json:
        print("Nothing of it is remembered." if text else "Nothing is remembered yet.")


@memory_app.command()
def forget(
    numbers: Annotated[list[int] | None, typer.Argument(help="The numbers that search shows.", metavar="ID...")] = None,
    every: Annotated[bool, typer.Option("--all", help="All of it.")] = False,
    debug: Debug = False,
) -> None:
    """Forget findings."""
    from suffice.errors import InputError

    if every == bool(numbers):
        raise InputError("Name the findings to forget by their number, or all of them with --all")
    gone = _open_findings().forget(None if every else numbers)
    if not gone and not every:
        raise InputError("There is no finding with that number; suffice memory search lists them")
    print(f"Forgot {_pluralize(gone, 'finding')}.")


def _pluralize(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _format_run(row: dict[str, Any]) -> str:
    rounds = row.get("rounds", 0)
    told = f"{row.get('status', '?'):<11} {rounds} {'round ' if rounds == 1 else 'rounds'}  {row.get('task', '')[:80]}"
    return f"{row['run']}  {told}"


def _data_dir() -> Path:
    from suffice import settings

    return settings.load().data_dir


def _open_findings() -> Any:
    from suffice.storage.findings import DATABASE_NAME, FindingStore

    return FindingStore(_data_dir() / DATABASE_NAME)
