"""The nouns of a research run: frozen, typed, serialisable.

    Query → Hits → Passage (at a Place) → Round → Verdict → Stop → Claim (with Spans) → Report

Unknown is a value: a reading that could not be taken is ``None``, a search that failed carries a ``Failure``
and is never an empty answer. This module knows nothing of models, searches, files or the environment.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy

Readings = Mapping[str, float | None]
Embed = Callable[[Sequence[str]], "numpy.ndarray"]  # Texts to unit vectors, one row each.
BELIEF_KIND = "belief"  # The kind of a note that says what is believed about passages and is none itself.
COMPUTED_KIND = "computed"  # The kind of a passage that no search found: the output of a program and the program.
Promise = Literal["heuristic", "estimate", "guarantee"]
SupportLabel = Literal["supported", "contradicted", "unsupported", "unknown"]
Status = Literal["answered", "partial", "no_evidence", "failed"]

STOP_REASONS = (
    "sufficient",
    "saturated",
    "exhausted",
    "diminished",
    "budget_rounds",
    "budget_queries",
    "budget_time",
    "budget_tokens",
    "budget_cost",
    "search_unavailable",
    "planner_done",
    "cancelled",
)


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for, and why."""

    text: str
    intent: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a text stands: lines of a file, a page of a PDF, a record of a collection, or a URL.

    ``str(place)`` is what a citation shows: ``path:3-9``, ``path:p4``, ``path#id`` or the URL itself. ``exact`` means that
    the text stands there line for line; text taken out of HTML does not.
    """

    path: str
    lines: tuple[int, int] | None = None
    page: int | None = None
    record: str | None = None
    exact: bool = True

    def __str__(self) -> str:
        if self.lines is not None:
            return f"{self.path}:{self.lines[0]}-{self.lines[1]}"
        if self.page is not None:
            return f"{self.path}:p{self.page}"
        if self.record is not None:
            return f"{self.path}#{self.record}"
        return self.path

    def narrowed(self, text: str, start: int, end: int) -> "Place":
        """The place of ``text[start:end]`` where the whole ``text`` stands here."""
        if self.lines is None or not self.exact:
            return self
        first = self.lines[0] + text.count("\n", 0, start)
        last = first + text.count("\n", start, end)
        return replace(self, lines=(min(first, self.lines[1]), min(last, self.lines[1])))


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a source, verbatim, as a search returned it."""

    id: str
    text: str
    title: str
    place: Place
    kind: str = "text"
    score: float | None = None

    @property
    def location(self) -> str:
        return str(self.place)

    @property
    def url(self) -> str | None:
        return self.place.path if self.place.path.startswith(("http://", "https://")) else None


@dataclass(frozen=True, slots=True)
class Image:
    """A picture that a task names: a file with its bytes and their SHA-256, or an address on the web without."""

    name: str
    media_type: str
    digest: str = ""
    data: bytes = field(default=b"", repr=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that was tried and did not work; it is recorded, never hidden."""

    where: str
    kind: str
    message: str
    retryable: bool = False
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Hits:
    """One query's outcome: what came back, or why nothing could."""

    query: Query
    passages: tuple[Passage, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of the loop: what was asked, what came back raw, and what of it was new."""

    index: int
    hits: tuple[Hits, ...]
    raw: tuple[Passage, ...]
    new: tuple[Passage, ...]

    @property
    def queries(self) -> tuple[str, ...]:
        return tuple(hits.query.text for hits in self.hits)

    @property
    def failed(self) -> bool:
        """Every search of the round failed: nothing can be read from its emptiness."""
        return all(hits.failure is not None for hits in self.hits)


@dataclass(frozen=True, slots=True)
class Note:
    """A piece of belief: a text and the handles (``[3]``) of the passages it rests on."""

    text: str
    handles: tuple[str, ...]
    title: str = ""
    kind: str = "text"
    whole: bool = True


@dataclass(frozen=True, slots=True)
class PriorRun:
    """What a follow-up builds on: an earlier run's evidence in order, its facts under the same handles, its queries."""

    run: str
    task: str
    evidence: tuple[Passage, ...]
    belief: tuple[Note, ...]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A gate's decision: stop, go on, or unknown; with its reason and the numbers behind it.

    ``reason`` names the ending when ``stop`` is true and is empty otherwise; ``because`` is the sentence.
    ``signals`` maps a reading to (value, threshold). ``parts`` are the verdicts of a composed gate's leaves.
    """

    gate: str
    stop: bool | None
    reason: str = ""
    because: str = ""
    signals: Mapping[str, tuple[float | None, float]] = field(default_factory=dict)
    promise: Promise = "heuristic"
    parts: tuple["Verdict", ...] = ()

    @property
    def leaves(self) -> tuple["Verdict", ...]:
        return self.parts or (self,)

    @property
    def values(self) -> Readings:
        """What the leaves looked at or worked out, such as ``worth.p``: readings in their own right."""
        return {name: signal[0] for leaf in self.leaves for name, signal in leaf.signals.items()}


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """What the report and the trace keep of a round. ``found`` names its new passages; ``belief`` is what was believed after
    it, in short, each note with the titles of its sources; ``open`` are the questions then still open."""

    index: int
    accepted: bool
    queries: tuple[str, ...]
    new_passages: int
    readings: Readings
    verdicts: tuple[Verdict, ...]
    found: tuple[str, ...] = ()
    belief: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the search ended."""

    reason: str
    gate: str
    round: int
    promise: Promise
    explanation: str
    rounds: tuple[RoundRecord, ...] = ()
    expression: str = ""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a run may spend; ``None`` means unbounded. ``sources`` bounds what the writer sees, not the search."""

    rounds: int | None = None
    queries: int | None = None
    sources: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """An exact stretch of a source that speaks for or against a claim."""

    source: str
    quote: str
    location: str
    stance: Literal["supports", "contradicts"] = "supports"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence or clause of the answer, its citations, and what the sources say to it; ``note`` says why in a few words."""

    text: str
    citations: tuple[str, ...]
    support: SupportLabel
    spans: tuple[Span, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """One evaluation of the written answer: S4's six scores, or unknown when it could not be read."""

    round: int
    scores: Mapping[str, float] | None
    composite: float | None
    passed: bool | None
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """How the review of an answer went. ``kept`` is the round whose text is the report's; 0 when no evaluation could be read.
    ``passed`` and ``composite`` are those of that text."""

    ending: str
    passed: bool | None
    composite: float | None
    kept: int
    pass_mark: float
    rounds: tuple[ReviewRound, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A cited source, as the reader sees it."""

    id: str
    title: str
    type: str
    location: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What one or more model calls cost; one call of unknown cost makes the sum unknown. ``stored`` answers came out of the
    cache: they cost nothing and are no calls."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    stored: int = 0
    estimated: int = 0
    """Calls whose tokens the provider did not report, so that they are our estimate."""

    def __add__(self, other: "Usage") -> "Usage":
        unknown = any(part.usd is None and part.calls for part in (self, other))
        known = self.usd is not None or other.usd is not None
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.usd or 0.0) + (other.usd or 0.0) if known and not unknown else None,
            self.stored + other.stored,
            self.estimated + other.estimated,
        )


@dataclass(frozen=True, slots=True)
class RoleUsage:
    calls: int
    input_tokens: int
    output_tokens: int
    stored: int = 0


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """The report's ``usage``: the whole run, and by role."""

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    searches: int
    pages_read: int
    seconds: float
    cost_usd: float | None
    by_role: Mapping[str, RoleUsage]
    stored: int = 0
    """Answers that came out of the cache."""
    estimated_calls: int = 0
    """Calls whose tokens are our estimate because the provider reported none."""


@dataclass(frozen=True, slots=True)
class Report:
    """The answer with everything that backs it: what a run is for."""

    run: str
    task: str
    status: Status
    summary: str
    final_answer: str
    key_findings: tuple[str, ...]
    recommendations: tuple[str, ...]
    risks: tuple[str, ...]
    open_questions: tuple[str, ...]
    sources: tuple[Source, ...]
    claims: tuple[Claim, ...]
    stop: Stop
    usage: UsageSummary
    sufficient: bool | None
    confidence: float | None
    gaps: tuple[str, ...]
    failed_queries: tuple[str, ...]
    insufficient_termination: bool
    degraded_mode: bool
    error_log: tuple[Failure, ...]
    raw: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
