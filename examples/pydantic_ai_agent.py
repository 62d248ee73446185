"""A Pydantic AI agent with a stop gate. It runs offline: the model is scripted and would search forever.

pip install . && python examples/pydantic_ai_agent.py
"""

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from suffice import StopMonitor
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


def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Search again unless the search is closed."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart) and "Search is closed" in last.model_response_str():
        return ModelResponse([TextPart("The moon and the sun pull the tides.")])
    return ModelResponse([ToolCallPart("search", {"query": PLAN[len(messages) // 2]})])


agent = Agent(FunctionModel(respond), deps_type=StopMonitor, toolsets=[guarded(search, lambda ctx: ctx.deps)])


def main() -> None:
    monitor = StopMonitor("exhaustion(p=2) | budget(rounds=8)")
    result = agent.run_sync("What causes the tides?", deps=monitor)
    print(result.output)
    print(monitor.verdict.reason)
    print(monitor.explain())


if __name__ == "__main__":
    main()
