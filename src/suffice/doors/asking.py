"""``suffice ask`` and ``suffice resume``: run a question, show it, write what was asked for, end with the right exit status."""

import json
import os
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from suffice import settings
from suffice.doors.interrupt import interruptible
from suffice.doors.naming import named_file
from suffice.doors.terminal import Terminal, print_report
from suffice.errors import INTERRUPTED, InputError
from suffice.events import Event, Finished, Started, record
from suffice.front import Options, keeping, prepare
from suffice.pipeline import Setup, new_run_id, stream
from suffice.runs import Keeper
from suffice.types import Report

_FORMATS = (".md", ".html", ".json")


@dataclass(frozen=True)
class Shown:
    """How an answer is shown and where it goes."""

    out: Sequence[Path] = ()
    trace: Path | None = None
    as_json: bool = False
    quiet: bool = False


def ask(question: str, options: Options, shown: Shown) -> int:
    """Answer one question at the terminal; the exit status."""
    task, named = named_file(question)
    shown = replace(shown, out=[*shown.out, *([named] if named else [])])
    return _answered(lambda watcher: _run(task, options, watcher), options, shown)


def resume(run: str, shown: Shown) -> int:
    """Go on with a run that was interrupted or killed; what it had paid for is not paid for again."""
    from suffice.jobs import alone

    data_dir = settings.load().data_dir
    order = alone.ordered(run, data_dir)
    try:
        os.chdir(order.folder or ".")  # Where its paths start.
    except OSError as error:
        raise InputError(f"The folder {order.folder}, where the run began, is gone: {error.strerror}") from error

    async def again(watcher: _Watcher) -> Report | None:
        watcher.durable = True
        setup = await prepare(order.task, order.options, watcher.terminal.say, watcher.terminal.progress)
        return await alone.work(run, order, replace(setup, run_id=run), data_dir, watcher.see, again=True)

    return _answered(again, order.options, shown)


def left() -> int:
    """List the runs that can be gone on with."""
    from suffice.jobs import alone

    for run in alone.unfinished(settings.load().data_dir):
        print(f"{run.run}  {' '.join(run.task.split())[:80]}")
    return 0


def _answered(
    work: Callable[["_Watcher"], Coroutine[None, None, Report | None]], options: Options, shown: Shown
) -> int:
    for path in shown.out:
        check_target(path)
    with ExitStack() as stack:
        terminal = stack.enter_context(Terminal(quiet=shown.quiet).watching())
        trace = stack.enter_context(_opened(shown.trace)) if shown.trace is not None else None
        watcher = _Watcher(terminal, keeping(options, terminal.say, shown.out), trace)
        report = interruptible(work(watcher))
    if report is None:  # Interrupted before the run had begun.
        return INTERRUPTED
    if shown.as_json:
        print(_rendered(report, ".json"))
    elif report.final_answer:
        print_report(report)
    for path in shown.out:
        write(report, path)
        terminal.say(f"wrote {path}")
    return _status(report, terminal, watcher.durable)


class _Watcher:
    """Passes each event to the terminal, to what keeps the run, and to the trace."""

    def __init__(self, terminal: Terminal, keeper: Keeper, trace: TextIO | None) -> None:
        self.terminal = terminal
        self._keeper = keeper
        self._trace = trace
        self._run = ""
        self.durable = False

    def see(self, event: Event) -> None:
        if isinstance(event, Started):
            self._run = event.run
        self.terminal.show(event)
        self._keeper.see(event)
        if self._trace is not None:
            self._record(event, self._trace)

    def _record(self, event: Event, trace: TextIO) -> None:
        """Append to the trace; a full disk ends the trace, not the run."""
        try:
            if isinstance(event, Started) and trace.seekable():
                trace.truncate(0)  # Only now: what was there before survives a run that never started.
            trace.write(json.dumps(record(event, self._run), ensure_ascii=False) + "\n")
            trace.flush()
        except OSError as error:
            self._trace = None
            self.terminal.complain(f"--trace {trace.name} cannot be written: {error.strerror}; going on without it")


async def _run(question: str, options: Options, watcher: _Watcher) -> Report | None:
    setup = await prepare(question, options, watcher.terminal.say, watcher.terminal.progress)
    if _worth_keeping(setup, options):
        from suffice.jobs import alone
        from suffice.jobs.orders import Order

        watcher.durable = True
        run = new_run_id()
        order = Order(question, options, folder=str(Path.cwd()))
        data_dir = settings.load().data_dir
        return await alone.work(run, order, replace(setup, run_id=run), data_dir, watcher.see, again=False)
    async with aclosing(stream(setup)) as events:
        async for event in events:
            watcher.see(event)
            if isinstance(event, Finished):
                return event.report
    return None


def _worth_keeping(setup: Setup, options: Options) -> bool:
    """Whether a crash would cost something that can be kept. What came through standard input is gone with the process."""
    from suffice.jobs.orders import pays

    docs = [options.docs] if isinstance(options.docs, str | Path) else options.docs or ()
    return pays(setup) and "-" not in map(str, docs) and find_spec("dbos") is not None


def _status(report: Report, terminal: Terminal, durable: bool) -> int:
    if report.stop.reason == "cancelled":
        how = f" Go on with: suffice resume {report.run}" if durable else ""
        terminal.complain(f"Interrupted; {report.stop.explanation}{how}")
        return INTERRUPTED
    if report.status == "no_evidence":
        terminal.complain("No evidence: nothing that was searched answers this question, so there is no report.")
        return 3
    if report.status == "failed":
        last = report.error_log[-1].message if report.error_log else report.stop.explanation
        terminal.complain(f"No answer could be written: {last}")
        return 4
    return 0


def _rendered(report: Report, suffix: str) -> str:
    if suffix == ".json":
        from suffice.write.codec import dumps

        return dumps(report)
    if suffix == ".html":
        from suffice.write import html

        return html.render(report)
    from suffice.write import markdown

    return markdown.render(report)


def write(report: Report, path: Path) -> None:
    try:
        path.write_text(_rendered(report, path.suffix.lower()), encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {path} cannot be written: {error.strerror}") from error


def check_target(path: Path, option: str = "--out") -> None:
    """Before anything is spent: can the report be written there?"""
    if path.suffix.lower() not in _FORMATS:
        raise InputError(f"{option} {path}: the ending says the format; use one of {', '.join(_FORMATS)}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(
            f"{option} {path}: there is no folder {path.parent}"
            if not path.is_dir()
            else f"{option} {path} is a folder"
        )


def _opened(trace: Path) -> TextIO:
    try:
        return trace.open("a", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InputError(f"--trace {trace} cannot be written: {error.strerror}") from error
