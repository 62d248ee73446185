"""Several searches merged into one."""

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import SearchError
from suffice.search.base import Search
from suffice.search.fusion import MergedSearch, fuse_rankings
from suffice.search.resilience import make_resilient
from suffice.testing import FixtureSearch, make_passage, make_search_error
from suffice.types import Failure, Passage, Query


def some(ids: str, score: float | None = None) -> list[Passage]:
    return [make_passage(id, f"text of {id}", score=score) for id in ids]


def ids(passages: list[Passage]) -> str:
    return "".join(passage.id for passage in passages)


def found(search: Search, k: int = 10) -> list[Passage]:
    return asyncio.run(search(Query("hive"), k))


def test_passages_found_by_both_come_first() -> None:
    merged = MergedSearch({"one": FixtureSearch(default=some("abx")), "two": FixtureSearch(default=some("cxd"))})
    assert ids(found(merged)) == "xacbd"


def test_scores_of_different_scales_are_not_compared() -> None:
    merged = MergedSearch(
        {"one": FixtureSearch(default=some("ab", score=0.9)), "two": FixtureSearch(default=some("cd", score=400.0))}
    )
    assert ids(found(merged)) == "acbd"
    assert all(passage.score is None for passage in found(merged))


def test_longer_text_of_a_passage_is_used() -> None:
    long = make_passage("a", "A hive holds one queen, and workers, and drones.")
    assert fuse_rankings([[make_passage("a", "A hive")], [long]], 5) == [long]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), max_size=4), st.integers(1, 9))
def test_each_passage_occurs_once_and_one_ranking_is_unchanged(rankings: list[list[str]], k: int) -> None:
    merged = ids(fuse_rankings([some("".join(ranking)) for ranking in rankings], k))
    everything = {id for ranking in rankings for id in ranking}
    assert len(set(merged)) == len(merged) == min(k, len(everything))
    if len(rankings) == 1:
        assert merged == "".join(rankings[0])[:k]


def test_failing_search_is_reported_and_left_out() -> None:
    failures: list[Failure] = []
    merged = make_resilient(
        MergedSearch({"one": FixtureSearch(default=make_search_error()), "two": FixtureSearch(default=some("a"))}),
        failures.append,
    )
    assert ids(found(merged)) == "a"
    assert [failure.message for failure in failures] == ["the search is down"]


def test_empty_answer_and_a_failure_give_an_empty_answer() -> None:
    failures: list[Failure] = []
    merged = make_resilient(
        MergedSearch({"one": FixtureSearch(default=make_search_error()), "two": FixtureSearch()}), failures.append
    )
    assert found(merged) == []
    assert len(failures) == 1


def test_fails_if_all_searches_fail() -> None:
    merged = MergedSearch(
        {"one": FixtureSearch(default=make_search_error("one")), "two": FixtureSearch(default=make_search_error("two"))}
    )
    with pytest.raises(SearchError, match="one; two"):
        found(merged)


def test_slow_search_does_not_delay_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.search.fusion.GRACE_SECONDS", 0.05)
    failures: list[Failure] = []
    slow = FixtureSearch(default=some("b"), delay=600)
    merged = make_resilient(
        MergedSearch({"The slow one": slow, "two": FixtureSearch(default=some("a"))}), failures.append
    )
    start = time.monotonic()
    assert ids(found(merged)) == "a"
    assert time.monotonic() - start < 60
    assert "The slow one had not answered" in failures[0].message


def test_unexpected_exception_is_raised() -> None:
    merged = MergedSearch(
        {"one": FixtureSearch(default=ZeroDivisionError("oh")), "two": FixtureSearch(default=some("a"))}
    )
    with pytest.raises(ZeroDivisionError):
        found(merged)
