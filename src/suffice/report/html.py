"""A report as one self-contained HTML page: it opens from a disk, asks nothing of a network and prints well.

Every text of a document or a model passes ``Prose`` (Markdown) or ``_text`` (everything else). The page's own style and
script are the only ones its content policy lets run, by their hash. It knows nothing of files or doors.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from html import escape

from suffice.gates.explanation import PROMISE_TEXT, STOP_REASON_TEXT, describe_sufficiency
from suffice.report import chart
from suffice.report.answer_html import SUPPORT_SYMBOLS, MarkdownRenderer, highlight_claims, is_http_url
from suffice.report.markdown import NO_ANSWER_TEXT, format_usage
from suffice.report.provenance import (
    build_review_table,
    get_open_issues,
    parse_computations,
    parse_review,
    summarize_review,
)
from suffice.report.timeline import describe_outcome, get_reading_series, list_leaf_verdicts, select_readings
from suffice.text.plain import format_number, strip_control_chars, to_one_line
from suffice.types import Claim, Report, RoundRecord, Source, Span, Stop, SupportLabel

_MAX_HEADING_CHARS = 240


def render_html(report: Report) -> str:
    """The whole page."""
    prose = MarkdownRenderer(report.sources)
    # A claim is plain text; one written by someone else's hand may still be the answer's Markdown.
    looks = [((_escape_text(claim.text), prose.render_inline(claim.text)), claim.support) for claim in report.claims]
    answer, found = highlight_claims(prose.render_block(report.final_answer), looks)
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
<title>{_escape_text(report.task, 120) or "Report"}</title>
<style>{css}</style>
</head>
<body>
<a class="skip" href="#answer">Skip to the answer</a>
<header>
{_render_header(report, prose)}
</header>
<div class="columns">
<main>
<section id="answer" aria-labelledby="answer-title" tabindex="-1">
<h2 id="answer-title">Answer</h2>
<div class="prose" dir="auto">{answer}</div>
{_render_legend(report.claims)}
</section>
{_render_list("findings", "Key findings", map(prose.render_inline, report.key_findings))}
{_render_list("recommendations", "Recommendations", map(prose.render_inline, report.recommendations))}
{_render_list("risks", "Risks", map(prose.render_inline, report.risks))}
{_render_list("questions", "Open questions", map(_escape_text, report.open_questions))}
</main>
{_render_sources(report.sources)}
</div>
{_render_stop(report)}
{render_steps(report.stop)}
{_render_claims_table(report.claims, found, prose)}
{render_provenance(report, prose)}
<footer><p>{_escape_text(format_usage(report.usage))}</p><p>Run {_escape_text(report.run, 80)}</p></footer>
<script>{js}</script>
</body>
</html>
"""


def _render_header(report: Report, prose: MarkdownRenderer) -> str:
    task = to_one_line(report.task)
    parts = [f'<p class="kicker">Research memo · {_escape_text(report.status.replace("_", " "))}</p>']
    parts.append(f'<h1 dir="auto">{_escape_text(task, _MAX_HEADING_CHARS) or "Report"}</h1>')
    if len(task) > _MAX_HEADING_CHARS:
        parts.append(f'<details><summary>The whole question</summary><p dir="auto">{_escape_text(task)}</p></details>')
    if report.summary and to_one_line(report.summary) not in to_one_line(report.final_answer):
        parts.append(f'<p class="lede" dir="auto">{prose.render_inline(report.summary)}</p>')
    if report.status in NO_ANSWER_TEXT:
        parts.append(f'<p class="notice">{NO_ANSWER_TEXT[report.status]}</p>')
    stop = report.stop
    parts.append(
        f'<p class="stopline"><a href="#why">Stopped after round {stop.round}</a>: '
        f"{_escape_text(STOP_REASON_TEXT.get(stop.reason, stop.reason))}.</p>"
    )
    return "\n".join(parts)


def _render_legend(claims: Sequence[Claim]) -> str:
    counts = {support: sum(claim.support == support for claim in claims) for support in SUPPORT_SYMBOLS}
    items = [f"{_render_verdict(s)} {count} {s}" for s, count in counts.items() if count]
    return f'<p class="legend"><a href="#claims">Claims</a>: {" · ".join(items)}</p>' if items else ""


def _render_list(anchor: str, title: str, lines: Iterable[str]) -> str:
    items = "".join(f'<li dir="auto">{line}</li>' for line in lines)
    if not items:
        return ""
    return f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{title}</h2><ul>{items}</ul></section>'


def _render_sources(sources: Sequence[Source]) -> str:
    if not sources:
        return ""
    items = []
    for position, source in enumerate(sources, start=1):
        title, place = _escape_text(source.title or source.location, 200), _format_location(source.location)
        if is_http_url(source.url):
            place = (
                f'<a href="{escape(strip_control_chars(source.url))}" rel="noopener noreferrer nofollow">{place}</a>'
            )
        items.append(
            f'<li id="source-{position}" tabindex="-1"><span class="handle">{_escape_text(source.id, 12)}</span>'
            f'<div><p class="title" dir="auto">{title}</p><p class="place"><bdi>{place}</bdi></p></div></li>'
        )
    return f'<aside aria-labelledby="sources"><h2 id="sources">Sources</h2><ol>{"".join(items)}</ol></aside>'


def _render_stop(report: Report) -> str:
    stop = report.stop
    picture = chart.render_chart(stop, prefix="chart")
    figure = (
        f'<figure><div class="wide">{picture}</div>'
        f'<div class="narrow">{chart.render_chart(stop, width=350, prefix="small")}</div>'
        "<figcaption>Each reading over the rounds, on its own scale. Blue and bold: those that ended the search. "
        "Dashed: the threshold. Hatched: a rejected round. A gap: not known.</figcaption></figure>"
    )
    failed = "".join(f'<li dir="auto">{_escape_text(query, 300)}</li>' for query in report.failed_queries)
    return f"""<section id="why" aria-labelledby="why-title">
<h2 id="why-title">Why it stopped</h2>
<p class="explanation" dir="auto">{_escape_text(stop.explanation)}</p>
<dl class="facts"><div><dt>Ending</dt><dd>{_escape_text(stop.reason.replace("_", " "), 60)}</dd></div>
<div><dt>Gate</dt><dd><code>{_escape_text(stop.expression or stop.gate, 400)}</code></dd></div>
<div><dt>Evidence judged sufficient</dt><dd>{describe_sufficiency(report.sufficient, report.confidence)}</dd></div>
<div><dt>Promise</dt><dd>{stop.promise}: {PROMISE_TEXT[stop.promise]}</dd></div></dl>
{figure if picture else ""}
{_render_rounds_table(stop)}
{f"<h3>Searches that led nowhere</h3><ul>{failed}</ul>" if failed else ""}
</section>"""


def _render_rounds_table(stop: Stop) -> str:
    if not stop.rounds:
        return "<p>No round was completed.</p>"
    names = select_readings(stop)
    columns = [get_reading_series(stop, name) for name in names]
    heads = "".join(f'<th scope="col" class="number">{_escape_text(name, 40)}</th>' for name in names)
    rows = "".join(
        _render_round_row(stop, record, [column[i] for column in columns]) for i, record in enumerate(stop.rounds)
    )
    return (
        '<div class="scroll" role="region" tabindex="0" aria-label="Round by round"><table class="rounds"><thead><tr>'
        '<th scope="col" class="number">Round</th><th scope="col">Queries</th><th scope="col" class="number">New</th>'
        f'{heads}<th scope="col">Verdict</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _render_round_row(stop: Stop, record: RoundRecord, values: Iterable[float | None]) -> str:
    kind = " ".join(["stopping"] * (record.index == stop.round) + ["rejected"] * (not record.accepted))
    queries = "".join(f'<li dir="auto">{_escape_text(query, 300)}</li>' for query in record.queries)
    readings = "".join(f'<td class="number">{format_number(value)}</td>' for value in values)
    words = ((leaf.gate, leaf.because) for leaf in list_leaf_verdicts(record) if leaf.because)
    because = "".join(f"<li><code>{_escape_text(gate, 80)}</code> {_escape_text(why, 400)}</li>" for gate, why in words)
    more = f"<details><summary>gates</summary><ul>{because}</ul></details>" if because else ""
    verdict = f"{_escape_text(describe_outcome(stop, record), 200)}{more}"
    return (
        f'<tr class="{kind}"><th scope="row" class="number">{record.index}</th><td><ul>{queries}</ul></td>'
        f'<td class="number">{record.new_passages}</td>{readings}<td>{verdict}</td></tr>'
    )


def _render_claims_table(claims: Sequence[Claim], found: frozenset[int], prose: MarkdownRenderer) -> str:
    if not claims:
        return ""
    rows = []
    for position, claim in enumerate(claims, start=1):
        aside = "" if position in found else ' <span class="aside">(not a sentence of the answer as it stands)</span>'
        spans = "".join(_render_span(span, prose) for span in claim.spans) or "<p>No passage speaks to it.</p>"
        rows.append(
            f'<tr id="claim-{position}" tabindex="-1"><th scope="row" class="number">{position}</th>'
            f'<td dir="auto">{_escape_text(claim.text)} {"".join(map(prose.render_citation, claim.citations))}{aside}</td>'
            f'<td class="support">{_render_verdict(claim.support)} {claim.support}</td>'
            f'<td id="evidence-{position}" class="evidence">{spans}</td></tr>'
        )
    return (
        '<section id="claims" aria-labelledby="claims-title"><h2 id="claims-title">Claims and their evidence</h2>'
        '<table class="claims"><thead><tr><th scope="col" class="number">#</th><th scope="col">Claim</th>'
        f'<th scope="col">Verdict</th><th scope="col">Evidence</th></tr></thead><tbody>'
        f"{''.join(rows)}</tbody></table></section>"
    )


def _render_verdict(support: SupportLabel) -> str:
    return f'<span class="verdict {support}">{SUPPORT_SYMBOLS[support]}</span>'


def _render_span(span: Span, prose: MarkdownRenderer) -> str:
    stance = '<span class="against">against:</span> ' if span.stance == "contradicts" else ""
    return (
        f'<figure class="quote">{stance}<blockquote dir="auto">{_escape_text(span.quote, 1200)}</blockquote>'
        f"<figcaption>{prose.render_citation(span.source)} <bdi>{_format_location(span.location)}</bdi></figcaption></figure>"
    )


def _escape_text(text: str, limit: int | None = None) -> str:
    return escape(to_one_line(text, limit))


def _format_location(location: str) -> str:
    """A location that breaks at its slashes and not within a line number."""
    return _escape_text(location, 300).replace("/", "/<wbr>")


def _csp_hash(asset: str) -> str:
    return f"sha256-{b64encode(sha256(asset.encode()).digest()).decode()}"


@cache
def _load_asset(name: str) -> str:
    from importlib.resources import files

    return "\n" + files("suffice.report").joinpath(name).read_text(encoding="utf-8")


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


def render_steps(stop: Stop) -> str:
    """The section; empty when no round kept what it found or believed, as in a report of an older version."""
    if not any(record.found or record.belief or record.open for record in stop.rounds):
        return ""
    known: frozenset[str] = frozenset()
    html: list[str] = []
    for record in stop.rounds:
        html.append(_render_step(stop, record, known, first=not html))
        known = frozenset(record.belief)
    return f"""<section id="steps" aria-labelledby="steps-title">
<h2 id="steps-title">Round by round: what was found and believed</h2>
<p class="stepper" hidden><button type="button" data-step="-1">← Previous</button>
<span role="status"></span>
<button type="button" data-step="1">Next →</button></p>
{"".join(html)}
</section>"""


def _render_step(stop: Stop, record: RoundRecord, known: frozenset[str], first: bool) -> str:
    new = f"{record.new_passages} new {'passage' if record.new_passages == 1 else 'passages'}"
    return (
        f'<details class="step" name="step"{" open" if first else ""}>'
        f"<summary>Round {record.index} · {new} · {_escape_text(describe_outcome(stop, record), 200)}</summary>"
        f"{_render_part('Asked', map(_render_item, record.queries))}"
        f"{_render_part('Found', map(_render_item, record.found))}"
        f"{_render_part('Believed after it', (_render_item(note, note not in known) for note in record.belief))}"
        f"{_render_dropped_count(len(known - set(record.belief)))}"
        f"{_render_part('Still open', map(_render_item, record.open))}</details>"
    )


def _render_part(title: str, items: Iterable[str]) -> str:
    inside = "".join(items)
    return f"<h3>{title}</h3><ul>{inside}</ul>" if inside else ""


def _render_item(text: str, new: bool = False) -> str:
    mark = '<span class="handle">new</span> ' if new else ""
    return f'<li dir="auto">{mark}{_escape_text(text, 500)}</li>'


def _render_dropped_count(count: int) -> str:
    notes = "note is" if count == 1 else "notes are"
    return f'<p class="aside">{count} earlier {notes} no longer shown.</p>' if count else ""
