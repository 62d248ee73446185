"""Rows of a grid: grouping, pairing and averaging them, for the tables."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any, cast

from suffice.lab.conditions import CONDITIONS
from suffice.lab.episode import Row
from suffice.lab.experiment import HARNESSES, NO_GATE
from suffice.lab.statistics import PairedTest, paired_test

CELL = ("data", "harness", "memory", "gate")
"""The fields that name a cell."""
_ORDERS: dict[str, tuple[str, ...]] = {"harness": HARNESSES, "memory": tuple(CONDITIONS)}


def select_usual(rows: Sequence[Row]) -> list[Row]:
    """Return the rows without the ablations: for each data set and harness the usual variant, or else the most frequent one."""
    chosen: list[Row] = []
    for _, group in group_rows(rows, "data", "harness"):
        counts = Counter(row["variant"] for row in group)
        usual = "" if "" in counts else min(counts, key=lambda variant: (-counts[variant], variant))
        chosen += [row for row in group if row["variant"] == usual]
    return chosen


def sort_key(row: Row) -> tuple[Any, ...]:
    return tuple(_rank(name, row[name]) for name in (*CELL, "variant", "question"))


def _rank(name: str, value: Any) -> tuple[int, str]:
    """Return where a value of a field comes: in the order of the lab, no gate first, others by name."""
    known = _ORDERS.get(name, ())
    return known.index(value) if value in known else len(known), "" if value == NO_GATE else str(value)


def group_rows(rows: Iterable[Row], *names: str) -> list[tuple[tuple[Any, ...], list[Row]]]:
    """Return the rows by the values of these fields, in order."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return sorted(groups.items(), key=lambda item: tuple(map(_rank, names, item[0])))


def select_rows(rows: Iterable[Row], **values: str) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def list_names(rows: Sequence[Row], field: str) -> list[str]:
    return [str(name) for (name,), _ in group_rows(rows, field)]


def get_value(row: Row, score: str) -> float | None:
    return cast("float | None", row["recall"] if score == "recall" else row["scores"].get(score))


def list_values(rows: Iterable[Row], score: str) -> list[float]:
    return [value for row in rows if (value := get_value(row, score)) is not None]


def count_tokens(row: Row) -> int:
    return int(row["input_tokens"]) + int(row["output_tokens"])


def pair_rows(
    left: Sequence[Row], right: Sequence[Row], by: Sequence[str] = ("data", "harness", "memory", "question")
) -> list[tuple[Row, Row]]:
    """Return the rows that agree in these fields. Each must be unique on the right."""
    others = {tuple(row[name] for name in by): row for row in right}
    keys = [(row, tuple(row[name] for name in by)) for row in left]
    return [(row, others[key]) for row, key in keys if key in others]


def compare_pairs(pairs: Sequence[tuple[Row, Row]], score: str) -> PairedTest:
    """Compare the pairs by question: several pairs of a question are not independent, so their mean counts once."""
    by_question: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for left, right in pairs:
        a, b = get_value(left, score), get_value(right, score)
        if a is not None and b is not None:
            by_question[left["question"]].append((a, b))
    means = [(fmean(a for a, _ in own), fmean(b for _, b in own)) for own in by_question.values()]
    return paired_test([a for a, _ in means], [b for _, b in means])


def select_shared(rows: Sequence[Row], *names: str) -> tuple[list[Row], int]:
    """Return the rows of the questions that all cells by these fields have, and the number of these questions."""
    cells = [{row["question"] for row in own} for _, own in group_rows(rows, *names)]
    shared = set.intersection(*cells) if cells else set()
    return [row for row in rows if row["question"] in shared], len(shared)
