"""OpenAI Agents SDK: a search tool that closes when the gate stops.

    agent = Agent(name="Researcher", tools=[guarded(search, lambda ctx: ctx.context)])
    monitor = StopMonitor("exhaustion | budget(rounds=8)")
    result = await Runner.run(agent, "…", context=monitor)
    print(monitor.explain())

The run's context is its monitor, or holds it (``lambda ctx: ctx.context.monitor``). The results of the last round carry a
notice that the search is closed; later calls return the notice and do not search. The tool is not hidden with
``is_enabled``, because a model that calls a hidden tool ends the run with an error.
"""

import asyncio
import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from suffice.adapters.common import (
    PassageReader,
    RoundCollector,
    append_notice,
    extract_passages,
    extract_queries,
    format_notice,
)
from suffice.belief import BeliefState
from suffice.errors import InputError, describe_install
from suffice.monitor import StopMonitor

try:
    from agents import FunctionTool, RunContextWrapper, default_tool_error_function, function_tool
    from agents.tool_context import ToolContext
except ImportError as error:
    raise InputError(f"This adapter needs the OpenAI Agents SDK: {describe_install('openai-agents')}") from error


def guarded(
    search: Callable[..., Any],
    monitor: Callable[[RunContextWrapper[Any]], StopMonitor],
    *,
    query: str = "query",
    passages: PassageReader = extract_passages,
    belief: Callable[[RunContextWrapper[Any]], BeliefState] | None = None,
    **options: Any,
) -> FunctionTool:
    """Return ``function_tool(search, **options)`` with a gate.

    ``monitor`` returns the run's monitor from its context; it must not make a new one. ``query`` names the argument that
    holds the query. ``passages`` reads the passages from the result of ``search``. With ``belief``, which returns the run's
    belief state from its context, a search returns what is believed after it in place of its results.
    """
    if isinstance(search, FunctionTool):
        raise InputError("guarded(…) takes the search function itself; a tool made of it hides failed searches")
    signature, hints = inspect.signature(search), get_type_hints(search, include_extras=True)
    first = next(iter(signature.parameters), "")
    takes_context = (get_origin(hints.get(first)) or hints.get(first)) in (RunContextWrapper, ToolContext)
    extract_queries(dict.fromkeys(signature.parameters, ""), query)
    collectors: WeakKeyDictionary[StopMonitor, RoundCollector] = WeakKeyDictionary()

    @wraps(search)
    async def guarded_search(context: ToolContext[Any], /, *args: Any, **named: Any) -> Any:
        run_monitor = monitor(context)
        if monitor(context) is not run_monitor:
            raise InputError("guarded(…, monitor) must find the run's monitor in its context, not make a new one")
        if run_monitor.verdict.stop:
            return format_notice(run_monitor.verdict)
        search_args = (context, *args) if takes_context else args
        call = signature.bind(*search_args, **named)
        call.apply_defaults()

        async def run() -> Any:
            if inspect.iscoroutinefunction(search):
                return await search(*search_args, **named)
            return await asyncio.to_thread(search, *search_args, **named)

        queries = extract_queries(call.arguments, query)
        collector = collectors.setdefault(run_monitor, RoundCollector())
        result = await collector.run_search(run_monitor, queries, run, passages, context.usage.total_tokens)
        if belief is not None:
            result = await belief(context).observe(passages(result))
        return append_notice(result, run_monitor.verdict) if run_monitor.verdict.stop else result

    # The SDK reads the model's arguments from the signature. A first parameter of type ToolContext receives the context.
    model_parameters = [
        parameter for name, parameter in signature.parameters.items() if not (takes_context and name == first)
    ]
    context = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=ToolContext)
    guarded_search.__signature__ = signature.replace(parameters=[context, *model_parameters])  # type: ignore[attr-defined]
    annotations = {parameter.name: hints.get(parameter.name, Any) for parameter in model_parameters}
    guarded_search.__annotations__ = {**annotations, "context": ToolContext}
    report_failure = options.pop("failure_error_function", default_tool_error_function)

    def on_failure(run: RunContextWrapper[Any], error: Exception) -> Any:
        if isinstance(error, InputError):  # A mistake of the developer; as a message to the model it would be hidden.
            raise error
        return report_failure(run, error)

    return function_tool(guarded_search, failure_error_function=on_failure if report_failure else None, **options)
