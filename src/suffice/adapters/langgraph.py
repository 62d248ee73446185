"""LangGraph: a conditional edge that goes on searching or on to the answer.

    class State(TypedDict):
        rounds: Annotated[list[dict], operator.add]

    graph.add_conditional_edges("search", stop_edge(lambda: StopMonitor("exhaustion | budget(rounds=8)"),
                                                    search_node="plan", answer_node="answer"))

The search node appends one round: ``{"queries": [...], "passages": [{"id": ..., "text": ...}]}``, plus ``failed: True``
when the search did not answer, and ``tokens`` and ``readings`` where it knows them (an episode's round). The edge holds
nothing between calls: it tells a new monitor all rounds of the state. So it decides the same after a checkpoint, a
retry, a fork or in another process, and needs nothing of LangGraph itself.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from suffice.adapters.rounds import extract_passages
from suffice.errors import InputError
from suffice.monitor import StopMonitor

Rounds = Sequence[Mapping[str, Any]]


def stop_edge(
    monitor: Callable[[], StopMonitor],
    *,
    search_node: str,
    answer_node: str,
    rounds: str | Callable[[Any], Rounds] = "rounds",
) -> Callable[[Any], str]:
    """The edge's function. ``monitor`` makes a new one; ``rounds`` is a key of the state, or reads them out of it."""

    def stop(state: Any) -> str:
        told = rounds(state) if callable(rounds) else _get_rounds(state, rounds)
        return answer_node if watched(monitor(), told).verdict.stop else search_node

    # LangGraph reads where an edge may lead from this; it draws and checks the graph with it.
    stop.__annotations__["return"] = Literal.__getitem__((search_node, answer_node))
    return stop


def watched(monitor: StopMonitor, rounds: Rounds) -> StopMonitor:
    """The monitor, told the rounds up to its stop: ``watched(new(), state["rounds"]).explain()``."""
    for number, one in enumerate(rounds, 1):
        if monitor.verdict.stop:
            break
        if "queries" not in one or ("passages" not in one and not one.get("failed")):
            raise InputError(f"Round {number} needs 'queries' and 'passages' (or failed=True): it has {sorted(one)}")
        # The clock of a monitor that is told everything at once says nothing about the search.
        readings = {"spend.seconds": None, **(one.get("readings") or {})}
        if "spend.seconds" in monitor.gate.needs and readings["spend.seconds"] is None:
            raise InputError(
                f"{monitor.gate} bounds time, which a graph's state does not hold; "
                "put the seconds since the start into each round as readings={'spend.seconds': …}"
            )
        monitor.observe(
            one["queries"],
            extract_passages(one.get("passages") or ()),
            tokens=one.get("tokens"),
            readings=readings,
            failed=bool(one.get("failed")),
        )
    return monitor


def _get_rounds(state: Any, name: str) -> Rounds:
    try:
        found: Rounds = state[name] if isinstance(state, Mapping) else getattr(state, name)
    except (KeyError, AttributeError) as error:
        raise InputError(
            f"The graph's state has no {name!r}; the search node has to append each round to it"
        ) from error
    return found
