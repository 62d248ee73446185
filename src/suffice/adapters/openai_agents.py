"""OpenAI Agents SDK: a search tool that closes when the gate says so.

    agent = Agent(name="Researcher", tools=[guarded(search, lambda ctx: ctx.context)])
    monitor = StopMonitor("exhaustion | budget(rounds=8)")
    result = await Runner.run(agent, "…", context=monitor)
    print(monitor.explain())

The run's context carries its monitor, alone or among other things (``lambda ctx: ctx.context.monitor``). The results of the
round that ends the search carry a notice; a call after the stop is answered with the notice alone and reaches no search.
The tool is not hidden with ``is_enabled``: a model that calls a hidden tool all the same ends the run with an error.
"""

import asyncio
import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, get_origin, get_type_hints
from weakref import WeakKeyDictionary

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

try:
    from agents import FunctionTool, RunContextWrapper, default_tool_error_function, function_tool
    from agents.tool_context import ToolContext
except ImportError as error:
    raise InputError("This adapter needs the OpenAI Agents SDK: pip install 'suffice[openai-agents]'") from error


def guarded(
    search: Callable[..., Any],
    monitor: Callable[[RunContextWrapper[Any]], StopMonitor],
    *,
    query: str = "query",
    passages: PassageReader = extract_passages,
    **options: Any,
) -> FunctionTool:
    """``function_tool(search, **options)`` with a gate. ``monitor`` finds the monitor of the run; it does not make one.

    ``query`` names the argument that is searched for; ``passages`` reads the passages out of what the search returned.
    """
    if isinstance(search, FunctionTool):
        raise InputError("guarded(…) takes the search function itself: a tool made of it hides that a search failed")
    signature, hints = inspect.signature(search), get_type_hints(search, include_extras=True)
    first = next(iter(signature.parameters), "")
    takes_context = (get_origin(hints.get(first)) or hints.get(first)) in (RunContextWrapper, ToolContext)
    extract_queries(dict.fromkeys(signature.parameters, ""), query)
    rounds: WeakKeyDictionary[StopMonitor, RoundCollector] = WeakKeyDictionary()

    @wraps(search)
    async def watched(context: ToolContext[Any], /, *args: Any, **named: Any) -> Any:
        own = monitor(context)
        if monitor(context) is not own:
            raise InputError("guarded(…, monitor) has to find the run's monitor in its context, not make a new one")
        if own.verdict.stop:
            return format_notice(own.verdict)
        given = (context, *args) if takes_context else args
        call = signature.bind(*given, **named)
        call.apply_defaults()

        async def run() -> Any:
            if inspect.iscoroutinefunction(search):
                return await search(*given, **named)
            return await asyncio.to_thread(search, *given, **named)

        asked = extract_queries(call.arguments, query)
        result = await rounds.setdefault(own, RoundCollector()).run_search(
            own, asked, run, passages, context.usage.total_tokens
        )
        return append_notice(result, own.verdict) if own.verdict.stop else result

    # The SDK reads the model's arguments from the signature, and from its first parameter that the tool wants the context.
    wanted = [parameter for name, parameter in signature.parameters.items() if not (takes_context and name == first)]
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=ToolContext)
    watched.__signature__ = signature.replace(parameters=[context, *wanted])  # type: ignore[attr-defined]
    watched.__annotations__ = {one.name: hints.get(one.name, Any) for one in wanted} | {"context": ToolContext}
    tell = options.pop("failure_error_function", default_tool_error_function)

    def failure(run: RunContextWrapper[Any], error: Exception) -> Any:
        if isinstance(error, InputError):  # The user has to mend it; telling the model "try again" would hide it.
            raise error
        return tell(run, error)

    return function_tool(watched, failure_error_function=failure if tell else None, **options)
