"""``suffice ask`` and ``suffice resume``: answer a question, or continue a run that was interrupted."""

import json
import os
import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice import settings
from suffice.cli.options import (
    HELP_ALL,
    JSON,
    OUT,
    OUTPUT,
    QUIET,
    TRACE,
    VERBOSE,
    argument,
    build_options,
    flag,
    takes_options,
)
from suffice.cli.output import print_error, print_note, render_report, validate_report_path, write_file
from suffice.errors import EXIT_INTERRUPTED, InputError
from suffice.options import OPTIONS, RunOptions

if TYPE_CHECKING:
    from suffice.cli.terminal import Terminal
    from suffice.events import Event
    from suffice.types import Report

_Listeners = Sequence[Callable[["Event"], None]]

EXAMPLES = """Examples:

\b
suffice ask "How long is the notice period?" --docs contracts/
suffice ask "What changed in HTTP/3?" --web --out answer.html
suffice ask "And who signed it?" --continue last
suffice ask "/timeline How did the project start?" --docs minutes/
"""


@takes_options(*(name for name, option in OPTIONS.items() if option.group))
def ask(
    question: str = argument(
        ...,
        "What you want to know. It may begin with skills such as /deep ('suffice skills' lists them) and end with "
        "'… and save it to FILE.md'.",
        "QUESTION",
    ),
    out: list[Path] | None = OUT,
    as_json: bool = JSON,
    trace: Path | None = TRACE,
    keep: bool = flag(
        True, "Store this run on this machine ('suffice runs' lists stored runs).", OUTPUT, "--keep/--no-keep"
    ),
    dry_run: bool = flag(
        False,
        "Only print what the run would probably cost: calls, tokens and price. Nothing is asked or searched.",
        OUTPUT,
        "--dry-run",
    ),
    quiet: bool = QUIET,
    verbose: bool = VERBOSE,
    help_all: bool = HELP_ALL,
    **given: Any,
) -> int:
    """Answer a question from documents or the web, with citations.

    Searches in rounds, stops when another round is not worth its cost, writes an answer from what was found, checks every
    claim against the sources, and says why it stopped.
    """
    task, named_file = extract_output_file(question)
    if named_file is not None:
        validate_report_path(named_file, "The file that the question names,")
    options = build_options(**given, keep=keep, pictures=True)
    if dry_run:
        if out or trace is not None:
            raise InputError("--dry-run makes no report; leave out --out and --trace")
        import asyncio

        from suffice.api import estimate_research
        from suffice.engine.estimate import describe_estimate

        estimate = asyncio.run(estimate_research(task, options, print_note))
        print(json.dumps(asdict(estimate), indent=2) if as_json else describe_estimate(estimate))
        return 0
    output = OutputOptions([*(out or []), *([named_file] if named_file else [])], trace, as_json, quiet, verbose)
    return _run_and_print(lambda *parts: _run_question(task, options, *parts), options, output)


def resume(
    run: str | None = argument(None, "The run to continue. Without it, list the runs that can be continued.", "RUN"),
    out: list[Path] | None = OUT,
    as_json: bool = JSON,
    trace: Path | None = TRACE,
    quiet: bool = QUIET,
) -> int:
    """Continue a run that was interrupted, without paying again.

    Answers of models and search services that the run already has are not requested again.
    """
    from suffice.jobs import local

    data_dir = settings.load().data_dir
    if run is None:
        interrupted = local.list_unfinished(data_dir)
        for run_id, question in interrupted:
            print(f"{run_id}  {' '.join(question.split())[:80]}")
        if not interrupted and not as_json:
            print("No interrupted runs.")
        return 0
    request = local.load_request(run, data_dir)
    try:
        os.chdir(request.working_dir or ".")  # The run's relative paths start there.
    except OSError as error:
        raise InputError(
            f"The folder {request.working_dir}, where the run was started, cannot be opened: {error.strerror}"
        ) from error

    async def continue_run(terminal: "Terminal", listeners: _Listeners) -> "Report | None":
        from suffice.api import prepare_run

        config = await prepare_run(request.question, request.options, terminal.notify, terminal.show_progress)
        return await local.run_local(run, request, replace(config, run_id=run), data_dir, listeners, resume=True)

    output = OutputOptions(out or [], trace, as_json, quiet)
    return _run_and_print(continue_run, request.options, output)


@dataclass(frozen=True)
class OutputOptions:
    """Where a report goes and what is shown."""

    out: Sequence[Path] = ()
    trace: Path | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False


def _run_and_print(
    work: Callable[["Terminal", _Listeners], Coroutine[None, None, "Report | None"]],
    options: RunOptions,
    output: OutputOptions,
) -> int:
    """Run the work, print and write its report, and return the exit status."""
    from suffice.api import make_recorder
    from suffice.cli.terminal import Terminal, print_report, run_interruptible

    for path in output.out:
        validate_report_path(path)
    with ExitStack() as stack:
        terminal = stack.enter_context(Terminal(quiet=output.quiet, verbose=output.verbose).live_display())
        listeners: _Listeners = [
            terminal.show_event,
            make_recorder(options, terminal.notify, output.out).record_event,
            *([stack.enter_context(_open_trace(output.trace))] if output.trace is not None else []),
        ]
        report = run_interruptible(work(terminal, listeners))
    if report is None:  # Interrupted before the run had started.
        return EXIT_INTERRUPTED
    if output.as_json:
        print(render_report(report, ".json"))
    elif report.final_answer or report.closest:
        print_report(report, verbose=output.verbose)
    for path in output.out:
        write_file(path, render_report(report, path.suffix.lower()))
        what = "Report" if report.final_answer else "What was searched and found"
        terminal.show(f"{what} written to {path}")
    return _exit_status(report)


async def _run_question(
    question: str, options: RunOptions, terminal: "Terminal", listeners: _Listeners
) -> "Report | None":
    """Run the question; if a crash would lose paid calls, as a durable run that can be resumed."""
    from suffice.api import prepare_run
    from suffice.engine.estimate import describe_estimate, estimate_run
    from suffice.engine.pipeline import new_run_id, run_to_report
    from suffice.jobs.requests import JobRequest, has_paid_calls
    from suffice.models.base import is_language_model

    config = await prepare_run(question, options, terminal.notify, terminal.show_progress)
    data_dir = settings.load().data_dir
    if is_language_model(config.model) and not config.model.local:
        files = () if config.documents is None else config.documents.files
        terminal.show(describe_estimate(estimate_run(config, [*filter(Path.is_file, files)])))
    run = new_run_id()
    config = replace(config, run_id=run)
    # What came from standard input cannot be read again.
    if not (has_paid_calls(config) and "-" not in options.scope.docs and find_spec("dbos")):
        return await run_to_report(config, *listeners)
    from suffice.jobs import local

    request = JobRequest(question, options, working_dir=str(Path.cwd()))
    return await local.run_local(run, request, config, data_dir, listeners, resume=False)


@contextmanager
def _open_trace(path: Path) -> "Iterator[Callable[[Event], None]]":
    """Open a trace and return what appends events to it; if the disk is full, the run goes on without it."""
    from suffice.events import Started, serialize_event

    try:
        trace = path.open("ab", buffering=0)  # What a full disk refused would be written again at the end.
    except OSError as error:
        raise InputError(f"--trace {path} cannot be written: {error.strerror}") from error
    run, has_failed = "", False

    def write(event: "Event") -> None:
        nonlocal run, has_failed
        run = event.run if isinstance(event, Started) else run
        if has_failed:
            return
        try:
            if isinstance(event, Started) and trace.seekable():
                trace.truncate(0)  # Not earlier: if a run cannot start, an older trace stays as it is.
            line = json.dumps(serialize_event(event, run), ensure_ascii=False) + "\n"
            trace.write(line.encode("utf-8", "backslashreplace"))
        except OSError as error:
            has_failed = True
            print_error(f"--trace {path} cannot be written: {error.strerror}; the run continues without it")

    with trace:
        yield write


def _exit_status(report: "Report") -> int:
    """Return the exit status of a run, and print why there is no answer."""
    from suffice.report.markdown import describe_refusal
    from suffice.storage.runs import UNFINISHED_DIR

    if report.stop.reason == "cancelled":
        is_durable = (settings.load().data_dir / UNFINISHED_DIR / f"{report.run}.sqlite").exists()
        how = f" Continue with: suffice resume {report.run}" if is_durable else ""
        return print_error(f"Interrupted. {report.stop.explanation}{how}", EXIT_INTERRUPTED)
    if report.status == "no_evidence":
        why = "No evidence: nothing was found that answers the question, so there is no answer."
        read = "" if report.closest else describe_refusal(report)  # With passages it is printed above them.
        return print_error(" ".join((why, read, *(notice.detail for notice in report.notices))), 3)
    if report.status == "failed":
        reason = report.error_log[-1].message if report.error_log else report.stop.explanation
        return print_error(f"No answer could be written: {reason}", 4)
    return 0


_SAVE_INSTRUCTION = re.compile(
    r"""(?:^|[.,;:!?]|\s(?:and|then))\s*(?:and\s+|then\s+|please\s+){0,3}
        (?:save|write|output|export)\s+(?:(?:it|this|that|the\s+(?:\w+\s+)?\w+)\s+)?(?:to|into|in|as)\s+
        (?:(?:the|a)\s+file\s+)?["'`“]?(?P<path>[^\s"'`”“]+\.(?:md|html|json))["'`”]?\s*+(?:\.\s*+)?$""",
    re.IGNORECASE | re.VERBOSE,
)


def extract_output_file(task: str) -> tuple[str, Path | None]:
    """Split a task that ends with "save it to FILE" into the question and the file.

    A task may be pasted from elsewhere, so the file must lie below the working directory and must not exist; ``--out``
    has neither restriction. Only an instruction at the end counts, not a question about writing files.

    >>> extract_output_file("Who built the bridge? Save it to bridge.md")
    ('Who built the bridge?', PosixPath('bridge.md'))
    """
    found = _SAVE_INSTRUCTION.search(task)
    if found is None:
        return task, None
    question = task[: found.start()] + (task[found.start()] if task[found.start()] in ".!?" else "")
    if not any(character.isalnum() for character in question):
        return task, None  # There is no question before the instruction.
    path = Path(found["path"])
    if not path.expanduser().resolve().is_relative_to(Path.cwd().resolve()):
        raise InputError(
            f"The question says to save to {path}, which is outside the working directory; use --out instead"
        )
    if path.exists() or path.is_symlink():
        raise InputError(
            f"The question says to save to {path}, which already exists; remove it, or overwrite it with --out"
        )
    return question.strip(), path
