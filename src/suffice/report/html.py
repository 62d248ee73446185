"""Render a report as one self-contained HTML page that opens from disk, loads nothing from the network and prints well.

Every text of a document or a model passes ``MarkdownRenderer`` or ``_escape``. The page's content security policy allows
only its own style and script, by their hash. This module does not know about files or interfaces.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html import escape

from suffice.gates.explanation import JUDGED_REASONS, PROMISE_TEXT, describe_sufficiency
from suffice.report import provenance, timeline, wording
from suffice.report.answer_html import SUPPORT_SYMBOLS, MarkdownRenderer, is_http_url, mark_claims, render_excerpt_text
from suffice.report.chart import render_chart
from suffice.report.markdown import build_bill, describe_partly, describe_refusal, describe_restated, format_usage
from suffice.report.notices import (
    BREADTH_KINDS,
    describe_completeness,
    describe_no_answer,
    describe_notice,
    describe_removed,
    render_breadth,
    render_disagreements,
    render_notices,
    render_origin,
)
from suffice.text.citations import find_citations
from suffice.text.languages import find_language_code
from suffice.text.markdown import escape_markdown, strip_markdown
from suffice.text.plain import count, replace_spans, strip_control_chars, to_one_line
from suffice.text.sections import ReportSection
from suffice.types import Claim, ClosestPassage, Excerpt, Report, RoundRecord, Source, Span, Stop, SupportLabel

_MAX_HEADING_CHARS = 240
_CHARTS = ((760, "chart"), (350, "small"))  # Widths in units of the chart's text, for large screens and for small ones.
_HEADING_MARK = re.compile(r"(?:(?<=\s)|^)#{1,6}\s+")
_MAX_STRETCHES = 6  # Of one source.
_MAX_NARROW_SOURCES = 6  # Columns of the table of sections and sources beside the answer.


def render_html(report: Report) -> str:
    renderer = MarkdownRenderer(report.sources)
    answer, highlighted = _render_answer(report, renderer)
    css, js, inline = _load_asset("report.css"), _load_asset("report.js"), renderer.render_inline
    skills, covered = provenance.describe_skills(report), describe_completeness(report)
    date, version = (str(report.metadata.get(name, "")) for name in ("timestamp", "version"))
    made = (format_usage(report.usage), f"run {report.run[:80]}", date[:10], version and f"suffice {version}")
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
{_render_header(report)}
</header>
<div class="columns">
<main>
<section id="answer" aria-labelledby="answer-title" tabindex="-1">
<h2 id="answer-title">Answer</h2>
{_render_notices(report)}
{answer}
</section>
{_render_closest(report, renderer)}
{_render_section("findings", ReportSection.FINDINGS, _render_items(map(inline, report.key_findings)))}
{_render_section("recommendations", ReportSection.RECOMMENDATIONS, _render_items(map(inline, report.recommendations)))}
{_render_section("risks", ReportSection.RISKS, _render_items(map(inline, report.risks)))}
{_render_map(report, renderer, is_wide=True)}
{_render_section("coverage", ReportSection.COVERAGE, covered and f"<p>{_escape(covered)}</p>")}
{_render_section("removed", ReportSection.REMOVED, _render_items(_escape(describe_removed(one)) for one in report.removed))}
{_render_section("questions", ReportSection.OPEN_QUESTIONS, _render_items(map(_escape, report.open_questions)))}
{_render_section("undone", ReportSection.LEFT_UNDONE, _render_items(map(_escape, report.left_undone)))}
</main>
{_render_sources(report, renderer)}
<section class="more" aria-label="How this answer was found">
{_render_stop(report)}
{_render_claims_table(_list_checked(report), None if report.excerpts else highlighted, renderer)}
{_render_computations(report, renderer)}
{_render_review(report)}
{_render_fold("bill", "What it cost, by role", _render_table(build_bill(report.usage), "Calls, tokens and cost by role"))}
</section>
</div>
<footer>{skills and f"<p>Skills: {_escape(skills)}</p>"}
<p>{_escape(" · ".join(filter(None, made)))}</p></footer>
<script>{js}</script>
</body>
</html>
"""


def _tag_language(text: str) -> str:
    """Return the attribute that tells browsers and screen readers that a text is not in the page's language."""
    return f' lang="{code}"' if (code := find_language_code(text)) else ""


# -- Header, answer and sources ----------------------------------------------------------------------------------------


def _render_header(report: Report) -> str:
    task = to_one_line(report.task)
    parts = [f'<h1 dir="auto"{_tag_language(task)}>{_escape(task, _MAX_HEADING_CHARS) or "Report"}</h1>']
    if len(task) > _MAX_HEADING_CHARS:
        parts.append(f'<details><summary>Full question</summary><p dir="auto">{_escape(task)}</p></details>')
    parts.append(f'<p class="searchline">{_escape(wording.describe_search(report))}</p>')
    return "\n".join(parts)


def _render_answer(report: Report, renderer: MarkdownRenderer) -> tuple[str, frozenset[int]]:
    """Return the answer and the numbers of the claims that are marked in it.

    Excerpts are shown instead of the text that was made of them, and below them what follows them there. Their verdicts are
    marked only where a source objects: that a quote supports itself tells nothing.
    """
    origin = render_origin(report.notices)
    text = report.final_answer.removeprefix(render_notices(report.notices)).removesuffix(origin)
    if report.excerpts:
        shown = "".join(
            _render_excerpt(excerpt, renderer, f"{renderer.render_citation(excerpt.source)} ")
            for excerpt in report.excerpts
        )
        below = report.below + render_disagreements(report.disagreements)
        marked, found = shown + renderer.render_block(below), frozenset[int]()
    else:
        marked, found = mark_claims(text, _list_checked(report), renderer)
        marked = f'<div class="prose" dir="auto"{_tag_language(text)}>{marked}</div>' if marked.strip() else ""
    short = ""
    if report.short_answer:
        short = f'<p class="short" dir="auto">{renderer.render_inline(escape_markdown(report.short_answer))}</p>'
    said = " ".join(excerpt.text for excerpt in report.excerpts) or report.final_answer
    is_repeated = bool(origin) or strip_markdown(report.summary).rstrip("…") in strip_markdown(said)
    if report.summary and not is_repeated:
        summary = replace_spans(report.summary, find_citations(report.summary), escape_markdown)
        short += f'<p class="lede" dir="auto">{renderer.render_inline(summary)}</p>'
    verdicts = _count_verdicts(_list_checked(report))
    below = f'<p class="legend"><a href="#claims">Claims</a>: {verdicts}</p>' if verdicts else ""
    return short + marked + (below + renderer.render_block(origin) if marked else ""), found


def _list_checked(report: Report) -> Sequence[Claim]:
    """Return the claims whose verdicts tell something: not those of an answer that only quotes its sources."""
    return () if render_origin(report.notices) else report.claims


def _render_notices(report: Report) -> str:
    """Render what the reader must know about the answer before reading it."""
    if not report.final_answer:
        return f'<p class="notice">{describe_no_answer(report)}</p>'
    notices = [describe_notice(one) for one in report.notices if one.kind not in ("no_model", *BREADTH_KINDS)]
    shown = filter(None, (describe_partly(report), *notices, describe_restated(report)))
    return "".join(f'<p class="remark">{_escape(notice)}</p>' for notice in shown)


def _render_excerpt(excerpt: Excerpt | ClosestPassage, renderer: MarkdownRenderer, citation: str = "") -> str:
    parts = filter(None, (_escape(excerpt.title, 160), _format_location(excerpt.location)))
    heading = citation + " · ".join(f"<bdi>{part}</bdi>" for part in parts)
    caption = f"<figcaption>{heading}</figcaption>" if heading else ""
    return f'<figure class="excerpt">{caption}{render_excerpt_text(excerpt, renderer)}</figure>'


def _render_closest(report: Report, renderer: MarkdownRenderer) -> str:
    refusal = describe_refusal(report)
    cards = "".join(_render_excerpt(passage, renderer) for passage in report.closest)
    title = ReportSection.CLOSEST if report.closest else ReportSection.READ
    return _render_section("closest", title, (f"<p>{_escape(refusal)}</p>" if refusal else "") + cards)


def _render_map(report: Report, renderer: MarkdownRenderer, *, is_wide: bool) -> str:
    """Render which sources are cited in which section on a broad question; many of them need the ``is_wide`` place."""
    sections = dict.fromkeys(finding.section for finding in report.findings if finding.section)
    cited = dict.fromkeys(source for finding in report.findings for source in finding.sources)
    sources = [source for source in report.sources if source.id in cited]
    if len(sections) < 2 or is_wide != (len(sources) > _MAX_NARROW_SOURCES):
        return ""
    heads = "".join(f'<th scope="col">{renderer.render_citation(source.id)}</th>' for source in sources)
    rows = []
    for section in sections:
        own = {one for finding in report.findings if finding.section == section for one in finding.sources}
        cells = "".join(
            f'<td><a href="#source-{report.sources.index(source) + 1}" aria-label="Source {_escape(source.id, 12)}">●</a></td>'
            if source.id in own
            else "<td></td>"
            for source in sources
        )
        rows.append(f'<tr><th scope="row" dir="auto">{_escape(section, 80)}</th>{cells}</tr>')
    head = f'<th scope="col">{count(len(sources), "source")}</th>{heads}'
    table = _wrap_table("Sections and sources", "map", head, "".join(rows))
    return _render_section("map", "Which source covers what", table)


def _count_verdicts(claims: Sequence[Claim]) -> str:
    counts = {support: sum(claim.support == support for claim in claims) for support in SUPPORT_SYMBOLS}
    return " · ".join(f"{_render_symbol(support)} {number} {support}" for support, number in counts.items() if number)


def _render_sources(report: Report, renderer: MarkdownRenderer) -> str:
    """Render the sources, each with the stretches that the report cites, so that they can be read inside the page."""
    if not report.sources:
        return ""
    items = []
    for position, source in enumerate(report.sources, start=1):
        title, place = _escape(source.title or source.location, 200), _format_location(source.location)
        if is_http_url(source.url):
            place = (
                f'<a href="{escape(strip_control_chars(source.url))}" rel="noopener noreferrer nofollow">{place}</a>'
            )
        shown = (replace(stretch, title="") for stretch in list_stretches(report, source))
        stretches = "".join(_render_excerpt(stretch, renderer) for stretch in shown)
        label = f"Passage cited from source {_escape(source.id, 12)}"
        passage = (
            f'<details class="passage"><summary aria-label="{label}">Show the passage</summary>{stretches}</details>'
        )
        items.append(
            f'<li id="source-{position}" tabindex="-1"><span class="handle">{_escape(source.id, 12)}</span>'
            f'<div><p class="title" dir="auto">{title}</p><p class="place"><bdi>{place}</bdi></p>'
            f"{passage if stretches else ''}</div></li>"
        )
    listed = f'<h2 id="sources">{ReportSection.SOURCES}</h2><ol>{"".join(items)}</ol>'
    return f'<aside aria-labelledby="sources">{_render_map(report, renderer, is_wide=False)}{listed}</aside>'


def list_stretches(report: Report, source: Source) -> list[Excerpt]:
    """Return the stretches of a source that the report shows or cites, without those that lie within another one."""
    if shown := [excerpt for excerpt in report.excerpts if excerpt.source == source.id]:
        return shown
    cited = [one for claim in report.claims if (one := claim.evidence) is not None and one.source == source.id]
    cited += [
        Excerpt(span.quote, "prose", ((0, len(span.quote)),), source.id, span.location)
        for claim in report.claims
        for span in claim.spans
        if span.source == source.id
    ]
    kept: list[Excerpt] = []
    for stretch in sorted(cited, key=lambda each: -len(each.text)):
        holder = next((i for i, each in enumerate(kept) if stretch.text in each.text), None)
        if holder is None:
            kept.append(stretch)
        elif stretch.highlight:
            at = kept[holder].text.index(stretch.text)
            moved = tuple((start + at, end + at) for start, end in stretch.highlight)
            kept[holder] = replace(kept[holder], highlight=(*kept[holder].highlight, *moved))
    return kept[:_MAX_STRETCHES]


# -- Why it stopped ----------------------------------------------------------------------------------------------------


def _render_stop(report: Report) -> str:
    """Render one sentence that unfolds to the chart and the promise; all else that was measured is behind *details*."""
    stop = report.stop
    charts = [render_chart(stop, width=width, prefix=prefix, limit=1) for width, prefix in _CHARTS]
    figure = (
        f'<figure><div class="wide">{charts[0]}</div><div class="narrow">{charts[1]}</div>'
        "<figcaption>What ended the search, after each round. Dashed: where the stop rule ends it.</figcaption></figure>"
    )
    rounds = [str(record.index) for record in stop.rounds]
    topics = [
        [topic, *(wording.format_reading(f"coverage.topic.{topic}", value) for value in values)]
        for topic, values in timeline.get_topic_series(stop).items()
    ]
    sufficiency = describe_sufficiency(report)
    promise = f"How sure is this stop? {PROMISE_TEXT[stop.promise].capitalize()}."
    why = "" if wording.is_all_read(stop) else promise if stop.reason in JUDGED_REASONS else stop.explanation
    fruitless = _render_items(_escape(query, 300) for query in wording.list_fruitless_queries(report))
    return f"""<details id="why" class="fold">
<summary><h2>{_escape(wording.describe_stop(stop))}</h2></summary>
{figure if charts[0] else ""}
{f'<p class="explanation" dir="auto">{_escape(why)}</p>' if why else ""}
{f'<p class="explanation">{_escape(breadth)}</p>' if (breadth := render_breadth(report.notices)) else ""}
<details id="why-details"><summary>Details</summary>
<dl class="facts"><div><dt>Is the evidence enough?</dt><dd>{sufficiency}</dd></div>
<div><dt>Stop rule</dt><dd><code>{_escape(stop.expression or stop.gate, 400)}</code></dd></div></dl>
{_render_rounds_table(stop)}
{_render_table([["Topic covered after round", *rounds], *topics], "Topics") if topics else ""}
{f"<h3>{ReportSection.FRUITLESS}</h3>{fruitless}" if fruitless else ""}
{"".join(map(_render_step, stop.rounds))}
</details>
</details>"""


def _render_rounds_table(stop: Stop) -> str:
    if not stop.rounds:
        return "<p>No round was completed.</p>"
    names = timeline.select_readings(stop, 2)
    series = [timeline.get_reading_series(stop, name) for name in names]
    heads = "".join(
        f'<th scope="col" class="number">{_escape(wording.describe_reading(name), 40)}</th>' for name in names
    )
    rows = "".join(
        _render_round_row(
            stop, record, [wording.format_reading(name, values[i]) for name, values in zip(names, series, strict=True)]
        )
        for i, record in enumerate(stop.rounds)
    )
    head = (
        '<th scope="col" class="number">Round</th><th scope="col">Queries</th><th scope="col" class="number">New</th>'
        f'{heads}<th scope="col">Verdict</th>'
    )
    return _wrap_table("Round by round", "rounds", head, rows)


def _render_round_row(stop: Stop, record: RoundRecord, values: Iterable[str]) -> str:
    classes = " ".join(["stopping"] * (record.index == stop.round) + ["rejected"] * (not record.accepted))
    queries = "".join(f'<li dir="auto">{_escape(query, 300)}</li>' for query in record.queries)
    readings = "".join(f'<td class="number">{value}</td>' for value in values)
    reasons = "".join(
        f"<li><code>{_escape(leaf.gate, 80)}</code> {_escape(leaf.because, 400)}</li>"
        for leaf in timeline.list_leaf_verdicts(record)
        if leaf.because
    )
    details = f"<details><summary>stop rules</summary><ul>{reasons}</ul></details>" if reasons else ""
    return (
        f'<tr class="{classes}"><th scope="row" class="number">{record.index}</th><td><ul>{queries}</ul></td>'
        f'<td class="number">{record.new_passages}</td>{readings}'
        f"<td>{_escape(timeline.describe_outcome(stop, record), 200)}{details}</td></tr>"
    )


def _render_step(record: RoundRecord) -> str:
    """Render what a round found and believed; empty if that was not recorded."""
    parts = {"Found": record.found, "Notes after this round": record.belief, "Still open": record.open}
    lists = "".join(
        f"<h3>{title}</h3>{_render_items(_escape(_HEADING_MARK.sub('', item), 500) for item in items)}"
        for title, items in parts.items()
        if items
    )
    return f'<details class="step"><summary>Round {record.index}</summary>{lists}</details>' if lists else ""


# -- Claims ------------------------------------------------------------------------------------------------------------


def _render_claims_table(
    claims: Sequence[Claim], highlighted: frozenset[int] | None, renderer: MarkdownRenderer
) -> str:
    """Render the claims; ``highlighted`` are those that the answer marks, ``None`` if it marks none at all."""
    if not claims:
        return ""
    rows = []
    for position, claim in enumerate(claims, start=1):
        is_shown = highlighted is None or position in highlighted
        aside = "" if is_shown else ' <span class="aside">(not found in the answer as written)</span>'
        spans = "".join(_render_span(span, renderer) for span in claim.spans)
        spans = spans or ("" if claim.note else "<p>No passage addresses it.</p>")
        checker = claim.checker and f"checked by {claim.checker}"
        sure = "" if claim.probability is None else f"{claim.probability:.0%} sure"
        if basis := " · ".join(filter(None, (checker, sure, claim.note))):
            spans += f'<p class="aside">{_escape(basis, 300)}</p>'
        citations = "".join(map(renderer.render_citation, claim.citations))
        rows.append(
            f'<tr id="claim-{position}" tabindex="-1"><th scope="row" class="number">{position}</th>'
            f'<td dir="auto">{_escape(claim.text)} {citations}{aside}</td>'
            f'<td class="support">{_render_symbol(claim.support)} {claim.support}</td>'
            f'<td id="evidence-{position}" class="evidence">{spans}</td></tr>'
        )
    return (
        f'<details id="claims" class="fold"><summary><h2>How each claim was checked</h2> {_count_verdicts(claims)}</summary>'
        '<table class="claims"><thead><tr><th scope="col" class="number">#</th><th scope="col">Claim</th>'
        f'<th scope="col">Verdict</th><th scope="col">Evidence</th></tr></thead><tbody>'
        f"{''.join(rows)}</tbody></table></details>"
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
        for handle, text in provenance.parse_computations(report)
    )
    return _render_fold("computed", ReportSection.COMPUTATIONS, programs)


def _render_review(report: Report) -> str:
    review = provenance.parse_review(report)
    if review is None:
        return ""
    issues = _render_items(_escape(issue, 700) for issue in provenance.get_open_issues(review))
    scores = _render_table(provenance.build_review_table(review), "Scores by round")
    left = f"<h3>Issues that remain</h3>{issues}" if issues else ""
    content = f"<p>{_escape(provenance.summarize_review(review))}</p>{scores}{left}"
    return _render_fold("review", ReportSection.REVIEW, content)


def _render_table(rows: Sequence[Sequence[str]], label: str) -> str:
    """Return a table of numbers with a header row and a header column; empty without rows."""
    if not rows:
        return ""
    head = "".join(f'<th scope="col" class="number">{_escape(cell, 40)}</th>' for cell in rows[0])
    body = "".join(
        f'<tr><th scope="row" class="number">{_escape(row[0], 40)}</th>'
        + "".join(f'<td class="number">{_escape(cell, 12)}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows[1:]
    )
    return _wrap_table(label, "rounds", head, body)


def _wrap_table(label: str, kind: str, head: str, body: str) -> str:
    """Return a table that scrolls by itself where it is too wide; the label is for screen readers."""
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{label}"><table class="{kind}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


# -- Helpers -----------------------------------------------------------------------------------------------------------


def _render_section(anchor: str, title: str, content: str) -> str:
    return content and f'<section aria-labelledby="{anchor}"><h2 id="{anchor}">{title}</h2>{content}</section>'


def _render_fold(anchor: str, title: str, content: str) -> str:
    return content and f'<details id="{anchor}" class="fold"><summary><h2>{title}</h2></summary>{content}</details>'


def _render_items(items: Iterable[str]) -> str:
    listed = "".join(f'<li dir="auto">{item}</li>' for item in items)
    return f"<ul>{listed}</ul>" if listed else ""


def _escape(text: str, limit: int | None = None) -> str:
    return escape(to_one_line(text, limit))


def _format_location(location: str) -> str:
    """Return a location that breaks after its slashes, and within a name or a line number only where that is too long."""
    pieces = _escape(location, 300).replace("/", '/</span><span class="part">')
    return f'<span class="part">{pieces}</span>' if pieces else ""


def _csp_hash(asset: str) -> str:
    return f"sha256-{b64encode(sha256(asset.encode()).digest()).decode()}"


@cache
def _load_asset(name: str) -> str:
    from importlib.resources import files

    return "\n" + files("suffice.report").joinpath(name).read_text(encoding="utf-8")
