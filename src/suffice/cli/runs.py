"""``suffice runs`` and ``suffice memory``: list, show, export and delete what is stored on this machine."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from suffice import settings
from suffice.cli.options import JSON, CommandGroup, argument, flag
from suffice.cli.output import render_report, validate_report_path, write_file
from suffice.errors import InputError
from suffice.text.plain import count

if TYPE_CHECKING:
    from suffice.storage.findings import FindingStore

runs_app = CommandGroup("runs", invoke_without_command=True)
memory_app = CommandGroup("memory", help="Search and delete what earlier runs found out.", no_args_is_help=True)

_RUN = argument(..., "The run's id, the first characters of it, or 'last'.", "RUN")


@runs_app.callback()
def list_runs(
    context: typer.Context,
    number: int = flag(20, "How many runs to list.", flags="-n", metavar="N", min=1),
    as_json: bool = JSON,
) -> None:
    """List, show, export and delete stored runs.

    Without a command, lists the runs of the command line that are stored on this machine, newest first; what was asked of
    a service is under Earlier runs on its page. With --json, prints one JSON object per run.
    """
    if context.invoked_subcommand is not None:
        return
    from suffice.storage.runs import list_unfinished_runs, read_log

    unfinished = [{"run": run, "status": "unfinished"} for run in list_unfinished_runs(_data_dir())]
    rows = [*read_log(_data_dir()), *unfinished][::-1]
    rows = sorted(rows, key=lambda row: str(row["run"]).partition("-")[0], reverse=True)[:number]  # By their time.
    for row in rows:
        print(json.dumps(row, ensure_ascii=False) if as_json else _format_run(row))
    if not rows and not as_json:
        print("No runs are stored yet; suffice ask stores each one. Those of a service are on its page.")


@runs_app.command()
def show(run: str = _RUN, as_json: bool = JSON) -> None:
    """Show the report of a run."""
    from suffice.cli.terminal import print_report
    from suffice.storage.runs import find_run_dir, load_report

    report = load_report(find_run_dir(_data_dir(), run))
    if as_json:
        print(render_report(report, ".json"))
    else:
        print_report(report)


@runs_app.command()
def export(
    run: str = _RUN,
    out: Path = argument(..., "The file to write: .md, .html or .json for the report, .jsonl for the trace.", "FILE"),
) -> None:
    """Write a run's report or trace to a file."""
    from suffice.storage.runs import EVENTS_FILE, find_run_dir, load_report

    folder = find_run_dir(_data_dir(), run)
    if out.suffix.lower() == ".jsonl":
        write_file(out, (folder / EVENTS_FILE).read_bytes(), "FILE")
    else:
        validate_report_path(out, "FILE")
        write_file(out, render_report(load_report(folder), out.suffix.lower()), "FILE")


@runs_app.command()
def delete(
    names: list[str] | None = argument(None, "Ids of runs, or their first characters.", "RUN..."),
    delete_all: bool = flag(False, "Delete all runs.", flags="--all"),
) -> None:
    """Delete runs: their trace, report, log line and findings."""
    from suffice.storage.runs import delete_runs, find_run_dir, list_unfinished_runs, read_log

    if delete_all == bool(names):
        raise InputError("Name the runs to delete, or delete all of them with --all")
    data_dir = _data_dir()
    logged = {row["run"] for row in read_log(data_dir)}
    if delete_all:
        chosen = logged.union(list_unfinished_runs(data_dir))
    else:
        chosen = {name if name in logged else find_run_dir(data_dir, name).name for name in names or ()}
    findings = [finding.id for finding in _open_findings().search("") if finding.run in chosen] if chosen else []
    if chosen:
        delete_runs(data_dir, sorted(chosen))
        _open_findings().delete(findings)
    and_findings = f" and {count(len(findings), 'finding')}" if findings else ""
    print(f"Deleted {count(len(chosen), 'run')}{and_findings}.")


@memory_app.command()
def search(
    text: str = argument("", "What to look for. Without it, show all findings.", "TEXT"), as_json: bool = JSON
) -> None:
    """Show findings of earlier runs, with their sources."""
    findings = _open_findings().search(text)
    for finding in findings:
        if as_json:
            facts = [{"text": fact.text, "sources": list(fact.sources)} for fact in finding.facts]
            row = {"id": finding.id, "run": finding.run, "task": finding.task, "facts": facts, "score": finding.score}
            print(json.dumps(row, ensure_ascii=False))
        else:
            print(f"{finding.id}  {finding.title}  (run {finding.run})")
            for fact in finding.facts:
                print(f"    {fact.text}  [{'; '.join(fact.sources)}]")
    if not findings and not as_json:
        print("No finding matches." if text else "There are no findings yet.")


@memory_app.command()
def forget(
    numbers: list[int] | None = argument(None, "The numbers that 'suffice memory search' shows.", "ID..."),
    forget_all: bool = flag(False, "Delete all findings.", flags="--all"),
) -> None:
    """Delete findings."""
    if forget_all == bool(numbers):
        raise InputError("Name the findings to delete by their number, or delete all of them with --all")
    deleted = _open_findings().delete(None if forget_all else numbers)
    if not deleted and not forget_all:
        raise InputError("There is no finding with that number; suffice memory search lists them")
    print(f"Deleted {count(deleted, 'finding')}.")


def _format_run(row: dict[str, Any]) -> str:
    at = datetime.fromisoformat(row["at"]).astimezone().strftime("%Y-%m-%d %H:%M") if "at" in row else ""
    question = " ".join((*(f"/{name}" for name in row.get("skills") or ()), row.get("task", "")))[:80]
    where = f"  ({', '.join(row['docs'])})" if row.get("docs") else ""
    return f"{row['run']}  {row.get('status', '?'):<11}  {at:<16}  {question}{where}"


def _data_dir() -> Path:
    return settings.load().data_dir


def _open_findings() -> "FindingStore":
    from suffice.storage.findings import DATABASE_NAME, FindingStore

    return FindingStore(_data_dir() / DATABASE_NAME)
