"""``suffice mcp``: research as tools for other agents, over standard input and output or streamable HTTP.

    research      a cited answer and why the search stopped, with progress after every round
    search        the best passages for one query
    fetch         the text of a source that a search or an answer of this session named
    explain_stop  why a run of this session stopped, and where another gate would have stopped it

Whoever starts the server decides what is searched; a tool call cannot name a path.
"""

import inspect
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from suffice import __version__, settings
from suffice.api import prepare_run, validate_question
from suffice.engine.pipeline import run_pipeline
from suffice.errors import InputError, SufficeError
from suffice.events import Event, Finished, RoundDone, SearchStopped, Started, Writing, serialize_event
from suffice.gates.parse import parse_gate
from suffice.memory.evidence import Evidence
from suffice.options import RunOptions
from suffice.replay.episodes import build_trace
from suffice.replay.judge import what_if
from suffice.report.markdown import render_markdown
from suffice.search.open import open_search
from suffice.types import Passage, Query, Report

if TYPE_CHECKING:
    from mcp.server import MCPServer

# The options that a call of a tool may set.
RESEARCH_OPTIONS = ("strategy", "stop", "max_rounds")
SEARCH_OPTIONS = ("k",)
MAX_RUNS = 50  # Runs that a session remembers.
MAX_LOCATIONS = 5_000  # Locations whose passages a session remembers.
INSTRUCTIONS = (
    "Answers questions over the documents this server was started with. Every sentence of an answer is cited and checked, "
    "and the answer says why the search stopped. Use research for a question, search for single look-ups, fetch to read "
    "a source they named, explain_stop to ask why a run ended or what another stop rule would have missed."
)


@dataclass
class McpSession:
    """The options of this server, and what its tools have found so far: only that can be fetched or explained."""

    options: RunOptions
    runs: OrderedDict[str, list[dict[str, Any]]] = field(default_factory=OrderedDict)
    passages: OrderedDict[str, dict[str, Passage]] = field(default_factory=OrderedDict)
    """By location and id: a web page has several passages at one location."""

    def remember_passages(self, passages: Iterable[Passage]) -> None:
        """Remember passages by location; the oldest locations are forgotten first."""
        for passage in passages:
            self.passages.setdefault(passage.location, {})[passage.id] = passage
        while len(self.passages) > MAX_LOCATIONS:
            self.passages.popitem(last=False)

    def record_event(self, run: str, event: Event) -> None:
        """Remember an event of a run; the oldest runs are forgotten first."""
        self.runs.setdefault(run, []).append(serialize_event(event, run))
        while len(self.runs) > MAX_RUNS:
            self.runs.popitem(last=False)


def serve_mcp(options: RunOptions, port: int | None) -> int:
    """Serve until the client disconnects or the process is interrupted; return the exit status."""
    if options.scope.is_empty:
        raise InputError("There is nothing to search; name files or folders with --docs or add --web")
    server = build_server(options)
    with suppress(KeyboardInterrupt):
        if port is None:
            server.run("stdio")
        else:
            server.run("streamable-http", host="127.0.0.1", port=port)
    return 0


def build_server(options: RunOptions) -> "MCPServer":
    """Build the MCP server with its tools."""
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError

    session = McpSession(options)
    server: MCPServer = MCPServer("suffice", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")

    async def report_errors(call: Awaitable[str]) -> str:
        try:
            return await call
        except SufficeError as error:
            raise ToolError(str(error)) from error

    async def research(question: str, ctx: Context, **options: Any) -> str:
        """Answer a question in rounds of searching; Markdown with citations, sources and why it stopped."""
        return await report_errors(_research(session, question, options, ctx.report_progress))

    async def search(query: str, **options: Any) -> str:
        """The best passages for one query, each with its location."""
        return await report_errors(_search(session, query, options["k"]))

    async def fetch(location: str) -> str:
        """The text of a passage at a location that search or research has shown."""
        return await report_errors(_fetch(session, location))

    async def explain_stop(run: str, stop: str | None = None) -> str:
        """Why a run stopped; with ``stop``, a gate such as ``exhaustion(p=2) | fixed(5)``, what that would have done."""
        return await report_errors(_explain(session, run, stop))

    tools: list[Callable[..., Any]] = [
        _with_options(research, RESEARCH_OPTIONS),
        _with_options(search, SEARCH_OPTIONS),
        fetch,
        explain_stop,
    ]
    for tool in tools:
        server.tool(structured_output=False)(tool)
    return server


def _with_options(tool: Callable[..., Any], names: Sequence[str]) -> Callable[..., Any]:
    """Replace ``**options`` in a tool's signature by the named run options, so that the tool's schema lists them."""
    from suffice.server.request_options import option_fields

    signature = inspect.signature(tool)
    parameters = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    for name, (kind, info) in option_fields(names, with_aliases=False).items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=kind))
    vars(tool)["__signature__"] = signature.replace(parameters=parameters)
    return tool


async def _research(
    session: McpSession, question: str, chosen: Mapping[str, Any], report_progress: Callable[..., Any]
) -> str:
    options = replace(session.options, **{name: value for name, value in chosen.items() if value is not None})
    options.validate(gate_files=False)
    run, steps, report = "", 0, None
    # The answer may cite what no round shows: pages that were read, and passages that the check of a claim found.
    evidence = Evidence()
    config = replace(await prepare_run(question, options), evidence=evidence)
    async with aclosing(run_pipeline(config)) as events:
        async for event in events:
            run = event.run if isinstance(event, Started) else run
            session.record_event(run, event)
            if (message := _format_progress(event)) is not None:
                steps += 1
                await report_progress(steps, None, message)
            if isinstance(event, RoundDone):
                session.remember_passages(event.round.raw)
            if isinstance(event, Finished):
                report = event.report
    session.remember_passages(evidence)
    assert report is not None, "the last event of a run is Finished"
    return _format_answer(report)


def _format_progress(event: Event) -> str | None:
    if isinstance(event, RoundDone):
        return f"round {event.round.index}: {len(event.round.new)} new passages for {'; '.join(event.round.queries)}"
    if isinstance(event, SearchStopped):
        return f"stopped: {event.stop.reason}"
    return f"writing from {event.passages} passages" if isinstance(event, Writing) else None


def _format_answer(report: Report) -> str:
    if not report.final_answer:
        return f"No report ({report.status.replace('_', ' ')}). {report.stop.explanation}\n\nrun: {report.run}"
    return f"{render_markdown(report)}\n\nrun: {report.run}"


async def _search(session: McpSession, query: str, k: int) -> str:
    search = await open_search(session.options.scope, settings.load(), lambda message: None)
    found = await search(Query(validate_question(query)), k)
    session.remember_passages(found)
    return "\n\n".join(f"{hit.title}\n{hit.location}\n{hit.text}" for hit in found) or "Nothing was found."


async def _fetch(session: McpSession, location: str) -> str:
    # An answer is Markdown, where a location may have brackets around it or a backslash before a punctuation mark.
    spelled = location if location in session.passages else re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", location.strip(" <>"))
    passages = list(session.passages.get(spelled, {}).values())
    if not passages:
        raise InputError(f"No search of this session has shown {location!r}; search first, then fetch a location")
    texts = dict.fromkeys(passage.text for passage in passages)
    return "\n\n".join((f"{passages[0].title}\n{passages[0].location}", *texts))


async def _explain(session: McpSession, run: str, stop: str | None) -> str:
    events = session.runs.get(run)
    if events is None:
        raise InputError(f"There is no run {run!r} in this session; research names the run at the end of its answer")
    trace = build_trace(events, f"run {run}")
    explanation = str((trace.stop or {}).get("explanation", f"The run was cut off after round {len(trace.rounds)}."))
    return explanation if stop is None else f"{explanation}\n\n{what_if(trace, parse_gate(stop, files=False))}"
