"""Read the course of a search from its stop: which readings to show, their values per round, and each round's outcome.

The chart, the tables and the terminal all use this module, so that they show the same values. It does not know about
formats.
"""

from suffice.meters.base import TOPIC_PREFIX, list_topic_coverage
from suffice.text.plain import finite_or_none
from suffice.types import RoundRecord, Stop, Verdict

_DEFAULT_READINGS = (
    "novelty.words",
    "overlap.upr",
    "overlap.jaccard",
    "coverage.mean",
    "coverage.gain",
    "unseen.mass",
    "worth.p",
)


def list_leaf_verdicts(record: RoundRecord) -> tuple[Verdict, ...]:
    """Return the round's verdicts, with those of composed gates split into their parts."""
    return tuple(leaf for verdict in record.verdicts for leaf in verdict.leaves)


def list_stopping_verdicts(stop: Stop) -> tuple[Verdict, ...]:
    """Return the verdicts that stopped the run, the one that gave the reason first."""
    stopping = [
        leaf for record in stop.rounds if record.index == stop.round for leaf in list_leaf_verdicts(record) if leaf.stop
    ]
    return tuple(sorted(stopping, key=lambda leaf: (leaf.reason != stop.reason, leaf.gate != stop.gate)))


def select_readings(stop: Stop, limit: int = 6) -> tuple[str, ...]:
    """Return the names of the readings to show: those that ended the run, those other gates used, then common ones.

    Readings without a value in any round are left out. So is what a budget counted, unless the budget ended the run, and
    everything if all was read at once: readings estimate what a search has not found.
    """
    if stop.reason == "read_all":
        return ()
    stopping = [name for leaf in list_stopping_verdicts(stop) for name in leaf.signals]
    used = [name for record in stop.rounds for leaf in list_leaf_verdicts(record) for name in leaf.signals]
    names = dict.fromkeys([*stopping, *(name for name in used if not name.startswith("spend.")), *_DEFAULT_READINGS])
    return tuple(name for name in names if any(value is not None for value in get_reading_series(stop, name)))[:limit]


def get_reading_series(stop: Stop, name: str) -> tuple[float | None, ...]:
    """Return a reading's value in each round, taken from a verdict if the round itself did not record it."""
    return tuple(_get_value(record, name) for record in stop.rounds)


def get_reading_thresholds(stop: Stop, name: str) -> tuple[float, ...]:
    """Return the distinct thresholds that gates compared the reading with."""
    thresholds = [
        leaf.signals[name][1] for record in stop.rounds for leaf in list_leaf_verdicts(record) if name in leaf.signals
    ]
    return tuple(sorted({threshold for threshold in thresholds if finite_or_none(threshold) is not None}))


def get_topic_series(stop: Stop) -> dict[str, tuple[float | None, ...]]:
    """Return how well each topic of the outline was covered after each round; empty without an outline."""
    names = dict.fromkeys(topic for record in stop.rounds for topic in list_topic_coverage(record.readings))
    return {name: get_reading_series(stop, f"{TOPIC_PREFIX}{name}") for name in names}


def describe_outcome(stop: Stop, record: RoundRecord) -> str:
    verdicts = list_leaf_verdicts(record)
    stopping = ", ".join(dict.fromkeys(leaf.gate for leaf in verdicts if leaf.stop))
    unknown = ", ".join(dict.fromkeys(leaf.gate for leaf in verdicts if leaf.stop is None))
    if record.index == stop.round and stop.rounds[-1] is record:
        gate = f" ({stop.gate})" if stop.gate not in ("", stop.reason) else ""
        outcome = f"stop: {stop.reason.replace('_', ' ')}{gate}"
    elif stopping:
        outcome = f"continue, although {stopping} would stop"
    else:
        outcome = "continue"
    if not record.accepted:
        outcome += "; round rejected"
    return outcome + (f"; unknown: {unknown}" if unknown else "")


def _get_value(record: RoundRecord, name: str) -> float | None:
    own = (leaf.signals[name][0] for leaf in list_leaf_verdicts(record) if name in leaf.signals)
    values = map(finite_or_none, (record.readings.get(name), *own))
    return next((value for value in values if value is not None), None)
