"""A report as Markdown that can be pasted into a document.

The answer and its findings are Markdown already and stay as they are, unless they would load or run something; every
other text came from a document, a model or a user and is escaped. It knows nothing of files or of HTML.
"""

import re
from collections.abc import Iterable

from suffice.gates.explanation import describe_sufficiency
from suffice.report.provenance import (
    build_review_table,
    get_open_issues,
    parse_computations,
    parse_review,
    summarize_review,
)
from suffice.report.timeline import describe_outcome, get_reading_series, select_readings
from suffice.text.citations import is_handle
from suffice.text.markdown import neutralize_links, to_inline_code
from suffice.text.plain import format_number, strip_control_chars, to_one_line
from suffice.types import Report, UsageSummary

# An underscore inside a word (base_events.py) is no emphasis and stays readable.
_SPECIAL_CHARS = re.compile(r"([\\`*\[\]|~]|<(?=[A-Za-z/!?])|(?<![^\W_])_|_(?![^\W_]))")
_LEADING_MARKER = re.compile(r"^(\d{1,9})([.)])|^([#+=>-])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_HTTP_URL = re.compile(r"https?://[!-;=?-~]+", re.IGNORECASE)
_MAX_TITLE_CHARS = 300

# A partial answer says itself what it lacks.
NO_ANSWER_TEXT = {
    "no_evidence": "No answer: the sources hold no evidence for one.",
    "failed": "The run failed before it could answer.",
}


def render_markdown(report: Report) -> str:
    """The whole report; sections that have nothing to say are left out."""
    parts = [
        *_render_header(report),
        _render_answer(report),
        *_render_list("Key findings", _neutralize_lines(report, report.key_findings)),
        *_render_list("Recommendations", _neutralize_lines(report, report.recommendations)),
        *_render_list("Risks", _neutralize_lines(report, report.risks)),
        *_render_list("Open questions", map(escape_line, report.open_questions)),
        *_render_sources(report),
        *_render_computations(report),
        *_render_stop(report),
        *_render_review(report),
        *_render_list("Searches that led nowhere", map(escape_line, report.failed_queries)),
        "---\n\n" + escape_line(format_usage(report.usage)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escape_line(text: str) -> str:
    """One line of plain text, written so that Markdown shows it as it is."""
    line = _SPECIAL_CHARS.sub(r"\\\1", _ENTITY.sub("&amp;", to_one_line(text)))
    return _LEADING_MARKER.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", line)


def format_usage(usage: UsageSummary) -> str:
    """What the run used, in one line."""
    stored = f" and {_format_count(usage.stored, 'stored answer')}" if usage.stored else ""
    estimated = f" (estimated for {_format_count(usage.estimated_calls, 'call')})" if usage.estimated_calls else ""
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return (
        f"{usage.model or 'no model'} · {_format_count(usage.calls, 'call')}{stored} · {usage.input_tokens:,} tokens in, "
        f"{usage.output_tokens:,} out{estimated} · {_format_count(usage.searches, 'search', 'searches')} · "
        f"{_format_count(usage.pages_read, 'page')} read · {usage.seconds:.1f} s · {cost}"
    )


def _render_header(report: Report) -> Iterable[str]:
    yield f"# {escape_line(to_one_line(report.task, _MAX_TITLE_CHARS)) or 'Report'}"
    if len(to_one_line(report.task)) > _MAX_TITLE_CHARS:
        yield f"> {escape_line(report.task)}"


def _render_answer(report: Report) -> str:
    if text := strip_control_chars(report.final_answer).strip():
        return neutralize_links(text, _source_urls(report))
    return f"*{NO_ANSWER_TEXT.get(report.status, NO_ANSWER_TEXT['no_evidence'])}*"


def _neutralize_lines(report: Report, lines: Iterable[str]) -> Iterable[str]:
    return (neutralize_links(to_one_line(line), _source_urls(report)) for line in lines)


def _source_urls(report: Report) -> list[str]:
    return [source.url for source in report.sources if source.url]


def _render_list(title: str, lines: Iterable[str]) -> Iterable[str]:
    items = "\n".join(f"- {line}" for line in lines)
    if items:
        yield f"## {title}"
        yield items


def _render_sources(report: Report) -> Iterable[str]:
    if report.sources:
        yield "## Sources"
        # Each source is a paragraph of its own: a list would number them once more beside their handles.
        for source in report.sources:
            place = f"<{source.url}>" if _HTTP_URL.fullmatch(source.url or "") else escape_line(source.location)
            handle = source.id if is_handle(source.id) else escape_line(source.id)
            yield f"{handle} {escape_line(to_one_line(source.title, _MAX_TITLE_CHARS)) or place} — {place}"


def _render_computations(report: Report) -> Iterable[str]:
    found = parse_computations(report)
    if found:
        yield "## Computed"
    for handle, text in found:
        yield handle if is_handle(handle) else escape_line(handle)
        # Indented, so that nothing in a program can end the block.
        yield "\n".join(f"    {line}" for line in strip_control_chars(text).splitlines())


def _render_review(report: Report) -> Iterable[str]:
    review = parse_review(report)
    if review is None:
        return
    yield "## Review"
    yield escape_line(summarize_review(review))
    head, *rows = build_review_table(review) or [[]]
    if rows:
        lines = [map(escape_line, head), ["--:"] * len(head), *rows]
        yield "\n".join("| " + " | ".join(line) + " |" for line in lines)
    issues = "\n".join(f"- {escape_line(issue)}" for issue in get_open_issues(review))
    if issues and not review.passed:
        yield "What the reviewer still misses:"
        yield issues


def _render_stop(report: Report) -> Iterable[str]:
    stop = report.stop
    yield "## Why it stopped"
    yield f"**{escape_line(stop.reason)}.** {escape_line(stop.explanation)}"
    judged = describe_sufficiency(report.sufficient, report.confidence)
    yield f"Evidence judged sufficient: {judged}. Gate: {to_inline_code(to_one_line(stop.expression or stop.gate))}"
    if stop.rounds:
        names = select_readings(stop)
        columns = [get_reading_series(stop, name) for name in names]
        rows = [["Round", "Queries", "New passages", *map(escape_line, names), "Verdict"], ["--:", "---", "--:"]]
        rows[1] += ["--:"] * len(names) + ["---"]
        for i, record in enumerate(stop.rounds):
            queries = "<br>".join(escape_line(query) for query in record.queries)
            readings = [format_number(column[i]) for column in columns]
            rows.append(
                [
                    str(record.index),
                    queries,
                    str(record.new_passages),
                    *readings,
                    escape_line(describe_outcome(stop, record)),
                ]
            )
        yield "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _format_count(amount: int, noun: str, plural: str = "") -> str:
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"
