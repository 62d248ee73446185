"""The stream of a run: what the progress bar, the trace, the page and the metrics all read.

An event is a small frozen value. ``record`` turns it into the line a trace file holds.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from suffice.types import Failure, Note, Passage, PriorRun, Query, Readings, Report, ReviewRound, Round, Stop, Verdict


@dataclass(frozen=True, slots=True)
class Started:
    """The run begins: what was asked, and with which parts."""

    run: str
    task: str
    model: str
    strategy: str
    memory: str
    gate: str
    seed: int
    bounds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Continued:
    """The run goes on from an earlier one: what was found and believed there is here from the beginning."""

    earlier: PriorRun


@dataclass(frozen=True, slots=True)
class Recalled:
    """Earlier findings that are like the question. None is evidence: what they rest on is searched for again."""

    findings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Searching:
    """A round's queries are on their way."""

    index: int
    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class BeliefSnapshot:
    """What is believed after a round: the memory's notes, shortened, and the questions still open."""

    notes: tuple[Note, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoundDone:
    """A round is over: what came back, what was read off it, and how it was judged."""

    round: Round
    accepted: bool
    readings: Readings
    verdict: Verdict
    tokens: int
    belief: BeliefSnapshot = BeliefSnapshot()


@dataclass(frozen=True, slots=True)
class Failed:
    """Something went wrong and the run goes on."""

    failure: Failure


@dataclass(frozen=True, slots=True)
class PromptCompacted:
    """A prompt held only some pieces whole, the rest as summaries, handles or not at all; the record keeps everything."""

    why: str
    whole: int
    shortened: int


@dataclass(frozen=True, slots=True)
class PageRead:
    """A web page behind a result was read whole; this many passages of it are evidence now."""

    url: str
    title: str
    passages: int


@dataclass(frozen=True, slots=True)
class InjectionsStripped:
    """Lines of a retrieved passage addressed the model; they were cut out before anybody read them."""

    passage: str
    location: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SearchStopped:
    """The search is over; ``state`` is the run's state under S1's names."""

    stop: Stop
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Writing:
    """The answer is being written from this many passages."""

    passages: int


@dataclass(frozen=True, slots=True)
class Drafting:
    """The next piece of the draft, as the model writes it; empty: it begins anew. ``section`` names the part, if there are
    several. What the report holds in the end has been checked and may differ."""

    text: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class CheckingClaim:
    """The model is asked whether a source bears out a claim that words and vectors leave open."""

    claim: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The report is there."""

    report: Report


Event = (
    Started
    | Continued
    | Recalled
    | Searching
    | RoundDone
    | Failed
    | PromptCompacted
    | PageRead
    | InjectionsStripped
    | SearchStopped
    | Writing
    | Drafting
    | CheckingClaim
    | ReviewRound
    | Finished
)

_TYPE_NAMES = {
    Started: "started",
    Continued: "continued",
    Recalled: "recalled",
    Searching: "searching",
    RoundDone: "round",
    Failed: "failed",
    PromptCompacted: "compacted",
    PageRead: "page",
    InjectionsStripped: "screened",
    SearchStopped: "stopped",
    Writing: "writing",
    Drafting: "drafting",
    CheckingClaim: "checking",
    ReviewRound: "reviewed",
    Finished: "report",
}


def serialize_event(event: Event, run: str, at: datetime | None = None) -> dict[str, Any]:
    """The event as one JSON object: ``type``, ``run``, ``at`` and its own fields."""
    moment = (at or datetime.now(UTC)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"type": _TYPE_NAMES[type(event)], "run": run, "at": moment, **_serialize_fields(event)}


def _serialize_fields(event: Event) -> dict[str, Any]:
    import msgspec

    if isinstance(event, RoundDone):
        return _serialize_round(event)
    if isinstance(event, Started):
        return {name: value for name, value in msgspec.to_builtins(event).items() if name != "run"}
    if isinstance(event, Searching):
        return {"index": event.index, "queries": [query.text for query in event.queries]}
    fields: dict[str, Any] = msgspec.to_builtins(event)
    stop = fields.get("stop") or fields.get("report", {}).get("stop", {})
    for recorded in stop.get("rounds", ()):
        recorded["verdicts"] = [serialize_verdict(verdict) for verdict in recorded["verdicts"]]
    return fields


def _serialize_round(event: RoundDone) -> dict[str, Any]:
    import msgspec

    new = {passage.id for passage in event.round.new}
    shown = {passage.id: passage for passage in (*event.round.raw, *event.round.new)}
    return {
        "index": event.round.index,
        "accepted": event.accepted,
        "queries": list(event.round.queries),
        "passages": [_serialize_passage(passage, passage.id in new) for passage in shown.values()],
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


def _serialize_passage(passage: Passage, new: bool) -> dict[str, Any]:
    return {
        "id": passage.id,
        "title": passage.title,
        "location": passage.location,
        "place": asdict(passage.place),
        "kind": passage.kind,
        "score": passage.score,
        "text": passage.text,
        "new": new,
    }


def serialize_verdict(verdict: dict[str, Any]) -> dict[str, Any]:
    """A leaf's verdict as the report and the trace show it."""
    return {name: verdict[name] for name in ("gate", "stop", "reason", "because", "signals")}
