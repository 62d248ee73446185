"""The part of the page that says how the text was made: programs behind computed figures, and the review."""

from collections.abc import Sequence
from html import escape

from suffice.types import Report
from suffice.write.made import build_review_table, get_open_issues, parse_computations, parse_review, summarize_review
from suffice.write.plain import strip_control_chars, to_one_line
from suffice.write.prose import MarkdownRenderer


def render_provenance(report: Report, prose: MarkdownRenderer) -> str:
    return "\n".join(filter(None, (_render_computations(report, prose), _render_review(report))))


def _render_computations(report: Report, prose: MarkdownRenderer) -> str:
    blocks = "".join(
        f'<figure class="quote"><pre tabindex="0"><code>{escape(strip_control_chars(text))}</code></pre>'
        f"<figcaption>{prose.render_citation(handle)}</figcaption></figure>"
        for handle, text in parse_computations(report)
    )
    return _render_section("computed", "Computed from the sources", blocks) if blocks else ""


def _render_review(report: Report) -> str:
    review = parse_review(report)
    if review is None:
        return ""
    issues = () if review.passed else get_open_issues(review)
    items = "".join(f'<li dir="auto">{escape(to_one_line(issue, 400))}</li>' for issue in issues)
    missed = f"<h3>What the reviewer still misses</h3><ul>{items}</ul>" if items else ""
    return _render_section(
        "review",
        "Review",
        f"<p>{escape(summarize_review(review))}</p>{_render_table(build_review_table(review))}{missed}",
    )


def _render_table(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col" class="number">{escape(to_one_line(cell, 40))}</th>' for cell in rows[0])
    body = "".join(
        f'<tr><th scope="row" class="number">{escape(to_one_line(row[0], 12))}</th>'
        + "".join(f'<td class="number">{escape(to_one_line(cell, 12))}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows[1:]
    )
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Scores by round"><table class="rounds">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _render_section(anchor: str, title: str, inner: str) -> str:
    return f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{title}</h2>{inner}</section>'
