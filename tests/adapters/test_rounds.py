"""Searches gathered into rounds, and what counts as a passage."""

import asyncio
from types import SimpleNamespace

import pytest

from suffice import StopMonitor
from suffice.adapters.rounds import RoundCollector, append_notice, extract_passages, extract_queries
from suffice.errors import InputError


def ask(monitor: StopMonitor, *turns: dict[str, object]) -> None:
    """Each turn's searches run at the same time. A list is what is found, an exception what is raised."""

    async def run() -> None:
        open_round = RoundCollector()
        for number, turn in enumerate(turns, 1):

            async def search(query: str, outcome: object, spent: int) -> object:
                async def look() -> object:
                    if isinstance(outcome, BaseException):
                        raise outcome
                    return outcome

                return await open_round.run_search(monitor, [query], look, extract_passages, spent)

            await asyncio.gather(
                *(search(query, outcome, 100 * number) for query, outcome in turn.items()), return_exceptions=True
            )

    asyncio.run(run())


def test_searches_at_the_same_time_are_one_round() -> None:
    monitor = StopMonitor("budget(rounds=9)")
    ask(monitor, {"a": [{"id": "1"}], "b": [{"id": "2"}]}, {"c": [{"id": "1"}]})
    assert [(one.queries, one.new_passages) for one in monitor.rounds] == [(("a", "b"), 2), (("c",), 0)]


def test_a_passage_found_by_two_searches_of_a_round_is_one_passage() -> None:
    monitor = StopMonitor("budget(rounds=9)")
    ask(monitor, {"a": [{"id": "1"}], "b": [{"id": "1"}]})
    assert monitor.rounds[0].new_passages == 1


def test_a_round_failed_when_all_its_searches_did() -> None:
    monitor = StopMonitor("exhaustion | budget(rounds=9)")
    ask(monitor, {"a": OSError(), "b": [{"id": "1"}]}, {"c": OSError(), "d": OSError()}, {"e": []})
    assert [one.readings["overlap.upr"] for one in monitor.rounds] == [1.0, None, 0.0]


def test_an_interrupted_search_is_a_failed_one() -> None:
    monitor = StopMonitor("exhaustion | budget(rounds=9)")
    ask(monitor, {"a": asyncio.CancelledError()})
    assert monitor.rounds[0].readings["overlap.upr"] is None


def test_tokens_are_counted_by_round() -> None:
    monitor = StopMonitor("budget(tokens=200)")
    ask(monitor, {"a": []}, {"b": [], "c": []})
    assert [one.readings["spend.tokens"] for one in monitor.rounds] == [100, 200]
    assert monitor.verdict.reason == "budget_tokens"


def test_passages_may_be_objects() -> None:
    found = extract_passages([SimpleNamespace(id="1", text="a"), {"id": "2"}])
    assert [passage["id"] for passage in found] == ["1", "2"]
    assert found[0]["text"] == "a"


@pytest.mark.parametrize("result", ["text", {"id": "1"}, None, [3], [{"text": "a"}], [SimpleNamespace(id=None)]])
def test_what_is_no_list_of_passages(result: object) -> None:
    with pytest.raises(InputError, match="passages="):
        extract_passages(result)


def test_queries() -> None:
    assert extract_queries({"query": "a"}, "query") == ("a",)
    assert extract_queries({"questions": ["a", "b"]}, "questions") == ("a", "b")
    with pytest.raises(InputError, match="query="):
        extract_queries({"q": "a"}, "query")


def test_the_notice_keeps_the_results() -> None:
    monitor = StopMonitor("fixed(1)")
    ask(monitor, {"a": []})
    assert str(append_notice("found", monitor.verdict)).startswith("found\n\nSearch is closed: ")
    assert append_notice([1], monitor.verdict)["results"] == [1]  # type: ignore[index]
