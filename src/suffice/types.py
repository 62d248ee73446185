"""The data types of a research run: frozen, typed and serializable.

    Query → Hits → Passage (at a Place) → Round → Verdict → Stop → Claim (with Spans) → Report

Unknown is a value: a reading that could not be taken is ``None``, and a failed search carries a ``Failure`` instead of an
empty result. This module does not know about models, searches, files or the environment.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Vectors = NDArray[numpy.float32]
else:
    Vectors = Any  # NumPy is imported by what computes with it.

Readings = Mapping[str, float | None]
"""Measured values of a round by name, such as ``overlap.jaccard``; ``None`` is unknown."""
Notify = Callable[[str], None]
"""Receives one-sentence messages for the user."""
Embed = Callable[[Sequence[str]], "numpy.ndarray"]
"""Turns texts into unit vectors, one row per text."""
BELIEF_KIND = "belief"  # The kind of a note that states a belief and is not a passage itself.
COMPUTED_KIND = "computed"  # The kind of a passage that holds a program and its output instead of a search result.
ROW_KINDS = frozenset({"xlsx", "ods", "csv"})  # Files whose passages are rows of tables.
Promise = Literal["heuristic", "estimate", "guarantee"]
"""How strong the statement of a stop rule is: a rule of thumb, a statistical estimate, or a guarantee at a confidence."""
SupportLabel = Literal["supported", "contradicted", "unsupported", "unknown"]
"""What the sources say about a claim."""
Status = Literal["answered", "partial", "no_evidence", "failed"]
"""How a run ended for the reader."""
Sufficiency = Literal["yes", "partly", "no", "unknown"]
"""Whether the evidence answers the question."""
Breadth = Literal["narrow", "list", "broad"]
BREADTHS: tuple[Breadth, ...] = ("narrow", "list", "broad")
"""How broad a question is: it asks for one thing, for everything of a kind, or for research."""
ExcerptFormat = Literal["prose", "code", "list", "table"]
"""How an excerpt is laid out in its source."""


@dataclass(frozen=True, slots=True)
class Query:
    """A search query and the reason for it."""

    text: str
    intent: str = ""


@dataclass(frozen=True, slots=True)
class OpenDocument(Query):
    """A request to read a whole document; ``text`` is the name that the planner was told."""


@dataclass(frozen=True, slots=True)
class Place:
    """The location of a text: lines of a file, a page of a PDF, a record of a collection, a section, or a URL.

    ``str(place)`` is what a citation shows: ``path:3-9``, ``path:p4``, ``path#id``, ``path:slide 3`` or the URL itself.
    ``section`` is ``slide N``, ``sheet NAME row N``, ``message N`` or ``chapter N``. ``exact`` means that the file contains
    the text line for line, which is not so for text extracted from HTML.
    """

    path: str
    lines: tuple[int, int] | None = None
    page: int | None = None
    record: str | None = None
    exact: bool = True
    section: str | None = None

    def __str__(self) -> str:
        if self.lines is not None:
            return f"{self.path}:{self.lines[0]}-{self.lines[1]}"
        if self.page is not None:
            return f"{self.path}:p{self.page}"
        if self.record is not None:
            return f"{self.path}#{self.record}"
        if self.section is not None:
            return f"{self.path}:{self.section}"
        return self.path

    def narrowed(self, text: str, start: int, end: int) -> "Place":
        """Return the place of ``text[start:end]``, given that this is the place of ``text``."""
        if self.lines is None or not self.exact:
            return self
        first = self.lines[0] + text.count("\n", 0, start)
        last = first + text.count("\n", start, end)
        return replace(self, lines=(min(first, self.lines[1]), min(last, self.lines[1])))


@dataclass(frozen=True, slots=True)
class Passage:
    """A verbatim part of a source, as a search returned it."""

    id: str
    text: str
    title: str
    place: Place
    kind: str = "text"
    score: float | None = None

    @property
    def location(self) -> str:
        """The place as a citation shows it."""
        return str(self.place)

    @property
    def url(self) -> str | None:
        """The web address; ``None`` for a file."""
        return self.place.path if self.place.path.startswith(("http://", "https://")) else None


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a task refers to: a file with its bytes and their SHA-256."""

    name: str
    media_type: str
    digest: str
    data: bytes = field(repr=False)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Failure:
    """A recorded failure: where it happened, its error class, and whether a retry may help."""

    where: str
    kind: str
    message: str
    retryable: bool = False
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class Hits:
    """The result of one query: its passages, or the failure."""

    query: Query
    passages: tuple[Passage, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """One round of the loop: the results per query, all their passages, and the new ones among them."""

    index: int
    hits: tuple[Hits, ...]
    raw: tuple[Passage, ...]
    new: tuple[Passage, ...]

    @property
    def queries(self) -> tuple[str, ...]:
        """The texts of the round's queries."""
        return tuple(hits.query.text for hits in self.hits)

    @property
    def failed(self) -> bool:
        """Whether every search of the round failed, so that its emptiness says nothing about the sources."""
        return all(hits.failure is not None for hits in self.hits)


@dataclass(frozen=True, slots=True)
class Note:
    """A note for a prompt: a text and the handles (``[3]``) of the passages it comes from.

    ``whole`` is false if the text was shortened to fit. ``place`` is where the text of a passage begins, if that is known.
    """

    text: str
    handles: tuple[str, ...]
    title: str = ""
    kind: str = "text"
    whole: bool = True
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class PriorRun:
    """The part of an earlier run that a follow-up builds on: evidence in order, facts with the same handles, and queries."""

    run: str
    task: str
    evidence: tuple[Passage, ...]
    belief: tuple[Note, ...]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A gate's decision to stop, to continue, or unknown (``None``), with the numbers it is based on.

    ``reason`` is a key of ``gates.explanation.STOP_REASON_TEXT`` if ``stop`` is true, else empty; ``because`` is a sentence.
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
        """The verdicts of the simple gates that this verdict consists of."""
        return self.parts or (self,)

    @property
    def values(self) -> Readings:
        """The readings that the leaves used or computed, such as ``worth.p``."""
        return {name: signal[0] for leaf in self.leaves for name, signal in leaf.signals.items()}


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """The record of a round in the report and the trace. ``skipped`` is of runs of older versions.

    ``found`` lists its new passages; ``belief`` holds the notes after it, shortened and with the titles of their sources;
    ``open`` lists the questions that were still open.
    """

    index: int
    accepted: bool
    queries: tuple[str, ...]
    new_passages: int
    readings: Readings
    verdicts: tuple[Verdict, ...]
    found: tuple[str, ...] = ()
    belief: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """The estimated share of what the sources in scope say on the question that was read, with its interval."""

    share: float
    low: float
    high: float
    files_read: int
    files: int
    method: str

    @property
    def is_complete(self) -> bool:
        """Whether everything in scope was read, so that nothing is estimated."""
        return self.files_read == self.files and self.low == 1


@dataclass(frozen=True, slots=True)
class Absence:
    """How surely nothing in scope answers the question: passages that were read and drawn at random, of how many, and the
    share of the others that can answer it at most, at this confidence."""

    read: int
    sampled: int
    passages: int
    at_most: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the search ended: a reason as in a ``Verdict``, the gate that stopped it, and the records of all rounds.

    ``gate`` is the simple gate that decided, ``expression`` the whole gate as text. ``sufficiency`` says whether the
    evidence answers the question; it is known when the report is built.
    """

    reason: str
    gate: str
    round: int
    promise: Promise
    explanation: str
    rounds: tuple[RoundRecord, ...] = ()
    expression: str = ""
    sufficiency: Sufficiency = "unknown"
    coverage: Coverage | None = None
    absence: Absence | None = None


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a run; ``None`` means unlimited. ``sources`` limits the passages for the writer, not the search."""

    rounds: int | None = None
    queries: int | None = None
    sources: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    usd: float | None = None

    @property
    def known(self) -> dict[str, Any]:
        """The limits that are set, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a source, verbatim and laid out as there, that answers the question.

    ``highlight`` holds the offsets of the deciding words in ``text``, ``headings`` those of the headings; ``title`` is the
    heading path of the source.
    """

    text: str
    format: ExcerptFormat
    highlight: tuple[tuple[int, int], ...]
    source: str
    location: str = ""
    title: str = ""
    headings: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class ClosestPassage:
    """A passage that is near the question but does not answer it; ``missing`` are the question's words that it lacks."""

    text: str
    format: ExcerptFormat
    highlight: tuple[tuple[int, int], ...]
    title: str = ""
    location: str = ""
    missing: tuple[str, ...] = ()
    headings: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """A verbatim quote of a source that supports or contradicts a claim."""

    source: str
    quote: str
    location: str
    stance: Literal["supports", "contradicts"] = "supports"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence or clause of the answer, its citations, and what the sources say about it; ``note`` gives the reason.

    ``evidence`` is the deciding quote with the sentences around it; its highlights are the deciding words. ``checker`` names
    what judged the claim, and ``probability`` how likely that checker holds the verdict to be right, if it estimates that.
    """

    text: str
    citations: tuple[str, ...]
    support: SupportLabel
    spans: tuple[Span, ...] = ()
    note: str = ""
    evidence: Excerpt | None = None
    checker: str = ""
    probability: float | None = None
    role: str | None = None
    """What the claim is, as a language model judged it: ``stated``, ``joined``, ``conclusion``, ``advice``, ``absence``."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a claim is not supported: its kind, for a figure what the claim and the source say, and what a model remarked."""

    kind: str
    source_value: str = ""
    claim_value: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class RemovedClaim:
    """A sentence that the claim check removed, why, and what a source says nearest to it."""

    text: str
    reason: Reason
    nearest: Span | None = None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two sources that contradict each other about a claim, with their dates where title or file name has one."""

    one: Span
    other: Span
    dates: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Notice:
    """What a reader must know about an answer before reading it; ``report/notices.py`` has its sentences."""

    kind: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A cited source as the report lists it; ``id`` is its number, such as ``[1]``."""

    id: str
    title: str
    type: str
    location: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of one or more model calls. If the cost of one call is unknown, so is the sum."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    estimated: int = 0
    """Calls whose tokens are estimated, because the provider did not report them."""

    def __add__(self, other: "Usage") -> "Usage":
        unknown = any(part.usd is None and part.calls for part in (self, other))
        known = self.usd is not None or other.usd is not None
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.usd or 0.0) + (other.usd or 0.0) if known and not unknown else None,
            self.estimated + other.estimated,
        )


@dataclass(frozen=True, slots=True)
class RoleUsage:
    """The usage of one role, such as ``plan`` or ``draft``."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class UsageSummary:
    """The usage of a whole run, in total and by role."""

    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    searches: int
    pages_read: int
    seconds: float
    cost_usd: float | None
    by_role: Mapping[str, RoleUsage]
    estimated_calls: int = 0
    """Calls whose tokens are estimated, because the provider did not report them."""


@dataclass(frozen=True, slots=True)
class ReportedFinding:
    """What the sources say on one matter of a broad question; ``sources`` are citations such as ``[1]``.

    ``quotation``: its text is verbatim. ``disagrees``: a source has another value. ``section``: the heading above it.
    """

    text: str
    quotation: bool
    aspect: str
    sources: tuple[str, ...]
    disagrees: bool = False
    section: str = ""


@dataclass(frozen=True, slots=True)
class Aspect:
    """An aspect of a broad question, with how many findings and sources it has; 0 if nothing was found on it."""

    name: str
    findings: int
    sources: int


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a run: the answer, its sources and claims, why the search stopped, and what the run used.

    ``final_answer`` and the lists of findings are Markdown with citations such as ``[1]``, which refer to ``sources``;
    ``summary`` is plain text with citations. ``sufficient`` and ``confidence`` are the last judgement of the evidence,
    ``None`` if there was none. ``insufficient_termination`` means that a limit ended the search before the evidence was
    judged sufficient; ``degraded_mode`` that searches kept failing.
    ``short_answer`` is a name, number or the like, ``None`` if no such answer was found. Without a language model
    ``excerpts`` are the parts of the sources that ``final_answer`` shows, and ``below`` is the Markdown that follows them
    there: lists of findings, sections of skills. ``closest`` are the passages nearest to the question when there is no
    evidence. ``left_undone`` says what a limit on time, tokens or money kept the run from doing.
    ``final_answer`` begins with the sentences of ``notices`` and ends with the ``disagreements``, as ``report/notices.py``
    renders them. ``removed`` lists what the claim check took out. A broad question has ``findings``, sorted by ``aspects``.
    """

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
    short_answer: str | None = None
    excerpts: tuple[Excerpt, ...] = ()
    closest: tuple[ClosestPassage, ...] = ()
    left_undone: tuple[str, ...] = ()
    notices: tuple[Notice, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    removed: tuple[RemovedClaim, ...] = ()
    findings: tuple[ReportedFinding, ...] = ()
    aspects: tuple[Aspect, ...] = ()
    below: str = ""
