"""What is sent and what comes back. Names are those of the contract; an unknown key is refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from suffice.api import MAX_QUESTION_CHARS, Options
from suffice.jobs.requests import JobRequest
from suffice.types import Bounds, Source

Name = Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[\w.:/-]+$")]
Priority = Literal["high", "normal", "low"]
_STRICT = ConfigDict(extra="forbid", populate_by_name=True)


class SearchOptionsBody(BaseModel):
    """Where and how to search."""

    model_config = _STRICT
    collections: list[Name] = Field([], max_length=20, description="The operator's collections; all when empty.")
    web: bool = Field(False, description="Search the web too, where the operator has set it up.")
    k: int = Field(5, ge=1, le=50, description="Passages a query.")
    alpha: float | None = Field(None, ge=0, le=1, description="1 = words only, 0 = meaning only.")


class RunOptionsBody(SearchOptionsBody):
    """Bounds of a run and its parts; what is left out comes from the tier and the operator's settings."""

    max_iters: int | None = Field(None, ge=1, le=50, description="Rounds.")
    max_queries: int | None = Field(None, ge=1, le=200)
    max_sources: int | None = Field(None, ge=1, le=200)
    max_execution_time_s: float | None = Field(None, gt=0, le=3600)
    token_budget: int | None = Field(None, ge=1, le=5_000_000)
    max_cost_usd: float | None = Field(None, gt=0, le=1000)
    strategy: Name = "auto"
    memory: Name | None = None
    stop: str | None = Field(None, min_length=1, max_length=2000, description="A gate expression.")
    model: Name | None = Field(None, description="One of the models the operator offers.")
    per_round: int | None = Field(None, ge=1, le=200)
    seed: int = Field(0, ge=0, le=2**31 - 1)


class SimpleRequest(BaseModel):
    model_config = ConfigDict(**_STRICT, json_schema_extra={"examples": [{"task": "How long is the notice period?"}]})
    task: str = Field(min_length=1, max_length=MAX_QUESTION_CHARS, description="What you want to know.")
    options: RunOptionsBody = Field(default_factory=RunOptionsBody)


class RunRequest(SimpleRequest):
    model_config = ConfigDict(
        **_STRICT,
        json_schema_extra={
            "examples": [
                {"task": "How long is the notice period?", "options": {"max_iters": 3, "collections": ["default"]}},
                {"task": "Who decides about the budget?", "complexity_tier": "deep", "async": True},
            ]
        },
    )
    complexity_tier: Literal["auto", "simple", "standard", "deep"] = "standard"
    stream: bool = Field(False, description="Answer with server-sent events.")
    asynchronous: bool = Field(False, alias="async", description="Answer at once with a job to ask for.")
    priority: Priority = "normal"


class SearchRequest(BaseModel):
    model_config = ConfigDict(
        **_STRICT, json_schema_extra={"examples": [{"task": "notice period", "options": {"k": 3}}]}
    )
    task: str = Field(min_length=1, max_length=2000, description="What to look for.")
    options: SearchOptionsBody = Field(default_factory=SearchOptionsBody)


class ReplayRequest(BaseModel):
    model_config = ConfigDict(
        **_STRICT, json_schema_extra={"examples": [{"run": "20260101T120000-0a1b2c3d", "stop": ["exhaustion(p=2)"]}]}
    )
    run: str = Field(min_length=1, max_length=64, description="A run of yours.")
    stop: list[Annotated[str, StringConstraints(min_length=1, max_length=2000)]] = Field(min_length=1, max_length=20)
    chart: int | None = Field(None, ge=200, le=2000, description="Draw the readings in this width, as SVG.")


class AgentResponse(BaseModel):
    """The answer without its record: what a simple client needs."""

    summary: str
    key_findings: list[str]
    recommendations: list[str]
    risks: list[str]
    open_questions: list[str]
    sources: list[Source]
    final_answer: str
    raw: Any = None
    metadata: dict[str, Any]


class FoundPassage(BaseModel):
    id: str
    title: str
    text: str
    type: str
    location: str
    url: str | None
    score: float | None


class SearchResponse(BaseModel):
    query: str
    passages: list[FoundPassage]


class JobAccepted(BaseModel):
    job_id: str
    status: str


class JobProgress(BaseModel):
    """How far a run is: its last event, what it has found, believes, and still wants to know."""

    phase: str
    events: int
    rounds: int
    queries: int
    passages: int
    belief: list[str]
    open: list[str]


class JobError(BaseModel):
    type: str
    message: str
    retryable: bool


class JobSummary(BaseModel):
    job_id: str
    task: str
    status: Literal["queued", "running", "done", "failed", "cancelled"]
    priority: Priority
    created: str
    finished: str | None


class Job(JobSummary):
    progress: JobProgress
    report: dict[str, Any] | None
    error: JobError | None


class JobList(BaseModel):
    jobs: list[JobSummary]
    next: str | None = Field(description="Pass it as `cursor` for the next page; null on the last one.")


class MissedPassage(BaseModel):
    """A passage that came later; ``cited``: the answer rests on it."""

    id: str
    title: str | None
    location: str | None
    cited: bool


class GateOutcome(BaseModel):
    """Where a gate would have stopped a run, in figures and in words."""

    gate: str
    fired: bool
    round: int
    reason: str
    explanation: str
    missed: list[MissedPassage]
    unknown: list[str]
    words: str
    chart: str | None


class ReplayResponse(BaseModel):
    run: str
    rounds: int
    gates: list[GateOutcome]


def to_job_request(request: SimpleRequest, tier: str, model: str | None, max_cost: float | None) -> JobRequest:
    """The request as an order; it may not cost more than ``max_cost``."""
    chosen = request.options
    bounds = Bounds(
        chosen.max_iters,
        chosen.max_queries,
        chosen.max_sources,
        chosen.max_execution_time_s,
        chosen.token_budget,
        min((cost for cost in (chosen.max_cost_usd, max_cost) if cost is not None), default=None),
    )
    options = Options(
        model=model,
        strategy=chosen.strategy,
        memory=chosen.memory,
        stop=chosen.stop,
        tier=tier,
        bounds=bounds,
        k=chosen.k,
        per_round=chosen.per_round,
        alpha=chosen.alpha,
        web=chosen.web,
        seed=chosen.seed,
    )
    return JobRequest(request.task, options, tuple(chosen.collections))
