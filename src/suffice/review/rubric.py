"""S4's rubric: six dimensions, their weights, and what an evaluation amounts to.

The composite is worked out here and never taken from a model. An evaluation that lacks a score, or has one outside 0 to 10, is
unreadable: its composite is unknown.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median

from suffice.prompts import Evaluation, EvaluationIssue

# In hundredths, so that a composite is exact.
WEIGHTS = {"relevance": 20, "completeness": 20, "depth": 25, "grounded": 15, "specificity": 10, "structure": 10}
WHOLE_TEXT = "the whole text"
_MAX_ISSUES = 8  # Issues that a revision is given: more are not mended at once.
_MAX_ISSUE_CHARS = 300

Scores = Mapping[str, float]


def parse_scores(evaluation: Evaluation) -> Scores | None:
    """The six scores; ``None`` when they cannot all be read."""
    found = {name: getattr(evaluation, name) for name in WEIGHTS}
    if any(score is None or not 0 <= score <= 10 for score in found.values()):  # NaN is not between them either.
        return None
    return found


def median_scores(readers: Sequence[Scores]) -> Scores | None:
    """What several readers say together: the median of each dimension, so that one strange reader decides nothing."""
    if not readers:
        return None
    return {name: float(median(reader[name] for reader in readers)) for name in WEIGHTS}


def composite_score(found: Scores) -> float:
    """The weighted mean, rounded half up to one digit.

    >>> composite({"relevance": 9, "completeness": 8, "depth": 7, "grounded": 8, "specificity": 8, "structure": 8})
    8.0
    """
    hundredths = sum(weight * found[name] for name, weight in WEIGHTS.items())
    return math.floor(hundredths / 10 + 0.5 + 1e-9) / 10


def list_issues(
    named: Sequence[EvaluationIssue], found: Scores, sections: Sequence[str], pass_mark: float
) -> tuple[str, ...]:
    """What to mend, in words. Each says its dimension and its section; a dimension below the mark that the reader said nothing
    about gets an issue of its own. Weakest dimension first."""
    told: dict[str, list[str]] = {}
    for issue in named:
        dimension = issue.dimension.strip().lower()
        problem = " ".join(issue.problem.split())[:_MAX_ISSUE_CHARS]
        if dimension in WEIGHTS and problem:
            told.setdefault(dimension, []).append(f"{dimension}, {_format_section(issue.section, sections)}: {problem}")
    for dimension, score in found.items():
        if score < pass_mark:
            told.setdefault(dimension, [f"{dimension}, {WHOLE_TEXT}: scored {score:g} of 10"])
    weakest = sorted(told, key=lambda dimension: (found[dimension], -WEIGHTS[dimension]))
    return tuple(dict.fromkeys(line for dimension in weakest for line in told[dimension]))[:_MAX_ISSUES]


def find_issue_section(issue: str, sections: Sequence[str]) -> str | None:
    """The section that an issue names; ``None`` when it is about the whole."""
    place = issue.partition(", ")[2]
    return next((title for title in sorted(sections, key=len, reverse=True) if place.startswith(f"“{title}”")), None)


def _format_section(named: str, sections: Sequence[str]) -> str:
    wanted = " ".join(named.strip().lstrip("#").split()).lower()
    title = next((title for title in sections if wanted and " ".join(title.split()).lower() == wanted), None)
    return WHOLE_TEXT if title is None else f"“{title}”"
