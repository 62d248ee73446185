"""The crash matrix: kill -9 at every step of a run, on SQLite and Postgres, resumed by the same or another machine.

    python -m reliability.crashes [--points N] [--write FILE]

Each case has two processes: one is killed, the other resumes the run. The report must equal that of an undisturbed run, and no
stored call may be made again. A call that was answered but not yet stored when the process died is made again; with concurrent
searches this can be more than one.
"""

import argparse
import asyncio
import json
import os
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from postgres_server import run_postgres

from reliability.story import ENDS, MOMENTS, QUESTION, Killer, Ledger, make_prepare
from suffice.jobs import heartbeats
from suffice.jobs.requests import JobRequest
from suffice.jobs.worker import Worker
from suffice.options import RunOptions
from suffice.storage import report_json  # noqa: F401 -- imported before the forks, so that no case pays for it

TIMEOUT = 300.0  # Seconds after which an unfinished run counts as lost.


@dataclass(frozen=True)
class Case:
    database: str
    moment: str
    number: int
    by: str
    """Which machine resumes the run: the ``same`` or ``another``."""


@dataclass(frozen=True)
class Result:
    case: Case
    same_report: bool
    unstored: int
    """Calls that were answered when the process died, but not yet stored."""
    repeated: int
    lost: int
    events_ok: bool
    seconds: float

    @property
    def passed(self) -> bool:
        return self.same_report and not self.paid_twice and not self.lost and self.events_ok

    @property
    def paid_twice(self) -> int:
        """Stored calls that were made again."""
        return max(0, self.repeated - self.unstored)


def run_in_fork(work) -> int:
    """Run a coroutine function in a forked process; return its exit status, negative for a signal."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            asyncio.run(work())
            status = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


os.environ["SUFFICE_MEMORY"] = "0"  # The cases share a database and ask the same question: none may recall another.


def make_worker(url: str, ledger: Ledger) -> Worker:
    heartbeats.DEAD_AFTER = 1.0
    return Worker(url, {"default": []}, prepare=make_prepare(ledger))


async def start_run(url: str, folder: Path, killer: Killer) -> None:
    """Submit the run and work on it until it ends or the process is killed."""
    killer.install()
    worker = make_worker(url, Ledger(folder / "ledger", killer))
    await worker.start()
    request = JobRequest(QUESTION, RunOptions(strategy="reflect", stop="sufficiency", review=False))
    stored = await worker.submit(request)
    (folder / "run").write_text(stored.id, encoding="utf-8")
    await worker.event_stream.wait_until_ended(stored.id)
    _write_outcome(worker, stored.id, folder)
    await worker.stop()


async def resume_run(url: str, folder: Path, by: str) -> None:
    """Work until the run has ended."""
    if by == "another":
        socket.gethostname = lambda: "another-machine"
    worker = make_worker(url, Ledger(folder / "ledger", Killer()))
    await worker.start()
    run = (folder / "run").read_text(encoding="utf-8")
    async with asyncio.timeout(TIMEOUT):
        await worker.event_stream.wait_until_ended(run)
    _write_outcome(worker, run, folder)
    await worker.stop()


def _write_outcome(worker: Worker, run: str, folder: Path) -> None:
    stored = worker.store.get(run)
    events = [[event.seq, event.type] for event in worker.store.read_events(run, 0, 1000)]
    outcome = {"status": stored.status, "report": json.loads(stored.report or "null"), "events": events}
    (folder / "outcome").write_text(json.dumps(outcome), encoding="utf-8")


def normalize(report: dict) -> dict:
    """Return the report without the run id and times, which differ between runs."""
    copy = json.loads(json.dumps(report))
    copy["run"] = copy["usage"]["seconds"] = copy["metadata"]["timestamp"] = None
    for record in copy["stop"]["rounds"]:
        record["readings"]["spend.seconds"] = None
        for verdict in record["verdicts"]:
            verdict["signals"].pop("spend.seconds", None)
    return copy


def run_undisturbed(url: str) -> tuple[dict, list[str]]:
    """Run without a crash; return the outcome and the paid calls."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert run_in_fork(lambda: start_run(url, folder, Killer())) == 0
        outcome = json.loads((folder / "outcome").read_text(encoding="utf-8"))
        return outcome, (folder / "ledger").read_text(encoding="utf-8").splitlines()


def play(case: Case, url: str, expected: dict, paid: list[str]) -> Result:
    """Kill and resume a run, and compare it with the expected outcome and paid calls."""
    with tempfile.TemporaryDirectory() as name:
        folder, started = Path(name), time.monotonic()
        url = url or f"sqlite:///{folder / 'runs.sqlite'}"
        killed = run_in_fork(lambda: start_run(url, folder, Killer(case.moment, case.number)))
        assert killed == -9, f"{case} was not killed but ended with {killed}"
        unstored = (
            len((folder / "ledger").read_text(encoding="utf-8").splitlines()) if (folder / "ledger").exists() else 0
        )
        unstored -= count_stored_steps(url, (folder / "run").read_text(encoding="utf-8"))
        ended = run_in_fork(lambda: resume_run(url, folder, case.by)) == 0
        outcome = json.loads((folder / "outcome").read_text(encoding="utf-8")) if ended else {"report": None}
        calls = Counter((folder / "ledger").read_text(encoding="utf-8").splitlines())
        same = outcome["report"] is not None and normalize(outcome["report"]) == normalize(expected["report"])
        return Result(
            case,
            same,
            unstored,
            sum((calls - Counter(paid)).values()),
            sum((Counter(paid) - calls).values()),
            outcome.get("events") == expected["events"],
            time.monotonic() - started,
        )


def count_stored_steps(url: str, run: str) -> int:
    """Return how many steps of the run the database holds."""
    engine = sa.create_engine(url)
    table = "operation_outputs" if url.startswith("sqlite") else "dbos.operation_outputs"
    with engine.connect() as connection:
        query = sa.text(f"SELECT count(*) FROM {table} WHERE workflow_uuid = :run")
        count = connection.execute(query, {"run": run}).scalar_one()
    engine.dispose()
    return count


def list_cases(database: str, steps: int, points: int | None) -> list[Case]:
    """Return every moment of every step and of the end; with ``points`` only that many, spread over the run."""
    moments = [(moment, number) for number in range(1, steps + 1) for moment in MOMENTS]
    moments += [(moment, 0) for moment in ENDS]
    if points is not None:
        places = [round(n * (len(moments) - 1) / max(1, points - 1)) for n in range(points)]
        by = ("same", "another")
        return [Case(database, *moments[place], by[n % 2]) for n, place in enumerate(places)]
    return [Case(database, *moment, by) for moment in moments for by in ("same", "another")]


def run_matrix(points: int | None = None, databases: tuple[str, ...] = ("sqlite", "postgres")) -> list[Result]:
    results = []
    for database in databases:
        with tempfile.TemporaryDirectory() as name, open_database(database) as url:
            expected, paid = run_undisturbed(url or f"sqlite:///{name}/undisturbed.sqlite")
            assert len(set(paid)) == len(paid), "the run makes every call once"
            for case in list_cases(database, len(paid), points):
                results.append(play(case, url, expected, paid))
                print(f"{'ok  ' if results[-1].passed else 'BAD '} {results[-1]}", file=sys.stderr)
    return results


@contextmanager
def open_database(database: str) -> Iterator[str]:
    """Yield the URL of a temporary Postgres; for SQLite an empty one, because each case has its own file."""
    if database == "sqlite":
        yield ""
        return
    with run_postgres(vectors=False) as url:
        yield url.replace("postgresql://", "postgresql+psycopg://", 1)


def format_table(results: list[Result]) -> str:
    lines = [
        "| database | resumed by | killed when | cases | same report | same events | stored calls made again | calls lost "
        "| answered but not yet stored, and made again |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        case = result.case
        groups.setdefault((case.database, case.by, _describe(case.moment)), []).append(result)
    for (database, by, moment), group in sorted(groups.items()):
        same = sum(result.same_report for result in group)
        events = sum(result.events_ok for result in group)
        twice, lost = sum(result.paid_twice for result in group), sum(result.lost for result in group)
        again = sum(result.repeated for result in group) - twice
        lines.append(
            f"| {database} | {by} machine | {moment} | {len(group)} | {same} | {events} | {twice} | {lost} | {again} |"
        )
    return "\n".join(lines)


def _describe(moment: str) -> str:
    return {
        "during": "a call is running",
        "answered": "a call is answered, not yet stored",
        "stored": "a call is stored",
    }.get(moment, moment)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int)
    parser.add_argument("--databases", default="sqlite,postgres")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, help="replace the table between the marks in this file")
    arguments = parser.parse_args()
    results = run_matrix(arguments.points, tuple(arguments.databases.split(",")))
    if arguments.json:
        print(json.dumps([{"case": str(result.case), "passed": result.passed} for result in results]))
    else:
        print(format_table(results))
    if arguments.write:
        _replace_table(arguments.write, format_table(results))
    return 0 if all(result.passed for result in results) else 1


def _replace_table(path: Path, text: str) -> None:
    before, mark, rest = path.read_text(encoding="utf-8").partition("<!-- crashes -->\n")
    after = rest.partition("<!-- /crashes -->")[2]
    path.write_text(f"{before}{mark}{text}\n<!-- /crashes -->{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
