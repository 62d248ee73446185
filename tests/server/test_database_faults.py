"""A database that is locked, full or corrupt: 503 and one clear line, and no run is left without an end."""

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from http_client import run_service, wait_until

from suffice.errors import Unavailable
from suffice.jobs import database, executor
from suffice.jobs.database import open_engine, sqlite_url

FAILURES = {
    "locked": sa.exc.OperationalError("INSERT", {}, sqlite3.OperationalError("database is locked")),
    "full": sa.exc.OperationalError("INSERT", {}, sqlite3.OperationalError("database or disk is full")),
    "corrupt": sa.exc.DatabaseError("SELECT", {}, sqlite3.DatabaseError("database disk image is malformed")),
    "no connection": sa.exc.TimeoutError("QueuePool limit"),
}


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    with run_service(tmp_path_factory.mktemp("faulty")) as service:
        yield service


@pytest.mark.attack("broken databases")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_requests_get_503_and_the_service_is_not_ready(faulty, monkeypatch, failure):
    def fail(*arguments, **options):
        raise failure

    for method in ("add", "get", "list_runs", "count_by_status"):
        monkeypatch.setattr(faulty.worker.store, method, fail)
    for response in (
        faulty.run(),
        faulty.client.get("/jobs"),
        faulty.client.get("/jobs/x"),
        faulty.client.get("/readyz"),
    ):
        assert response.status_code == 503
        assert response.json()["error"]["retryable"] is True
    monkeypatch.undo()
    assert faulty.client.get("/readyz").status_code == 200
    assert faulty.run().status_code == 200


@pytest.mark.attack("broken databases")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("method", ["mark_started", "append_events", "mark_ended"])
def test_run_ends_once_the_database_is_back(faulty, monkeypatch, failure, method):
    monkeypatch.setattr(executor, "DATABASE_RETRY_SECONDS", 0.05)
    original, failures = getattr(faulty.worker.store, method), [failure] * 3

    def fail_three_times(*arguments, **options):
        if failures:
            raise failures.pop()
        return original(*arguments, **options)

    monkeypatch.setattr(faulty.worker.store, method, fail_three_times)
    job = faulty.run(**{"async": True}).json()["job_id"]
    ended = faulty.wait_for_job(job)
    if method == "append_events":
        assert ended["status"] == "failed"
        assert ended["error"]["retryable"] is True
    else:
        assert ended["status"] == "done"


@pytest.mark.attack("broken databases")
def test_service_is_not_ready_when_heartbeats_fail(faulty, monkeypatch):
    def fail():
        raise FAILURES["locked"]

    monkeypatch.setattr(faulty.worker.heartbeats, "beat", fail)
    monkeypatch.setattr(faulty.worker, "_last_beat", -1e9)
    assert faulty.client.get("/readyz").status_code == 503
    monkeypatch.undo()
    wait_until(lambda: faulty.client.get("/readyz").status_code == 200, "the service does not become ready")


@pytest.mark.attack("broken databases")
@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_corrupt_file_is_one_clear_error(tmp_path: Path, content: bytes):
    path = tmp_path / "service.sqlite"
    path.write_bytes(content)
    with pytest.raises(Unavailable, match=r"service\.sqlite cannot be used .*backup"):
        open_engine(sqlite_url(path))


@pytest.mark.attack("broken databases")
def test_locked_file_is_one_clear_error(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 50)
    path = tmp_path / "service.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (x)")
        other.commit()
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Unavailable, match="locked"):
            open_engine(sqlite_url(path))
