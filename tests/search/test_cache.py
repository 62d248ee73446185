"""Which queries are sent, and which are answered from the cache."""

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from suffice.errors import SearchError
from suffice.search.base import Search
from suffice.search.web.choose import MAX_AGE_SECONDS, CachedSearch
from suffice.storage.sqlite_cache import JsonCache, SqliteCache
from suffice.testing import FixtureSearch, make_search_error
from suffice.types import Passage, Place, Query

WEB = Passage("https://a.example/x", "A hive holds one queen.\nÄ", "Hive", Place("https://a.example/x?utm_id=1"), "web")
NOW = 2_000_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> SqliteCache:
    return SqliteCache(tmp_path / "searches.sqlite", "search cache", lambda message: None)


def make_cache(store: SqliteCache, now: float = NOW) -> JsonCache:
    return JsonCache(store, max_age_seconds=MAX_AGE_SECONDS, clock=lambda: now)


def cached(service: str, search: Search, store: SqliteCache, now: float = NOW) -> CachedSearch:
    return CachedSearch(service, search, make_cache(store, now))


def ask(search: CachedSearch, text: str = "hive", k: int = 5) -> list[Passage]:
    return asyncio.run(search(Query(text), k))


def test_same_query_is_sent_once(store: SqliteCache) -> None:
    inner = FixtureSearch(default=[WEB])
    first = ask(cached("bees", inner, store), "What is  a hive")
    again = ask(cached("bees", inner, store), "what IS a hive ")
    assert first == again == [WEB]
    assert len(inner.queries) == 1


@pytest.mark.parametrize(("service", "text", "k"), [("wasps", "hive", 5), ("bees", "hives", 5), ("bees", "hive", 6)])
def test_other_query_service_or_k_is_sent(store: SqliteCache, service: str, text: str, k: int) -> None:
    inner = FixtureSearch(default=[WEB])
    ask(cached("bees", inner, store), "hive", 5)
    ask(cached(service, inner, store), text, k)
    assert len(inner.queries) == 2


def test_empty_answers_and_errors_are_not_cached(store: SqliteCache) -> None:
    empty, broken = FixtureSearch(), FixtureSearch(default=make_search_error())
    for _ in range(2):
        assert ask(cached("bees", empty, store)) == []
        with pytest.raises(SearchError):
            ask(cached("wasps", broken, store))
    assert (len(empty.queries), len(broken.queries)) == (2, 2)


@pytest.mark.parametrize(("later", "asked"), [(MAX_AGE_SECONDS - 1, 1), (MAX_AGE_SECONDS, 2), (-3600.0, 2)])
def test_entry_expires_after_a_day(store: SqliteCache, later: float, asked: int) -> None:
    inner = FixtureSearch(default=[WEB])
    ask(cached("bees", inner, store))
    ask(cached("bees", inner, store, NOW + later))
    assert len(inner.queries) == asked


@pytest.mark.parametrize("stored", [b"", b"\x00", b"\xff" * 40, b"\x00\x00\x00\x00\x77\x35\x94\x00{]"])
def test_corrupt_entry_is_a_miss(store: SqliteCache, tmp_path: Path, stored: bytes) -> None:
    inner = FixtureSearch(default=[WEB])
    search = cached("bees", inner, store)
    ask(search)
    with sqlite3.connect(tmp_path / "searches.sqlite") as database:
        database.execute("UPDATE shelf SET value = ?", (stored,))
    assert ask(search) == [WEB]
    assert len(inner.queries) == 2


def test_delete_expired_deletes_only_old_entries(store: SqliteCache) -> None:
    inner = FixtureSearch(default=[WEB])
    ask(cached("bees", inner, store), "old")
    ask(cached("bees", inner, store, NOW + MAX_AGE_SECONDS), "young")
    make_cache(store, NOW + MAX_AGE_SECONDS + 10).delete_expired()
    earlier = cached("bees", inner, store)
    ask(cached("bees", inner, store, NOW + MAX_AGE_SECONDS + 10), "young")
    assert inner.queries == ["old", "young"]
    ask(earlier, "old")
    assert inner.queries == ["old", "young", "old"]


def test_passage_that_cannot_be_encoded_is_returned_but_not_cached(store: SqliteCache) -> None:
    odd = replace(WEB, text="half a pair \ud800")
    inner = FixtureSearch(default=[odd])
    for _ in range(2):
        assert ask(cached("bees", inner, store)) == [odd]
    assert len(inner.queries) == 2
