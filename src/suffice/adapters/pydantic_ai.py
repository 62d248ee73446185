"""Pydantic AI: a search tool that closes when the gate stops.

    agent = Agent(model, deps_type=StopMonitor, toolsets=[guarded(search, lambda ctx: ctx.deps)])
    monitor = StopMonitor("exhaustion | budget(rounds=8)")
    result = await agent.run("…", deps=monitor)
    print(monitor.explain())

The function is called once per run, so ``lambda ctx: StopMonitor(…, question=ctx.prompt)`` works too. The results of the
last round carry a notice that the search is closed. Later calls fail with ``ToolFailed`` and do not search. The tool is not
removed, because a tool list that changes during a run invalidates the provider's prompt cache.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import ToolFailed, ToolReturn
from pydantic_ai.tools import AgentDepsT, RunContext, Tool
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool, WrapperToolset

from suffice.adapters.common import (
    PassageReader,
    RoundCollector,
    append_notice,
    extract_passages,
    extract_queries,
    format_notice,
)
from suffice.belief import BeliefState
from suffice.errors import InputError
from suffice.monitor import StopMonitor


def guarded(
    search: Callable[..., Any] | Tool[AgentDepsT] | AbstractToolset[AgentDepsT],
    monitor: Callable[[RunContext[AgentDepsT]], StopMonitor],
    *,
    query: str = "query",
    passages: PassageReader = extract_passages,
    belief: Callable[[RunContext[AgentDepsT]], BeliefState] | None = None,
) -> AbstractToolset[AgentDepsT]:
    """Return a toolset of searches that share a gate.

    ``search`` is a function, a ``Tool``, or a toolset (such as an MCP server) that has only searches. ``monitor`` returns the
    run's monitor. ``query`` names the argument that holds the query. ``passages`` reads the passages from a search's result.
    With ``belief``, which returns the run's belief state, a search returns what is believed after it in place of its results.
    """
    tools = search if isinstance(search, AbstractToolset) else FunctionToolset[AgentDepsT]([search])
    return GuardedToolset(tools, monitor, query, passages, belief)


@dataclass
class GuardedToolset(WrapperToolset[AgentDepsT]):
    """The toolset that ``guarded`` returns. Pydantic AI calls ``for_run`` at the start of each run."""

    find_monitor: Callable[[RunContext[AgentDepsT]], StopMonitor]
    query: str
    passages: PassageReader
    find_belief: Callable[[RunContext[AgentDepsT]], BeliefState] | None = None
    monitor: StopMonitor | None = None
    belief: BeliefState | None = None
    round_collector: RoundCollector = field(default_factory=RoundCollector)

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractToolset[AgentDepsT]:
        monitor = self.find_monitor(ctx)
        if monitor.verdict.stop:
            raise InputError("This monitor has already stopped a search; make a new StopMonitor for each run")
        belief = None if self.find_belief is None else self.find_belief(ctx)
        wrapped = await self.wrapped.for_run(ctx)
        return replace(self, wrapped=wrapped, monitor=monitor, belief=belief, round_collector=RoundCollector())

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        monitor = self.monitor
        if monitor is None:
            raise InputError("A guarded toolset can only be called within an agent's run")
        if monitor.verdict.stop:
            raise ToolFailed(format_notice(monitor.verdict))
        result = await self.round_collector.run_search(
            monitor,
            extract_queries(tool_args, self.query),
            lambda: self.wrapped.call_tool(name, tool_args, ctx, tool),
            lambda found: self.passages(found.return_value if isinstance(found, ToolReturn) else found),
            ctx.usage.total_tokens,
        )
        if self.belief is not None:
            found = self.passages(result.return_value if isinstance(result, ToolReturn) else result)
            result = await self.belief.observe(found)
        if not monitor.verdict.stop:
            return result
        if isinstance(result, ToolReturn):
            return replace(result, return_value=append_notice(result.return_value, monitor.verdict))
        return append_notice(result, monitor.verdict)
