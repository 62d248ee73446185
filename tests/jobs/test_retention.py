"""Retention: which ended runs are deleted, by age, number and size."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from suffice.errors import InputError
from suffice.jobs.database import open_engine, runs, sqlite_url
from suffice.jobs.store import Priority, RunStore, StoredEvent
from suffice.settings import Retention, load


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    engine = open_engine(sqlite_url(tmp_path / "service.sqlite"))
    store = RunStore(engine)
    for number in range(5):  # Run 0 ended first, 50 days ago; each later one ten days after it.
        store.add(f"run{number}", "ada", "{}", Priority.NORMAL, None)
        store.append_events(f"run{number}", [StoredEvent(1000, "round", "x" * 1000)])
        store.mark_ended(f"run{number}", "done", report="{}")
        with engine.begin() as connection:
            ended = runs.c.finished - (5 - number) * 864_000
            connection.execute(sa.update(runs).where(runs.c.id == f"run{number}").values(finished=ended))
    store.add("active", "ada", "{}", Priority.NORMAL, None)
    yield store
    engine.dispose()


@pytest.mark.parametrize(
    ("text", "expired"),
    [
        ("", []),
        ("25d", ["run0", "run1", "run2"]),
        ("600 h", ["run0", "run1", "run2"]),
        ("100w", []),
        ("4 runs", ["run0"]),
        ("1000 runs", []),
        ("0.0035 MB", ["run0", "run1"]),
        ("45d, 3 runs, 1 GB", ["run0", "run1"]),
    ],
)
def test_expired_runs(store: RunStore, text: str, expired: list[str]) -> None:
    assert store.find_expired(load({"SUFFICE_RETENTION": text}).retention) == expired


def test_deleted_run_takes_its_events_along(store: RunStore) -> None:
    assert store.delete(["run0", "active"]) == ["run0"]
    assert store.read_events("run0", 0) == []
    assert [stored.id for stored in store.list_runs("ada", limit=10, accept=lambda request: True)][:1] == ["active"]


def test_active_runs_are_never_expired(store: RunStore) -> None:
    assert "active" not in store.find_expired(Retention(seconds=1e-9, runs=1, bytes=1))


@pytest.mark.parametrize("text", ["30", "d", "-1d", "0 runs", "1d, 2d", "1 year", "1e9d", "; drop"])
def test_unreadable_rules_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="SUFFICE_RETENTION"):
        load({"SUFFICE_RETENTION": text})
