"""Pydantic AI: a search tool that closes when the gate says so.

    agent = Agent(model, deps_type=StopMonitor, toolsets=[guarded(search, lambda ctx: ctx.deps)])
    monitor = StopMonitor("exhaustion | budget(rounds=8)")
    result = await agent.run("…", deps=monitor)
    print(monitor.explain())

The function given is called once a run, so ``lambda ctx: StopMonitor(…, question=ctx.prompt)`` does as well. The results
of the round that ends the search carry a notice. The tool stays in sight, since a tool list that changes in mid-run costs the
provider's prompt cache; a call after the stop is answered with ``ToolFailed`` and reaches no search.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import ToolFailed, ToolReturn
from pydantic_ai.tools import AgentDepsT, RunContext, Tool
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool, WrapperToolset

from suffice.adapters.rounds import (
    PassageReader,
    RoundCollector,
    append_notice,
    extract_passages,
    extract_queries,
    format_notice,
)
from suffice.errors import InputError
from suffice.monitor import StopMonitor


def guarded(
    search: Callable[..., Any] | Tool[AgentDepsT] | AbstractToolset[AgentDepsT],
    monitor: Callable[[RunContext[AgentDepsT]], StopMonitor],
    *,
    query: str = "query",
    passages: PassageReader = extract_passages,
) -> AbstractToolset[AgentDepsT]:
    """A toolset of searches that share a gate. ``search`` is a function, a Tool, or a toolset (MCP, say) of searches only.

    ``query`` names the argument that is searched for; ``passages`` reads the passages out of what a search returned.
    """
    tools = search if isinstance(search, AbstractToolset) else FunctionToolset[AgentDepsT]([search])
    return GuardedToolset(tools, monitor, query, passages)


@dataclass
class GuardedToolset(WrapperToolset[AgentDepsT]):
    """What ``guarded`` makes. Pydantic AI asks it for a new one at the start of each run."""

    find_monitor: Callable[[RunContext[AgentDepsT]], StopMonitor]
    query: str
    passages: PassageReader
    monitor: StopMonitor | None = None
    round_collector: RoundCollector = field(default_factory=RoundCollector)

    async def for_run(self, ctx: RunContext[AgentDepsT]) -> AbstractToolset[AgentDepsT]:
        monitor = self.find_monitor(ctx)
        if monitor.verdict.stop:
            raise InputError("This monitor has already stopped a search; make a new StopMonitor for each run")
        return replace(self, wrapped=await self.wrapped.for_run(ctx), monitor=monitor, round_collector=RoundCollector())

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[AgentDepsT], tool: ToolsetTool[AgentDepsT]
    ) -> Any:
        monitor = self.monitor
        if monitor is None:
            raise InputError("A guarded toolset searches only within an agent's run")
        if monitor.verdict.stop:
            raise ToolFailed(format_notice(monitor.verdict))
        result = await self.round_collector.run_search(
            monitor,
            extract_queries(tool_args, self.query),
            lambda: self.wrapped.call_tool(name, tool_args, ctx, tool),
            lambda found: self.passages(found.return_value if isinstance(found, ToolReturn) else found),
            ctx.usage.total_tokens,
        )
        if not monitor.verdict.stop:
            return result
        if isinstance(result, ToolReturn):
            return replace(result, return_value=append_notice(result.return_value, monitor.verdict))
        return append_notice(result, monitor.verdict)
