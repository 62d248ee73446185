"""A report as Markdown that can be pasted into a document.

The answer and its findings are Markdown already and stay as they are, unless they would load or run something; every
other text came from a document, a model or a user and is escaped. It knows nothing of files or of HTML.
"""

import re
from collections.abc import Iterable

from suffice.explanation import sufficiency_words
from suffice.types import Bill, Report
from suffice.write.links import tamed
from suffice.write.made import computations, review_issues, review_of, review_table, review_words
from suffice.write.plain import clean, number, one_line
from suffice.write.rounds import chosen, outcome, series

# An underscore inside a word (base_events.py) is no emphasis and stays readable.
_SPECIAL = re.compile(r"([\\`*\[\]|~]|<(?=[A-Za-z/!?])|(?<![^\W_])_|_(?![^\W_]))")
_LEADING = re.compile(r"^(\d{1,9})([.)])|^([#+=>-])")
_HANDLE = re.compile(r"\[\d{1,4}\]")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_LINK = re.compile(r"https?://[!-;=?-~]+", re.IGNORECASE)
_LONGEST_TITLE = 300

# A partial answer says itself what it lacks.
NO_ANSWER = {
    "no_evidence": "No answer: the sources hold no evidence for one.",
    "failed": "The run failed before it could answer.",
}


def render(report: Report) -> str:
    """The whole report; sections that have nothing to say are left out."""
    parts = [
        *_head(report),
        _answer(report),
        *_section("Key findings", _safe_lines(report, report.key_findings)),
        *_section("Recommendations", _safe_lines(report, report.recommendations)),
        *_section("Risks", _safe_lines(report, report.risks)),
        *_section("Open questions", map(escape, report.open_questions)),
        *_sources(report),
        *_computed(report),
        *_why(report),
        *_review(report),
        *_section("Searches that led nowhere", map(escape, report.failed_queries)),
        "---\n\n" + escape(usage_line(report.usage)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escape(text: str) -> str:
    """One line of plain text, written so that Markdown shows it as it is."""
    line = _SPECIAL.sub(r"\\\1", _ENTITY.sub("&amp;", one_line(text)))
    return _LEADING.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", line)


def usage_line(usage: Bill) -> str:
    """What the run used, in one line."""
    stored = f" and {_count(usage.stored, 'stored answer')}" if usage.stored else ""
    estimated = f" (estimated for {_count(usage.estimated_calls, 'call')})" if usage.estimated_calls else ""
    cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
    return (
        f"{usage.model or 'no model'} · {_count(usage.calls, 'call')}{stored} · {usage.input_tokens:,} tokens in, "
        f"{usage.output_tokens:,} out{estimated} · {_count(usage.searches, 'search', 'searches')} · "
        f"{_count(usage.pages_read, 'page')} read · {usage.seconds:.1f} s · {cost}"
    )


def _head(report: Report) -> Iterable[str]:
    yield f"# {escape(one_line(report.task, _LONGEST_TITLE)) or 'Report'}"
    if len(one_line(report.task)) > _LONGEST_TITLE:
        yield f"> {escape(report.task)}"


def _answer(report: Report) -> str:
    if text := clean(report.final_answer).strip():
        return tamed(text, _addresses(report))
    return f"*{NO_ANSWER.get(report.status, NO_ANSWER['no_evidence'])}*"


def _safe_lines(report: Report, lines: Iterable[str]) -> Iterable[str]:
    return (tamed(one_line(line), _addresses(report)) for line in lines)


def _addresses(report: Report) -> list[str]:
    return [source.url for source in report.sources if source.url]


def _section(title: str, lines: Iterable[str]) -> Iterable[str]:
    items = "\n".join(f"- {line}" for line in lines)
    if items:
        yield f"## {title}"
        yield items


def _sources(report: Report) -> Iterable[str]:
    if report.sources:
        yield "## Sources"
        # Each source is a paragraph of its own: a list would number them once more beside their handles.
        for source in report.sources:
            place = f"<{source.url}>" if _LINK.fullmatch(source.url or "") else escape(source.location)
            handle = source.id if _HANDLE.fullmatch(source.id) else escape(source.id)
            yield f"{handle} {escape(one_line(source.title, _LONGEST_TITLE)) or place} — {place}"


def _computed(report: Report) -> Iterable[str]:
    found = computations(report)
    if found:
        yield "## Computed"
    for handle, text in found:
        yield handle if _HANDLE.fullmatch(handle) else escape(handle)
        # Indented, so that nothing in a program can end the block.
        yield "\n".join(f"    {line}" for line in clean(text).splitlines())


def _review(report: Report) -> Iterable[str]:
    review = review_of(report)
    if review is None:
        return
    yield "## Review"
    yield escape(review_words(review))
    head, *rows = review_table(review) or [[]]
    if rows:
        lines = [map(escape, head), ["--:"] * len(head), *rows]
        yield "\n".join("| " + " | ".join(line) + " |" for line in lines)
    issues = "\n".join(f"- {escape(issue)}" for issue in review_issues(review))
    if issues and not review.passed:
        yield "What the reviewer still misses:"
        yield issues


def _why(report: Report) -> Iterable[str]:
    stop = report.stop
    yield "## Why it stopped"
    yield f"**{escape(stop.reason)}.** {escape(stop.explanation)}"
    judged = sufficiency_words(report.sufficient, report.confidence)
    yield f"Evidence judged sufficient: {judged}. Gate: {_code(stop.expression or stop.gate)}"
    if stop.rounds:
        names = chosen(stop)
        columns = [series(stop, name) for name in names]
        rows = [["Round", "Queries", "New passages", *map(escape, names), "Verdict"], ["--:", "---", "--:"]]
        rows[1] += ["--:"] * len(names) + ["---"]
        for i, record in enumerate(stop.rounds):
            queries = "<br>".join(escape(query) for query in record.queries)
            readings = [number(column[i]) for column in columns]
            rows.append(
                [str(record.index), queries, str(record.new_passages), *readings, escape(outcome(stop, record))]
            )
        yield "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _code(text: str) -> str:
    line = one_line(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"`{line}`"


def _count(amount: int, noun: str, plural: str = "") -> str:
    return f"{amount:,} {noun if amount == 1 else plural or noun + 's'}"
