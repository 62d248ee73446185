"""A LangGraph agent with a stop gate. It runs offline: the planner is a list of queries, the search matches words.

pip install '.[langgraph]' && python examples/langgraph_agent.py
"""

import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

from suffice import StopMonitor
from suffice.adapters.langgraph import stop_edge, watched

CORPUS = {
    "tides": "Tides are caused by the pull of the moon and, less, of the sun.",
    "spring": "A spring tide comes when moon and sun pull in one line, at new and full moon.",
    "neap": "A neap tide comes at half moon, when sun and moon pull at right angles.",
    "locks": "A lock lifts boats between stretches of water of different levels.",
}
PLAN = ["what causes tides", "spring tide moon sun", "moon sun spring tide", "tide spring sun moon", "locks for boats"]


class State(TypedDict):
    rounds: Annotated[list[dict[str, Any]], operator.add]
    answer: str


def make_monitor() -> StopMonitor:
    return StopMonitor("exhaustion(p=2) | budget(rounds=8)")


def search(state: State) -> dict[str, Any]:
    query = PLAN[len(state["rounds"])]
    found = [{"id": id, "text": text} for id, text in CORPUS.items() if set(query.split()) & set(text.lower().split())]
    return {"rounds": [{"queries": [query], "passages": found}]}


def answer(state: State) -> dict[str, Any]:
    sources = {passage["id"] for round in state["rounds"] for passage in round["passages"]}
    return {"answer": f"{len(state['rounds'])} rounds, sources: {', '.join(sorted(sources))}"}


def main() -> None:
    graph = StateGraph(State)
    graph.add_node("search", search)
    graph.add_node("answer", answer)
    graph.add_edge(START, "search")
    graph.add_conditional_edges("search", stop_edge(make_monitor, search_node="search", answer_node="answer"))
    graph.add_edge("answer", END)
    result = graph.compile().invoke({"rounds": [], "answer": ""})
    monitor = watched(make_monitor(), result["rounds"])
    print(result["answer"])
    print(monitor.verdict.reason)
    print(monitor.explain())


if __name__ == "__main__":
    main()
