"""A guarded search tool in real Pydantic AI agents with a scripted model."""

import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent, ModelMessage, ModelResponse, ModelRetry, RunContext, TextPart, ToolCallPart, ToolReturn
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.toolsets import FunctionToolset
from pydantic_ai.usage import RequestUsage

from suffice import StopMonitor
from suffice.adapters.pydantic_ai import guarded
from suffice.errors import InputError

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


def model_of(*turns: str) -> FunctionModel:
    """Search for the words of each turn at the same time, then answer."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = sum(isinstance(message, ModelResponse) for message in messages)
        usage = RequestUsage(input_tokens=60, output_tokens=40)
        if done == len(turns):
            return ModelResponse([TextPart("done")], usage=usage)
        return ModelResponse([ToolCallPart("search", {"query": word}) for word in turns[done].split()], usage=usage)

    return FunctionModel(reply)


def tool_outputs(result: Any) -> list[str]:
    """Return what the tools returned to the model."""
    return [
        part.model_response_str()
        for message in result.all_messages()
        for part in message.parts
        if part.part_kind == "tool-return"
    ]


def agent_of(notes: Notes, *turns: str) -> Any:
    return Agent(model_of(*turns), deps_type=StopMonitor, toolsets=[guarded(notes.search, lambda ctx: ctx.deps)])


def test_it_stops_where_the_gate_stops_and_searches_no_more() -> None:
    notes, monitor = Notes(tides="12", moon="3", sun="4"), StopMonitor("budget(rounds=2)")
    result = agent_of(notes, "tides", "moon", "sun", "boats").run_sync("?", deps=monitor)
    assert notes.queries == ["tides", "moon"]
    assert monitor.verdict.reason == "budget_rounds"
    assert monitor.explain().startswith("Stopped after 2 rounds")
    first, last, *refused = tool_outputs(result)
    assert "Search is closed" not in first
    assert "Search is closed: 2 of 2 rounds spent" in last
    assert '"id":"3"' in last.replace(" ", "")
    assert len(refused) == 2
    assert all("Search is closed: 2 of 2 rounds spent" in text and "id" not in text for text in refused)
    assert result.output == "done"


def test_searches_of_one_turn_form_one_round() -> None:
    notes, monitor = Notes(), StopMonitor("budget(rounds=2)")
    agent_of(notes, "a b c", "d e", "f").run_sync("?", deps=monitor)
    assert [round.queries for round in monitor.rounds] == [("a", "b", "c"), ("d", "e")]
    assert notes.queries == ["a", "b", "c", "d", "e"]


def test_each_run_has_its_own_monitor() -> None:
    """Runs of one agent may overlap."""
    notes = Notes()
    agent = agent_of(notes, "a", "b", "c")
    monitors = [StopMonitor("budget(rounds=2)") for _ in range(3)]

    async def all_runs() -> None:
        await asyncio.gather(*(agent.run("?", deps=monitor) for monitor in monitors))

    asyncio.run(all_runs())
    assert [len(monitor.rounds) for monitor in monitors] == [2, 2, 2]
    assert len(notes.queries) == 6


def test_a_monitor_may_be_made_per_run_from_the_question() -> None:
    made = []

    def new(ctx: RunContext[None]) -> StopMonitor:
        made.append((ctx.prompt, StopMonitor("budget(rounds=1)", question=str(ctx.prompt))))
        return made[-1][1]

    agent = Agent(model_of("a", "b"), toolsets=[guarded(Notes().search, new)])
    for question in ("first?", "second?"):
        agent.run_sync(question)
    assert [(question, len(monitor.rounds)) for question, monitor in made] == [("first?", 1), ("second?", 1)]


def test_a_monitor_that_has_stopped_is_rejected() -> None:
    monitor = StopMonitor("budget(rounds=1)")
    agent = agent_of(Notes(), "a")
    agent.run_sync("?", deps=monitor)
    with pytest.raises(InputError, match="new StopMonitor"):
        agent.run_sync("?", deps=monitor)


def test_a_failed_search_differs_from_an_empty_one() -> None:
    failing, monitor = Notes(tides=ModelRetry("the index is down")), StopMonitor(NEVER_STOPS)
    agent_of(failing, "tides", "moon").run_sync("?", deps=monitor)
    assert [round.readings["overlap.upr"] for round in monitor.rounds] == [None, 0.0]


def test_an_error_is_raised_and_recorded() -> None:
    monitor = StopMonitor(NEVER_STOPS)
    with pytest.raises(OSError, match="cable"):
        agent_of(Notes(tides=OSError("cable")), "tides").run_sync("?", deps=monitor)
    assert monitor.rounds[0].readings["overlap.upr"] is None


def test_a_token_budget_stops_the_search() -> None:
    monitor = StopMonitor("budget(tokens=200)")
    agent_of(Notes(), "a", "b", "c").run_sync("?", deps=monitor)
    assert monitor.verdict.reason == "budget_tokens"
    assert len(monitor.rounds) == 2


def test_a_toolset_with_other_names_and_shapes() -> None:
    tools = FunctionToolset[StopMonitor]()

    @tools.tool_plain
    def look(questions: list[str]) -> ToolReturn:
        return ToolReturn({"hits": [f"{question}!" for question in questions]}, metadata="kept")

    monitor = StopMonitor("budget(rounds=1)")
    model = FunctionModel(
        lambda messages, info: ModelResponse(
            [TextPart("done")] if len(messages) > 1 else [ToolCallPart("look", {"questions": ["a", "b"]})]
        )
    )
    guard = guarded(
        tools, lambda ctx: ctx.deps, query="questions", passages=lambda found: [{"id": hit} for hit in found["hits"]]
    )
    result = Agent(model, deps_type=StopMonitor, toolsets=[guard]).run_sync("?", deps=monitor)
    assert monitor.rounds[0].queries == ("a", "b")
    assert monitor.rounds[0].new_passages == 2
    assert "Search is closed" in tool_outputs(result)[0]
    assert [part.metadata for part in result.all_messages()[2].parts] == ["kept"]
