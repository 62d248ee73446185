"""The events of a run, which the progress display, the trace, the web page and the metrics read.

Events are small frozen values. ``serialize_event`` turns one into the JSON object that a trace file holds on one line.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from suffice.types import Failure, Note, PriorRun, Query, Readings, Report, Round, Stop, Verdict


class Event:
    """Base of the events."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The run starts with this question and these parts."""

    run: str
    task: str
    model: str
    strategy: str
    memory: str
    gate: str
    seed: int
    bounds: Mapping[str, float]
    breadth: str = "narrow"
    """How the question was read: ``narrow``, ``list`` or ``broad``."""


@dataclass(frozen=True, slots=True)
class Continued(Event):
    """The run continues an earlier one and starts with its evidence and belief."""

    earlier: PriorRun


@dataclass(frozen=True, slots=True)
class Recalled(Event):
    """Earlier findings that are similar to the question. They are not evidence: their sources are searched again."""

    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Searching(Event):
    """The queries of a round are sent to the search."""

    index: int
    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Planned(Event):
    """The plan is made: its queries with their intents, and the tokens that are left after it (``None``: no limit)."""

    queries: tuple[Query, ...]
    complexity: str
    tokens_left: int | None = None


@dataclass(frozen=True, slots=True)
class Reflected(Event):
    """The evidence after ``round`` rounds was judged; ``tokens_left`` as in ``Planned``."""

    round: int
    sufficient: bool
    confidence: float | None
    gaps: tuple[str, ...]
    queries: tuple[str, ...]
    tokens_left: int | None = None


@dataclass(frozen=True, slots=True)
class BeliefSnapshot:
    """The belief after a round: the memory's notes, shortened, and the questions that are still open."""

    notes: tuple[Note, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoundDone(Event):
    """A round is complete: its passages, its readings and the verdict of the gate."""

    round: Round
    accepted: bool
    readings: Readings
    verdict: Verdict
    tokens: int
    belief: BeliefSnapshot = BeliefSnapshot()


@dataclass(frozen=True, slots=True)
class TopicsCovered(Event):
    """How well the evidence covers each topic of the outline after a round, from 0 to 1: ``{"wing design": 0.83}``."""

    index: int
    topics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """Something failed and the run continues."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class Asked(Event):
    """A language model is asked; ``prompt`` is the text that it gets."""

    role: str
    prompt: str


@dataclass(frozen=True, slots=True)
class PromptCompacted(Event):
    """A prompt contained only some passages whole; the others were shortened or left out. The evidence still has them all."""

    why: str
    whole: int
    shortened: int


@dataclass(frozen=True, slots=True)
class PageRead(Event):
    """The web page of a search result was read; ``passages`` of its passages became evidence."""

    url: str
    title: str
    passages: int


@dataclass(frozen=True, slots=True)
class InjectionsStripped(Event):
    """Lines of a retrieved passage looked like prompt injections and were removed before use."""

    passage: str
    location: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchStopped(Event):
    """The search has stopped. ``state`` is the state of the run under published names (docs/sources.md)."""

    stop: Stop
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Writing(Event):
    """The writer starts; the evidence has this many passages."""

    passages: int


@dataclass(frozen=True, slots=True)
class Drafting(Event):
    """The next piece of the draft while the model writes it; an empty text means that the draft starts over.

    ``section`` names the section if there are several. The report contains the verified text, which may differ.
    """

    text: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class CheckingClaim(Event):
    """The model is asked whether a source supports a claim that word and vector comparison could not decide."""

    claim: str


@dataclass(frozen=True, slots=True)
class ReviewRound(Event):
    """One evaluation of the written answer. The values are ``None`` if the evaluation could not be read."""

    round: int
    scores: Mapping[str, float] | None
    composite: float | None
    passed: bool | None
    issues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """The review of an answer. ``kept`` is the round whose text is reported, 0 if no evaluation could be read.

    ``passed`` and ``composite`` belong to that text.
    """

    ending: str
    passed: bool | None
    composite: float | None
    kept: int
    pass_mark: float
    rounds: tuple[ReviewRound, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The run is complete and this is its report."""

    report: Report


# The type of an event in a trace is the name of its class, except for these.
_TYPE_NAMES = {
    RoundDone: "round",
    TopicsCovered: "coverage",
    PromptCompacted: "compacted",
    PageRead: "page",
    InjectionsStripped: "screened",
    SearchStopped: "stopped",
    CheckingClaim: "checking",
    ReviewRound: "reviewed",
    Finished: "report",
}


def serialize_event(event: Event, run: str, at: datetime | None = None) -> dict[str, Any]:
    """Return the event as a JSON object with ``type``, ``run``, ``at`` and its own fields."""
    kind = _TYPE_NAMES.get(type(event), type(event).__name__.lower())
    return {"type": kind, "run": run, "at": format_time(at or datetime.now(UTC)), **_serialize_fields(event)}


def format_time(at: datetime | float) -> str:
    """Return a time of UTC, or seconds since 1970, as ISO 8601 to the millisecond."""
    moment = at if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _serialize_fields(event: Event) -> dict[str, Any]:
    import msgspec

    if isinstance(event, RoundDone):
        return _serialize_round(event)
    if isinstance(event, Started):
        return {name: value for name, value in msgspec.to_builtins(event).items() if name != "run"}
    if isinstance(event, Searching):
        queries, intents = [query.text for query in event.queries], [query.intent for query in event.queries]
        return {"index": event.index, "queries": queries, "intents": intents}
    fields: dict[str, Any] = msgspec.to_builtins(event)
    stop = fields.get("stop") or fields.get("report", {}).get("stop", {})
    for record in stop.get("rounds", ()):
        record["verdicts"] = [serialize_verdict(verdict) for verdict in record["verdicts"]]
    return fields


def _serialize_round(event: RoundDone) -> dict[str, Any]:
    import msgspec

    new_ids = {passage.id for passage in event.round.new}
    passages = {passage.id: passage for passage in (*event.round.raw, *event.round.new)}
    return {
        "index": event.round.index,
        "accepted": event.accepted,
        "queries": list(event.round.queries),
        "passages": [
            {**msgspec.to_builtins(passage), "location": passage.location, "new": passage.id in new_ids}
            for passage in passages.values()
        ],
        "readings": dict(event.readings),
        "verdicts": [serialize_verdict(msgspec.to_builtins(leaf)) for leaf in event.verdict.leaves],
        "tokens": event.tokens,
        "belief": {
            "notes": [
                {"text": note.text, "handles": list(note.handles), "kind": note.kind} for note in event.belief.notes
            ],
            "open": list(event.belief.open),
        },
    }


def serialize_verdict(verdict: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a leaf verdict that the report and the trace show."""
    return {name: verdict[name] for name in ("gate", "stop", "reason", "because", "signals")}
