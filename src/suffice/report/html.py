"""Render a report as one self-contained HTML page that opens from disk, loads nothing from the network and prints well.

Every text of a document or a model passes ``MarkdownRenderer`` or ``_escape``. The page's content security policy allows
only its own style and script, by their hash. This module does not know about files or interfaces.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from html import escape

from suffice.gates.explanation import PROMISE_TEXT, STOP_REASON_TEXT, describe_sufficiency
from suffice.report.answer_html import SUPPORT_SYMBOLS, MarkdownRenderer, highlight_claims, is_http_url
from suffice.report.chart import render_chart
from suffice.report.markdown import NO_ANSWER_TEXT, format_usage
from suffice.report.provenance import (
    build_review_table,
    describe_skills,
    get_open_issues,
    parse_computations,
    parse_review,
    summarize_review,
)
from suffice.report.timeline import describe_outcome, get_reading_series, list_leaf_verdicts, select_readings
from suffice.text.plain import format_number, strip_control_chars, to_one_line
from suffice.types import Claim, Report, RoundRecord, Source, Span, Stop, SupportLabel

_MAX_HEADING_CHARS = 240
_NARROW_CHART_WIDTH = 350  # Units of the chart's text; for screens of about 360 pixels.


def render_html(report: Report) -> str:
    """Return the whole page."""
    renderer = MarkdownRenderer(report.sources)
    # A claim is plain text. In a report that another program wrote it may still be Markdown, so both forms are tried.
    claims = [((_escape(claim.text), renderer.render_inline(claim.text)), claim.support) for claim in report.claims]
    answer, highlighted = highlight_claims(renderer.render_block(report.final_answer), claims)
    css, js = _load_asset("report.css"), _load_asset("report.js")
    policy = (
        f"default-src 'none'; style-src '{_csp_hash(css)}'; script-src '{_csp_hash(js)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{_escape(report.task, 120) or "Report"}</title>
<style>{css}</style>
</head>
<body>
<a class="skip" href="#answer">Skip to the answer</a>
<header>
{_render_header(report, renderer)}
</header>
<div class="columns">
<main>
<section id="answer" aria-labelledby="answer-title" tabindex="-1">
<h2 id="answer-title">Answer</h2>
<div class="prose" dir="auto">{answer}</div>
{_render_legend(report.claims)}
</section>
{_render_list_section("findings", "Key findings", map(renderer.render_inline, report.key_findings))}
{_render_list_section("recommendations", "Recommendations", map(renderer.render_inline, report.recommendations))}
{_render_list_section("risks", "Risks", map(renderer.render_inline, report.risks))}
{_render_list_section("questions", "Open questions", map(_escape, report.open_questions))}
</main>
{_render_sources(report.sources)}
</div>
{_render_stop(report)}
{render_steps(report.stop)}
{_render_claims_table(report.claims, highlighted, renderer)}
{_render_computations(report, renderer)}
{_render_review(report)}
<footer>{_render_skills(report)}<p>{_escape(format_usage(report.usage))}</p><p>Run {_escape(report.run, 80)}</p></footer>
<script>{js}</script>
</body>
</html>
"""


# -- Header, answer and sources ----------------------------------------------------------------------------------------


def _render_header(report: Report, renderer: MarkdownRenderer) -> str:
    task = to_one_line(report.task)
    parts = [f'<p class="kicker">Research report · {_escape(report.status.replace("_", " "))}</p>']
    parts.append(f'<h1 dir="auto">{_escape(task, _MAX_HEADING_CHARS) or "Report"}</h1>')
    if len(task) > _MAX_HEADING_CHARS:
        parts.append(f'<details><summary>Full question</summary><p dir="auto">{_escape(task)}</p></details>')
    if report.summary and to_one_line(report.summary) not in to_one_line(report.final_answer):
        parts.append(f'<p class="lede" dir="auto">{renderer.render_inline(report.summary)}</p>')
    if report.status in NO_ANSWER_TEXT:
        parts.append(f'<p class="notice">{NO_ANSWER_TEXT[report.status]}</p>')
    stop = report.stop
    parts.append(
        f'<p class="stopline"><a href="#why">Stopped after round {stop.round}</a>: '
        f"{_escape(STOP_REASON_TEXT.get(stop.reason, stop.reason))}.</p>"
    )
    return "\n".join(parts)


def _render_legend(claims: Sequence[Claim]) -> str:
    counts = {support: sum(claim.support == support for claim in claims) for support in SUPPORT_SYMBOLS}
    items = [f"{_render_symbol(support)} {count} {support}" for support, count in counts.items() if count]
    return f'<p class="legend"><a href="#claims">Claims</a>: {" · ".join(items)}</p>' if items else ""


def _render_sources(sources: Sequence[Source]) -> str:
    if not sources:
        return ""
    items = []
    for position, source in enumerate(sources, start=1):
        title, place = _escape(source.title or source.location, 200), _format_location(source.location)
        if is_http_url(source.url):
            place = (
                f'<a href="{escape(strip_control_chars(source.url))}" rel="noopener noreferrer nofollow">{place}</a>'
            )
        items.append(
            f'<li id="source-{position}" tabindex="-1"><span class="handle">{_escape(source.id, 12)}</span>'
            f'<div><p class="title" dir="auto">{title}</p><p class="place"><bdi>{place}</bdi></p></div></li>'
        )
    return f'<aside aria-labelledby="sources"><h2 id="sources">Sources</h2><ol>{"".join(items)}</ol></aside>'


# -- Why it stopped ----------------------------------------------------------------------------------------------------


def _render_stop(report: Report) -> str:
    stop = report.stop
    chart = render_chart(stop, prefix="chart")
    figure = (
        f'<figure><div class="wide">{chart}</div>'
        f'<div class="narrow">{render_chart(stop, width=_NARROW_CHART_WIDTH, prefix="small")}</div>'
        "<figcaption>Each reading over the rounds, on its own scale. Blue and bold: the readings that ended the search. "
        "Dashed: the threshold. Hatched: a rejected round. A gap: unknown.</figcaption></figure>"
    )
    failed_queries = _render_items(_escape(query, 300) for query in report.failed_queries)
    return f"""<section id="why" aria-labelledby="why-title">
<h2 id="why-title">Why it stopped</h2>
<p class="explanation" dir="auto">{_escape(stop.explanation)}</p>
<dl class="facts"><div><dt>Reason</dt><dd>{_escape(stop.reason.replace("_", " "), 60)}</dd></div>
<div><dt>Gate</dt><dd><code>{_escape(stop.expression or stop.gate, 400)}</code></dd></div>
<div><dt>Evidence judged sufficient</dt><dd>{describe_sufficiency(report.sufficient, report.confidence)}</dd></div>
<div><dt>Promise</dt><dd>{stop.promise}: {PROMISE_TEXT[stop.promise]}</dd></div></dl>
{figure if chart else ""}
{_render_rounds_table(stop)}
{f"<h3>Searches with few results</h3>{failed_queries}" if failed_queries else ""}
</section>"""


def _render_rounds_table(stop: Stop) -> str:
    if not stop.rounds:
        return "<p>No round was completed.</p>"
    names = select_readings(stop)
    series = [get_reading_series(stop, name) for name in names]
    heads = "".join(f'<th scope="col" class="number">{_escape(name, 40)}</th>' for name in names)
    rows = "".join(
        _render_round_row(stop, record, [values[i] for values in series]) for i, record in enumerate(stop.rounds)
    )
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Round by round"><table class="rounds"><thead><tr>'
        '<th scope="col" class="number">Round</th><th scope="col">Queries</th><th scope="col" class="number">New</th>'
        f'{heads}<th scope="col">Verdict</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _render_round_row(stop: Stop, record: RoundRecord, values: Iterable[float | None]) -> str:
    classes = " ".join(["stopping"] * (record.index == stop.round) + ["rejected"] * (not record.accepted))
    queries = "".join(f'<li dir="auto">{_escape(query, 300)}</li>' for query in record.queries)
    readings = "".join(f'<td class="number">{format_number(value)}</td>' for value in values)
    reasons = "".join(
        f"<li><code>{_escape(leaf.gate, 80)}</code> {_escape(leaf.because, 400)}</li>"
        for leaf in list_leaf_verdicts(record)
        if leaf.because
    )
    details = f"<details><summary>gates</summary><ul>{reasons}</ul></details>" if reasons else ""
    return (
        f'<tr class="{classes}"><th scope="row" class="number">{record.index}</th><td><ul>{queries}</ul></td>'
        f'<td class="number">{record.new_passages}</td>{readings}'
        f"<td>{_escape(describe_outcome(stop, record), 200)}{details}</td></tr>"
    )


# -- Round by round ----------------------------------------------------------------------------------------------------


def render_steps(stop: Stop) -> str:
    """Return the section that steps through the rounds; empty if no round recorded what it found or believed.

    Reports of older versions have no such records.
    """
    if not any(record.found or record.belief or record.open for record in stop.rounds):
        return ""
    known: frozenset[str] = frozenset()
    steps: list[str] = []
    for record in stop.rounds:
        steps.append(_render_step(stop, record, known, is_open=not steps))
        known = frozenset(record.belief)
    return f"""<section id="steps" aria-labelledby="steps-title">
<h2 id="steps-title">Round by round: what was found and believed</h2>
<p class="stepper" hidden><button type="button" data-step="-1">← Previous</button>
<span role="status"></span>
<button type="button" data-step="1">Next →</button></p>
{"".join(steps)}
</section>"""


def _render_step(stop: Stop, record: RoundRecord, known: frozenset[str], is_open: bool) -> str:
    """Render one round; ``known`` holds the notes of the round before, so that new ones can be labelled."""
    new = f"{record.new_passages} new {'passage' if record.new_passages == 1 else 'passages'}"
    notes = (
        ('<span class="handle">new</span> ' if note not in known else "") + _escape(note, 500) for note in record.belief
    )
    dropped = len(known - set(record.belief))
    dropped_notes = "note is" if dropped == 1 else "notes are"
    return (
        f'<details class="step" name="step"{" open" if is_open else ""}>'
        f"<summary>Round {record.index} · {new} · {_escape(describe_outcome(stop, record), 200)}</summary>"
        f"{_render_step_part('Queries', (_escape(query, 500) for query in record.queries))}"
        f"{_render_step_part('Found', (_escape(title, 500) for title in record.found))}"
        f"{_render_step_part('Belief after this round', notes)}"
        + (f'<p class="aside">{dropped} earlier {dropped_notes} no longer shown.</p>' if dropped else "")
        + f"{_render_step_part('Still open', (_escape(question, 500) for question in record.open))}</details>"
    )


def _render_step_part(title: str, items: Iterable[str]) -> str:
    listed = _render_items(items)
    return f"<h3>{title}</h3>{listed}" if listed else ""


# -- Claims ------------------------------------------------------------------------------------------------------------


def _render_claims_table(claims: Sequence[Claim], highlighted: frozenset[int], renderer: MarkdownRenderer) -> str:
    if not claims:
        return ""
    rows = []
    for position, claim in enumerate(claims, start=1):
        aside = "" if position in highlighted else ' <span class="aside">(not found in the answer as written)</span>'
        spans = "".join(_render_span(span, renderer) for span in claim.spans) or "<p>No passage addresses it.</p>"
        citations = "".join(map(renderer.render_citation, claim.citations))
        rows.append(
            f'<tr id="claim-{position}" tabindex="-1"><th scope="row" class="number">{position}</th>'
            f'<td dir="auto">{_escape(claim.text)} {citations}{aside}</td>'
            f'<td class="support">{_render_symbol(claim.support)} {claim.support}</td>'
            f'<td id="evidence-{position}" class="evidence">{spans}</td></tr>'
        )
    return (
        '<section id="claims" aria-labelledby="claims-title"><h2 id="claims-title">Claims and their evidence</h2>'
        '<table class="claims"><thead><tr><th scope="col" class="number">#</th><th scope="col">Claim</th>'
        f'<th scope="col">Verdict</th><th scope="col">Evidence</th></tr></thead><tbody>'
        f"{''.join(rows)}</tbody></table></section>"
    )


def _render_span(span: Span, renderer: MarkdownRenderer) -> str:
    stance = '<span class="against">against:</span> ' if span.stance == "contradicts" else ""
    return (
        f'<figure class="quote">{stance}<blockquote dir="auto">{_escape(span.quote, 1200)}</blockquote>'
        f"<figcaption>{renderer.render_citation(span.source)} <bdi>{_format_location(span.location)}</bdi>"
        "</figcaption></figure>"
    )


def _render_symbol(support: SupportLabel) -> str:
    return f'<span class="verdict {support}">{SUPPORT_SYMBOLS[support]}</span>'


# -- Provenance: computations and review -------------------------------------------------------------------------------


def _render_computations(report: Report, renderer: MarkdownRenderer) -> str:
    programs = "".join(
        f'<figure class="quote"><pre tabindex="0"><code>{escape(strip_control_chars(text))}</code></pre>'
        f"<figcaption>{renderer.render_citation(handle)}</figcaption></figure>"
        for handle, text in parse_computations(report)
    )
    return _render_section("computed", "Computed from the sources", programs) if programs else ""


def _render_review(report: Report) -> str:
    review = parse_review(report)
    if review is None:
        return ""
    issues = "" if review.passed else _render_items(_escape(issue, 400) for issue in get_open_issues(review))
    content = f"<p>{_escape(summarize_review(review))}</p>{_render_score_table(build_review_table(review))}"
    return _render_section("review", "Review", content + (f"<h3>Issues that remain</h3>{issues}" if issues else ""))


def _render_score_table(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col" class="number">{_escape(cell, 40)}</th>' for cell in rows[0])
    body = "".join(
        f'<tr><th scope="row" class="number">{_escape(row[0], 12)}</th>'
        + "".join(f'<td class="number">{_escape(cell, 12)}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows[1:]
    )
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Scores by round"><table class="rounds">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


# -- Helpers -----------------------------------------------------------------------------------------------------------


def _render_section(anchor: str, title: str, content: str) -> str:
    return f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{title}</h2>{content}</section>'


def _render_list_section(anchor: str, title: str, items: Iterable[str]) -> str:
    listed = _render_items(items)
    return _render_section(anchor, title, listed) if listed else ""


def _render_items(items: Iterable[str]) -> str:
    """Return a list of HTML items; empty if there are none."""
    listed = "".join(f'<li dir="auto">{item}</li>' for item in items)
    return f"<ul>{listed}</ul>" if listed else ""


def _escape(text: str, limit: int | None = None) -> str:
    return escape(to_one_line(text, limit))


def _format_location(location: str) -> str:
    """Return a location that may break after its slashes but not within a line number."""
    return _escape(location, 300).replace("/", "/<wbr>")


def _csp_hash(asset: str) -> str:
    return f"sha256-{b64encode(sha256(asset.encode()).digest()).decode()}"


@cache
def _load_asset(name: str) -> str:
    from importlib.resources import files

    return "\n" + files("suffice.report").joinpath(name).read_text(encoding="utf-8")


def _render_skills(report: Report) -> str:
    skills = describe_skills(report)
    return f"<p>Skills: {_escape(skills)}</p>" if skills else ""
