"""The store on a real Postgres: quotas under concurrency, and texts that Postgres cannot store."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from suffice.jobs.api_keys import ApiKeyStore, Quota
from suffice.jobs.database import database_url, open_engine
from suffice.jobs.requests import JobRequest, parse_request
from suffice.jobs.store import Priority, QuotaExceeded, RunStore, StoredEvent
from suffice.settings import Retention

NUL_TEXT = "tea\x00\ud800"


@pytest.fixture(scope="module")
def store(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunStore]:
    engine = open_engine(database_url(postgres_url, tmp_path_factory.mktemp("data")))
    yield RunStore(engine)
    engine.dispose()


@pytest.mark.attack("keys and quotas")
@pytest.mark.parametrize("quota", [Quota(active=3, per_minute=100), Quota(active=100, per_minute=3)])
def test_concurrent_requests_do_not_exceed_the_quota(store: RunStore, quota: Quota) -> None:
    owner = f"ada{quota.active}"

    def accept(number: int) -> bool:
        try:
            store.add(f"{owner}-{number}", owner, "{}", Priority.NORMAL, None, quota)
        except QuotaExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(accept, range(40))) == 3


@pytest.mark.attack("odd requests")
def test_zero_bytes_can_be_stored(store: RunStore) -> None:
    request = JobRequest(NUL_TEXT)
    store.add("nul", "ben", request.to_json(), Priority.NORMAL, None)
    store.append_events("nul", [StoredEvent(1000, "round", '{"text": "\\u0000"}')])
    store.mark_ended("nul", "done", report='{"final_answer": "\\u0000"}')
    assert parse_request(store.get("nul").request) == request
    assert [row["job_id"] for row in store.iter_export("ben", lambda request: True)] == ["nul"]


def test_expired_runs_are_found_and_deleted(store: RunStore) -> None:
    for number in range(4):
        store.add(f"old{number}", "carl", "{}", Priority.NORMAL, None)
        store.append_events(f"old{number}", [StoredEvent(1000, "round", "x" * 100)])
        store.mark_ended(f"old{number}", "done", report="{}")
    assert len(store.find_expired(Retention(seconds=1e-9))) >= 4
    assert store.find_expired(Retention(bytes=10))
    assert store.delete(["old0", "old1"]) == ["old0", "old1"]


def test_a_key_can_be_created_and_found(store: RunStore) -> None:
    keys = ApiKeyStore(store.engine)
    key, secret = keys.create("ann", Quota())
    assert keys.authenticate(secret) == key
