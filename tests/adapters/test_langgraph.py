"""The conditional edge in real LangGraph graphs."""

import asyncio
import operator
from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest

from suffice import StopMonitor
from suffice.adapters.langgraph import stop_edge, watched
from suffice.errors import InputError

pytest.importorskip("langgraph")

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite


class State(TypedDict):
    rounds: Annotated[list[dict[str, Any]], operator.add]


def monitor() -> StopMonitor:
    return StopMonitor("exhaustion(p=1) | budget(rounds=4)")


def graph_of(found: list[dict[str, Any]], state: type = State, **compiled: Any) -> Any:
    """Return a graph whose n-th search appends the n-th round of ``found``."""

    def search(state: Any) -> dict[str, Any]:
        done = state["rounds"] if isinstance(state, dict) else state.rounds
        return {"rounds": [found[len(done)]]}

    graph = StateGraph(state)
    graph.add_node("search", search)
    graph.add_node("answer", lambda state: {})
    graph.add_edge(START, "search")
    graph.add_conditional_edges("search", stop_edge(monitor, search_node="search", answer_node="answer"))
    graph.add_edge("answer", END)
    return graph.compile(**compiled)


def round_of(query: str, *ids: str, **more: Any) -> dict[str, Any]:
    return {"queries": [query], "passages": [{"id": id, "text": id} for id in ids], **more}


CIRCLE = [round_of("tides moon", "1"), round_of("moon tides", "1"), round_of("locks", "2"), round_of("boats", "3")]
FORWARD = [round_of("tides", "1"), round_of("locks", "2"), round_of("boats", "3"), round_of("kites", "4"), {}]


@pytest.mark.parametrize(("found", "rounds", "reason"), [(CIRCLE, 2, "exhausted"), (FORWARD, 4, "budget_rounds")])
def test_it_stops_where_the_gate_stops(found: list[dict[str, Any]], rounds: int, reason: str) -> None:
    result = graph_of(found).invoke({"rounds": []})
    assert len(result["rounds"]) == rounds
    done = watched(monitor(), result["rounds"])
    assert done.verdict.reason == reason
    assert done.explain().startswith(f"Stopped after {rounds} rounds")


def test_runs_do_not_share_state() -> None:
    graph = graph_of(CIRCLE)
    assert [len(graph.invoke({"rounds": []})["rounds"]) for _ in range(3)] == [2, 2, 2]


def test_an_asynchronous_run() -> None:
    assert len(asyncio.run(graph_of(CIRCLE).ainvoke({"rounds": []}))["rounds"]) == 2


def test_a_run_continues_from_its_checkpoint() -> None:
    """A second graph, as after a restart, stops where the first would have."""
    saver, config = InMemorySaver(), {"configurable": {"thread_id": "1"}}
    graph_of(FORWARD, checkpointer=saver, interrupt_after=["search"]).invoke({"rounds": []}, config)
    result = graph_of(FORWARD, checkpointer=saver).invoke(None, config)
    assert len(result["rounds"]) == 4


def test_overwrite_resets_the_rounds_for_a_second_question() -> None:
    graph = graph_of(CIRCLE, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    for _ in range(2):
        assert len(graph.invoke({"rounds": Overwrite([])}, config)["rounds"]) == 2


def test_a_failed_search_is_not_an_empty_one() -> None:
    failed = [
        round_of("tides", "1"),
        {"queries": ["tides"], "failed": True},
        round_of("tides", "2"),
        round_of("a", "3"),
    ]
    empty = [round_of("tides", "1"), {"queries": ["tides"], "passages": []}]
    assert len(graph_of(failed).invoke({"rounds": []})["rounds"]) == 4
    assert len(graph_of(empty).invoke({"rounds": []})["rounds"]) == 2


def test_a_state_may_be_a_dataclass() -> None:
    @dataclass
    class DataState:
        rounds: Annotated[list[dict[str, Any]], operator.add] = field(default_factory=list)

    assert len(graph_of(CIRCLE, DataState).invoke(DataState())["rounds"]) == 2


def test_a_function_may_read_the_rounds_from_the_state() -> None:
    edge = stop_edge(monitor, search_node="s", answer_node="a", rounds=lambda state: state["log"][1:])
    assert edge({"log": ["start", *CIRCLE[:1]]}) == "s"
    assert edge({"log": ["start", *CIRCLE[:2]]}) == "a"


def test_the_drawn_graph_has_both_targets() -> None:
    edges = {(edge.source, edge.target) for edge in graph_of(CIRCLE).get_graph().edges}
    assert {("search", "search"), ("search", "answer")} <= edges
    assert ("search", "__end__") not in edges


def test_time_is_read_from_the_rounds() -> None:
    timed = [round_of("a", "1", readings={"spend.seconds": 20}), round_of("b", "2", readings={"spend.seconds": 65})]
    assert watched(StopMonitor("budget(seconds=60)"), timed).verdict.reason == "budget_time"
    with pytest.raises(InputError, match=r"spend\.seconds"):
        watched(StopMonitor("budget(seconds=60)"), CIRCLE)


@pytest.mark.parametrize("state", [{}, {"rounds": [{"queries": ["a"]}]}, {"rounds": [{"passages": []}]}])
def test_a_state_without_valid_rounds_is_rejected(state: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        stop_edge(monitor, search_node="s", answer_node="a")(state)
