"""``suffice mcp``: research as tools for other agents, over standard input and output or streamable HTTP.

    research      a cited answer and why it stopped, with progress after every round
    search        the best passages for one query
    fetch         one of the sources that a search or an answer of this session named, whole
    explain_stop  why a run of this session stopped, and where another gate would have stopped it

Where to look is set by whoever starts the server: a tool call names no path.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from suffice import __version__, settings
from suffice.api import Options, open_search, prepare_run, validate_question
from suffice.engine.pipeline import run_pipeline
from suffice.errors import InputError, SufficeError
from suffice.events import Event, Finished, RoundDone, SearchStopped, Started, Writing, serialize_event
from suffice.gates.parse import parse_gate
from suffice.replay.episodes import build_trace
from suffice.replay.judge import what_if
from suffice.report.markdown import render_markdown
from suffice.types import Passage, Query, Report

if TYPE_CHECKING:
    from mcp.server import MCPServer

MAX_RUNS = 50
MAX_PASSAGES = 5_000
MAX_K = 50
INSTRUCTIONS = (
    "Answers questions over the documents this server was started with. Every sentence of an answer is cited and checked, "
    "and the answer says why the search stopped. Use research for a question, search for single look-ups, fetch to read "
    "a source they named, explain_stop to ask why a run ended or what another stop rule would have missed."
)


@dataclass
class McpSession:
    """What this server may search, and what it has shown so far: only that can be fetched or explained."""

    options: Options
    runs: OrderedDict[str, list[dict[str, Any]]] = field(default_factory=OrderedDict)
    passages: OrderedDict[str, Passage] = field(default_factory=OrderedDict)

    def remember_passages(self, passages: tuple[Passage, ...] | list[Passage]) -> None:
        for passage in passages:
            self.passages[passage.location] = passage
        while len(self.passages) > MAX_PASSAGES:
            self.passages.popitem(last=False)

    def record_event(self, run: str, event: Event) -> None:
        self.runs.setdefault(run, []).append(serialize_event(event, run))
        while len(self.runs) > MAX_RUNS:
            self.runs.popitem(last=False)


def serve_mcp(options: Options, port: int | None) -> int:
    """Serve until the client leaves or somebody interrupts."""
    if not options.docs and not options.web and not options.providers:
        raise InputError("There is nothing to search: name files or folders with --docs, or add --web")
    door = build_server(options)
    with suppress(KeyboardInterrupt):
        if port is None:
            door.run("stdio")
        else:
            door.run("streamable-http", host="127.0.0.1", port=port)
    return 0


def build_server(options: Options) -> "MCPServer":
    """The tools over these documents."""
    try:
        from mcp.server import MCPServer
        from mcp.server.mcpserver import Context
        from mcp.server.mcpserver.exceptions import ToolError
    except ImportError as error:
        raise InputError("The tools for other agents need one more package: pip install 'suffice[service]'") from error

    session = McpSession(options)
    door: MCPServer = MCPServer("suffice", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")

    async def told(work: Awaitable[str]) -> str:
        """The answer; what is wrong reaches the caller as the sentence it is."""
        try:
            return await work
        except SufficeError as error:
            raise ToolError(str(error)) from error

    @door.tool(structured_output=False)
    async def research(
        question: str, ctx: Context, strategy: str = "auto", stop: str | None = None, max_rounds: int | None = None
    ) -> str:
        """Answer a question in rounds of searching; Markdown with citations, sources and why it stopped."""
        return await told(_research(session, question, strategy, stop, max_rounds, ctx.report_progress))

    @door.tool(structured_output=False)
    async def search(query: str, k: int = 5) -> str:
        """The best passages for one query, each with its location."""
        return await told(_search(session, query, k))

    @door.tool(structured_output=False)
    async def fetch(location: str) -> str:
        """The text of a passage at a location that search or research has shown."""
        return await told(_fetch(session, location))

    @door.tool(structured_output=False)
    async def explain_stop(run: str, stop: str | None = None) -> str:
        """Why a run stopped; with ``stop``, a gate such as ``exhaustion(p=2) | fixed(5)``, what that would have done."""
        return await told(_explain(session, run, stop))

    return door


async def _research(
    session: McpSession,
    question: str,
    strategy: str,
    stop: str | None,
    max_rounds: int | None,
    progress: Callable[..., Any],
) -> str:
    gate = None if stop is None else parse_gate(stop, files=False)
    bounds = replace(session.options.bounds, rounds=max_rounds or session.options.bounds.rounds)
    options = replace(session.options, strategy=strategy, stop=gate, bounds=bounds)
    run, done, report = "", 0, None
    async with aclosing(run_pipeline(await prepare_run(question, options))) as events:
        async for event in events:
            run = event.run if isinstance(event, Started) else run
            session.record_event(run, event)
            if (words := _format_progress(event)) is not None:
                done += 1
                await progress(done, None, words)
            if isinstance(event, RoundDone):
                session.remember_passages(event.round.raw)
            if isinstance(event, Finished):
                report = event.report
    assert report is not None, "a stream ends with Finished"
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
    if not 1 <= k <= MAX_K:
        raise InputError(f"k must lie between 1 and {MAX_K}, not {k}")
    search, _ = await open_search(session.options, settings.load(), lambda message: None)
    found = await search(Query(validate_question(query)), k)
    session.remember_passages(found)
    return "\n\n".join(f"{hit.title}\n{hit.location}\n{hit.text}" for hit in found) or "Nothing was found."


async def _fetch(session: McpSession, location: str) -> str:
    passage = session.passages.get(location)
    if passage is None:
        raise InputError(f"{location!r} was not shown by a search of this session; search first, then fetch a location")
    return f"{passage.title}\n{passage.location}\n\n{passage.text}"


async def _explain(session: McpSession, run: str, stop: str | None) -> str:
    events = session.runs.get(run)
    if events is None:
        raise InputError(f"There is no run {run!r} in this session; research gives the id at the end of its answer")
    trace = build_trace(events, f"run {run}")
    words = str((trace.stop or {}).get("explanation", f"The run was cut off after round {len(trace.rounds)}."))
    return words if stop is None else f"{words}\n\n{what_if(trace, parse_gate(stop, files=False))}"
