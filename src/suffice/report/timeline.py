"""What the rounds of a run showed: which readings matter to its stop, their course, and each round's outcome in words.

It knows nothing of charts or formats; the chart, the tables and the terminal all read a stop through it, so that they
agree on what is shown.
"""

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
    """The verdicts of the round, composed ones taken apart."""
    return tuple(leaf for verdict in record.verdicts for leaf in verdict.leaves)


def list_stopping_verdicts(stop: Stop) -> tuple[Verdict, ...]:
    """The verdicts that said stop in the round that ended the run, the one that named the ending first."""
    said = [
        leaf for record in stop.rounds if record.index == stop.round for leaf in list_leaf_verdicts(record) if leaf.stop
    ]
    return tuple(sorted(said, key=lambda leaf: (leaf.reason != stop.reason, leaf.gate != stop.gate)))


def select_readings(stop: Stop, limit: int = 6) -> tuple[str, ...]:
    """The readings worth showing: those that ended the run, those other verdicts used, then the telling ones.

    A budget that did not end the run explains nothing, so what it counted is left out; so is a reading no round has.
    """
    ended = [name for leaf in list_stopping_verdicts(stop) for name in leaf.signals]
    used = [name for record in stop.rounds for leaf in list_leaf_verdicts(record) for name in leaf.signals]
    names = dict.fromkeys([*ended, *(name for name in used if not name.startswith("spend.")), *_DEFAULT_READINGS])
    return tuple(name for name in names if any(value is not None for value in get_reading_series(stop, name)))[:limit]


def get_reading_series(stop: Stop, name: str) -> tuple[float | None, ...]:
    """A reading's value in each round; where the round did not keep it, the value a verdict saw."""
    return tuple(_get_value(record, name) for record in stop.rounds)


def get_reading_thresholds(stop: Stop, name: str) -> tuple[float, ...]:
    """The distinct limits that verdicts held the reading against."""
    limits = [
        leaf.signals[name][1] for record in stop.rounds for leaf in list_leaf_verdicts(record) if name in leaf.signals
    ]
    return tuple(sorted({limit for limit in limits if finite_or_none(limit) is not None}))


def describe_outcome(stop: Stop, record: RoundRecord) -> str:
    """The round's verdict in a few words."""
    said = list_leaf_verdicts(record)
    names = ", ".join(dict.fromkeys(leaf.gate for leaf in said if leaf.stop))
    unsure = ", ".join(dict.fromkeys(leaf.gate for leaf in said if leaf.stop is None))
    if record.index == stop.round and stop.rounds[-1] is record:
        words = f"stop: {stop.reason}" + (f" ({stop.gate})" if stop.gate else "")
    elif names:
        words = f"go on, though {names} would stop"
    else:
        words = "go on"
    words += "" if record.accepted else "; round rejected"
    return words + (f"; unknown: {unsure}" if unsure else "")


def _get_value(record: RoundRecord, name: str) -> float | None:
    value = finite_or_none(record.readings.get(name))
    if value is not None:
        return value
    return next(
        (finite_or_none(leaf.signals[name][0]) for leaf in list_leaf_verdicts(record) if name in leaf.signals), None
    )
