"""Stored runs: what a quota allows, however many requests come at the same time."""

import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from suffice.jobs.api_keys import Quota
from suffice.jobs.database import open_engine, sqlite_url
from suffice.jobs.store import Priority, QuotaExceeded, RunStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    engine = open_engine(sqlite_url(tmp_path / "service.sqlite"))
    yield RunStore(engine)
    engine.dispose()


def accept(store: RunStore, run: str, quota: Quota, key: str | None = None, owner: str = "ada") -> bool:
    try:
        store.add(run, owner, "{}", Priority.NORMAL, key, quota)
    except QuotaExceeded:
        return False
    return True


@pytest.mark.parametrize("quota", [Quota(active=3, per_minute=100), Quota(active=100, per_minute=3)])
def test_concurrent_requests_do_not_exceed_the_quota(store: RunStore, quota: Quota) -> None:
    with ThreadPoolExecutor(8) as pool:
        accepted = list(pool.map(lambda n: accept(store, f"run{n}", quota), range(40)))
    assert sum(accepted) == 3
    assert store.count_by_status() == {"queued": 3}
    assert accept(store, "other", quota, owner="ben")


def test_a_run_that_has_ended_makes_room_for_another(store: RunStore) -> None:
    quota = Quota(active=1, per_minute=100)
    assert [accept(store, run, quota) for run in ("a", "b")] == [True, False]
    store.mark_ended("a", "done")
    assert accept(store, "c", quota)


def test_only_the_user_can_read_the_database(tmp_path: Path) -> None:
    path = tmp_path / "data" / "service.sqlite"
    engine = open_engine(sqlite_url(path))
    RunStore(engine).add("a", "ada", "{}", Priority.NORMAL, None)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    engine.dispose()
    assert path.name in modes
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_repeated_request_needs_no_quota(store: RunStore) -> None:
    quota = Quota(active=1, per_minute=1)
    assert accept(store, "a", quota, key="once")
    assert store.add("b", "ada", "{}", Priority.NORMAL, "once", quota).id == "a"
