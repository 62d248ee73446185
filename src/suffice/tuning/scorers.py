"""How good a report is, from 0 to 1; ``None`` if that cannot be said.

review    the composite score of the review, divided by 10
support   the share of claims that a source supports; 0 without an answer
recall    the share of the gold passages that the report cites
f1        the token F1 of the short answer
"""

from collections.abc import Callable, Mapping

from suffice.measure.answers import token_f1
from suffice.tuning.suite import TuningTask
from suffice.types import Report

Score = Callable[[Report, TuningTask], float | None]


def score_review(report: Report, task: TuningTask) -> float | None:
    composite = (report.metadata.get("review") or {}).get("composite")
    return None if composite is None else float(composite) / 10


def score_support(report: Report, task: TuningTask) -> float | None:
    if not report.final_answer:
        return 0.0
    checked = [claim for claim in report.claims if claim.support != "unknown"]
    # What was removed counts, or the check itself would make every text perfect.
    total = len(checked) + len(report.removed)
    return sum(claim.support == "supported" for claim in checked) / total if total else None


def score_recall(report: Report, task: TuningTask) -> float | None:
    if not task.gold:
        return None
    cited = [source.location for source in report.sources]
    found = sum(any(_names(location, gold) for location in cited) for gold in task.gold)
    return found / len(task.gold)


def score_f1(report: Report, task: TuningTask) -> float | None:
    return token_f1(report.short_answer or "", task.answers) if task.answers else None


SCORERS: Mapping[str, Score] = {
    "review": score_review,
    "support": score_support,
    "recall": score_recall,
    "f1": score_f1,
}


def _names(location: str, gold: str) -> bool:
    """Whether a location is the gold passage: the same place, the record of that id, or a part of that file."""
    path = location.rpartition("#")[0] or location.rpartition(":")[0] or location
    return (
        gold in (location, location.rpartition("#")[2].partition("#")[0]) or path == gold or path.endswith(f"/{gold}")
    )
