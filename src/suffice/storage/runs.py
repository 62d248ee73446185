"""The runs of this machine as plain files: what was asked, how it went, and everything a later question can build on.

    DATA_DIR/runs.jsonl               one line a run
    DATA_DIR/runs/RUN/events.jsonl    its trace, as ``--trace`` writes it
    DATA_DIR/runs/RUN/report.json     its report

Keeping never gets in the way of a run: a folder that cannot be written to is said once and done without. The files hold
questions and stretches of documents, so only their owner may read them. Of the folders the newest are kept; the lines stay.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from suffice.errors import InputError
from suffice.events import Event, Finished, SearchStopped, Started, serialize_event
from suffice.storage.findings import FindingStore
from suffice.storage.report_json import dumps, loads
from suffice.types import BELIEF_KIND, Note, Passage, Place, PriorRun, Report

LOG_FILE, RUNS_DIR = "runs.jsonl", "runs"
EVENTS_FILE, REPORT_FILE = "events.jsonl", "report.json"
LAST_RUN = "last"  # The name of the run that began last.


class RunRecorder:
    """Sees every event of one run and keeps it. ``most`` folders are kept, none at all with 0. What a run proved goes to
    ``findings``."""

    def __init__(
        self,
        data_dir: Path,
        max_runs: int,
        say: Callable[[str], None],
        out: Sequence[Path] = (),
        findings: FindingStore | None = None,
    ) -> None:
        self._data_dir = data_dir
        self._max_runs = max_runs
        self._say = say
        self._findings = findings
        self._output_paths = [str(path.resolve()) for path in out]
        self._file: TextIO | None = None
        self._started: Started | None = None
        self._started_at = ""
        self._began = self._stopped = time.monotonic()

    def record_event(self, event: Event) -> None:
        if self._max_runs <= 0:
            return
        try:
            self._write_event(event)
        except OSError as error:
            self._max_runs = 0
            self._say(f"this run is not kept: {error.filename or self._data_dir}: {error.strerror}")
        except InputError as error:
            self._say(f"what this run found is not remembered: {error}")

    def _write_event(self, event: Event) -> None:
        if isinstance(event, Started):
            self._started, self._began = event, time.monotonic()
            folder = self._data_dir / RUNS_DIR / event.run
            folder.mkdir(parents=True, mode=0o700, exist_ok=True)
            self._file = _open_private(folder / EVENTS_FILE)
        if self._file is None or self._started is None:
            return
        line = serialize_event(event, self._started.run)
        self._started_at = self._started_at or line["at"]
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()
        if isinstance(event, SearchStopped):
            self._stopped = time.monotonic()
        elif isinstance(event, Finished):
            self._finish(event.report, self._started)

    def _finish(self, report: Report, started: Started) -> None:
        assert self._file is not None
        self._file.close()
        self._file = None
        with _open_private(self._data_dir / RUNS_DIR / report.run / REPORT_FILE) as file:
            file.write(dumps(report))
        durations = {"gather": self._stopped - self._began, "write": time.monotonic() - self._stopped}
        line = build_log_row(
            report, started, self._started_at, {name: round(seconds, 3) for name, seconds in durations.items()}
        )
        _append_log_row(self._data_dir, line | {"output_paths": self._output_paths})
        _delete_old_runs(self._data_dir / RUNS_DIR, self._max_runs)
        if self._findings is not None:
            self._findings.save(report)


def build_log_row(report: Report, started: Started, at: str, durations: dict[str, float]) -> dict[str, Any]:
    """What the log keeps of a run."""
    usage, stop, told = report.usage, report.stop, report.metadata
    review = told.get("review") or {}
    return {
        "run": report.run,
        "at": at,
        "task": report.task,
        "task_type": told.get("task_type"),
        "status": report.status,
        "stop": stop.reason,
        "gate": stop.expression or stop.gate,
        "strategy": started.strategy,
        "memory": started.memory,
        "seed": started.seed,
        "version": told.get("version"),
        "model": usage.model,
        "seconds": usage.seconds,
        "durations": durations,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "tokens_by_stage": {
            role: {"calls": used.calls, "input": used.input_tokens, "output": used.output_tokens}
            for role, used in usage.by_role.items()
        },
        "cost_usd": usage.cost_usd,
        "searches": usage.searches,
        "pages_read": usage.pages_read,
        "rounds": len(stop.rounds),
        "queries": [query for one in stop.rounds for query in one.queries],
        "novelty_scores": [one.readings.get("novelty.words") for one in stop.rounds],
        "sources": len(report.sources),
        "claims": {claim.support: sum(c.support == claim.support for c in report.claims) for claim in report.claims},
        "review_scores": [one.get("composite") for one in review.get("rounds", ())],
        "review_passed": review.get("passed"),
        "memory_hits": list(told.get("recalled", ())),
        "continues": told.get("continues"),
    }


def read_log(data_dir: Path) -> list[dict[str, Any]]:
    """The log, oldest first; a line that cannot be read is passed over."""
    try:
        lines = (data_dir / LOG_FILE).read_bytes().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        with suppress(ValueError):
            read = json.loads(line)
            if isinstance(read, dict) and isinstance(read.get("run"), str):
                found.append(read)
    return found


def list_unfinished_runs(data_dir: Path) -> list[str]:
    """Runs that go on, or were cut off before their report: they can be continued and explained all the same."""
    logged = {line["run"] for line in read_log(data_dir)}
    return [folder.name for folder in _list_run_dirs(data_dir / RUNS_DIR) if folder.name not in logged]


def find_run_dir(data_dir: Path, name: str) -> Path:
    """The folder of a kept run: by its id, by the beginning of it, or ``last``."""
    folders = _list_run_dirs(data_dir / RUNS_DIR)
    chosen = (
        folders[-1:] if name == LAST_RUN else [folder for folder in folders if name and folder.name.startswith(name)]
    )
    exact = [folder for folder in chosen if folder.name == name]
    if len(exact or chosen) == 1:
        return (exact or chosen)[0]
    if chosen:
        raise InputError(f"{name!r} begins {len(chosen)} runs; write more of its id: see suffice runs")
    if any(line["run"] == name for line in read_log(data_dir)):
        raise InputError(
            f"Of the run {name} only its line in the log is kept; SUFFICE_KEEP_RUNS says how many are kept"
        )
    raise InputError(f"There is no run {name!r}; suffice runs lists those that are kept")


def load_report(folder: Path) -> Report:
    """The report of a kept run."""
    try:
        return loads((folder / REPORT_FILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"The run {folder.name} has no report: it was cut off before one was written") from error


def load_prior_run(folder: Path) -> PriorRun:
    """What a follow-up builds on: the evidence of accepted rounds with its places, the facts believed last, and the queries."""
    task, evidence, belief, asked = "", dict[str, Passage](), tuple[Note, ...](), dict[str, None]()
    try:
        for line in (folder / EVENTS_FILE).read_bytes().splitlines():
            with suppress(ValueError):  # A run that was killed may have left half a line.
                event = json.loads(line)
                if event["type"] == "started":
                    task = event["task"]
                elif event["type"] == "continued":
                    before = event["earlier"]
                    evidence |= {found["id"]: _parse_passage(found) for found in before["evidence"]}
                    belief = tuple(_parse_note(note) for note in before["belief"])
                    asked |= dict.fromkeys(before["asked"])
                elif event["type"] == "round" and event["accepted"]:
                    evidence |= {found["id"]: _parse_passage(found) for found in event["passages"] if found["new"]}
                    belief = tuple(
                        _parse_note(note) for note in event["belief"]["notes"] if note.get("kind") == BELIEF_KIND
                    )
                    asked |= dict.fromkeys(event["queries"])
    except (OSError, KeyError, TypeError) as error:
        raise InputError(f"The trace of run {folder.name} cannot be read ({type(error).__name__}: {error})") from error
    return PriorRun(folder.name, task, tuple(evidence.values()), belief, tuple(asked))


def delete_runs(data_dir: Path, runs: Sequence[str]) -> None:
    """Forget these runs: their folders and their lines."""
    gone = set(runs)
    for run in gone:
        shutil.rmtree(data_dir / RUNS_DIR / run, ignore_errors=True)
    with _lock_log(data_dir):
        kept = [line for line in read_log(data_dir) if line["run"] not in gone]
        beside = data_dir / f"{LOG_FILE}.new"
        with _open_private(beside) as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in kept)
        beside.replace(data_dir / LOG_FILE)


def _append_log_row(data_dir: Path, line: dict[str, Any]) -> None:
    """One write under a lock: lines of runs that end together never mix, and none is lost to a rewrite."""
    with _lock_log(data_dir):
        number = os.open(data_dir / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(number, (json.dumps(line, ensure_ascii=False) + "\n").encode(errors="backslashreplace"))
        finally:
            os.close(number)


@contextmanager
def _lock_log(data_dir: Path) -> Iterator[None]:
    with _open_private(data_dir / f"{LOG_FILE}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _delete_old_runs(folder: Path, most: int) -> None:
    for old in _list_run_dirs(folder)[:-most]:
        shutil.rmtree(old, ignore_errors=True)


def _list_run_dirs(folder: Path) -> list[Path]:
    """The folders of the runs, oldest first: an id begins with the time."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _open_private(path: Path) -> TextIO:
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    return open(number, "w", encoding="utf-8", errors="backslashreplace")


def _parse_passage(found: dict[str, Any]) -> Passage:
    place = found["place"]
    lines = place.get("lines")
    return Passage(
        found["id"],
        found["text"],
        found["title"],
        Place(place["path"], (lines[0], lines[1]) if lines else None, place["page"], place["record"], place["exact"]),
        found["kind"],
        found["score"],
    )


def _parse_note(note: dict[str, Any]) -> Note:
    return Note(note["text"], tuple(note["handles"]), kind=BELIEF_KIND, whole=False)
