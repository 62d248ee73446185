"""What a person at a terminal sees: progress while it works, and the report at the end.

Progress goes to standard error, the report to standard output; both stay readable when they are piped.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.status import Status
from rich.table import Table
from rich.text import Text

from suffice.events import (
    CheckingClaim,
    Continued,
    Drafting,
    Event,
    Failed,
    PromptCompacted,
    Recalled,
    RoundDone,
    Searching,
    SearchStopped,
    Started,
    Writing,
)
from suffice.gates.explanation import describe_sufficiency
from suffice.report.chart import render_sparkline
from suffice.report.markdown import format_usage, render_markdown
from suffice.report.timeline import describe_outcome, get_reading_series, select_readings
from suffice.text.plain import format_number
from suffice.types import Passage, Report, ReviewRound, Stop, Verdict

DRAFT_LINES = 6  # Of a draft, while it is being written.


class Terminal:
    """Shows events as they come. ``quiet`` keeps everything but errors from standard error."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True, highlight=False, quiet=quiet)
        self._status: Status | None = None
        self._bar: Progress | None = None
        self._drafts: dict[str, str] = {}

    def say(self, message: str) -> None:
        self._console.print(Text(message, style="dim"), soft_wrap=True)

    def print_error(self, message: str) -> None:
        """One sentence that even a quiet terminal shows."""
        print(f"suffice: {' '.join(message.split())}", file=sys.stderr)

    def progress(self, what: str, done: int, total: int) -> None:
        """Long work before the first round: reading files, embedding everything."""
        if not self._console.is_terminal:
            return
        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.start()
        [task] = self._bar.task_ids or [self._bar.add_task(what, total=total)]
        self._bar.update(task, description=what, completed=done, total=total)
        if done >= total:
            self._bar.stop()
            self._bar = None

    def show_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._console.print(
                Text(f"{event.strategy} · {event.model} · stop: {event.gate}", style="dim"), soft_wrap=True
            )
        elif isinstance(event, Continued):
            earlier = event.earlier
            self.say(f"going on from {earlier.run}: {len(earlier.evidence)} passages, {len(earlier.belief)} facts")
        elif isinstance(event, Recalled):
            self.say("looked up again, found by earlier runs: " + " · ".join(event.findings))
        elif isinstance(event, Searching):
            self._start_status("searching: " + " · ".join(query.text for query in event.queries))
        elif isinstance(event, RoundDone):
            self._stop_status()
            self._console.print(_format_round(event), soft_wrap=True)
            self._start_status("thinking")
        elif isinstance(event, Writing):
            self._start_status("writing")
        elif isinstance(event, Drafting):
            self._show_draft(event)
        elif isinstance(event, CheckingClaim):
            self._start_status(f"checking: {event.claim}")
        elif isinstance(event, ReviewRound):
            self._stop_status()
            self._console.print(_format_review(event), soft_wrap=True)
            self._start_status("reviewing")
        elif isinstance(event, Failed):
            self.say(f"{event.failure.where}: {event.failure.message}")
        elif isinstance(event, PromptCompacted):
            self.say(f"prompt holds {event.whole} pieces whole, {event.shortened} shortened or left out ({event.why})")
        elif isinstance(event, SearchStopped):
            self._stop_status()

    def _show_draft(self, event: Drafting) -> None:
        """The end of what has been written so far; it goes when the report comes."""
        self._drafts[event.section] = self._drafts.get(event.section, "") + event.text if event.text else ""
        if self._status is not None:
            shown = "\n".join(self._drafts[event.section].splitlines()[-DRAFT_LINES:])
            self._status.update(
                Text(f"writing {event.section}".rstrip() + f"\n{shown[-DRAFT_LINES * self._console.width :]}")
            )

    @contextmanager
    def live_display(self) -> Iterator["Terminal"]:
        try:
            yield self
        finally:
            self._stop_status()
            if self._bar is not None:
                self._bar.stop()

    def _start_status(self, what: str) -> None:
        self._stop_status()
        if self._console.is_terminal and not self._console.quiet:
            room = max(20, self._console.width - 4)
            self._status = self._console.status(Text(what if len(what) <= room else what[: room - 1] + "…"))
            self._status.start()

    def _stop_status(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None


def print_report(report: Report) -> None:
    """The report for reading: set in the terminal, plain Markdown in a pipe."""
    out = Console(highlight=False)
    if not out.is_terminal:
        sys.stdout.write(render_markdown(report))
        return
    out.print(Markdown(report.final_answer))
    out.print()
    for title, lines in (
        ("Key findings", report.key_findings),
        ("Recommendations", report.recommendations),
        ("Risks", report.risks),
        ("Open questions", report.open_questions),
    ):
        if lines:
            out.print(Text(title, style="bold"))
            out.print(Markdown("\n".join(f"- {line}" for line in lines)))
            out.print()
    for source in report.sources:
        out.print(Text.assemble((source.id, "bold"), f" {source.title}  ", (source.location, "cyan")), soft_wrap=True)
    out.print()
    print_stop(report.stop, out)
    judged = describe_sufficiency(report.sufficient, report.confidence)
    out.print(Text(f"Evidence judged sufficient: {judged}"))
    out.print(Text(f"{report.status} · {format_usage(report.usage)} · run {report.run}", style="dim"))


def print_passages(found: Sequence[Passage]) -> None:
    """Search results: where each stands, and its text."""
    out = Console(highlight=False)
    for passage in found:
        score = "" if passage.score is None else f"  {passage.score:.3f}"
        head = Text.assemble((passage.title, "bold"), "  ", (passage.location, "cyan"), (score, "dim"))
        out.print(head, soft_wrap=True)
        out.print(Text(passage.text), soft_wrap=True)
        out.print()


def print_stop(stop: Stop, out: Console | None = None) -> None:
    """Why it stopped: the paragraph, the readings round by round, and their course as sparklines."""
    out = out or Console(highlight=False)
    out.print(Text("Why it stopped", style="bold"))
    out.print(Text(stop.explanation))
    if not stop.rounds:
        return
    names = select_readings(stop, 5)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("round", "queries", "new", *names, "verdict"):
        table.add_column(column.replace(".", "\n"), justify="left" if column == "verdict" else "right")
    courses = [get_reading_series(stop, name) for name in names]
    for i, record in enumerate(stop.rounds):
        values = [format_number(course[i]) for course in courses]
        cells = (
            str(record.index),
            str(len(record.queries)),
            str(record.new_passages),
            *values,
            describe_outcome(stop, record),
        )
        table.add_row(*cells)
    if len(stop.rounds) > 1:
        news = render_sparkline([float(record.new_passages) for record in stop.rounds])
        table.add_row("", "", news, *map(render_sparkline, courses), "", style="dim")
    out.print(table)


def _format_round(event: RoundDone) -> Text:
    novelty, unseen = event.readings.get("novelty.words"), event.readings.get("overlap.upr")
    asked, new = len(event.round.queries), len(event.round.new)
    counts = f"{asked} {'query' if asked == 1 else 'queries'}, {new} new {'passage' if new == 1 else 'passages'}"
    readings = f"novelty {format_number(novelty)}, new share {format_number(unseen)}"
    return Text.assemble(
        (f"round {event.round.index}", "bold"),
        f"  {counts}  ",
        (readings, "dim"),
        f"  {_format_verdict(event.verdict)}",
    )


def _format_review(event: ReviewRound) -> Text:
    if event.composite is None:
        return Text.assemble((f"review {event.round}", "bold"), "  the evaluation could not be read")
    found = " ".join(f"{name} {score:g}" for name, score in (event.scores or {}).items())
    outcome = "passed" if event.passed else f"{len(event.issues)} to mend"
    return Text.assemble(
        (f"review {event.round}", "bold"), f"  {event.composite:g} of 10  ", (found, "dim"), f"  {outcome}"
    )


def _format_verdict(verdict: Verdict) -> str:
    return f"stop: {verdict.reason}" if verdict.stop else "go on"
