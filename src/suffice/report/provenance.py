"""Read from a report's metadata how its text was made: the review and the computations.

The metadata may come from a file that another program wrote, so values of an unexpected shape are ignored.
"""

import msgspec

from suffice.events import Review
from suffice.text.plain import UNKNOWN_TEXT, count, finite_or_none
from suffice.types import Report

REVIEW_ENDING_TEXT = {
    "passed": "it passed",
    "failed": "it did not pass within the allowed rounds",
    "no_progress": "two rounds scored the same",
    "empty_revision": "a revision contained nothing that the sources support",
    "unreadable": "an evaluation could not be read",
    "budget": "the limit on time, tokens or cost was reached",
    "cancelled": "it was interrupted",
}


def parse_review(report: Report) -> Review | None:
    """Return the review of the answer; ``None`` if there was none."""
    try:
        return msgspec.convert(report.metadata.get("review"), Review)
    except msgspec.ValidationError:
        return None


def summarize_review(review: Review) -> str:
    ending = REVIEW_ENDING_TEXT.get(review.ending, "it ended")
    if review.composite is None:
        return f"Not reviewed: {ending}."
    verdict = "Passed" if review.passed else "Not passed"
    version = f" The text is that of round {review.kept}." if len(review.rounds) > 1 else ""
    score, mark = _format_score(review.composite), _format_score(review.pass_mark)
    rounds = count(len(review.rounds), "round")
    return f"{verdict}: {score} of 10 after {rounds} (pass mark {mark}); the review ended because {ending}.{version}"


def build_review_table(review: Review) -> list[list[str]]:
    """Return a table of the scores: a header row, then a row per round with its dimensions and composite."""
    names = list(next((judged.scores for judged in review.rounds if judged.scores), {}))
    rows = []
    for judged in review.rounds:
        scores = [(judged.scores or {}).get(name) for name in names]
        rows.append([str(judged.round), *map(_format_score, (*scores, judged.composite))])
    return [["Round", *names, "Composite"], *rows] if names else []


def get_open_issues(review: Review) -> tuple[str, ...]:
    """Return the issues that the reviewer found in the version that is reported."""
    reported = next((judged for judged in review.rounds if judged.round == review.kept), None)
    return () if reported is None else reported.issues


def parse_computations(report: Report) -> list[tuple[str, str]]:
    """Return the handle of each computed source with its output and program."""
    computed = report.metadata.get("computed")
    if not isinstance(computed, dict):
        return []
    return [(handle, text) for handle, text in computed.items() if isinstance(handle, str) and isinstance(text, str)]


def _format_score(value: float | None) -> str:
    return UNKNOWN_TEXT if finite_or_none(value) is None else f"{value:g}"


def describe_skills(report: Report) -> str:
    """Return which skills were active and why, in one line; empty if none was."""
    rows = report.metadata.get("skills") or []
    return "; ".join(f"/{row['name']}, because {row['why']}" for row in rows)
