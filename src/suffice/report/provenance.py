"""How a text came to be, as a report's metadata tells it: its review and its computations, read back for the renderers.

Metadata may come from a file that somebody else wrote: what does not look like ours is passed over.
"""

from suffice.text.plain import UNKNOWN_TEXT, finite_or_none
from suffice.types import Report, Review

REVIEW_ENDING_TEXT = {
    "passed": "it passed",
    "failed": "it did not pass within the rounds there are",
    "no_progress": "two rounds scored the same",
    "empty_revision": "a revision brought nothing that the sources support",
    "unreadable": "an evaluation could not be read",
    "budget": "time, tokens or money were used up",
    "cancelled": "it was interrupted",
}


def parse_review(report: Report) -> Review | None:
    import msgspec

    if "review" not in report.metadata:
        return None
    try:
        return msgspec.convert(report.metadata["review"], Review)
    except msgspec.ValidationError:
        return None


def summarize_review(review: Review) -> str:
    """The review in a sentence or two."""
    ended = REVIEW_ENDING_TEXT.get(review.ending, "it ended")
    if review.composite is None:
        return f"Not reviewed: {ended}."
    rounds = f"{len(review.rounds)} {'round' if len(review.rounds) == 1 else 'rounds'}"
    passed = "Passed" if review.passed else "Not passed"
    kept = f" The text is that of round {review.kept}." if len(review.rounds) > 1 else ""
    score, mark = _format_score(review.composite), _format_score(review.pass_mark)
    return f"{passed}: {score} of 10 after {rounds}, where {mark} is enough; the review ended because {ended}.{kept}"


def build_review_table(review: Review) -> list[list[str]]:
    """A row a round: its number, each dimension, the composite. The first row is the head."""
    names = list(next((judged.scores for judged in review.rounds if judged.scores), {}))
    rows = [
        [
            str(judged.round),
            *(_format_score((judged.scores or {}).get(name)) for name in names),
            _format_score(judged.composite),
        ]
        for judged in review.rounds
    ]
    return [["Round", *names, "Composite"], *rows] if names else []


def get_open_issues(review: Review) -> tuple[str, ...]:
    """What the reviewer still found wrong with the text as it is."""
    kept = next((judged for judged in review.rounds if judged.round == review.kept), None)
    return () if kept is None else kept.issues


def parse_computations(report: Report) -> list[tuple[str, str]]:
    """The handle of each computed source, and what it printed with its program."""
    found = report.metadata.get("computed")
    if not isinstance(found, dict):
        return []
    return [(handle, text) for handle, text in found.items() if isinstance(handle, str) and isinstance(text, str)]


def _format_score(value: float | None) -> str:
    return UNKNOWN_TEXT if finite_or_none(value) is None else f"{value:g}"
