"""What a person at a terminal sees: progress, the report, search results; and what Ctrl-C does.

Progress goes to standard error and results to standard output. Both stay readable when they are piped.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.segment import Segment
from rich.status import Status
from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from suffice import events
from suffice.cli.safe_output import ESCAPE_SEQUENCE, strip_escape_sequences
from suffice.errors import EXIT_INTERRUPTED
from suffice.gates.explanation import STOP_REASON_TEXT, describe_sufficiency
from suffice.report.answer_html import is_http_url
from suffice.report.markdown import describe_partly, describe_refusal, describe_restated, format_usage, render_markdown
from suffice.report.notices import describe_no_answer, describe_removed
from suffice.report.timeline import describe_outcome, get_reading_series, select_readings
from suffice.report.wording import describe_reading, describe_search, describe_stop, format_reading
from suffice.text.plain import count, to_one_line
from suffice.text.sections import ReportSection
from suffice.types import Passage, Report, Stop

_T = TypeVar("_T")
_MARKDOWN_STYLES = {
    "none": ("block_quote", "item.bullet", "item.number"),
    "cyan": ("code", "code_block", "link", "link_url"),
    "bold": ("h2", "h3"),
}
_THEME = Theme({f"markdown.{name}": style for style, names in _MARKDOWN_STYLES.items() for name in names})
_DRAFT_LINES = 6  # Lines of a draft that are shown while it is written.


class SafeConsole(Console):
    """A console that strips escape sequences of documents from the texts it shows.

    Text has the colour of the terminal and places are cyan, so that both read well on a light and on a dark ground.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(theme=_THEME, **settings)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            is_clean = segment.control or not ESCAPE_SEQUENCE.search(segment.text)
            yield segment if is_clean else Segment(strip_escape_sequences(segment.text), segment.style)


class Terminal:
    """Shows events, progress and warnings on standard error; a quiet terminal shows warnings only."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self._console = SafeConsole(stderr=True, highlight=False, quiet=quiet)
        self._verbose = verbose
        self._status: Status | None = None
        self._bar: Progress | None = None
        self._drafts: dict[str, str] = {}
        self._shown_failures: set[str] = set()

    @contextmanager
    def live_display(self) -> Iterator["Terminal"]:
        """Clear the status line and progress bar at the end, whatever happens."""
        try:
            yield self
        finally:
            self._stop_status()
            if self._bar is not None:
                self._bar.stop()

    def notify(self, message: str) -> None:
        """Print a line that is no progress, such as a warning: also a quiet terminal shows it."""
        console = SafeConsole(stderr=True, highlight=False) if self._console.quiet else self._console
        console.print(Text(message, style="dim"), soft_wrap=True)

    def show(self, message: str) -> None:
        """Print a line of progress."""
        self._console.print(Text(message, style="dim"), soft_wrap=True)

    def show_progress(self, activity: str, done: int, total: int) -> None:
        """Show a progress bar for long work, such as reading files."""
        if not self._console.is_terminal:
            return
        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.start()
        [task] = self._bar.task_ids or [self._bar.add_task(activity, total=total)]
        self._bar.update(task, description=activity, completed=done, total=total)
        if done >= total:
            self._bar.stop()
            self._bar = None

    def show_event(self, event: events.Event) -> None:
        """Show an event of a run: as a line if it is worth keeping, else in the status line."""
        if isinstance(event, events.Started):
            if self._verbose:
                self.show(f"strategy: {event.strategy} · model: {event.model} · stop rule: {event.gate}")
            self._start_status("thinking")
        elif isinstance(event, events.Continued):
            earlier = event.earlier
            self.show(
                f"continuing from run {earlier.run}: {len(earlier.evidence)} passages, {len(earlier.belief)} facts"
            )
        elif isinstance(event, events.Recalled):
            self.show("searching again for what earlier runs found: " + " · ".join(event.findings))
        elif isinstance(event, events.Searching):
            self._start_status("searching: " + " · ".join(query.text for query in event.queries))
        elif isinstance(event, events.RoundDone):
            self._stop_status()
            self._console.print(_format_round(event, verbose=self._verbose), soft_wrap=True)
            self._start_status("thinking")
        elif isinstance(event, events.Writing):
            self._start_status("writing")
        elif isinstance(event, events.Drafting):
            self._show_draft(event)
        elif isinstance(event, events.CheckingClaim):
            self._start_status(f"checking: {event.claim}")
        elif isinstance(event, events.ReviewRound):
            self._stop_status()
            self._console.print(_format_review(event), soft_wrap=True)
            self._start_status("reviewing")
        elif isinstance(event, events.Failed) and event.failure.message not in self._shown_failures:
            self._shown_failures.add(event.failure.message)  # The same fault of many calls is one line.
            self.show(f"{event.failure.where}: {event.failure.message}")
        elif isinstance(event, events.PromptCompacted) and self._verbose:
            self.show(f"{event.whole} texts are used in full, {event.shortened} shortened or left out ({event.why})")
        elif isinstance(event, events.SearchStopped):
            self._stop_status()

    def _show_draft(self, event: events.Drafting) -> None:
        """Show the last lines of the draft in the status line, which disappears when the report is printed."""
        self._drafts[event.section] = self._drafts.get(event.section, "") + event.text if event.text else ""
        if self._status is not None:
            lines = "\n".join(self._drafts[event.section].splitlines()[-_DRAFT_LINES:])
            title = f"writing {event.section}".rstrip()
            self._status.update(Text(f"{title}\n{lines[-_DRAFT_LINES * self._console.width :]}"))

    def _start_status(self, activity: str) -> None:
        self._stop_status()
        if self._console.is_terminal and not self._console.quiet:
            self._status = self._console.status(Text(to_one_line(activity, max(20, self._console.width - 4))))
            self._status.start()

    def _stop_status(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def run_interruptible(work: Coroutine[Any, Any, _T]) -> _T:
    """Run the work to its end; raise ``KeyboardInterrupt`` if it was interrupted before it had a result.

    The first Ctrl-C cancels the work, which may still return what it has. The second ends the process.
    """

    async def main() -> _T:
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(work)

        def interrupt() -> None:
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, lambda *_: os._exit(EXIT_INTERRUPTED))
            task.cancel()

        loop.add_signal_handler(signal.SIGINT, interrupt)
        return await task

    # asyncio.run would wait for threads (embedding, reading standard input) whose results are no longer needed.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(main())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def print_report(report: Report, *, verbose: bool = False) -> None:
    """Print the report: formatted in a terminal, as Markdown in a pipe.

    ``verbose`` adds the table of the rounds and what was used.
    """
    console = SafeConsole(highlight=False)
    if not console.is_terminal:
        sys.stdout.write(render_markdown(report, brief=not verbose))
        return
    if partly := describe_partly(report):
        console.print(Text(partly, style="yellow"))
    if restated := describe_restated(report):
        console.print(Text(restated, style="dim"))
    if report.final_answer:
        console.print(Markdown(_shorten_places(report, console.width - 2)))
        console.print()
    else:
        console.print(Text(describe_no_answer(report), style="bold"))
    _print_closest(report, console)
    for title, lines in (
        (ReportSection.FINDINGS, report.key_findings),
        (ReportSection.RECOMMENDATIONS, report.recommendations),
        (ReportSection.RISKS, report.risks),
        (ReportSection.REMOVED, tuple(map(describe_removed, report.removed))),
        (ReportSection.OPEN_QUESTIONS, report.open_questions),
        (ReportSection.LEFT_UNDONE, report.left_undone),
    ):
        if lines:
            console.print(Text(title, style="bold"))
            console.print(Markdown("\n".join(f"- {line}" for line in lines)))
            console.print()
    for source in report.sources:
        place = Style(color="cyan", link=source.url if is_http_url(source.url) else None)
        _print_place(Text.assemble((source.id, "bold"), f" {source.title}"), Text(source.location, place), console)
    if report.sources:
        console.print()
    console.print(Text(describe_search(report), style="dim"), soft_wrap=True)
    if verbose:
        sufficiency = describe_sufficiency(report)
        console.print(Text(f"Evidence judged sufficient: {sufficiency}"))
        console.print(Text(" · ".join(filter(None, (report.status, format_usage(report.usage)))), style="dim"))
        console.print()
        print_stop(report.stop, console)
    else:
        line = f"{describe_stop(report.stop)} · why: suffice explain {report.run}"
        console.print(Text(line, style="dim"), soft_wrap=True)


def _shorten_places(report: Report, width: int) -> str:
    """Return the answer with the places of its excerpts no longer than a line."""
    answer = report.final_answer
    for excerpt in report.excerpts:
        answer = answer.replace(f"`{excerpt.location}`", f"`{shorten_path(excerpt.location, width)}`")
    return answer


def _print_place(title: Text, place: Text, console: Console) -> None:
    """Print a title and its place in one line, or else the place in a line of its own."""
    if title.cell_len + place.cell_len + 2 <= console.width:
        console.print(Text.assemble(title, "  ", place))
        return
    console.print(title)
    shown = Text(shorten_path(place.plain, console.width - 4), place.style)
    console.print(Text.assemble("    ", shown), soft_wrap=True)


def shorten_path(path: str, width: int) -> str:
    """Return a path with folders in its middle left out, as many as it takes to fit; addresses stay whole.

    >>> shorten_path("examples/documents/contracts/lease.md:3-7", 33)
    'examples/…/contracts/lease.md:3-7'
    """
    if "://" in path:
        return path
    first, *middle = path.split("/")[:-1] or [""]
    name = path.rpartition("/")[2]
    shorter = [path, *(f"{'/'.join([first, '…', *middle[i:], name])}" for i in range(1, len(middle) + 1)), f"…/{name}"]
    return next((one for one in shorter if len(one) <= width), shorter[-1] if "/" in path else path)


def _print_closest(report: Report, console: Console) -> None:
    """Print the passages nearest to a question that nothing answers."""
    if refusal := describe_refusal(report):
        console.print(Text(refusal))
    if not report.closest:
        return
    console.print(Text(ReportSection.CLOSEST, style="bold"))
    for passage in report.closest:
        _print_place(Text(passage.title), Text(passage.location, "cyan"), console)
        text = Text(passage.text, style="dim")
        for start, end in passage.headings:
            text.stylize("bold", start, end)
        console.print(text)
    console.print()


def print_passages(passages: Sequence[Passage]) -> None:
    """Print search results: title, location, score and text."""
    console = SafeConsole(highlight=False)
    for passage in passages:
        score = "" if passage.score is None else f"  {passage.score:.3f}"
        heading = Text.assemble((passage.title, "bold"), "  ", (passage.location, "cyan"), (score, "dim"))
        console.print(heading, soft_wrap=True)
        console.print(Text(passage.text), soft_wrap=True)
        console.print()


def print_stop(stop: Stop, console: Console | None = None) -> None:
    """Print why a run stopped: the explanation, and a table of its rounds."""
    console = console or SafeConsole(highlight=False)
    console.print(Text(ReportSection.STOP, style="bold"))
    console.print(Text(stop.explanation))
    if not stop.rounds:
        return
    names = select_readings(stop, 2)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("round", "queries", "new", *map(describe_reading, names), "verdict"):
        table.add_column(column, justify="left" if column == "verdict" else "right")
    series = [get_reading_series(stop, name) for name in names]
    for i, record in enumerate(stop.rounds):
        table.add_row(
            str(record.index),
            str(len(record.queries)),
            str(record.new_passages),
            *(format_reading(name, values[i]) for name, values in zip(names, series, strict=True)),
            describe_outcome(stop, record),
        )
    console.print(table)


def _format_round(event: events.RoundDone, *, verbose: bool) -> Text:
    queries = count(len(event.round.queries), "query", "queries")
    new = count(len(event.round.new), "new passage")
    counts = new if event.verdict.reason == "read_all" else f"{queries}, {new}"
    novelty, new_share = event.readings.get("novelty.words"), event.readings.get("overlap.upr")
    readings = [f"novelty {novelty:.2g} of 10"] if verbose and novelty is not None else []
    readings += [f"{new_share:.0%} of results new"] if verbose and new_share is not None else []
    is_all_read = event.verdict.reason == "sufficient" and event.readings.get("relevance.low") == 1
    reason = "read_all" if is_all_read else event.verdict.reason
    return Text.assemble(
        (f"round {event.round.index}", "bold"),
        f"  {counts}",
        (f" ({', '.join(readings)})" if readings else "", "dim"),
        f"  → stop: {STOP_REASON_TEXT.get(reason, reason)}" if event.verdict.stop else "",
    )


def _format_review(event: events.ReviewRound) -> Text:
    title = (f"review {event.round}", "bold")
    if event.composite is None:
        return Text.assemble(title, "  the evaluation could not be read")
    scores = " ".join(f"{name} {score:g}" for name, score in (event.scores or {}).items())
    issues = count(len(event.issues), "issue")
    outcome = "passed" if event.passed else f"{issues} to fix"
    return Text.assemble(title, f"  {event.composite:g} of 10  ", (scores, "dim"), f"  {outcome}")
