"""The review rubric: six dimensions, their weights, and the composite score of an evaluation.

The composite is computed here and not taken from a model. The weights are values of the source system, see docs/sources.md.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median

from suffice.prompts.judging import Evaluation, EvaluationIssue
from suffice.text.entities import content_stems
from suffice.text.plain import to_one_line

# In hundredths, so that the composite is exact.
WEIGHTS = {"relevance": 20, "completeness": 20, "depth": 25, "grounded": 15, "specificity": 10, "structure": 10}
WHOLE_TEXT = "the whole text"
_MAX_ISSUES = 8  # Issues for one revision; models do not resolve more at once.
_MAX_ISSUE_CHARS = 300
_SAME_ISSUE = 0.6  # Share of the content words that two wordings of one issue have in common.

Scores = Mapping[str, float]


def median_scores(readers: Sequence[Evaluation]) -> Scores:
    """Return the median of each dimension, so that one outlier among the readers does not decide."""
    return {name: float(median(getattr(reader, name) for reader in readers)) for name in WEIGHTS}


def composite_score(scores: Scores) -> float:
    """Return the weighted mean, rounded half up to one digit.

    >>> composite_score({"relevance": 9, "completeness": 8, "depth": 7, "grounded": 8, "specificity": 8, "structure": 8})
    8.0
    """
    hundredths = sum(weight * scores[name] for name, weight in WEIGHTS.items())
    return math.floor(hundredths / 10 + 0.5 + 1e-9) / 10


def list_issues(
    issues: Sequence[EvaluationIssue], scores: Scores, sections: Sequence[str], pass_mark: float
) -> tuple[str, ...]:
    """Return the issues as lines with dimension and section, the weakest dimension first.

    What a reader wrote is in quotation marks, because it is in the language of the task.

    A dimension below the pass mark for which the readers named no issue gets one of its own. What several readers name is
    listed once.
    """
    by_dimension: dict[str, list[str]] = {}
    seen: list[tuple[str, str]] = []
    for issue in issues:
        dimension = issue.dimension.strip().lower()
        problem, sentence = (to_one_line(text, _MAX_ISSUE_CHARS) for text in (issue.problem, issue.sentence))
        if dimension in WEIGHTS and problem:
            place = f"{dimension}, {_format_section(issue.section, sections)}: "
            if not any(place == other and _are_alike(text, problem) for other, text in seen):
                seen.append((place, problem))
                about = f" Of: “{sentence}”" if sentence else ""
                by_dimension.setdefault(dimension, []).append(f"{place}“{problem}”{about}")
    for dimension, score in scores.items():
        if score < pass_mark:
            by_dimension.setdefault(dimension, [f"{dimension}, {WHOLE_TEXT}: scored {score:g} of 10"])
    weakest_first = sorted(by_dimension, key=lambda dimension: (scores[dimension], -WEIGHTS[dimension]))
    return tuple(line for dimension in weakest_first for line in by_dimension[dimension])[:_MAX_ISSUES]


def _are_alike(one: str, other: str) -> bool:
    """Whether two issues of one section say the same, by the words of the shorter one."""
    stems = content_stems(one), content_stems(other)
    return one == other or len(stems[0] & stems[1]) >= _SAME_ISSUE * max(1, min(map(len, stems)))


def _format_section(name: str, sections: Sequence[str]) -> str:
    """Return the quoted title of the section that a reader named; the whole text if there is no such section."""
    key = " ".join(name.strip().lstrip("#").split()).lower()
    title = next((title for title in sections if key and " ".join(title.split()).lower() == key), None)
    return WHOLE_TEXT if title is None else f"“{title}”"
