"""Collecting searches into rounds, reading passages and queries, and the notice."""

import asyncio
from types import SimpleNamespace

import pytest

from suffice import StopMonitor
from suffice.adapters.common import RoundCollector, append_notice, extract_passages, extract_queries
from suffice.errors import InputError


def run_turns(monitor: StopMonitor, *turns: dict[str, object]) -> None:
    """Run the searches of each turn at the same time. An outcome is a list of passages, or an exception to raise."""

    async def run() -> None:
        collector = RoundCollector()
        for number, turn in enumerate(turns, 1):

            async def search(query: str, outcome: object, spent: int) -> object:
                async def execute() -> object:
                    if isinstance(outcome, BaseException):
                        raise outcome
                    return outcome

                return await collector.run_search(monitor, [query], execute, extract_passages, spent)

            await asyncio.gather(
                *(search(query, outcome, 100 * number) for query, outcome in turn.items()), return_exceptions=True
            )

    asyncio.run(run())


def test_searches_at_the_same_time_are_one_round() -> None:
    monitor = StopMonitor("budget(rounds=9)")
    run_turns(monitor, {"a": [{"id": "1"}], "b": [{"id": "2"}]}, {"c": [{"id": "1"}]})
    assert [(round.queries, round.new_passages) for round in monitor.rounds] == [(("a", "b"), 2), (("c",), 0)]


def test_a_passage_found_by_two_searches_of_a_round_is_one_passage() -> None:
    monitor = StopMonitor("budget(rounds=9)")
    run_turns(monitor, {"a": [{"id": "1"}], "b": [{"id": "1"}]})
    assert monitor.rounds[0].new_passages == 1


def test_a_round_failed_when_all_its_searches_failed() -> None:
    monitor = StopMonitor("exhaustion | budget(rounds=9)")
    run_turns(monitor, {"a": OSError(), "b": [{"id": "1"}]}, {"c": OSError(), "d": OSError()}, {"e": []})
    assert [round.readings["overlap.upr"] for round in monitor.rounds] == [1.0, None, 0.0]


def test_a_cancelled_search_counts_as_failed() -> None:
    monitor = StopMonitor("exhaustion | budget(rounds=9)")
    run_turns(monitor, {"a": asyncio.CancelledError()})
    assert monitor.rounds[0].readings["overlap.upr"] is None


def test_tokens_are_counted_per_round() -> None:
    monitor = StopMonitor("budget(tokens=200)")
    run_turns(monitor, {"a": []}, {"b": [], "c": []})
    assert [round.readings["spend.tokens"] for round in monitor.rounds] == [100, 200]
    assert monitor.verdict.reason == "budget_tokens"


def test_passages_may_be_objects() -> None:
    found = extract_passages([SimpleNamespace(id="1", text="a"), {"id": "2"}])
    assert [passage["id"] for passage in found] == ["1", "2"]
    assert found[0]["text"] == "a"


@pytest.mark.parametrize("result", ["text", {"id": "1"}, None, [3], [{"text": "a"}], [SimpleNamespace(id=None)]])
def test_results_without_passages_are_rejected(result: object) -> None:
    with pytest.raises(InputError, match="passages="):
        extract_passages(result)


def test_queries_are_read_from_the_named_argument() -> None:
    assert extract_queries({"query": "a"}, "query") == ("a",)
    assert extract_queries({"questions": ["a", "b"]}, "questions") == ("a", "b")
    with pytest.raises(InputError, match="query="):
        extract_queries({"q": "a"}, "query")


def test_the_notice_keeps_the_results() -> None:
    monitor = StopMonitor("fixed(1)")
    run_turns(monitor, {"a": []})
    assert str(append_notice("found", monitor.verdict)).startswith("found\n\nSearch is closed: ")
    assert append_notice([1], monitor.verdict)["results"] == [1]  # type: ignore[index]
