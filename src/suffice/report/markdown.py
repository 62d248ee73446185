"""Render a report as Markdown.

The answer and its findings are already Markdown and stay as they are, except for links that do not lead to a source. All
other texts come from documents, models or users and are escaped. This module does not know about files or HTML.
"""

import re
from collections.abc import Iterable, Sequence

from suffice.gates.explanation import describe_sufficiency
from suffice.report import provenance, wording
from suffice.report.notices import (
    describe_absence,
    describe_completeness,
    describe_no_answer,
    describe_removed,
    render_breadth,
)
from suffice.report.timeline import describe_outcome, get_reading_series, select_readings
from suffice.state.follow_ups import extract_key_words
from suffice.text.citations import is_handle
from suffice.text.entities import content_stems
from suffice.text.markdown import escape_line, escape_markdown, neutralize_links, to_inline_code
from suffice.text.plain import count, strip_control_chars, to_one_line
from suffice.text.quoting import quote_block
from suffice.text.sections import ReportSection
from suffice.text.tokens import expand_numbers
from suffice.types import ClosestPassage, Report, Stop, UsageSummary

_HTTP_URL = re.compile(r"https?://[!-;=?-~]+", re.IGNORECASE)
_MAX_TITLE_CHARS = 300
_WORDS_OF_ASKING = frozenset(
    "say says said mention mentions state states describe explain tell differ difference differences".split()
)


def render_markdown(report: Report, *, brief: bool = False) -> str:
    """Return the report; empty sections are left out. A ``brief`` one says in one line how it was made and why it stopped."""
    covered = describe_completeness(report)
    parts = [
        *_render_header(report),
        *(f"> {_to_line(text)}" for text in (describe_partly(report), describe_restated(report)) if text),
        _render_answer(report),
        *_render_closest(report),
        _render_list(ReportSection.FINDINGS, _neutralize_lines(report, report.key_findings)),
        _render_list(ReportSection.RECOMMENDATIONS, _neutralize_lines(report, report.recommendations)),
        _render_list(ReportSection.RISKS, _neutralize_lines(report, report.risks)),
        covered and f"## {ReportSection.COVERAGE}\n\n{_to_line(covered)}",
        _render_list(ReportSection.REMOVED, (_to_line(describe_removed(claim)) for claim in report.removed)),
        _render_list(ReportSection.OPEN_QUESTIONS, map(_to_line, report.open_questions)),
        _render_list(ReportSection.LEFT_UNDONE, map(_to_line, report.left_undone)),
        *_render_sources(report),
        *([] if brief else [*_render_computations(report), *_render_stop(report), *_render_review(report)]),
        _render_list(ReportSection.FRUITLESS, () if brief else map(_to_line, wording.list_fruitless_queries(report))),
        # Below the line, so that a claim check of the file does not read it as a claim.
        f"---\n\n{_to_line(wording.describe_search(report))}",
        f"Skills: {_to_line(skills)}" if (skills := provenance.describe_skills(report)) else "",
        _to_line(wording.describe_stop(report.stop) if brief else format_usage(report.usage)),
        "" if brief else _render_bill(report.usage),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _to_line(text: str) -> str:
    """Return the text as one line of Markdown that shows it as it is."""
    return escape_line(to_one_line(text))


def format_usage(usage: UsageSummary) -> str:
    """Say in one line what a language model and the web were used for; empty if neither was (``wording.describe_search``)."""
    tokens = f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    estimated = f" (estimated for {count(usage.estimated_calls, 'call')})" if usage.estimated_calls else ""
    parts = [count(usage.calls, "call"), tokens + estimated] if usage.input_tokens or usage.output_tokens else []
    parts += [f"{count(usage.pages_read, 'page')} read"] if usage.pages_read else []
    return " · ".join([*parts, f"cost {_format_cost(usage.cost_usd)}"] if parts and usage.cost_usd != 0 else parts)


def build_bill(usage: UsageSummary) -> list[list[str]]:
    """Return the bill by role: a header row, then a row per role, the most expensive first; empty if nothing was used.

    A free model has no column for the cost.
    """
    roles = {name: role for name, role in usage.by_role.items() if role.input_tokens or role.output_tokens}
    if not roles:
        return []
    order = sorted(roles, key=lambda name: (-(roles[name].cost_usd or 0.0), -roles[name].input_tokens, name))
    counts = {name: (role.calls, role.input_tokens, role.output_tokens) for name, role in roles.items()}
    rows = [[name, *(f"{one:,}" for one in counts[name]), _format_cost(roles[name].cost_usd)] for name in order]
    columns = 4 if usage.cost_usd == 0 else 5
    return [row[:columns] for row in (["Role", "Calls", "Tokens in", "Tokens out", "Cost"], *rows)]


def _format_cost(usd: float | None) -> str:
    if usd is None:
        return "unknown"
    return f"${usd:.4f}" if usd >= 0.0001 else "under $0.0001"


def _render_bill(usage: UsageSummary) -> str:
    head, *rows = build_bill(usage) or [[]]
    alignment = ["---", *["--:"] * (len(head) - 1)]
    return _format_table(head, alignment, [[_to_line(cell) for cell in row] for row in rows]) if rows else ""


def _render_header(report: Report) -> Iterable[str]:
    yield f"# {_to_line(to_one_line(report.task, _MAX_TITLE_CHARS)) or 'Report'}"
    if len(to_one_line(report.task)) > _MAX_TITLE_CHARS:
        yield f"> {_to_line(report.task)}"


def describe_partly(report: Report) -> str:
    """Say that an answer may be incomplete, and which words of the question no excerpt has; else empty."""
    if report.stop.sufficiency != "partly" or not report.final_answer:
        return ""
    words = [word for word in extract_key_words(report.task) if word.lower() not in _WORDS_OF_ASKING]
    shown = content_stems(expand_numbers(" ".join(f"{excerpt.title} {excerpt.text}" for excerpt in report.excerpts)))
    missing = [word for word in words if not content_stems(word) <= shown]
    lacks = f": no excerpt mentions {_join_words(missing)}" if report.excerpts and missing else ""
    return f"{wording.PARTLY_NOTICE}{lacks}."


def describe_restated(report: Report) -> str:
    """Say how the question was read, with names for what it describes; empty if it was read as it is."""
    restated = report.metadata.get("restated")
    return f"Read as: {restated}" if restated else ""


def _render_answer(report: Report) -> str:
    if text := strip_control_chars(report.final_answer).strip():
        return neutralize_links(text, _list_source_urls(report))
    return f"*{describe_no_answer(report)}*"


def describe_refusal(report: Report) -> str:
    """Say what was read before a question was refused, and which of its words nothing found has; empty for an answer."""
    absence = "" if report.stop.absence is None else describe_absence(report.stop.absence)
    return " ".join(filter(None, (absence, _describe_missing(report.closest))))


def _describe_missing(closest: Sequence[ClosestPassage]) -> str:
    """Say which words of the question none of the closest passages has; empty without passages."""
    if not closest:
        return ""
    first = closest[0].missing
    if nowhere := [word for word in first if all(word in other.missing for other in closest)]:
        return f"Nothing found mentions {_join_words(nowhere)}."
    return "" if first else "The closest passage has the words of the question, but does not say what it asks."


def _join_words(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:6])


def _render_closest(report: Report) -> Iterable[str]:
    refusal = describe_refusal(report)
    if refusal or report.closest:
        yield f"## {ReportSection.CLOSEST if report.closest else ReportSection.READ}"
    yield _to_line(refusal)
    for passage in report.closest:
        place = " · ".join(part for part in (passage.title, passage.location) if part)
        text = strip_control_chars(passage.text)
        blocks = [quote_block(text, passage.format, passage.headings)]
        if passage.format == "prose":  # Line by line: a line of it begins no heading or list of ours.
            heads = [passage.text[start:end] for start, end in passage.headings]
            blocks = [quote_block(line, "prose", [(0, len(line))] * (line in heads)) for line in text.split("\n")]
        shown = neutralize_links("\n".join(blocks), _list_source_urls(report))
        quoted = "\n".join(f"> {line}".rstrip() for line in shown.split("\n"))
        yield f"{_to_line(place)}\n\n{quoted}"


def _neutralize_lines(report: Report, lines: Iterable[str]) -> Iterable[str]:
    return (neutralize_links(to_one_line(line), _list_source_urls(report)) for line in lines)


def _list_source_urls(report: Report) -> list[str]:
    return [source.url for source in report.sources if source.url]


def _render_list(title: str, lines: Iterable[str]) -> str:
    items = _format_items(lines)
    return items and f"## {title}\n\n{items}"


def _render_sources(report: Report) -> Iterable[str]:
    if report.sources:
        yield f"## {ReportSection.SOURCES}"
        # Each source is its own paragraph: an ordered list would add a second number beside the handle.
        for source in report.sources:
            title = to_one_line(source.title, _MAX_TITLE_CHARS)
            if _HTTP_URL.fullmatch(source.url or ""):
                entry = f"{_to_line(title) or f'<{source.url}>'} — <{source.url}>"
            else:
                entry = _to_line(f"{title or source.location} — {source.location}")
            yield f"{_format_handle(source.id)} {entry}"


def _render_computations(report: Report) -> Iterable[str]:
    computations = provenance.parse_computations(report)
    if computations:
        yield f"## {ReportSection.COMPUTATIONS}"
    for handle, text in computations:
        yield _format_handle(handle)
        # Indented code: nothing in a program can end the block.
        yield "\n".join(f"    {line}" for line in strip_control_chars(text).splitlines())


def _render_stop(report: Report) -> Iterable[str]:
    stop = report.stop
    yield f"## {ReportSection.STOP}"
    yield _to_line(stop.explanation)
    if breadth := render_breadth(report.notices):
        yield breadth
    if stop.reason == "read_all" or not stop.rounds:  # No gate judged.
        return
    gate = to_inline_code(to_one_line(stop.expression or stop.gate))
    yield f"Evidence judged sufficient: {describe_sufficiency(report)}. Gate: {gate}"
    yield _render_rounds_table(stop)


def _render_rounds_table(stop: Stop) -> str:
    names = select_readings(stop, 2)
    series = [get_reading_series(stop, name) for name in names]
    rows = [
        [
            str(record.index),
            "<br>".join(escape_markdown(to_one_line(query)) for query in record.queries),
            str(record.new_passages),
            *(wording.format_reading(name, values[i]) for name, values in zip(names, series, strict=True)),
            _to_line(describe_outcome(stop, record)),
        ]
        for i, record in enumerate(stop.rounds)
    ]
    measured = [_to_line(wording.describe_reading(name)) for name in names]
    head = ["Round", "Queries", "New passages", *measured, "Verdict"]
    return _format_table(head, ["--:", "---", "--:", *["--:"] * len(names), "---"], rows)


def _render_review(report: Report) -> Iterable[str]:
    review = provenance.parse_review(report)
    if review is None:
        return
    yield f"## {ReportSection.REVIEW}"
    yield _to_line(provenance.summarize_review(review))
    head, *rows = provenance.build_review_table(review) or [[]]
    if rows:
        yield _format_table([_to_line(name) for name in head], ["--:"] * len(head), rows)
    issues = _format_items(map(_to_line, provenance.get_open_issues(review)))
    if issues:
        yield "Issues that remain:"
        yield issues


def _format_items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _format_table(head: Sequence[str], alignment: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ([cell.replace("|", r"\|") for cell in row] for row in (head, alignment, *rows))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _format_handle(handle: str) -> str:
    return handle if is_handle(handle) else _to_line(handle)
