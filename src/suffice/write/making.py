"""The part of the page that says how the text was made: programs behind computed figures, and the review."""

from collections.abc import Sequence
from html import escape

from suffice.types import Report
from suffice.write.made import computations, review_issues, review_of, review_table, review_words
from suffice.write.plain import clean, one_line
from suffice.write.prose import Prose


def render(report: Report, prose: Prose) -> str:
    return "\n".join(filter(None, (_computed(report, prose), _review(report))))


def _computed(report: Report, prose: Prose) -> str:
    blocks = "".join(
        f'<figure class="quote"><pre tabindex="0"><code>{escape(clean(text))}</code></pre>'
        f"<figcaption>{prose.cite(handle)}</figcaption></figure>"
        for handle, text in computations(report)
    )
    return _section("computed", "Computed from the sources", blocks) if blocks else ""


def _review(report: Report) -> str:
    review = review_of(report)
    if review is None:
        return ""
    issues = () if review.passed else review_issues(review)
    items = "".join(f'<li dir="auto">{escape(one_line(issue, 400))}</li>' for issue in issues)
    missed = f"<h3>What the reviewer still misses</h3><ul>{items}</ul>" if items else ""
    return _section("review", "Review", f"<p>{escape(review_words(review))}</p>{_table(review_table(review))}{missed}")


def _table(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col" class="number">{escape(one_line(cell, 40))}</th>' for cell in rows[0])
    body = "".join(
        f'<tr><th scope="row" class="number">{escape(one_line(row[0], 12))}</th>'
        + "".join(f'<td class="number">{escape(one_line(cell, 12))}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows[1:]
    )
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Scores by round"><table class="rounds">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _section(anchor: str, title: str, inner: str) -> str:
    return f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{title}</h2>{inner}</section>'
