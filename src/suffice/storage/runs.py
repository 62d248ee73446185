"""The recorded runs of this machine as plain files.

    DATA_DIR/runs.jsonl               the log: one line for each run
    DATA_DIR/runs/RUN/events.jsonl    the trace of a run, as ``--trace`` writes it
    DATA_DIR/runs/RUN/report.json     the report of a run

Recording never stops a run: if the folder cannot be written to, the user is notified once and the run goes on. The files
hold questions and passages of documents, so only their owner may read them. Old run folders are deleted beyond a limit; the
lines of the log stay.
"""

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from filelock import FileLock
from msgspec import convert

from suffice.errors import InputError
from suffice.events import Event, Finished, SearchStopped, Started, format_time, serialize_event
from suffice.storage.findings import FindingStore
from suffice.storage.report_json import dumps, loads
from suffice.types import BELIEF_KIND, Note, Passage, PriorRun, Report

LOG_FILE, RUNS_DIR = "runs.jsonl", "runs"
UNFINISHED_DIR = "unfinished"  # Durable runs that did not end (``jobs.local``).
EVENTS_FILE, REPORT_FILE = "events.jsonl", "report.json"
LAST_RUN = "last"  # Names the run that started last.


class RunLogBuilder:
    """Makes the line of the log for a run from its events."""

    def __init__(self) -> None:
        self.started: Started | None = None
        self._started_at = self._search_ended_at = time.time()

    def record_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self.started, self._started_at = event, time.time()
        elif isinstance(event, SearchStopped):
            self._search_ended_at = time.time()

    def build_row(self, report: Report) -> dict[str, Any]:
        """Return the line of the log when the run has ended."""
        assert self.started is not None, "the first event of a run is Started"
        started, usage, stop, metadata = self.started, report.usage, report.stop, report.metadata
        review = metadata.get("review") or {}
        spent = ("seconds", "input_tokens", "output_tokens", "cost_usd", "searches", "pages_read", "model")
        noted = ("task_type", "tier", "version", "producer", "evaluator", "continues")
        return {
            "run": report.run,
            "at": format_time(self._started_at),
            "task": report.task,
            "skills": [skill["name"] for skill in metadata.get("skills") or ()],
            "docs": (metadata.get("searched") or {}).get("docs", []),
            **{name: metadata.get(name) for name in noted},
            "status": report.status,
            "stop": stop.reason,
            "gate": stop.expression or stop.gate,
            "strategy": started.strategy,
            "preset": metadata.get("strategy"),
            "memory": started.memory,
            "seed": started.seed,
            **{name: getattr(usage, name) for name in spent},
            "durations": {
                "gather": round(self._search_ended_at - self._started_at, 3),
                "write": round(time.time() - self._search_ended_at, 3),
            },
            "tokens_by_stage": {
                role: {"calls": used.calls, "input": used.input_tokens, "output": used.output_tokens}
                for role, used in usage.by_role.items()
            },
            "rounds": len(stop.rounds),
            "queries": [query for one in stop.rounds for query in one.queries],
            "novelty_scores": [one.readings.get("novelty.words") for one in stop.rounds],
            "sources": len(report.sources),
            "claims": dict(Counter(claim.support for claim in report.claims)),
            "review_scores": [one.get("composite") for one in review.get("rounds", ())],
            "review_passed": review.get("passed"),
            "memory_hits": list(metadata.get("recalled", ())),
        }


@dataclass
class RunRecorder:
    """Records the events and the report of one run, and saves its finding.

    At most ``max_runs`` run folders are kept; 0 records nothing.
    """

    data_dir: Path
    max_runs: int
    notify: Callable[[str], None]
    output_paths: Sequence[Path] = ()
    findings: FindingStore | None = None
    _file: TextIO | None = None
    _log: RunLogBuilder = field(default_factory=RunLogBuilder)

    def record_event(self, event: Event) -> None:
        """Write the event to the trace; a ``Finished`` event also writes the report and the line of the log."""
        if self.max_runs <= 0:
            return
        try:
            self._write_event(event)
        except OSError as error:
            self.max_runs = 0
            self.notify(f"this run is not recorded: {error.filename or self.data_dir}: {error.strerror}")
        except InputError as error:
            self.notify(f"the finding of this run is not stored: {error}")

    def _write_event(self, event: Event) -> None:
        self._log.record_event(event)
        if isinstance(event, Started):
            folder = self.data_dir / RUNS_DIR / event.run
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            self._file = _open_private(folder / EVENTS_FILE)
        if self._file is None or self._log.started is None:
            return
        line = serialize_event(event, self._log.started.run)
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()
        if isinstance(event, Finished):
            self._file.close()
            self._file = None
            self._finish(event.report)

    def _finish(self, report: Report) -> None:
        with _open_private(self.data_dir / RUNS_DIR / report.run / REPORT_FILE) as file:
            file.write(dumps(report))
        output_paths = [str(path.resolve()) for path in self.output_paths]
        _append_log_row(self.data_dir, self._log.build_row(report) | {"output_paths": output_paths})
        for old in _list_run_dirs(self.data_dir / RUNS_DIR)[: -self.max_runs]:
            shutil.rmtree(old, ignore_errors=True)
        if self.findings is not None:
            self.findings.save(report)


def read_log(data_dir: Path) -> list[dict[str, Any]]:
    """Return the lines of the log, oldest first; unreadable lines are skipped."""
    try:
        rows = parse_json_lines((data_dir / LOG_FILE).read_bytes())
    except OSError:
        return []
    return [row for row in rows if isinstance(row.get("run"), str)]


def list_unfinished_runs(data_dir: Path) -> list[str]:
    """Return the runs that have no report, because they still run or were interrupted; they can be continued too."""
    logged = {row["run"] for row in read_log(data_dir)}
    return [folder.name for folder in _list_run_dirs(data_dir / RUNS_DIR) if folder.name not in logged]


def find_run_dir(data_dir: Path, name: str) -> Path:
    """Return the folder of a recorded run by its id, by the beginning of its id, or by ``last``."""
    folders = _list_run_dirs(data_dir / RUNS_DIR)
    matches = [folder for folder in folders if name and folder.name.startswith(name)]
    if name == LAST_RUN:
        matches = folders[-1:]
    matches = [folder for folder in matches if folder.name == name] or matches
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InputError(f"{name!r} matches {len(matches)} runs; give more of the id (suffice runs lists them)")
    if any(row["run"] == name for row in read_log(data_dir)):
        raise InputError(
            f"Only the log line of run {name} is left; SUFFICE_KEEP_RUNS sets how many runs are kept in full"
        )
    raise InputError(f"There is no run {name!r}; suffice runs lists the recorded runs")


def load_report(folder: Path) -> Report:
    try:
        return loads((folder / REPORT_FILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"The run {folder.name} has no report; it was interrupted before one was written") from error


def read_events(folder: Path) -> list[dict[str, Any]]:
    """Return the events of a recorded run; a killed run may have left half a line."""
    return parse_json_lines((folder / EVENTS_FILE).read_bytes())


def load_prior_run(folder: Path) -> PriorRun:
    """Return what a follow-up run builds on, from the trace of a recorded run."""
    try:
        return build_prior_run(folder.name, read_events(folder))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"The trace of run {folder.name} cannot be read ({type(error).__name__}: {error})") from error


def build_prior_run(run: str, events: Iterable[Mapping[str, Any]]) -> PriorRun:
    """Return what a follow-up run builds on: the evidence of accepted rounds, the last belief, and the queries."""
    task, evidence, belief, queries = "", dict[str, Passage](), tuple[Note, ...](), dict[str, None]()
    for event in events:
        if event["type"] == "started":
            task = event["task"]
        elif event["type"] == "continued":
            prior = event["earlier"]
            evidence |= {found["id"]: convert(found, Passage) for found in prior["evidence"]}
            belief = tuple(_parse_note(note) for note in prior["belief"])
            queries |= dict.fromkeys(prior["asked"])
        elif event["type"] == "round" and event["accepted"]:
            evidence |= {found["id"]: convert(found, Passage) for found in event["passages"] if found["new"]}
            belief = tuple(_parse_note(note) for note in event["belief"]["notes"] if note.get("kind") == BELIEF_KIND)
            queries |= dict.fromkeys(event["queries"])
    return PriorRun(run, task, tuple(evidence.values()), belief, tuple(queries))


def delete_runs(data_dir: Path, runs: Sequence[str]) -> None:
    """Delete the folders of these runs and their lines in the log."""
    deleted = set(runs)
    for run in deleted:
        shutil.rmtree(data_dir / RUNS_DIR / run, ignore_errors=True)
    with _lock_log(data_dir):
        remaining = [row for row in read_log(data_dir) if row["run"] not in deleted]
        new_log = data_dir / f"{LOG_FILE}.new"
        with _open_private(new_log) as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in remaining)
        new_log.replace(data_dir / LOG_FILE)


def _append_log_row(data_dir: Path, row: dict[str, Any]) -> None:
    """Append under the lock, so that lines do not mix and ``delete_runs`` loses none."""
    with _lock_log(data_dir), _open_private(data_dir / LOG_FILE, os.O_APPEND) as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _lock_log(data_dir: Path) -> AbstractContextManager[object]:
    return FileLock(data_dir / f"{LOG_FILE}.lock", mode=0o600)


def _list_run_dirs(folder: Path) -> list[Path]:
    """Return the run folders, oldest first; an id begins with its time."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _open_private(path: Path, mode: int = os.O_TRUNC) -> TextIO:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | mode, 0o600)
    return open(descriptor, "w", encoding="utf-8", errors="backslashreplace")


def parse_json_lines(data: bytes) -> list[dict[str, Any]]:
    """Return the JSON object of each line; a line without one is left out."""
    rows = []
    for line in data.splitlines():
        with suppress(ValueError):
            rows.append(json.loads(line))
    return [row for row in rows if isinstance(row, dict)]


def _parse_note(note: dict[str, Any]) -> Note:
    return Note(note["text"], tuple(note["handles"]), kind=BELIEF_KIND, whole=False)
