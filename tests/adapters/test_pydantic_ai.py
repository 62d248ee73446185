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
    """A search over a mapping from query to ids, or to what is raised; it keeps what it was asked."""

    def __init__(self, **found: Any) -> None:
        self.found, self.asked = found, []

    async def search(self, query: str) -> list[dict[str, str]]:
        """Search the notes."""
        self.asked.append(query)
        outcome = self.found.get(query, "")
        if isinstance(outcome, Exception):
            raise outcome
        return [{"id": id, "text": id} for id in outcome]


def model_of(*turns: str) -> FunctionModel:
    """Asks the words of each turn at the same time, then answers."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        done = sum(isinstance(message, ModelResponse) for message in messages)
        usage = RequestUsage(input_tokens=60, output_tokens=40)
        if done == len(turns):
            return ModelResponse([TextPart("done")], usage=usage)
        return ModelResponse([ToolCallPart("search", {"query": word}) for word in turns[done].split()], usage=usage)

    return FunctionModel(reply)


def told(result: Any) -> list[str]:
    """What the tools answered."""
    return [
        part.model_response_str()
        for message in result.all_messages()
        for part in message.parts
        if part.part_kind == "tool-return"
    ]


def agent_of(notes: Notes, *turns: str) -> Any:
    return Agent(model_of(*turns), deps_type=StopMonitor, toolsets=[guarded(notes.search, lambda ctx: ctx.deps)])


def test_it_stops_where_the_gate_says_and_searches_no_more() -> None:
    notes, monitor = Notes(tides="12", moon="3", sun="4"), StopMonitor("budget(rounds=2)")
    result = agent_of(notes, "tides", "moon", "sun", "boats").run_sync("?", deps=monitor)
    assert notes.asked == ["tides", "moon"]
    assert monitor.verdict.reason == "budget_rounds"
    assert monitor.explain().startswith("Stopped after 2 rounds")
    first, last, *refused = told(result)
    assert "Search is closed" not in first
    assert "Search is closed: 2 of 2 rounds spent" in last
    assert '"id":"3"' in last.replace(" ", "")
    assert len(refused) == 2
    assert all("Search is closed: 2 of 2 rounds spent" in text and "id" not in text for text in refused)
    assert result.output == "done"


def test_searches_of_one_turn_are_one_round() -> None:
    notes, monitor = Notes(), StopMonitor("budget(rounds=2)")
    agent_of(notes, "a b c", "d e", "f").run_sync("?", deps=monitor)
    assert [one.queries for one in monitor.rounds] == [("a", "b", "c"), ("d", "e")]
    assert notes.asked == ["a", "b", "c", "d", "e"]


def test_each_run_has_its_own_monitor() -> None:
    """Also when runs of one agent overlap."""
    notes = Notes()
    agent = agent_of(notes, "a", "b", "c")
    monitors = [StopMonitor("budget(rounds=2)") for _ in range(3)]

    async def all_runs() -> None:
        await asyncio.gather(*(agent.run("?", deps=monitor) for monitor in monitors))

    asyncio.run(all_runs())
    assert [len(monitor.rounds) for monitor in monitors] == [2, 2, 2]
    assert len(notes.asked) == 6


def test_a_monitor_made_for_the_run_knows_the_question() -> None:
    made = []

    def new(ctx: RunContext[None]) -> StopMonitor:
        made.append((ctx.prompt, StopMonitor("budget(rounds=1)", question=str(ctx.render))))
        return made[-1][1]

    agent = Agent(model_of("a", "b"), toolsets=[guarded(Notes().search, new)])
    for question in ("first?", "second?"):
        agent.run_sync(question)
    assert [(question, len(monitor.rounds)) for question, monitor in made] == [("first?", 1), ("second?", 1)]


def test_a_spent_monitor_is_refused() -> None:
    monitor = StopMonitor("budget(rounds=1)")
    agent = agent_of(Notes(), "a")
    agent.run_sync("?", deps=monitor)
    with pytest.raises(InputError, match="new StopMonitor"):
        agent.run_sync("?", deps=monitor)


def test_a_failed_search_is_not_an_empty_one() -> None:
    failing, monitor = Notes(tides=ModelRetry("the index is down")), StopMonitor(NEVER_STOPS)
    agent_of(failing, "tides", "moon").run_sync("?", deps=monitor)
    assert [one.readings["overlap.upr"] for one in monitor.rounds] == [None, 0.0]


def test_an_error_passes_through_and_is_recorded() -> None:
    monitor = StopMonitor(NEVER_STOPS)
    with pytest.raises(OSError, match="cable"):
        agent_of(Notes(tides=OSError("cable")), "tides").run_sync("?", deps=monitor)
    assert monitor.rounds[0].readings["overlap.upr"] is None


def test_tokens_are_bounded() -> None:
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
    assert "Search is closed" in told(result)[0]
    assert [part.metadata for part in result.all_messages()[2].parts] == ["kept"]
