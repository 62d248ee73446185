"""A table of results as text: Markdown, CSV and LaTeX, and how its figures are written.

A figure from fewer than ``FEW`` questions is marked with ``*``.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import numpy

from suffice.lab.episode import Row
from suffice.lab.rows import count_tokens
from suffice.lab.statistics import DRAWS, PairedTest, bootstrap_interval

FEW = 30
_LATEX_ESCAPES = str.maketrans(
    {sign: f"\\{sign}" for sign in "%_&#"} | {"±": r"$\pm$", "−": "-", "–": "--", "†": r"\dag{}", "‡": r"\ddag{}"}
)


@dataclass
class ResultTable:
    """A table as text. ``slug`` names its file."""

    slug: str
    title: str
    header: list[str]
    note: str = ""
    rows: list[list[str]] = field(default_factory=list)


def to_markdown(table: ResultTable) -> str:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in (table.header, *table.rows)]
    lines = [f"## {table.title}", "", f"| {' | '.join(escaped[0])} |", "|---|" + "--:|" * (len(table.header) - 1)]
    lines += [f"| {' | '.join(row)} |" for row in escaped[1:]]
    return "\n".join([*lines, *(["", table.note] if table.note else [])])


def to_csv(table: ResultTable) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([table.header, *table.rows])
    return text.getvalue()


def to_latex(table: ResultTable) -> str:
    """Return a table as LaTeX, for the package booktabs."""
    lines = [" & ".join(_escape_latex(cell) for cell in row) + r" \\" for row in (table.header, *table.rows)]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escape_latex(table.title)}. {_escape_latex(table.note)}}}",
            rf"\label{{tab:{table.slug}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _escape_latex(text: str) -> str:
    return text.translate(_LATEX_ESCAPES)


def format_count(count: int) -> str:
    """Return a number of questions with its mark."""
    return f"{count}{'*' if count < FEW else ''}"


def mark_few(values: Sequence[Any]) -> str:
    return "*" if len(values) < FEW else ""


def mark_few_questions(rows: Sequence[Row]) -> str:
    """Return the mark for several runs of a question: too few questions, not too few runs. A trace has no question id."""
    return "*" if len({row.get("question", position) for position, row in enumerate(rows)}) < FEW else ""


def format_mean(values: Sequence[float], score: str, *, interval: bool = True) -> str:
    if not values:
        return "–"
    digits = _count_digits(score)
    text = f"{fmean(values):.{digits}f}{mark_few(values)}"
    bounds = bootstrap_interval(values) if interval else None
    return text if bounds is None else f"{text} [{bounds[0]:.{digits}f}, {bounds[1]:.{digits}f}]"


def format_difference(test: PairedTest, score: str) -> str:
    if not test.pairs:
        return "–"
    digits = _count_digits(score)
    text = f"{format_signed(test.difference, digits)}{'*' if test.pairs < FEW else ''}"
    if test.interval is None:
        return text
    return f"{text} [{format_signed(test.interval[0], digits)}, {format_signed(test.interval[1], digits)}]"


def format_tested(test: PairedTest, score: str, adjusted: float | None) -> str:
    """Return a difference with a mark if its test is significant, and another if it is so after the adjustment."""
    mark = "" if test.p is None or test.p >= 0.05 else "†" if adjusted is None or adjusted >= 0.05 else "‡"
    return f"{format_signed(test.difference, _count_digits(score))}{mark}" if test.pairs else "–"


def format_signed(value: float, digits: int = 3) -> str:
    """Return a number with its sign; one that rounds to zero is +0."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def format_p(p: float | None) -> str:
    return "–" if p is None else "<.001" if p < 0.001 else f"{p:.3f}"


def format_token_change(pairs: Sequence[tuple[Row, Row]], *, saved: bool = False) -> str:
    """Return the tokens of the left rows relative to those of the right ones, less 1; or what the left ones save."""

    by_question: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for left, right in pairs:
        by_question[left["question"]][0] += count_tokens(left)
        by_question[left["question"]][1] += count_tokens(right)
    sums = numpy.array(list(by_question.values()), float).reshape(-1, 2)
    if not len(sums) or not sums[:, 1].all():
        return "–"
    draws = numpy.random.default_rng(0).integers(0, len(sums), (DRAWS, len(sums)))
    after, before = sums[draws].sum(axis=1).T
    low, high = numpy.quantile(_relate(after, before, saved), [0.025, 0.975])
    sign = "" if saved else "+"
    text = f"{_relate(sums[:, 0].sum(), sums[:, 1].sum(), saved):{sign}.0%}"
    return text if len(sums) < 2 else f"{text} [{low:{sign}.0%}, {high:{sign}.0%}]"


def _relate(after: Any, before: Any, saved: bool) -> Any:
    return 1 - after / before if saved else after / before - 1


def _count_digits(score: str) -> int:
    return 1 if score == "judge" else 3
