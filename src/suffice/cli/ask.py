"""A file named in the task itself: "… and save it to notes/bridge.md" (S4).

A task may be pasted from elsewhere, so such a file lies below the working directory and is never one that is there already;
``--out`` is free of both rules. Only an instruction at the end of a task counts, not a question about writing files.
"""

import json
import os
import re
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from suffice import settings
from suffice.api import make_recorder, prepare_run
from suffice.cli.interrupt import run_interruptible
from suffice.cli.terminal import Terminal, print_report
from suffice.engine.pipeline import RunConfig, new_run_id, run_pipeline
from suffice.errors import EXIT_INTERRUPTED, InputError
from suffice.events import Event, Finished, Started, serialize_event
from suffice.options import RunOptions
from suffice.storage.runs import RunRecorder
from suffice.types import Report

_SAVE_INSTRUCTION = re.compile(
    r"""(?:^|[.,;:!?]|\s(?:and|then))\s*(?:and\s+|then\s+|please\s+)*
        (?:save|write|output|export)\s+(?:(?:it|this|that|the\s+(?:\w+\s+)?\w+)\s+)?(?:to|into|in|as)\s+
        (?:(?:the|a)\s+file\s+)?["'`“]?(?P<path>[^\s"'`”“]+\.(?:md|html|json))["'`”]?\s*\.?\s*$""",
    re.IGNORECASE | re.VERBOSE,
)


def extract_output_file(task: str) -> tuple[str, Path | None]:
    """The task without the instruction to save it, and the file; the task as it is when it names none.

    >>> named_file("Who built the bridge? Save it to bridge.md")
    ('Who built the bridge?', PosixPath('bridge.md'))
    """
    found = _SAVE_INSTRUCTION.search(task)
    if found is None:
        return task, None
    kept = task[: found.start()] + (task[found.start()] if task[found.start()] in ".!?" else "")
    if not any(character.isalnum() for character in kept):
        return task, None  # Nothing but the instruction: there is no question before it.
    path = Path(found["path"])
    inside = Path.cwd().resolve()
    if not path.expanduser().resolve().is_relative_to(inside):
        raise InputError(
            f"The task says to save to {path}, which is not below the working directory; use --out for that"
        )
    if path.exists() or path.is_symlink():
        raise InputError(
            f"The task says to save to {path}, which is there already; remove it, or overwrite it with --out"
        )
    return kept.strip(), path


_FORMATS = (".md", ".html", ".json")


@dataclass(frozen=True)
class OutputOptions:
    """How an answer is shown and where it goes."""

    out: Sequence[Path] = ()
    trace: Path | None = None
    as_json: bool = False
    quiet: bool = False


def ask(question: str, options: RunOptions, output: OutputOptions) -> int:
    """Answer one question at the terminal; the exit status."""
    task, named = extract_output_file(question)
    output = replace(output, out=[*output.out, *([named] if named else [])])
    return _run_and_print(lambda watcher: _run_question(task, options, watcher), options, output)


def resume(run: str, output: OutputOptions) -> int:
    """Go on with a run that was interrupted or killed; what it had paid for is not paid for again."""
    from suffice.jobs import local

    data_dir = settings.load().data_dir
    order = local.load_request(run, data_dir)
    try:
        os.chdir(order.working_dir or ".")  # Where its paths start.
    except OSError as error:
        raise InputError(f"The folder {order.working_dir}, where the run began, is gone: {error.strerror}") from error

    async def again(watcher: _EventDispatcher) -> Report | None:
        watcher.is_durable = True
        setup = await prepare_run(order.question, order.options, watcher.terminal.say, watcher.terminal.progress)
        return await local.run_local(run, order, replace(setup, run_id=run), data_dir, watcher.dispatch, resume=True)

    return _run_and_print(again, order.options, output)


def print_unfinished() -> int:
    """List the runs that can be gone on with."""
    from suffice.jobs import local

    for run in local.list_unfinished(settings.load().data_dir):
        print(f"{run.run}  {' '.join(run.question.split())[:80]}")
    return 0


def _run_and_print(
    work: Callable[["_EventDispatcher"], Coroutine[None, None, Report | None]], options: RunOptions, shown: OutputOptions
) -> int:
    for path in shown.out:
        validate_output_path(path)
    with ExitStack() as stack:
        terminal = stack.enter_context(Terminal(quiet=shown.quiet).live_display())
        trace = stack.enter_context(_open_trace(shown.trace)) if shown.trace is not None else None
        watcher = _EventDispatcher(terminal, make_recorder(options, terminal.say, shown.out), trace)
        report = run_interruptible(work(watcher))
    if report is None:  # Interrupted before the run had begun.
        return EXIT_INTERRUPTED
    if shown.as_json:
        print(_render_as(report, ".json"))
    elif report.final_answer:
        print_report(report)
    for path in shown.out:
        write_report(report, path)
        terminal.say(f"wrote {path}")
    return _exit_status(report, terminal, watcher.is_durable)


class _EventDispatcher:
    """Passes each event to the terminal, to what keeps the run, and to the trace."""

    def __init__(self, terminal: Terminal, keeper: RunRecorder, trace: TextIO | None) -> None:
        self.terminal = terminal
        self._recorder = keeper
        self._trace = trace
        self._run = ""
        self.is_durable = False

    def dispatch(self, event: Event) -> None:
        if isinstance(event, Started):
            self._run = event.run
        self.terminal.show_event(event)
        self._recorder.record_event(event)
        if self._trace is not None:
            self._write_trace(event, self._trace)

    def _write_trace(self, event: Event, trace: TextIO) -> None:
        """Append to the trace; a full disk ends the trace, not the run."""
        try:
            if isinstance(event, Started) and trace.seekable():
                trace.truncate(0)  # Only now: what was there before survives a run that never started.
            trace.write(json.dumps(serialize_event(event, self._run), ensure_ascii=False) + "\n")
            trace.flush()
        except OSError as error:
            self._trace = None
            self.terminal.print_error(f"--trace {trace.name} cannot be written: {error.strerror}; going on without it")


async def _run_question(question: str, options: RunOptions, watcher: _EventDispatcher) -> Report | None:
    setup = await prepare_run(question, options, watcher.terminal.say, watcher.terminal.progress)
    if _should_be_durable(setup, options):
        from suffice.jobs import local
        from suffice.jobs.requests import JobRequest

        watcher.is_durable = True
        run = new_run_id()
        order = JobRequest(question, options, working_dir=str(Path.cwd()))
        data_dir = settings.load().data_dir
        return await local.run_local(run, order, replace(setup, run_id=run), data_dir, watcher.dispatch, resume=False)
    async with aclosing(run_pipeline(setup)) as events:
        async for event in events:
            watcher.dispatch(event)
            if isinstance(event, Finished):
                return event.report
    return None


def _should_be_durable(setup: RunConfig, options: RunOptions) -> bool:
    """Whether a crash would cost something that can be kept. What came through standard input is gone with the process."""
    from suffice.jobs.requests import has_paid_calls

    return has_paid_calls(setup) and "-" not in options.scope.docs and find_spec("dbos") is not None


def _exit_status(report: Report, terminal: Terminal, durable: bool) -> int:
    if report.stop.reason == "cancelled":
        how = f" Go on with: suffice resume {report.run}" if durable else ""
        terminal.print_error(f"Interrupted; {report.stop.explanation}{how}")
        return EXIT_INTERRUPTED
    if report.status == "no_evidence":
        terminal.print_error("No evidence: nothing that was searched answers this question, so there is no report.")
        return 3
    if report.status == "failed":
        last = report.error_log[-1].message if report.error_log else report.stop.explanation
        terminal.print_error(f"No answer could be written: {last}")
        return 4
    return 0


def _render_as(report: Report, suffix: str) -> str:
    if suffix == ".json":
        from suffice.storage.report_json import dumps

        return dumps(report)
    if suffix == ".html":
        from suffice.report import html

        return html.render_html(report)
    from suffice.report import markdown

    return markdown.render_markdown(report)


def write_report(report: Report, path: Path) -> None:
    try:
        path.write_text(_render_as(report, path.suffix.lower()), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {path} cannot be written: {error.strerror}") from error


def validate_output_path(path: Path, option: str = "--out") -> None:
    """Before anything is spent: can the report be written there?"""
    if path.suffix.lower() not in _FORMATS:
        raise InputError(f"{option} {path}: the ending says the format; use one of {', '.join(_FORMATS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(
            f"{option} {path}: there is no folder {path.parent}"
            if not path.is_dir()
            else f"{option} {path} is a folder"
        )


def _open_trace(trace: Path) -> TextIO:
    try:
        return trace.open("a", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InputError(f"--trace {trace} cannot be written: {error.strerror}") from error
