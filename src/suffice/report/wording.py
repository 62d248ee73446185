"""Put the course of a run in plain words: its readings and thresholds, why it stopped, and how it was searched."""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from suffice.gates.explanation import STOP_REASON_TEXT
from suffice.report.timeline import list_stopping_verdicts
from suffice.text.plain import count, finite_or_none, format_number
from suffice.types import Report, Stop

PARTLY_NOTICE = "This may answer only a part of the question"


@dataclass(frozen=True, slots=True)
class _Reading:
    label: str
    unit: Literal["share", "of 10", "number", "seconds", "usd"] = "number"
    stops: Literal["below", "from", ""] = ""
    """Whether a gate stops when the reading is below its threshold or from its threshold on; empty if gates differ."""


_READINGS = {
    "worth.p": _Reading("chance that another round helps", "share", "below"),
    "novelty.words": _Reading("new words found", "of 10", "below"),
    "novelty.embedding": _Reading("new topics found", "of 10", "below"),
    "novelty.model": _Reading("novelty, by the model", "of 10", "below"),
    "overlap.upr": _Reading("results not seen before", "share", "below"),
    "overlap.jaccard": _Reading("overlap with the round before", "share", "from"),
    "overlap.consecutive": _Reading("overlap of the last rounds", "share", "from"),
    "coverage.mean": _Reading("question covered", "share", "from"),
    "coverage.min": _Reading("least covered part", "share", "from"),
    "coverage.gain": _Reading("growth of coverage", "share", "below"),
    "unseen.mass": _Reading("evidence still unseen (estimate)", "share", "below"),
    "relevance.seen": _Reading("of the relevant passages, read (estimate)", "share", "from"),
    "relevance.low": _Reading("… at least", "share", "from"),
    "relevance.high": _Reading("… at most", "share", "from"),
    "question.residual": _Reading("question not yet covered", "share", "below"),
    "sufficiency.model": _Reading("evidence judged enough", "share", "from"),
    "confidence.answer": _Reading("confidence in the answer", "share", "from"),
    "answer.margin": _Reading("lead of the short answer", "share", "from"),
    "answer.weakest": _Reading("smallest lead of one of its words", "share"),
    "answer.stable": _Reading("rounds with the same answer", "number", "from"),
    "belief.open": _Reading("open questions", "number", "below"),
    "belief.difference": _Reading("change of the notes", "share", "below"),
    "bridges.open": _Reading("leads not followed", "number", "below"),
    "recall.p": _Reading("chance that much is still missing", "share", "below"),
    "spend.rounds": _Reading("rounds", "number", "from"),
    "spend.queries": _Reading("queries", "number", "from"),
    "spend.sources": _Reading("passages", "number", "from"),
    "spend.tokens": _Reading("tokens", "number", "from"),
    "spend.seconds": _Reading("time", "seconds", "from"),
    "spend.usd": _Reading("cost", "usd", "from"),
}


def describe_reading(name: str) -> str:
    """Return what a reading measures, in a few words; an unknown reading keeps its name.

    >>> describe_reading("overlap.upr"), describe_reading("own.value")
    ('results not seen before', 'own.value')
    """
    if name.startswith("coverage.topic."):
        return f"covered: {name.removeprefix('coverage.topic.')}"
    return _READINGS[name].label if name in _READINGS else name


def format_reading(name: str, value: float | None) -> str:
    """Return a value with its unit; a dash for an unknown one.

    >>> [format_reading("worth.p", 0.0754), format_reading("novelty.words", 3.0), format_reading("worth.p", None)]
    ['8 %', '3 of 10', '–']
    """
    unit = _READINGS[name].unit if name in _READINGS else "share" if name.startswith("coverage.topic.") else "number"
    if finite_or_none(value) is None or value is None:
        return format_number(None)
    if unit == "share":
        return f"{100 * value:.{0 if value == 0 or abs(value) >= 0.01 else 1}f} %"
    if unit == "of 10":
        return f"{value:.2g} of 10"
    if unit == "seconds":
        return f"{format_number(value)} s"
    return f"${value:.4g}" if unit == "usd" else format_number(value)


def describe_threshold(name: str, threshold: float) -> str:
    """Say when a gate that compares the reading with this threshold stops.

    >>> describe_threshold("worth.p", 0.1), describe_threshold("own.value", 5)
    ('stops below 10 %', 'threshold 5')
    """
    reading = _READINGS.get(name)
    if name.startswith("spend."):
        return f"limit {format_reading(name, threshold)}"
    verb = f"stops {reading.stops}" if reading and reading.stops else "threshold"
    return f"{verb} {format_reading(name, threshold)}"


def describe_stop(stop: Stop) -> str:
    """Say in one short line, without a full stop, when and why the search stopped."""
    completed = len(stop.rounds) or stop.round
    when = f"after {count(completed, 'round')}" if completed else "before the first round"
    why = STOP_REASON_TEXT.get(stop.reason, stop.reason.replace("_", " "))
    if is_all_read(stop):
        why = STOP_REASON_TEXT["read_all"]
    elif stop.reason == "sufficient" and stop.coverage is not None:
        why = f"an estimated {format_reading('relevance.seen', stop.coverage.share)} of the relevant passages were read"
    chances = (leaf.signals.get("worth.p", (None, 0.0))[0] for leaf in list_stopping_verdicts(stop))
    if stop.reason == "diminished" and (known := [one for one in chances if finite_or_none(one) is not None]):
        why = f"another round had a chance of {format_reading('worth.p', known[0])} of finding more"
    return f"Stopped {when}: {why}"


def is_all_read(stop: Stop) -> bool:
    """Return whether everything in scope was read, so that nothing about the stop is estimated."""
    is_covered = stop.reason == "sufficient" and stop.coverage is not None and stop.coverage.is_complete
    return stop.reason == "read_all" or is_covered


def describe_search(report: Report) -> str:
    """Say in one short line where was searched or what was read, how much was found, and who wrote the answer."""
    rounds, coverage, scope = report.stop.rounds, report.stop.coverage, _describe_scope(report)
    queries = sum(len(record.queries) for record in rounds)
    new = sum(record.new_passages for record in rounds if record.accepted)
    passages = count(new, "passage") if new else "no passage found"
    how = f"Searched {scope}: {count(len(rounds), 'round')}, {count(queries, 'query', 'queries')}, {passages}"
    if coverage is not None:
        how = f"Read {coverage.files_read:,} of {count(coverage.files, 'file')} in {scope}: {passages}"
    elif report.stop.reason == "read_all":
        how = f"Read everything in {scope}: {passages}"
    elif report.stop.gate.startswith("/"):  # A skill took the place of the search.
        how = f"{report.stop.gate} cites {count(len(report.sources), 'source')}, without rounds of search"
    writer = "no language model" if report.usage.model in ("", "extractive") else report.usage.model
    return f"{how} · {writer} · {report.usage.seconds:.1f} s"


def list_fruitless_queries(report: Report) -> tuple[str, ...]:
    """Return the queries with few results whose rounds brought nothing new."""
    useful = {query for record in report.stop.rounds if record.new_passages for query in record.queries}
    return tuple(query for query in report.failed_queries if query not in useful)


def _describe_scope(report: Report) -> str:
    searched = report.metadata.get("searched")
    searched = searched if isinstance(searched, dict) else {}
    docs = [str(path) for path in searched.get("docs") or ()]
    where = searched.get("from", "")
    names = [PurePath(where, path.partition("?")[0]).name or path for path in docs if path != "-"]
    named = names[:3] + (["more"] if len(names) > 3 else []) + (["standard input"] if "-" in docs else [])
    named += ["the web"] if searched.get("web") else []
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named) or "its sources"
