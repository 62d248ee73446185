"""LangGraph: a conditional edge that leads to another search or to the answer.

    class State(TypedDict):
        rounds: Annotated[list[dict], operator.add]

    graph.add_conditional_edges("search", stop_edge(lambda: StopMonitor("exhaustion | budget(rounds=8)"),
                                                    search_node="plan", answer_node="answer"))

The search node appends one round: ``{"queries": [...], "passages": [{"id": ..., "text": ...}]}``, with ``failed: True``
when the search did not answer, and with ``tokens`` and ``readings`` if it knows them. The edge has no state of its own: it
shows all rounds of the graph's state to a new monitor. So it decides the same after a checkpoint, a retry or a fork, and in
another process. It does not import LangGraph.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from suffice.adapters.common import extract_passages
from suffice.belief import BeliefState
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
    """Return the function of a conditional edge.

    ``monitor`` makes a new monitor. ``rounds`` is the key of the rounds in the state, or a function that reads them.
    """

    def stop(state: Any) -> str:
        found = rounds(state) if callable(rounds) else _get_rounds(state, rounds)
        return answer_node if watched(monitor(), found).verdict.stop else search_node

    # LangGraph reads the targets of an edge from its return annotation, to draw and check the graph.
    stop.__annotations__["return"] = Literal.__getitem__((search_node, answer_node))
    return stop


def belief_node(
    belief: Callable[[Any], BeliefState], *, rounds: str | Callable[[Any], Rounds] = "rounds", key: str = "belief"
) -> Callable[[Any], Awaitable[dict[str, str]]]:
    """Return a node that follows the search: it shows the latest round to a belief state and stores the belief as text.

    ``belief`` finds the run's belief state, which is not part of the graph's state. ``key`` is where the text is stored: nodes
    that plan and answer read it in place of the history.
    """

    async def update(state: Any) -> dict[str, str]:
        found = rounds(state) if callable(rounds) else _get_rounds(state, rounds)
        passages = extract_passages(found[-1].get("passages") or ()) if found else ()
        return {key: await belief(state).observe(passages)}

    return update


def watched(monitor: StopMonitor, rounds: Rounds) -> StopMonitor:
    """Show rounds to a monitor up to its stop, and return it: ``watched(StopMonitor(…), state["rounds"]).explain()``."""
    for number, round in enumerate(rounds, 1):
        if monitor.verdict.stop:
            break
        if "queries" not in round or ("passages" not in round and not round.get("failed")):
            raise InputError(f"Round {number} needs 'queries' and 'passages' (or failed=True): it has {sorted(round)}")
        # All rounds are shown at once, so the monitor's own clock cannot measure the search.
        readings = {"spend.seconds": None, **(round.get("readings") or {})}
        if "spend.seconds" in monitor.gate.needs and readings["spend.seconds"] is None:
            raise InputError(
                f"{monitor.gate} limits time, which the graph's state does not hold; "
                "add the seconds since the start to each round as readings={'spend.seconds': …}"
            )
        monitor.observe(
            round["queries"],
            extract_passages(round.get("passages") or ()),
            tokens=round.get("tokens"),
            readings=readings,
            failed=bool(round.get("failed")),
        )
    return monitor


def _get_rounds(state: Any, name: str) -> Rounds:
    try:
        found: Rounds = state[name] if isinstance(state, Mapping) else getattr(state, name)
    except (KeyError, AttributeError) as error:
        raise InputError(f"The graph's state has no {name!r}; the search node must append each round to it") from error
    return found
