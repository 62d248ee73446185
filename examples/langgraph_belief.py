"""A LangGraph agent that plans and answers from a belief state instead of its history. It runs offline.

pip install '.[langgraph]' && python examples/langgraph_belief.py

The belief is kept by the extractive model here; name a language model for real use: BeliefState(question, "ollama:qwen3").
"""

import asyncio
import operator
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

from suffice import BeliefState, StopMonitor
from suffice.adapters.langgraph import belief_node, stop_edge

CORPUS = {
    "tides": "Tides are caused by the pull of the moon and, less, of the sun.",
    "spring": "A spring tide comes when moon and sun pull in one line, at new and full moon.",
    "neap": "A neap tide comes at half moon, when sun and moon pull at right angles.",
    "locks": "A lock lifts boats between stretches of water of different levels.",
}
PLAN = ["what causes tides", "spring tide moon sun", "moon sun spring tide", "tide spring sun moon", "locks for boats"]


class State(TypedDict):
    rounds: Annotated[list[dict[str, Any]], operator.add]
    belief: str
    answer: str


def search(state: State) -> dict[str, Any]:
    query = PLAN[len(state["rounds"])]
    found = [{"id": id, "text": text} for id, text in CORPUS.items() if set(query.split()) & set(text.lower().split())]
    return {"rounds": [{"queries": [query], "passages": found}]}


def answer(state: State) -> dict[str, Any]:
    return {"answer": state["belief"]}


def main() -> None:
    belief = BeliefState("What causes the tides?", "extractive")
    graph = StateGraph(State)
    graph.add_node("search", search)
    graph.add_node("note", belief_node(lambda state: belief))
    graph.add_node("answer", answer)
    graph.add_edge(START, "search")
    graph.add_edge("search", "note")
    graph.add_conditional_edges(
        "note",
        stop_edge(
            lambda: StopMonitor("exhaustion(p=2) | budget(rounds=8)"), search_node="search", answer_node="answer"
        ),
    )
    graph.add_edge("answer", END)
    result = asyncio.run(graph.compile().ainvoke({"rounds": [], "belief": "", "answer": ""}))
    print(result["answer"])


if __name__ == "__main__":
    main()
