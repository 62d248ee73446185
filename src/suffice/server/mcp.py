"""``suffice mcp``: research as tools for other agents, over standard input and output or streamable HTTP.

Whoever starts the server decides what is searched; a tool call cannot name a path. Clients give up on a call after a minute,
so no call takes longer than ``MAX_CALL_SECONDS``: work that is not done then goes on, and the result says how to ask for it.
Clients also cut long results, so no text is longer than ``MAX_TEXT_CHARS``: the result says where the rest begins.
"""

import asyncio
import inspect
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.resources.templates import ResourceSecurity
from mcp_types import ToolAnnotations
from pydantic import AliasChoices, BaseModel, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic.json_schema import SkipJsonSchema

from suffice import __version__, settings
from suffice.api import estimate_research, prepare_run, validate_question, validate_task
from suffice.engine.config import RunConfig
from suffice.engine.estimate import describe_estimate
from suffice.engine.pipeline import new_run_id, run_to_report
from suffice.errors import InputError, SufficeError
from suffice.events import Event, RoundDone, SearchStopped, Writing, serialize_event
from suffice.gates.parse import parse_gate
from suffice.memory.evidence import Evidence
from suffice.options import RunOptions
from suffice.replay.episodes import build_trace
from suffice.replay.judge import what_if
from suffice.report.markdown import render_markdown
from suffice.report.notices import NOTICES
from suffice.search.base import Search
from suffice.search.open import open_search
from suffice.server.request_options import option_fields
from suffice.types import Passage, Query, Report, Source

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

    from suffice.jobs.api_keys import ApiKeyStore

# The options that a call of a tool may set.
RESEARCH_OPTIONS = ("breadth", "length", "strategy", "stop", "max_rounds", "max_cost_usd")
MAX_CALL_SECONDS = 25.0  # Clients give up after 60 seconds, some after 30.
MAX_RUNS = 50  # Runs that a session remembers.
MAX_LOCATIONS = 5_000  # Locations whose passages a session remembers.
MAX_SESSIONS = 200  # Sessions that a server remembers.
MAX_CHECKED_CHARS = 50_000
MAX_TEXT_CHARS = 40_000  # Of the texts of one result: about 10,000 tokens, from which on clients warn.
INSTRUCTIONS = (
    "Answers questions over the documents this server was started with. Every sentence of an answer is cited and checked, "
    "and the answer says why the search stopped. Use search for a single look-up and fetch to read a source it named; "
    "research for a question that needs several searches; start_research and get_research if it may take long; check to "
    "compare a text with the documents; explain_stop to ask why a run ended or what another stop rule would have missed."
)
T = TypeVar("T")
Detail = Annotated[
    Literal["short", "full"], Field(description="short: only the short answer or first paragraph, without progress.")
]
Offset = Annotated[int, Field(ge=0, description="Where a long text goes on: next_offset of the result before.")]


# -- results -----------------------------------------------------------------------------------------------------------


class SearchHit(BaseModel):
    id: str = Field(description="Give it to fetch to read the whole passage.")
    title: str
    url: str
    text: str


class SearchToolResult(BaseModel):
    """Connectors expect nothing but ``results``, so the note is there only when it says something."""

    results: list[SearchHit]
    note: str | None = Field(None, description="Why the results are incomplete, if they are.")

    @model_serializer(mode="wrap")
    def omit_empty_note(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields: dict[str, Any] = serialize(self)
        return fields if self.note else {"results": fields["results"]}


class FetchedSource(BaseModel):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str]


class ResearchResult(BaseModel):
    run: str = Field(description="The id for get_research and explain_stop.")
    status: Literal["running", "answered", "partial", "no_evidence", "failed"]
    answer: str = Field(description="Markdown with citations; what to do next while the run is still running.")
    next_offset: int | None = Field(None, description="The answer is longer; get_research returns the rest from here.")
    short_answer: str | None = None
    sources: list[SearchHit] = Field(default_factory=list)
    stop: str = Field("", description="Why the search stopped.")
    left_undone: list[str] = Field(default_factory=list, description="What a limit kept the run from doing.")
    estimate: str = Field("", description="What the run would probably cost, as known before its first paid call.")
    cost_usd: float | None = Field(None, description="What the run cost; null if unknown or not finished.")
    progress: list[str] = Field(default_factory=list)


class CheckedClaim(BaseModel):
    text: str
    support: Literal["supported", "contradicted", "unsupported", "unknown"]
    evidence: str = Field("", description="The deciding passage of the documents, in its context.")
    location: str = ""
    note: str = ""


class CheckResult(BaseModel):
    claims: list[CheckedClaim]
    note: str | None = Field(None, description="How many claims were left unchecked, if any.")


# -- sessions ----------------------------------------------------------------------------------------------------------


@dataclass
class ResearchJob:
    """A run that works in the background, and its events so far."""

    run: str
    task: "asyncio.Task[Report]"
    events: list[dict[str, Any]]
    progress: list[str]
    estimate: str


@dataclass
class McpSession:
    """What the tools of one client have found so far: only that can be fetched or explained."""

    jobs: OrderedDict[str, ResearchJob] = field(default_factory=OrderedDict)
    passages: OrderedDict[str, dict[str, Passage]] = field(default_factory=OrderedDict)
    """By location and id: a web page has several passages at one location."""

    def remember_passages(self, passages: Iterable[Passage]) -> None:
        """Remember passages by location; the oldest locations are forgotten first."""
        for passage in passages:
            self.passages.setdefault(passage.location, {})[passage.id] = passage
        while len(self.passages) > MAX_LOCATIONS:
            self.passages.popitem(last=False)

    def remember_job(self, job: ResearchJob) -> None:
        """Remember a run; the oldest runs are stopped and forgotten first."""
        self.jobs[job.run] = job
        while len(self.jobs) > MAX_RUNS:
            self.jobs.popitem(last=False)[1].task.cancel()

    def find_passages(self, id: str) -> list[Passage]:
        """Return the passages at a location, however an answer spelled it."""
        # An answer is Markdown, where a location may have brackets around it or a backslash before a punctuation mark.
        spelled = id if id in self.passages else re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", id.strip(" <>"))
        return list(self.passages.get(spelled, {}).values())

    def fetch(self, id: str) -> FetchedSource:
        """Return the source at a location with the text of all its passages."""
        passages = self.find_passages(id)
        if not passages:
            raise InputError(
                f"No search of this session has shown {id!r}; search first, then fetch an id from its results"
            )
        first = passages[0]
        text = "\n\n".join(dict.fromkeys(passage.text for passage in passages))
        metadata = {"location": first.location, "kind": first.kind}
        return FetchedSource(id=first.location, title=first.title, text=text, url=_to_url(first), metadata=metadata)

    def find_job(self, run: str) -> ResearchJob:
        job = self.jobs.get(run)
        if job is None:
            raise InputError(f"There is no run {run!r} in this session; research and start_research name the run")
        return job


class SharedSearch:
    """Opens the search for all sessions. The index is built in the background, once, and brought up to date by every call."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._opening: asyncio.Task[Search] | None = None
        self._progress = ""

    async def open(self, seconds: float) -> Search | None:
        """Return the search, or ``None`` if the index is not ready after this time."""
        if self._opening is None or self._opening.done():
            scope = self._options.scope
            self._opening = asyncio.create_task(
                open_search(scope, settings.load(), lambda _: None, self._show_progress)
            )
        await asyncio.wait({self._opening}, timeout=seconds)
        return self._opening.result() if self._opening.done() else None

    def describe_progress(self) -> str:
        """Return one sentence for a client that called before the index was ready."""
        done = f" ({self._progress})" if self._progress else ""
        return f"The documents are still being indexed{done}; call again in half a minute."

    def _show_progress(self, stage: str, done: int, total: int) -> None:
        self._progress = f"{stage}: {done:,} of {total:,}"


# -- the tools ---------------------------------------------------------------------------------------------------------


class McpTools:
    """The tools of a server. Their docstrings are what a client reads."""

    def __init__(self, options: RunOptions) -> None:
        self._options = options
        self._shared = SharedSearch(options)
        self._sessions: OrderedDict[tuple[str, str], McpSession] = OrderedDict()

    def get_session(self, ctx: Context) -> McpSession:
        session = self._sessions.setdefault(_identify_client(ctx), McpSession())
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    async def search(
        self, query: str, ctx: Context, k: Annotated[SkipJsonSchema[int], Field(ge=1, le=100)] = 5
    ) -> SearchToolResult:
        """Search the documents; the best passages for one query, each with an id for fetch."""
        text = validate_question(query)
        search = await self._shared.open(MAX_CALL_SECONDS)
        if search is None:
            return SearchToolResult(results=[], note=self._shared.describe_progress())
        found = await search(Query(text), k)
        self.get_session(ctx).remember_passages(found)
        room = MAX_TEXT_CHARS
        shown = [passage for passage in found if (room := room - len(passage.text)) >= 0] or found[:1]
        left = len(found) - len(shown)
        note = f"{left} results were left out, because together they are too long." if left else None
        hits = [SearchHit(id=one.location, title=one.title, url=_to_url(one), text=one.text) for one in shown]
        return SearchToolResult(results=hits, note=note)

    async def fetch(
        self, id: Annotated[str, Field(validation_alias=AliasChoices("id", "location"))], ctx: Context
    ) -> FetchedSource:
        """Read the text of a source that search or research has named. Of a long one, metadata.next is the id of the rest."""
        session = self.get_session(ctx)
        source, _, position = id.rpartition("@")
        is_rest = position.isdecimal() and len(position) < 12 and bool(session.find_passages(source))
        found = session.fetch(source if is_rest else id)
        text, following = _cut_text(found.text, int(position) if is_rest else 0)
        rest = {} if following is None else {"next": f"{found.id}@{following}"}
        return found.model_copy(update={"text": text, "metadata": {**found.metadata, **rest}})

    async def research(
        self, question: str, ctx: Context, detail: Detail = "full", **options_given: Any
    ) -> ResearchResult:
        """Answer a question in rounds of searching: Markdown with citations, the sources, and why the search stopped."""
        job = await self._start(self.get_session(ctx), question, options_given)
        try:
            return _cut_result(await _wait(job, ctx.report_progress), detail)
        except asyncio.CancelledError:  # A client that cancels its call cancels the run.
            job.task.cancel()
            raise

    async def start_research(self, question: str, ctx: Context, **options_given: Any) -> ResearchResult:
        """Start to answer a question in the background; ask for the answer with get_research."""
        return _describe_running(await self._start(self.get_session(ctx), question, options_given))

    async def get_research(self, run: str, ctx: Context, detail: Detail = "full", offset: Offset = 0) -> ResearchResult:
        """Return the progress of a run and, when it is done, its answer. Waits for it a few seconds."""
        return _cut_result(await _wait(self.get_session(ctx).find_job(run), ctx.report_progress), detail, offset)

    async def check(self, text: str, ctx: Context) -> CheckResult:
        """Check the claims of a text against the documents, one by one."""
        from suffice.claims.audit import TextAudit, validate_text
        from suffice.claims.checker import default_checker

        if not text.strip():
            raise InputError("The text is empty; there is nothing to check")
        if len(text) > MAX_CHECKED_CHARS:
            raise InputError(f"The text has {len(text):,} characters; check at most {MAX_CHECKED_CHARS:,} at a time")
        await validate_text(text, "The text")
        end = asyncio.get_running_loop().time() + MAX_CALL_SECONDS
        search = await self._shared.open(MAX_CALL_SECONDS)
        if search is None:
            return CheckResult(claims=[], note=self._shared.describe_progress())
        audit = TextAudit(text, search, default_checker(), NOTICES)
        claims: list[CheckedClaim] = []
        room = MAX_TEXT_CHARS
        async with aclosing(audit.check_claims()) as checked:  # type: ignore[type-var]
            async for claim, _ in checked:
                found = claim.evidence
                quoted = {} if found is None else {"evidence": found.text, "location": found.location}
                claims.append(CheckedClaim(text=claim.text, support=claim.support, note=claim.note, **quoted))
                await ctx.report_progress(len(claims), len(audit.claim_texts), "checking claims")
                room -= len(claims[-1].text) + len(claims[-1].evidence)
                if asyncio.get_running_loop().time() > end or room < 0:
                    break
        left = len(audit.claim_texts) - len(claims)
        note = f"{left} more claims were not checked in this call; check the rest of the text in another call."
        return CheckResult(claims=claims, note=note if left else None)

    async def explain_stop(self, run: str, ctx: Context, stop: str | None = None) -> str:
        """Why a run stopped; with ``stop``, a gate such as ``exhaustion(p=2) | fixed(5)``, what that would have done."""
        trace = build_trace(self.get_session(ctx).find_job(run).events, f"run {run}")
        explanation = str(
            (trace.stop or {}).get("explanation", f"The run was cut off after round {len(trace.rounds)}.")
        )
        return explanation if stop is None else f"{explanation}\n\n{what_if(trace, parse_gate(stop, files=False))}"

    async def _start(self, session: McpSession, question: str, chosen: Mapping[str, Any]) -> ResearchJob:
        """Check the arguments and start a run in the background."""
        options = replace(self._options, **{name: value for name, value in chosen.items() if value is not None})
        allowed = settings.load().bounds.usd  # A caller may lower the operator's limit, not raise it.
        if options.max_cost_usd is not None and allowed is not None:
            options = replace(options, max_cost_usd=min(options.max_cost_usd, allowed))
        options.validate(gate_files=False)
        validate_task(question)
        estimate = describe_estimate(await estimate_research(question, options))
        run = new_run_id()
        events: list[dict[str, Any]] = []
        progress: list[str] = [f"estimate: {estimate}"]

        async def work() -> Report:
            # The answer may cite what no round shows: pages that were read, and passages that the check of a claim found.
            evidence = Evidence()
            config: RunConfig = replace(await prepare_run(question, options), evidence=evidence, run_id=run)
            report = await run_to_report(config, on_event)
            session.remember_passages(evidence)
            return report

        def on_event(event: Event) -> None:
            events.append(serialize_event(event, run))
            if (message := _format_progress(event)) is not None:
                progress.append(message)
            if isinstance(event, RoundDone):
                session.remember_passages(event.round.raw)

        job = ResearchJob(run, asyncio.create_task(work()), events, progress, estimate)
        session.remember_job(job)
        return job


# -- parts of results --------------------------------------------------------------------------------------------------


async def _wait(job: ResearchJob, report_progress: Callable[..., Any]) -> ResearchResult:
    """Wait for a run as long as a call may take."""
    loop = asyncio.get_running_loop()
    end, shown = loop.time() + MAX_CALL_SECONDS, 0
    while True:
        await asyncio.wait({job.task}, timeout=min(0.5, max(0.0, end - loop.time())))
        for message in job.progress[shown:]:
            shown += 1
            await report_progress(shown, None, message)
        if job.task.done():
            return _describe_done(job)
        if loop.time() >= end:
            return _describe_running(job)


def _describe_running(job: ResearchJob) -> ResearchResult:
    answer = f"The run {job.run} is still working; call get_research with this run to get its answer."
    return ResearchResult(run=job.run, status="running", answer=answer, progress=job.progress, estimate=job.estimate)


def _describe_done(job: ResearchJob) -> ResearchResult:
    """Return the answer of a run. A run that could not start raises its error."""
    report = job.task.result()
    return ResearchResult(
        run=job.run,
        status=report.status,
        answer=f"{render_markdown(report)}\n\nrun: {report.run}",
        short_answer=report.short_answer,
        sources=[_source_to_hit(source) for source in report.sources],
        stop=report.stop.explanation,
        left_undone=list(report.left_undone),
        progress=list(job.progress),
        estimate=job.estimate,
        cost_usd=report.usage.cost_usd,
    )


def _source_to_hit(source: Source) -> SearchHit:
    path = source.location.rsplit(":", 1)[0]
    url = source.url or (Path(path).absolute().as_uri() if Path(path).exists() else source.location)
    return SearchHit(id=source.location, title=f"{source.id} {source.title}", url=url, text="")


def _format_progress(event: Event) -> str | None:
    if isinstance(event, RoundDone):
        return f"round {event.round.index}: {len(event.round.new)} new passages for {'; '.join(event.round.queries)}"
    if isinstance(event, SearchStopped):
        return f"stopped: {event.stop.reason}"
    return f"writing from {event.passages} passages" if isinstance(event, Writing) else None


def _cut_text(text: str, offset: int) -> tuple[str, int | None]:
    """Return the part of a text that fits a result, and where the next part begins."""
    end = offset + MAX_TEXT_CHARS
    return text[offset:end], end if end < len(text) else None


def _cut_result(result: ResearchResult, detail: str, offset: int = 0) -> ResearchResult:
    if detail == "short" and result.status != "running":
        above = ("#", *(f"> {notice}" for notice in NOTICES))
        paragraphs = (one for one in result.answer.split("\n\n") if not one.startswith(above))
        brief = result.short_answer or next(paragraphs)
        return result.model_copy(update={"answer": brief[:MAX_TEXT_CHARS], "progress": []})
    answer, following = _cut_text(result.answer, offset)
    return result.model_copy(update={"answer": answer, "next_offset": following})


def _to_url(passage: Passage) -> str:
    """Return the web address of a passage; for a file its ``file:`` address with the lines as the fragment."""
    if passage.url is not None:
        return passage.url
    lines = passage.place.lines
    fragment = f"#L{lines[0]}-L{lines[1]}" if lines else ""
    return Path(passage.place.path).absolute().as_uri() + fragment


# -- the server --------------------------------------------------------------------------------------------------------


def serve_mcp(options: RunOptions, port: int | None, host: str = "127.0.0.1") -> int:
    """Serve until the client disconnects or the process is interrupted; return the exit status."""
    if options.scope.is_empty:
        raise InputError("There is nothing to search; name files or folders with --docs or add --web")
    if port is None:
        if host != "127.0.0.1":
            raise InputError("--host is for HTTP; name a port as well, such as --port 8090")
        with suppress(KeyboardInterrupt):
            build_server(options).run("stdio")
        return 0
    from suffice.jobs.api_keys import ApiKeyStore
    from suffice.jobs.database import open_configured
    from suffice.server.connection import open_socket, require_key, serve_app

    keys = ApiKeyStore(open_configured(settings.load()))
    require_key(host, keys.has_any())
    return serve_app(build_http_app(build_server(options), keys, host), open_socket(host, port))


def build_http_app(server: MCPServer, api_keys: "ApiKeyStore", host: str = "127.0.0.1") -> "Starlette":
    """Build the HTTP application of a server, which follows the rules of ``suffice serve``.

    While no key exists, it answers only to this machine; otherwise each request needs a key.
    """
    from mcp.server.transport_security import TransportSecuritySettings

    from suffice.server.middleware import SecurityMiddleware

    # Where keys are needed, any host name may lead here, as through a proxy.
    rebinding = TransportSecuritySettings(enable_dns_rebinding_protection=False) if api_keys.has_any() else None
    app = server.streamable_http_app(host=host, transport_security=rebinding)
    app.router.redirect_slashes = False
    app.add_middleware(_KeyMiddleware, api_keys=api_keys)
    app.add_middleware(SecurityMiddleware, needs_key=api_keys.is_required)
    return app


class _KeyMiddleware:
    """Lets a request through only with a valid key while one is needed; the key becomes the owner of its session."""

    def __init__(self, app: "ASGIApp", *, api_keys: "ApiKeyStore") -> None:
        self._app = app
        self._api_keys = api_keys

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
        from mcp.server.auth.provider import AccessToken
        from starlette.datastructures import Headers

        from suffice.server.errors import error_response

        if scope["type"] == "http" and await self._api_keys.is_required():
            scheme, _, secret = Headers(scope=scope).get("authorization", "").partition(" ")
            key = await asyncio.to_thread(self._api_keys.authenticate, secret) if scheme.lower() == "bearer" else None
            if key is None:
                message = "A valid key is required; send it as Authorization: Bearer KEY"
                await error_response(401, message, headers={"www-authenticate": "Bearer"})(scope, receive, send)
                return
            scope["user"] = AuthenticatedUser(AccessToken(token=secret, client_id=key.id, scopes=[]))
        await self._app(scope, receive, send)


def build_server(options: RunOptions) -> MCPServer:
    tools = McpTools(options)
    server: MCPServer = MCPServer("suffice", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    # Nothing is changed by a call, and the same call may be made again.
    read_only = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=options.scope.uses_web
    )
    for tool in (
        *(tools.search, tools.fetch, tools.research, tools.start_research),
        *(tools.get_research, tools.check, tools.explain_stop),
    ):
        server.tool(annotations=read_only, title=tool.__name__.replace("_", " ").capitalize())(_make_tool(tool))

    @server.resource("suffice://report/{run}", mime_type="text/markdown", description="The report of a run.")
    async def report(run: str, ctx: Context) -> str:
        job = tools.get_session(ctx).jobs.get(run)
        if job is None or not job.task.done():
            raise ResourceError(f"There is no finished run {run!r} in this session")
        return _describe_done(job).answer

    # An id may look like an absolute path. It is only compared with the sources that were shown, never opened.
    id_security = ResourceSecurity(exempt_params={"id"})

    @server.resource(
        "suffice://source/{+id}", mime_type="text/plain", description="A source by its id.", security=id_security
    )
    async def source(id: str, ctx: Context) -> str:
        try:
            return tools.get_session(ctx).fetch(id).text
        except SufficeError as error:
            raise ResourceError(str(error)) from error

    @server.prompt(description="Research a question over the documents and answer it with citations.")
    def answer_from_documents(question: str) -> str:
        return (
            f"Answer this question with the research tool of suffice and keep its citations: {question}\n"
            "If it finds no evidence, say so instead of answering from memory."
        )

    @server.prompt(description="Compare a text with the documents before it is published.")
    def check_text(text: str) -> str:
        return f"Check this text with the check tool of suffice and correct what the documents contradict:\n\n{text}"

    return server


def _make_tool(tool: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
    """Return a tool that reports our errors to the client; the run options take the place of ``**options`` in its schema."""

    @wraps(tool)
    async def call(*args: Any, **named: Any) -> T:
        try:
            return await tool(*args, **named)
        except SufficeError as error:
            raise ToolError(str(error)) from error

    signature = inspect.signature(tool)
    parameters = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    if len(parameters) < len(signature.parameters):
        for name, (kind, info) in option_fields(RESEARCH_OPTIONS, with_aliases=False).items():
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=info, annotation=kind))
    vars(call)["__signature__"] = signature.replace(parameters=parameters)
    return call


def _identify_client(ctx: Any) -> tuple[str, str]:
    """Return who is calling: the API key and the MCP session, each empty where there is none."""
    request = ctx.request_context.request
    if request is None:
        return "", ""
    user = request.scope.get("user")
    return "" if user is None else user.username, request.headers.get("mcp-session-id", "")
