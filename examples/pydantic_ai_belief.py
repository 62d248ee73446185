"""A Pydantic AI agent whose search returns what is believed so far instead of passages. It runs offline.

pip install . && python examples/pydantic_ai_belief.py

The belief is kept by the extractive model here; name a language model for real use: BeliefState(question, "ollama:qwen3").
"""

from dataclasses import dataclass

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from suffice import BeliefState, StopMonitor
from suffice.adapters.pydantic_ai import guarded

CORPUS = {
    "tides": "Tides are caused by the pull of the moon and, less, of the sun.",
    "spring": "A spring tide comes when moon and sun pull in one line, at new and full moon.",
    "neap": "A neap tide comes at half moon, when sun and moon pull at right angles.",
}
PLAN = ["what causes tides", "spring tide moon sun", "moon sun spring tide", "tide spring sun moon", "tide sun spring"]


def search(query: str) -> list[dict[str, str]]:
    """Search the notes."""
    words = set(query.split())
    return [{"id": id, "text": text} for id, text in CORPUS.items() if words & set(text.lower().split())]


@dataclass
class Deps:
    monitor: StopMonitor
    belief: BeliefState


def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Search again unless the search is closed; then answer with the belief."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart) and "Search is closed" in last.model_response_str():
        return ModelResponse([TextPart(last.model_response_str())])
    return ModelResponse([ToolCallPart("search", {"query": PLAN[len(messages) // 2]})])


search_tools = guarded(search, lambda ctx: ctx.deps.monitor, belief=lambda ctx: ctx.deps.belief)
agent = Agent(FunctionModel(respond), deps_type=Deps, toolsets=[search_tools])


def main() -> None:
    question = "What causes the tides?"
    deps = Deps(StopMonitor("exhaustion(p=2) | budget(rounds=8)"), BeliefState(question, "extractive"))
    print(agent.run_sync(question, deps=deps).output)
    print(deps.belief.render())


if __name__ == "__main__":
    main()
