"""What is asked again, and what is not."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from suffice.errors import SearchError
from suffice.search.cache import TTL_SECONDS, CachedSearch, delete_expired
from suffice.storage.sqlite_cache import SqliteCache
from suffice.testing import FixtureSearch, make_search_error
from suffice.types import Passage, Place, Query

WEB = Passage("https://a.example/x", "A hive holds one queen.\nÄ", "Hive", Place("https://a.example/x?utm_id=1"), "web")
NOW = 2_000_000_000.0


@pytest.fixture
def shelf(tmp_path: Path) -> SqliteCache:
    return SqliteCache(tmp_path / "searches.sqlite", "search cache", lambda message: None)


def ask(search: CachedSearch, text: str = "hive", k: int = 5) -> list[Passage]:
    return asyncio.run(search(Query(text), k))


def test_the_same_query_is_asked_once_also_by_the_next_process(shelf: SqliteCache) -> None:
    inner = FixtureSearch(default=[WEB])
    first = ask(CachedSearch("bees", inner, shelf), "What is  a hive")
    again = ask(CachedSearch("bees", inner, shelf), "what IS a hive ")
    assert first == again == [WEB]
    assert len(inner.queries) == 1


@pytest.mark.parametrize(("service", "text", "k"), [("wasps", "hive", 5), ("bees", "hives", 5), ("bees", "hive", 6)])
def test_another_question_is_asked(shelf: SqliteCache, service: str, text: str, k: int) -> None:
    inner = FixtureSearch(default=[WEB])
    ask(CachedSearch("bees", inner, shelf), "hive", 5)
    ask(CachedSearch(service, inner, shelf), text, k)
    assert len(inner.queries) == 2


def test_empty_answers_and_errors_are_not_kept(shelf: SqliteCache) -> None:
    empty, broken = FixtureSearch(), FixtureSearch(default=make_search_error())
    for _ in range(2):
        assert ask(CachedSearch("bees", empty, shelf)) == []
        with pytest.raises(SearchError):
            ask(CachedSearch("wasps", broken, shelf))
    assert (len(empty.queries), len(broken.queries)) == (2, 2)


@pytest.mark.parametrize(("later", "asked"), [(TTL_SECONDS - 1, 1), (TTL_SECONDS, 2), (-3600.0, 2)])
def test_after_a_day_it_is_asked_again(shelf: SqliteCache, later: float, asked: int) -> None:
    inner = FixtureSearch(default=[WEB])
    ask(CachedSearch("bees", inner, shelf, clock=lambda: NOW))
    ask(CachedSearch("bees", inner, shelf, clock=lambda: NOW + later))
    assert len(inner.queries) == asked


@pytest.mark.parametrize("damage", [b"", b"\x00", b"\xff" * 40, b"\x00\x00\x00\x00\x77\x35\x94\x00{]"])
def test_a_damaged_entry_is_no_entry(shelf: SqliteCache, tmp_path: Path, damage: bytes) -> None:
    inner = FixtureSearch(default=[WEB])
    search = CachedSearch("bees", inner, shelf, clock=lambda: NOW)
    ask(search)
    with sqlite3.connect(tmp_path / "searches.sqlite") as database:
        database.execute("UPDATE shelf SET value = ?", (damage,))
    assert ask(search) == [WEB]
    assert len(inner.queries) == 2


def test_what_is_too_old_goes_and_the_rest_stays(shelf: SqliteCache) -> None:
    inner = FixtureSearch(default=[WEB])
    ask(CachedSearch("bees", inner, shelf, clock=lambda: NOW), "old")
    ask(CachedSearch("bees", inner, shelf, clock=lambda: NOW + TTL_SECONDS), "young")
    delete_expired(shelf, clock=lambda: NOW + TTL_SECONDS + 10)
    at_noon = CachedSearch("bees", inner, shelf, clock=lambda: NOW)
    ask(CachedSearch("bees", inner, shelf, clock=lambda: NOW + TTL_SECONDS + 10), "young")
    assert inner.queries == ["old", "young"]
    ask(at_noon, "old")
    assert inner.queries == ["old", "young", "old"]
