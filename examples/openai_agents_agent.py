"""An OpenAI Agents SDK agent with a stop gate. It runs offline: the model is scripted and would search forever.

pip install '.[openai-agents]' && python examples/openai_agents_agent.py
"""

from agents import Agent, RunConfig, Runner
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from suffice import StopMonitor
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


def make_step(turn: int) -> ModelStep:
    """Return a model step that searches again unless the search is closed."""

    def respond(call: ModelCall) -> ModelStep:
        if "Search is closed" in str(call.input):
            return ModelStep(output=[assistant_message("The moon and the sun pull the tides.")])
        return ModelStep(output=[function_call("search", {"query": PLAN[turn]}, call_id=f"call-{turn}")])

    return ModelStep.respond(respond)


def main() -> None:
    model = ScriptedModel([make_step(turn) for turn in range(len(PLAN))])
    agent = Agent(name="Researcher", model=model, tools=[guarded(search, lambda ctx: ctx.context)])
    monitor = StopMonitor("exhaustion(p=2) | budget(rounds=8)")
    result = Runner.run_sync(
        agent, "What causes the tides?", context=monitor, run_config=RunConfig(tracing_disabled=True)
    )
    print(result.final_output)
    print(monitor.verdict.reason)
    print(monitor.explain())


if __name__ == "__main__":
    main()
