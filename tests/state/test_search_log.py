"""The record of searches: queries asked, thin queries, and whether search still works."""

from suffice.state.search_log import SEARCH_TIMED_OUT, SearchLog
from suffice.testing import make_passage
from suffice.types import Failure, Hits, Query, Round

FAILURE = Failure("search", "SearchError", "down")
PASSAGES = tuple(make_passage(f"p{n}", "text") for n in range(3))


def record(log, **outcomes):
    """Record one round; each outcome is the passages of a query or its failure."""
    hits = [
        Hits(Query(text), failure=found) if isinstance(found, Failure) else Hits(Query(text), tuple(found))
        for text, found in outcomes.items()
    ]
    return log.record(Round(1, tuple(hits), (), ()))


def texts(queries):
    return [query.text for query in queries]


def test_a_query_is_new_by_its_words():
    log = SearchLog()
    record(log, white_tin=PASSAGES)
    queries = [Query("WHITE_TIN!"), Query("grey tin"), Query("Grey  tin"), Query("???"), Query("ore")]
    assert texts(log.filter_new(queries, None)) == ["grey tin", "ore"]
    assert texts(log.filter_new(queries, 1)) == ["grey tin"]


def test_queries_of_an_earlier_run_are_not_new_and_do_not_count():
    log = SearchLog()
    log.mark_asked(["old"])
    assert log.filter_new([Query("old")], None) == []
    assert log.queries == []


def test_failures_are_returned_and_are_not_thin():
    log = SearchLog()
    assert record(log, rich=PASSAGES, thin=PASSAGES[:2], empty=(), bad=FAILURE) == [FAILURE]
    assert log.queries == ["rich", "thin", "empty", "bad"]
    assert log.thin_queries == ["thin", "empty"]


def test_thin_queries_are_taken_once_and_may_be_returned():
    log = SearchLog()
    record(log, one=())
    assert log.take_thin_queries() == ("one",)
    assert log.take_thin_queries() == ()
    record(log, two=())
    log.return_thin_queries(["one"])
    assert log.take_thin_queries() == ("one", "two")


def test_a_search_that_was_cut_off_by_the_run_does_not_count_against_the_service():
    log = SearchLog()
    assert record(log, a=SEARCH_TIMED_OUT, b=SEARCH_TIMED_OUT, c=SEARCH_TIMED_OUT) == [SEARCH_TIMED_OUT] * 3
    assert not log.is_degraded
    assert log.has_no_answer


def test_an_empty_answer_is_an_answer():
    log = SearchLog()
    assert not log.has_no_answer, "nothing was searched yet"
    record(log, a=FAILURE)
    assert log.has_no_answer
    record(log, b=())
    assert not log.has_no_answer
