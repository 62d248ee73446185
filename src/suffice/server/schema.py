"""The request and response bodies. Options come from ``RunOptions``; unknown keys are refused.

The options a request may set are the names in ``SEARCH_OPTIONS`` and ``RUN_OPTIONS``. All others, such as local paths, belong
to the operator.
"""

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from suffice.api import MAX_QUESTION_CHARS
from suffice.engine.estimate import Estimate
from suffice.jobs.store import RunStatus
from suffice.options import OPTIONS, RunOptions, resolve_aliases
from suffice.server.errors import ErrorDetail
from suffice.server.request_options import GateText, Name, option_fields
from suffice.types import ClosestPassage, Excerpt, Source, Status

SEARCH_OPTIONS = ("web", "k", "alpha")
RUN_OPTIONS = tuple(
    """max_rounds max_queries max_sources max_seconds max_tokens max_cost_usd breadth length strategy memory stop model
    per_round continues seed""".split()
)

PriorityName = Literal["high", "normal", "low"]
_STRICT = ConfigDict(extra="forbid", populate_by_name=True)


def _options_model(names: tuple[str, ...], base: type[BaseModel] | None = None) -> Any:
    options: dict[str, Any] = option_fields(names, with_aliases=True)
    return create_model("Options", __base__=base, __config__=None if base else _STRICT, **options)


class SearchOptionsBody(_options_model(SEARCH_OPTIONS)):  # type: ignore[misc]
    """Where and how to search."""

    collections: list[Name] = Field([], max_length=20, description="The operator's collections; all when empty.")

    def to_options(self) -> RunOptions:
        """Return the options that the request sets; one that is given under two names raises ``InputError``."""
        return RunOptions(**resolve_aliases(self.model_dump(exclude={"collections"})))


class RunOptionsBody(_options_model(RUN_OPTIONS, SearchOptionsBody)):  # type: ignore[misc]
    """Limits of a run and its parts; what is left out comes from the tier and the operator's settings."""


def _question_config(*examples: Any) -> ConfigDict:
    required: Any = [{"required": ["question"]}, {"required": ["task"]}]
    return ConfigDict(**_STRICT, json_schema_extra={"anyOf": required, "examples": list(examples)})


class _QuestionBody(BaseModel):
    """A body with a question, which may also be called ``task``."""

    model_config = _STRICT
    question: str | None = Field(
        None, min_length=1, max_length=MAX_QUESTION_CHARS, description="What you want to know."
    )
    task: str | None = Field(None, min_length=1, max_length=MAX_QUESTION_CHARS, description="Alias of question.")

    @model_validator(mode="after")
    def check_one_question(self) -> "_QuestionBody":
        if self.question is None and self.task is None:
            raise ValueError("question is missing")
        if self.question is not None and self.task is not None:
            raise ValueError("question and task are the same; give one of them, not both")
        return self

    @property
    def text(self) -> str:
        return self.question or self.task or ""


class SimpleRequest(_QuestionBody):
    model_config = _question_config({"question": "How long is the notice period?"})
    options: RunOptionsBody = Field(default_factory=RunOptionsBody)


class RunRequest(SimpleRequest):
    model_config = _question_config(
        {"question": "How long is the notice period?", "options": {"max_rounds": 3, "collections": ["default"]}},
        {"question": "Who decides about the budget?", "complexity_tier": "deep", "async": True},
    )
    complexity_tier: Literal["auto", "simple", "standard", "deep"] | None = Field(None, description=OPTIONS["tier"].doc)
    stream: bool = Field(False, description="Answer with server-sent events.")
    asynchronous: bool = Field(False, alias="async", description="Answer at once with the id of the job.")
    priority: PriorityName = "normal"


class SearchRequest(_QuestionBody):
    model_config = _question_config({"question": "notice period", "options": {"k": 3}})
    question: str | None = Field(None, min_length=1, max_length=2000, description="What to look for.")
    task: str | None = Field(None, min_length=1, max_length=2000, description="Alias of question.")
    options: SearchOptionsBody = Field(default_factory=SearchOptionsBody)


class ReplayRequest(BaseModel):
    model_config = ConfigDict(
        **_STRICT, json_schema_extra={"examples": [{"run": "20260101T120000-0a1b2c3d", "stop": ["exhaustion(p=2)"]}]}
    )
    run: str = Field(min_length=1, max_length=64, description="The id of one of your runs.")
    stop: list[GateText] = Field(min_length=1, max_length=20, description="Gate expressions.")
    chart: int | None = Field(
        None, ge=200, le=2000, description="Also draw the readings as SVG, this many pixels wide."
    )


class AgentResponse(BaseModel):
    """The answer without the record of the run."""

    summary: str
    key_findings: list[str]
    recommendations: list[str]
    risks: list[str]
    open_questions: list[str]
    sources: list[Source]
    final_answer: str
    raw: Any = None
    metadata: dict[str, Any]
    short_answer: str | None = None
    excerpts: list[Excerpt] = []
    closest: list[ClosestPassage] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateResponse(Estimate):
    """What a run will probably cost; ``usd`` is null if the price of the model is unknown, ``text`` is the same in words."""

    text: str


class FoundPassage(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: str
    title: str
    text: str
    type: str = Field(validation_alias="kind")
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
    """The last event of a run, what it has found, its notes and its open questions."""

    phase: str
    events: int
    rounds: int
    queries: int
    passages: int
    belief: list[str]
    open: list[str]


class JobSummary(BaseModel):
    job_id: str
    task: str
    status: RunStatus
    priority: PriorityName
    created: str
    finished: str | None
    ending: Status | None = Field(description="How the run ended for the reader, if it has a report.")


class Job(JobSummary):
    progress: JobProgress
    report: dict[str, Any] | None
    error: ErrorDetail | None
    waiting: str | None = Field(description="Why the run waits for a worker that is not there, if it does.")


class JobList(BaseModel):
    jobs: list[JobSummary]
    next: str | None = Field(description="Pass it as `cursor` for the next page; null on the last one.")


class MissedPassage(BaseModel):
    """A passage that was found only after the gate would have stopped; ``cited`` if the answer cites it."""

    id: str
    title: str | None
    location: str | None
    cited: bool


class GateOutcome(BaseModel):
    """Where a gate would have stopped a run."""

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
