"""A guarded search tool in real agents of the OpenAI Agents SDK with a scripted model."""

import asyncio
import gc
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Annotated, Any
from weakref import ref

import pytest

from suffice import StopMonitor
from suffice.errors import InputError

pytest.importorskip("agents")

from agents import Agent, RunConfig, RunContextWrapper, Runner, Usage, UserError, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from suffice.adapters.openai_agents import guarded

NEVER_STOPS = "exhaustion(p=1) | budget(rounds=9)"


class Notes:
    """A search over a mapping from query to ids or to an exception. ``queries`` records the calls."""

    def __init__(self, **found: Any) -> None:
        self.found, self.queries = found, []

    async def search(self, query: str) -> list[dict[str, str]]:
        """Search the notes."""
        self.queries.append(query)
        outcome = self.found.get(query, "")
        if isinstance(outcome, Exception):
            raise outcome
        return [{"id": id, "text": id} for id in outcome]


def script(*turns: str, argument: str = "query") -> list[Any]:
    """Search for the words of each turn at the same time, then answer."""
    calls = [
        [function_call("search", {argument: word}, call_id=f"{turn}-{word}") for word in words.split()]
        for turn, words in enumerate(turns)
    ]
    return [*calls, [assistant_message("done")]]


def run(tool: Any, context: Any, *turns: str, **more: Any) -> Any:
    usage = Usage(requests=1, input_tokens=60, output_tokens=40, total_tokens=100)
    agent = Agent(name="Researcher", model=ScriptedModel(script(*turns, **more), default_usage=usage), tools=[tool])
    return Runner.run_sync(agent, "?", context=context, run_config=RunConfig(tracing_disabled=True))


def guard(notes: Notes) -> Any:
    return guarded(notes.search, lambda ctx: ctx.context)


def tool_outputs(result: Any) -> list[str]:
    """Return what the tools returned to the model."""
    return [str(item.output) for item in result.new_items if item.type == "tool_call_output_item"]


def test_it_stops_where_the_gate_stops_and_searches_no_more() -> None:
    notes, monitor = Notes(tides="12", moon="3", sun="4"), StopMonitor("budget(rounds=2)")
    result = run(guard(notes), monitor, "tides", "moon", "sun", "boats")
    assert notes.queries == ["tides", "moon"]
    assert monitor.verdict.reason == "budget_rounds"
    assert monitor.explain().startswith("Stopped after 2 rounds")
    first, last, *refused = tool_outputs(result)
    assert "Search is closed" not in first
    assert "Search is closed: 2 of 2 rounds spent" in last
    assert "'id': '3'" in last
    assert len(refused) == 2
    assert all(text.startswith("Search is closed: 2 of 2 rounds spent") for text in refused)
    assert result.final_output == "done"


def test_searches_of_one_turn_form_one_round() -> None:
    notes, monitor = Notes(), StopMonitor("budget(rounds=2)")
    run(guard(notes), monitor, "a b c", "d e", "f")
    assert [round.queries for round in monitor.rounds] == [("a", "b", "c"), ("d", "e")]
    assert notes.queries == ["a", "b", "c", "d", "e"]


def test_each_run_has_its_own_monitor() -> None:
    """Runs that share a tool may overlap, and a monitor is freed after its run."""
    notes = Notes()
    tool = guard(notes)
    monitors = [StopMonitor("budget(rounds=2)") for _ in range(3)]

    async def one(monitor: StopMonitor) -> None:
        agent = Agent(name="Researcher", model=ScriptedModel(script("a", "b", "c")), tools=[tool])
        await Runner.run(agent, "?", context=monitor, run_config=RunConfig(tracing_disabled=True))

    async def all_runs() -> None:
        await asyncio.gather(*(one(monitor) for monitor in monitors))

    asyncio.run(all_runs())
    assert [len(monitor.rounds) for monitor in monitors] == [2, 2, 2]
    assert len(notes.queries) == 6
    last = ref(monitors.pop())
    gc.collect()
    assert last() is None


def test_a_failed_search_differs_from_an_empty_one() -> None:
    monitor = StopMonitor(NEVER_STOPS)
    result = run(guard(Notes(tides=OSError("cable"))), monitor, "tides", "moon")
    assert [round.readings["overlap.upr"] for round in monitor.rounds] == [None, 0.0]
    assert "error" in tool_outputs(result)[0]


def test_the_failure_function_of_the_user_is_used() -> None:
    def report(ctx: RunContextWrapper[Any], error: Exception) -> str:
        return f"no answer: {error}"

    def tool(**options: Any) -> Any:
        return guarded(Notes(tides=OSError("cable")).search, lambda ctx: ctx.context, **options)

    result = run(tool(failure_error_function=report), StopMonitor(NEVER_STOPS), "tides")
    assert tool_outputs(result) == ["no answer: cable"]
    with pytest.raises(Exception, match="cable"):
        run(tool(failure_error_function=None), StopMonitor(NEVER_STOPS), "tides")


def test_a_token_budget_stops_the_search() -> None:
    monitor = StopMonitor("budget(tokens=200)")
    run(guard(Notes()), monitor, "a", "b", "c")
    assert monitor.verdict.reason == "budget_tokens"
    assert len(monitor.rounds) == 2


@dataclass
class Case:
    monitor: StopMonitor
    prefix: str


def test_a_tool_with_a_context_and_other_names_and_shapes() -> None:
    def search(ctx: RunContextWrapper[Case], question: Annotated[str, "What to look for"], k: int = 2) -> str:
        """Look into the notes."""
        return "\n".join(f"{ctx.context.prefix}{question}{n}" for n in range(k))

    tool = guarded(
        search,
        lambda ctx: ctx.context.monitor,
        query="question",
        passages=lambda found: [{"id": line} for line in found.splitlines()],
        description_override="Look.",
    )
    assert tool.name == "search"
    assert tool.description == "Look."
    assert set(tool.params_json_schema["properties"]) == {"question", "k"}
    assert tool.params_json_schema["properties"]["question"]["type"] == "string"
    monitor = StopMonitor("budget(rounds=1)")
    result = run(tool, Case(monitor, ">"), "a", argument="question")
    assert monitor.rounds[0].queries == ("a",)
    assert monitor.rounds[0].new_passages == 2
    assert tool_outputs(result)[0].startswith(">a0\n>a1\n\nSearch is closed")


def test_the_tool_looks_like_the_function() -> None:
    tool, plain = guard(Notes()), function_tool(Notes().search)
    assert (tool.name, tool.description) == (plain.name, plain.description) == ("search", "Search the notes.")
    assert tool.params_json_schema["properties"] == plain.params_json_schema["properties"]


def test_a_function_tool_is_rejected() -> None:
    with pytest.raises(InputError, match="function itself"):
        guarded(function_tool(Notes().search), lambda ctx: ctx.context)


def test_a_search_without_the_query_argument_is_rejected() -> None:
    with pytest.raises(InputError, match="query="):
        guarded(Notes().search, lambda ctx: ctx.context, query="q")


def test_mistakes_of_the_developer_are_raised() -> None:
    """The SDK wraps the error in its own and ends the run."""

    def search(query: str) -> str:
        return "no list of passages"

    with pytest.raises(UserError, match="monitor"):
        run(guarded(search, lambda ctx: StopMonitor("fixed(1)")), None, "a")
    with pytest.raises(UserError, match="passages="):
        run(guarded(search, lambda ctx: ctx.context), StopMonitor("fixed(1)"), "a")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agents", None)
    monkeypatch.delitem(sys.modules, "suffice.adapters.openai_agents")
    with pytest.raises(InputError, match=r"suffice\[openai-agents\]"):
        import_module("suffice.adapters.openai_agents")
