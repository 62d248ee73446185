"""An OpenAI Agents SDK agent whose search returns what is believed so far instead of passages. It runs offline.

pip install '.[openai-agents]' && python examples/openai_agents_belief.py

The belief is kept by the extractive model here; name a language model for real use: BeliefState(question, "ollama:qwen3").
"""

from dataclasses import dataclass

from agents import Agent, RunConfig, Runner
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from suffice import BeliefState, StopMonitor
from suffice.adapters.openai_agents import guarded

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


@dataclass(eq=False)
class Context:
    monitor: StopMonitor
    belief: BeliefState


def make_step(turn: int) -> ModelStep:
    """Return a model step that searches again unless the search is closed."""

    def respond(call: ModelCall) -> ModelStep:
        if "Search is closed" in str(call.input):
            return ModelStep(output=[assistant_message("The moon and the sun pull the tides.")])
        return ModelStep(output=[function_call("search", {"query": PLAN[turn]}, call_id=f"call-{turn}")])

    return ModelStep.respond(respond)


def main() -> None:
    question = "What causes the tides?"
    context = Context(StopMonitor("exhaustion(p=2) | budget(rounds=8)"), BeliefState(question, "extractive"))
    tool = guarded(search, lambda ctx: ctx.context.monitor, belief=lambda ctx: ctx.context.belief)
    agent = Agent(name="Researcher", model=ScriptedModel([make_step(turn) for turn in range(len(PLAN))]), tools=[tool])
    result = Runner.run_sync(agent, question, context=context, run_config=RunConfig(tracing_disabled=True))
    print(result.final_output)
    print(context.belief.render())


if __name__ == "__main__":
    main()
