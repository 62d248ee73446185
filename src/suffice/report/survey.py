"""Write the report of a broad question from its findings: what matters most, a section for each aspect, what is missing.

Without a model every finding is a quotation, so nothing here has to be checked. The length follows the findings.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from suffice.answers import Draft, Finding, FindingList, Part, Quotation, SectionHeading, Verbatim
from suffice.report.findings import OTHER_ASPECT, list_headings, list_parts, read_period
from suffice.text.blocks import split_blocks
from suffice.text.entities import content_stems, extract_names
from suffice.text.markdown import escape_markdown
from suffice.text.quotations import read_cells, render_in_line
from suffice.types import Passage

MAX_WORDS = 900
TOP_FINDINGS = 5
_MIN_ROWS, _MAX_ROWS, _MAX_COLUMNS = 3, 6, 5
_MAX_ROW_CHARS = 120  # Shared by the columns that are shown.
FIRST_HEADING = "What matters most"
MISSING_HEADING = "What the sources do not say"


def write_survey(
    question: str, findings: Sequence[Finding], passages: Sequence[Passage] = (), *, length: int | None = None
) -> Draft:
    """Return the report: the most salient findings first, then each aspect. ``passages`` are all that was read.

    ``length`` is about how many words it has; every file is quoted before one is quoted again.
    """
    kept = _fit(findings, length or MAX_WORDS)
    if not kept:
        return Draft((), "quoted", sufficiency="no")
    top = _choose_top(kept)
    parts: list[Part] = [SectionHeading(FIRST_HEADING), FindingList(tuple(map(_name_source, top)))]
    aspects = sorted(dict.fromkeys(finding.aspect for finding in kept), key=lambda aspect: aspect == OTHER_ASPECT)
    # Each table once, with the first finding of it; records that it shows whole are not listed again.
    tables = {table: finding for finding in reversed(kept) if (table := _make_table(finding, passages))}
    records = ((one.text, table.columns) for table in tables for one in table.items)
    shown = {record for record, columns in records if len(columns) == len(read_cells(record))}
    rest = [finding for finding in kept if finding not in top and finding.text not in shown]
    for aspect in aspects:
        own = tuple(finding for finding in rest if finding.aspect == aspect)
        below = [
            replace(table, items=tuple(replace(item, aspect=aspect) for item in table.items))
            for table, finding in tables.items()
            if finding.aspect == aspect
        ]
        if own or below:
            heading = SectionHeading(escape_markdown(aspect[:1].upper() + aspect[1:]))
            parts += [heading, *([FindingList(own)] if own else []), *below]
    absent = ((part, content_stems(part)) for part in list_parts(question) if not _is_mentioned(part, kept))
    empty = [part for part, stems in absent if not any(stems <= content_stems(one.text) for one in passages)]
    if empty:
        lines = "\n".join(f"- No passage that was read has the words “{escape_markdown(part)}”." for part in empty)
        parts += [SectionHeading(MISSING_HEADING), Verbatim(lines)]
    return Draft(tuple(parts), "quoted", aspects=(*aspects, *empty))


def _fit(findings: Sequence[Finding], words: int) -> list[Finding]:
    """Return the findings that fit, most salient first. The best of every file come before the second best of one."""
    counts = Counter[str]()
    ranked: list[tuple[int, float, Finding]] = []
    for finding in findings:
        path = finding.text.passage.place.path
        counts[path] += 1
        ranked.append((counts[path], -finding.salience, finding))
    kept: list[tuple[float, Finding]] = []
    for _, salience, finding in sorted(ranked, key=lambda row: row[:2]):
        words -= len(render_in_line(finding.text).split())
        if words < 0 and kept:
            break
        kept.append((salience, finding))
    return [finding for _, finding in sorted(kept, key=lambda row: row[0])]


def _choose_top(findings: Sequence[Finding]) -> list[Finding]:
    """Return the most salient finding of the first files."""
    best: dict[str, Finding] = {}
    for finding in findings:
        best.setdefault(finding.text.passage.place.path, finding)
    return list(best.values())[:TOP_FINDINGS]


def _name_source(finding: Finding) -> Finding:
    """Return a finding with the title of its document: a sentence of a contract does not say whose it is."""
    titles = list_headings(finding)
    return replace(finding, text=replace(finding.text, title=titles[0])) if titles else finding


def _is_mentioned(part: str, findings: Sequence[Finding]) -> bool:
    stems = content_stems(part) - content_stems(" ".join(extract_names(part)))
    said = (content_stems(render_in_line(finding.text)) for finding in findings)
    return not stems or any(2 * len(stems & own) >= len(stems) for own in said)


def _make_table(finding: Finding, passages: Sequence[Passage]) -> FindingList | None:
    """Return the latest records of a finding's table in its short columns; ``None`` if there are not several with figures.

    The first column says what a record is about.
    """
    if finding.text.format != "table":
        return None
    columns, records = list(read_cells(finding.text)), _list_records(finding.text, passages)
    rows = [cells for cells in map(read_cells, records) if list(cells) == columns]
    width = _MAX_ROW_CHARS // min(_MAX_COLUMNS, max(1, len(columns)))
    short = [name for name in columns[1:] if sum(len(row[name]) <= width for row in rows) > 0.7 * len(rows)]
    short = columns[:1] + short[: _MAX_COLUMNS - 1]

    def fits(cells: dict[str, str]) -> bool:
        return list(cells) == columns and all(len(cells[name]) <= width for name in short[1:])

    kept = [record for record in records if fits(read_cells(record))]
    kept.sort(key=lambda record: -(read_period(record.text) or 0.0))
    has_figures = any(
        sum(any(map(str.isdigit, read_cells(record)[name])) for record in kept) >= _MIN_ROWS for name in short[1:]
    )
    if not has_figures:
        return None
    return FindingList(tuple(map(Finding, kept[:_MAX_ROWS])), tuple(short))


def _list_records(quotation: Quotation, passages: Sequence[Passage]) -> list[Quotation]:
    """Return the records of the sheet, or the rows of the table in a text, of which one is quoted."""
    own, head = quotation.passage, quotation.spans[0]
    for block in split_blocks(own.text, own.kind):
        if block.head == head:
            return [Quotation(own, (head, row), "table") for row in block.units]
    sheet = (own.place.section or "").rpartition(" row ")[0]
    return [
        Quotation(passage, ((0, len(passage.text)),), "table")
        for passage in passages
        if sheet and passage.place.path == own.place.path and (passage.place.section or "").startswith(f"{sheet} row ")
    ]
