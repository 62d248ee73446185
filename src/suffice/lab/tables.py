"""The tables of a grid, from its rows alone: the counterparts of the paper's tables, and what it lacks.

Every table says how many questions it stands on. A cell with fewer than ``FEW`` questions is marked with ``*``. Cells of an
unfinished grid have different questions: columns that invite a comparison stand on the questions that all of them have, and
differences on the pairs that both cells have. Several runs of a question are averaged before an interval is drawn, because
they are not independent. Rows with an error are left out and counted in the first table. The same rows give the same text.
"""

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean, median, pstdev
from typing import Any

from suffice.gates.parse import parse_gate
from suffice.lab.conditions import CONDITIONS
from suffice.lab.episode import Row
from suffice.lab.experiment import HARNESSES, NO_GATE
from suffice.lab.gaps import DETECTORS, GAP_NAMES
from suffice.lab.scores import SCORES
from suffice.lab.statistics import DRAWS, PairedTest, adjust_holm, bootstrap_interval, paired_test
from suffice.lab.sweep import EXHAUSTION_SWEEP
from suffice.measure.frontier import fixed_envelope, interpolate, oracle_envelope, upper_concave_hull
from suffice.replay.judge import find_stop
from suffice.types import Readings

FEW = 30
_LATEX_ESCAPES = str.maketrans({"%": r"\%", "_": r"\_", "&": r"\&", "#": r"\#", "±": r"$\pm$", "−": "-", "–": "--"})


@dataclass
class ResultTable:
    """A table as text. ``slug`` names its file."""

    slug: str
    title: str
    header: list[str]
    rows: list[list[str]] = field(default_factory=list)
    note: str = ""


def build_tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Return all tables that the rows can fill."""
    good = sorted((row for row in rows if not row.get("error")), key=_sort_key)
    usual = select_usual(good)
    tables = [
        _count_rows(rows),
        _question_table(usual),
        *_score_tables(usual),
        _abstention_table(usual),
        _gate_impact_table(usual, "memory"),
        _gate_impact_table(usual, "harness"),
        _judged_table(usual),
        build_gap_table(usual),
        _memory_test_table(usual),
        _memory_effect_table(usual),
        _split_table(usual, "answerable", "Answerable and unanswerable questions"),
        _split_table(usual, "group", "By hop count or category"),
        _metric_table(usual),
        _round_table(usual),
        _fire_table(usual),
        _ablation_table(good),
        _equal_cost_table(usual),
        _equal_token_table(usual),
        _sweep_table(usual),
        _variance_table(usual),
        _failure_table(usual),
        _frontier_table(usual),
    ]
    return [table for table in tables if table.rows]


def select_usual(rows: Sequence[Row]) -> list[Row]:
    """Return the rows without the ablations: for each data set and harness the usual variant, or else the most frequent one."""
    chosen: list[Row] = []
    for _, group in _group(rows, "data", "harness"):
        counts = Counter(row["variant"] for row in group)
        usual = "" if "" in counts else min(counts, key=lambda variant: (-counts[variant], variant))
        chosen += [row for row in group if row["variant"] == usual]
    return chosen


# -- formats -------------------------------------------------------------------------------------------------------------


def to_markdown(table: ResultTable) -> str:
    """Return a table as Markdown."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in (table.header, *table.rows)]
    lines = [f"## {table.title}", "", f"| {' | '.join(escaped[0])} |", "|---|" + "--:|" * (len(table.header) - 1)]
    lines += [f"| {' | '.join(row)} |" for row in escaped[1:]]
    return "\n".join([*lines, *(["", table.note] if table.note else [])])


def to_csv(table: ResultTable) -> str:
    """Return a table as CSV."""
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


# -- the tables ----------------------------------------------------------------------------------------------------------


def _count_rows(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("rows", "What was run", ["data", "model", "cells", "rows", "questions a cell", "errors"])
    for (data, model), group in _group(rows, "data", "model"):
        cells = [len(own) for _, own in _group(group, "harness", "memory", "gate", "variant")]
        spread = f"{min(cells)}" if min(cells) == max(cells) else f"{min(cells)}–{max(cells)}"
        errors = sum(bool(row.get("error")) for row in group)
        table.rows.append([data, model, str(len(cells)), f"{len(group):,}", spread, str(errors)])
    return table


def _question_table(rows: Sequence[Row]) -> ResultTable:
    memories = _list_memories(rows)
    table = ResultTable("questions", "Questions a cell", ["data", "harness", "gate", *memories])
    for key, group in _group(rows, "data", "harness", "gate"):
        cells = [_select(group, memory=memory) for memory in memories]
        table.rows.append([*key, *(f"{len(cell)}{_mark(cell)}" if cell else "–" for cell in cells)])
    table.note = f"*: fewer than {FEW} questions, in this and all other tables."
    return table


def _score_tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Scores by harness and memory, without a gate."""
    tables = []
    for name, title in (("judge", "Judge score (0–100)"), ("f1", "Token F1"), ("recall", "Recall of gold passages")):
        memories = _list_memories(rows)
        table = ResultTable(
            f"{name}-by-memory", f"{title} by harness and memory, without a gate", ["data", "harness", "n", *memories]
        )
        own = [row for row in rows if row["gate"] == NO_GATE and _value(row, name) is not None]
        for (data, harness), group in _group(own, "data", "harness"):
            shared, count = _share(group, "memory")
            cells = [_format_mean(_values(_select(shared, memory=memory), name), name) for memory in memories]
            table.rows.append([data, harness, count, *cells])
        table.note = "Mean and bootstrap 95 % interval over the n questions that all memories of a harness have."
        tables.append(table)
    return tables


def _abstention_table(rows: Sequence[Row]) -> ResultTable:
    memories = _list_memories(rows)
    table = ResultTable("no-evidence", '"No evidence" artefacts: share of answerable questions without an answer', [])
    table.header = ["data", "harness", "n", *memories]
    own = [row for row in rows if row["gate"] == NO_GATE and row["answerable"]]
    for (data, harness), group in _group(own, "data", "harness"):
        shared, count = _share(group, "memory")
        cells = []
        for memory in memories:
            flags = [float(row["abstained"]) for row in _select(shared, memory=memory)]
            cells.append(f"{fmean(flags):.0%}{_mark(flags)}" if flags else "–")
        table.rows.append([data, harness, count, *cells])
    table.note = "Without a gate; n: the answerable questions that all memories of a harness have."
    return table


def _gate_impact_table(rows: Sequence[Row], by: str) -> ResultTable:
    table = ResultTable(f"gate-by-{by}", f"What a gate changes, by {by}", [])
    table.header = ["data", by, "gate", "questions", "judge", "F1", "recall", "tokens", "p (F1)", "p (Holm)"]
    tests: list[PairedTest] = []
    gated = [row for row in rows if row["gate"] != NO_GATE]
    for (data, gate), group in _group(gated, "data", "gate"):
        parts = _group(group, by)
        for (name,), own in [*parts, *([(("all",), group)] if len(parts) > 1 else [])]:
            pairs = _pair(own, _select(rows, data=data, gate=NO_GATE))
            if not pairs:
                continue
            tests.append(_test(pairs, "f1"))
            table.rows.append([data, name, gate, *_format_effect(pairs, tests[-1])])
    for row, p in zip(table.rows, adjust_holm([test.p for test in tests]), strict=True):
        row.append(_format_p(p))
    table.note = (
        "With the gate minus without it, on the same questions, averaged over the other parts of the cells, with a bootstrap "
        "95 % interval; p: paired t-test; p (Holm): adjusted over the rows of this table."
    )
    return table


def _judged_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("judged-gates", "Programmatic and model-judged gates", [])
    table.header = ["data", "harness", "memory", "gate", "n", "judge", "F1", "recall", "rounds", "tokens", "fired"]
    judged = {(row["data"], row["harness"]) for row in rows if row["gate"].startswith("judged")}
    for key, group in _group([row for row in rows if (row["data"], row["harness"]) in judged], *_CELL):
        flags = [float(row["fired"]) for row in group]
        table.rows.append(
            [
                *key,
                f"{len(group)}{_mark(group)}",
                *(_format_mean(_values(group, score), score, interval=False) for score in ("judge", "f1", "recall")),
                f"{fmean(row['rounds'] for row in group):.2f}",
                f"{fmean(map(_tokens, group)):,.0f}",
                f"{fmean(flags):.0%}" if key[3] != NO_GATE else "–",
            ]
        )
    return table


def build_gap_table(rows: Sequence[Row]) -> ResultTable:
    """Return how often each failure was found, by harness and memory. Unknown verdicts are left out."""
    table = ResultTable("gaps", "Gap prevalence", ["data", "harness", "memory", "n", *DETECTORS])
    for key, group in _group([row for row in rows if row.get("gaps")], "data", "harness", "memory"):
        cells = []
        for name in DETECTORS:
            known = [row for row in group if row["gaps"].get(name) is not None]
            share = fmean(float(row["gaps"][name]) for row in known) if known else 0.0
            cells.append(f"{share:.0%}{_mark_questions(known)}" if known else "–")
        table.rows.append([*key, str(len(group)), *cells])
    names = "; ".join(f"{key} {name}" for key, name in GAP_NAMES.items())
    table.note = f"Share of runs, over all gates. {names}. Rules: suffice.lab.gaps."
    return table


def _memory_test_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("memory-tests", "Paired tests of memories, without a gate", [])
    table.header = ["data", "memories", "score", "pairs", "difference", "p", "p (Holm)"]
    tests: list[PairedTest] = []
    own = [row for row in rows if row["gate"] == NO_GATE]
    for (data,), group in _group(own, "data"):
        for left, right in combinations(_list_memories(group), 2):
            pairs = _pair(_select(group, memory=right), _select(group, memory=left), by=("data", "harness", "question"))
            for score in ("judge", "f1", "recall"):
                test = _test(pairs, score)
                if test.pairs:
                    tests.append(test)
                    difference = _format_difference(test, score)
                    table.rows.append(
                        [data, f"{right} − {left}", score, str(test.pairs), difference, _format_p(test.p)]
                    )
    for row, p in zip(table.rows, adjust_holm([test.p for test in tests]), strict=True):
        row.append(_format_p(p))
    table.note = (
        "A pair is a question, averaged over the harnesses that ran it with both memories; the difference has a bootstrap 95 % "
        "interval. p: paired t-test; p (Holm): adjusted over all rows of this table."
    )
    return table


def _memory_effect_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("memory-by-harness", "What a memory changes, by harness, without a gate", [])
    table.header = ["data", "harness", "memories", "questions", "judge", "F1", "recall", "tokens", "p (F1)", "p (Holm)"]
    tests: list[PairedTest] = []
    own = [row for row in rows if row["gate"] == NO_GATE]
    for (data,), group in _group(own, "data"):
        parts = _group(group, "harness")
        for (harness,), some in [*parts, *([(("all",), group)] if len(parts) > 1 else [])]:
            for left, right in combinations(_list_memories(some), 2):
                by = ("harness", "question")
                pairs = _pair(_select(some, memory=right), _select(some, memory=left), by)
                if pairs:
                    tests.append(_test(pairs, "f1"))
                    table.rows.append([data, harness, f"{right} − {left}", *_format_effect(pairs, tests[-1])])
    for row, p in zip(table.rows, adjust_holm([test.p for test in tests]), strict=True):
        row.append(_format_p(p))
    table.note = (
        "On the questions that both cells have, with a bootstrap 95 % interval; tokens: those of the whole run. p: paired "
        "t-test; p (Holm): adjusted over the rows of this table. all: averaged over the harnesses that ran both."
    )
    return table


def _split_table(rows: Sequence[Row], by: str, title: str) -> ResultTable:
    memories = _list_memories(rows)
    table = ResultTable(f"by-{by}", f"{title}: F1, without a gate", ["data", "questions", "n a cell", *memories])
    own = [row for row in rows if row["gate"] == NO_GATE]
    complete = [row for _, group in _group(own, "data") for row in _balance(group, "memory")]
    for (data, value), group in _group(complete, "data", by):
        name = ("answerable" if value else "unanswerable") if by == "answerable" else str(value)
        cells = [_format_mean(_average(_select(group, memory=memory), "f1"), "f1") for memory in memories]
        table.rows.append([data, name, str(len({row["question"] for row in group})), *cells])
    table.note = (
        f"Mean over the harnesses that ran a question with every memory ({', '.join(_list_harnesses(complete))}), with a "
        "bootstrap 95 % interval over questions. An unanswerable question scores 1 if the run says so."
    )
    return table


def _metric_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("metrics", "All scores by harness, memory and gate", [])
    table.header = ["data", "harness", "memory", "gate", "n", *SCORES]
    for _, own in _group(rows, "data", "harness"):
        shared, count = _share(own, "memory", "gate")
        for key, group in _group(shared, *_CELL):
            cells = [_format_mean(_values(group, score), score, interval=False) for score in SCORES]
            table.rows.append([*key, count, *cells])
    table.note = "Means over the n questions that all cells of a harness have."
    return table


def _round_table(rows: Sequence[Row]) -> ResultTable:
    memories = _list_memories(rows)
    table = ResultTable("rounds", "Rounds per run", ["data", "harness", "gate", "n", *memories])
    for _, own in _group(rows, "data", "harness"):
        shared, count = _share(own, "memory", "gate")
        for key, group in _group(shared, "data", "harness", "gate"):
            cells = []
            for memory in memories:
                rounds = [row["rounds"] for row in _select(group, memory=memory)]
                cells.append(f"{fmean(rounds):.2f}{_mark(rounds)}" if rounds else "–")
            table.rows.append([*key, count, *cells])
    table.note = "Means over the n questions that all cells of a harness have."
    return table


def _fire_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("fire", "Fire rate, fire round and net savings", [])
    table.header = ["data", "harness", "memory", "gate", "n", "fired", "fire round", "median", "tokens saved"]
    for key, group in _group([row for row in rows if row["gate"] != NO_GATE], *_CELL):
        data, harness, memory, _ = key
        fired = [row["fire_round"] for row in group if row["fired"]]
        pairs = _pair(group, _select(rows, data=data, harness=harness, memory=memory, gate=NO_GATE))
        saved = _format_token_change(pairs, saved=True)
        mean_round, middle = (f"{fmean(fired):.2f}", f"{median(fired):g}") if fired else ("–", "–")
        table.rows.append(
            [*key, f"{len(group)}{_mark(group)}", f"{len(fired) / len(group):.0%}", mean_round, middle, saved]
        )
    table.note = (
        "Tokens saved: all tokens of the run, the gate's own calls included, against the run without a gate, on the questions "
        "that have both, with a bootstrap 95 % interval."
    )
    return table


def _ablation_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("ablations", "Ablations: retrieval depth k, weight of words alpha, limits K of the belief", [])
    table.header = ["data", "harness", "memory", "gate", "variant", "n", "judge", "F1", "recall", "tokens"]
    varied = {key for key, group in _group(rows, *_CELL) if len({row["variant"] for row in group}) > 1}
    for key, group in _group([row for row in rows if tuple(row[name] for name in _CELL) in varied], *_CELL, "variant"):
        table.rows.append(
            [
                *key[:4],
                key[4] or "usual",
                f"{len(group)}{_mark(group)}",
                *(_format_mean(_values(group, score), score) for score in ("judge", "f1", "recall")),
                f"{fmean(map(_tokens, group)):,.0f}",
            ]
        )
    return table


def _equal_cost_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable(
        "equal-rounds", "Gates against fixed(k) at the same number of rounds, and against the oracle: recall", []
    )
    table.header = ["data", "harness", "memory", "gate", "n", "rounds", "recall", "fixed(k)", "oracle", "lift", "95 %"]
    for key, group in _group([row for row in rows if row["gate"] != NO_GATE and row["recall"] is not None], *_CELL):
        data, harness, memory, _ = key
        pairs = _pair(group, _select(rows, data=data, harness=harness, memory=memory, gate=NO_GATE))
        table.rows += _compare_recall(
            key, [(left["rounds"], left["recall"]) for left, _ in pairs], [b for _, b in pairs]
        )
    table.note = (
        "fixed(k): the recall of the runs without a gate at the same mean number of rounds (upper concave envelope over k); "
        "oracle: the best that the same rounds could buy if gold were known; lift = recall − fixed(k), with a bootstrap "
        "interval over questions."
    )
    return table


def _equal_token_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("equal-tokens", "Gates against fixed(k) at the same number of tokens: F1", [])
    table.header = ["data", "harness", "memory", "gate", "n", "tokens", "F1", "fixed(k)", "oracle", "lift", "95 %"]
    for key, group in _group([row for row in rows if row["gate"] != NO_GATE], *_CELL):
        data, harness, memory, _ = key
        others = _select(rows, data=data, harness=harness, memory=memory, gate=NO_GATE)
        pairs = [pair for pair in _pair(group, others) if pair[1].get("f1_by_round")]
        if not pairs:
            continue
        spent = fmean(_tokens(left) for left, _ in pairs)
        score = fmean(left["scores"]["f1"] for left, _ in pairs)
        fixed = _f1_at([right for _, right in pairs], spent)
        oracle = fmean(max(right["f1_by_round"]) for _, right in pairs)

        def lift(chosen: Sequence[int], pairs: list[tuple[Row, Row]] = pairs) -> float:
            some = [pairs[i] for i in chosen]
            tokens = fmean(_tokens(left) for left, _ in some)
            return fmean(left["scores"]["f1"] for left, _ in some) - _f1_at([right for _, right in some], tokens)

        numbers = [f"{spent:,.0f}", f"{score:.3f}", f"{fixed:.3f}", f"{oracle:.3f}", _sign(score - fixed)]
        interval = _format_bounds(_resample([left["question"] for left, _ in pairs], lift))
        table.rows.append([*key, f"{len(pairs)}{_mark(pairs)}", *numbers, interval])
    table.note = (
        "fixed(k): the F1 of the answers after k rounds without a gate at the same mean tokens (upper concave envelope); "
        "oracle: the best answer of each run, at whatever cost."
    )
    return table


def _sweep_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("sweep", "The sixteen exhaustion gates replayed over the runs without a gate: recall", [])
    table.header = ["data", "harness", "memory", "gate", "n", "rounds", "recall", "fixed(k)", "oracle", "lift", "95 %"]
    own = [row for row in rows if row["gate"] == NO_GATE and row["recall"] is not None]
    for (data,), group in _group(own, "data"):
        for gate in EXHAUSTION_SWEEP:
            parsed = parse_gate(gate)
            stops = [find_stop(parsed, _readings(row)).rounds for row in group]
            points = [(stop, row["recall_by_round"][stop - 1]) for stop, row in zip(stops, group, strict=True)]
            table.rows += _compare_recall((data, "all", "all", gate), points, group)
    table.note = "All harnesses and memories together. The paper names only j=0.6, u=0.3, p=2; see suffice.lab.sweep."
    return table


def _variance_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("variance", "Variance of F1: between questions, and between cells for the same question", [])
    table.header = ["data", "gate", "questions", "SD between questions", "SD within a question"]
    for (data, gate), group in _group(rows, "data", "gate"):
        shared, _ = _share(group, "harness", "memory")
        by_question = [[row["scores"]["f1"] for row in own] for _, own in _group(shared, "question")]
        if not by_question:
            continue
        means = [fmean(values) for values in by_question]
        within = fmean(pstdev(values) for values in by_question)
        table.rows.append([data, gate, str(len(means)), f"{pstdev(means):.3f}", f"{within:.3f}"])
    table.note = (
        "Over the questions that all cells have. Within: the standard deviation over harnesses and memories, averaged over "
        "questions."
    )
    return table


def _failure_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("failures", "Failed model calls and refused facts", [])
    table.header = [
        "data",
        "harness",
        "memory",
        "runs",
        "with a failed call",
        "failed calls a run",
        "refused facts a run",
    ]
    for key, group in _group([row for row in rows if "failures" in row], "data", "harness", "memory"):
        failed = [int(row["failures"]) for row in group]
        share = f"{fmean(float(count > 0) for count in failed):.0%}{_mark_questions(group)}"
        refused = fmean(row.get("refused", 0) for row in group)
        table.rows.append([*key, str(len(group)), share, f"{fmean(failed):.2f}", f"{refused:.1f}"])
    table.note = (
        "Over all gates. A failed call gave an error or an answer that could not be used, even if asking again helped. A "
        "refused fact is one that its source does not support."
    )
    return table


def _frontier_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("frontier", "Quality against tokens: the cells on the frontier", [])
    table.header = ["data", "harness", "memory", "gate", "n", "tokens", "F1"]
    for (data,), group in _group(rows, "data"):
        for point in find_frontier(group):
            count = f"{point.count}{'*' if point.count < FEW else ''}"
            table.rows.append([data, *point.cell, count, f"{point.tokens:,.0f}", f"{point.score:.3f}"])
    table.note = (
        "On the n questions that all cells have. No other cell has a higher F1 for fewer tokens than one of these."
    )
    return table


@dataclass(frozen=True, slots=True)
class CellPoint:
    """The mean tokens and F1 of a cell."""

    cell: tuple[str, str, str]
    count: int
    tokens: float
    score: float


def measure_cells(rows: Sequence[Row]) -> list[CellPoint]:
    """Return the mean tokens and F1 of each cell over the questions that all cells have."""
    shared, _ = _share(rows, "harness", "memory", "gate")
    return [
        CellPoint(key, len(own), fmean(map(_tokens, own)), fmean(row["scores"]["f1"] for row in own))
        for key, own in _group(shared, "harness", "memory", "gate")
    ]


def find_frontier(rows: Sequence[Row]) -> list[CellPoint]:
    """Return the cells that no other cell beats in both tokens and F1, cheapest first."""
    best = -1.0
    chosen = []
    for point in sorted(measure_cells(rows), key=lambda point: (point.tokens, -point.score)):
        if point.score > best:
            best = point.score
            chosen.append(point)
    return chosen


# -- parts ---------------------------------------------------------------------------------------------------------------

_CELL = ("data", "harness", "memory", "gate")


def _compare_recall(key: tuple[str, ...], points: Sequence[tuple[int, float]], free: Sequence[Row]) -> list[list[str]]:
    """Return the row that compares (rounds, recall) with fixed k and the oracle over the runs without a gate."""
    import numpy

    curves = [row["recall_by_round"] for row in free]
    if not curves or any(value is None for curve in curves for value in curve):
        return []
    rounds, recall = fmean(point[0] for point in points), fmean(point[1] for point in points)
    fixed = interpolate(fixed_envelope(curves), rounds)
    oracle = interpolate(oracle_envelope(curves), rounds)

    longest = max(map(len, curves))
    costs = numpy.array([[min(k, len(curve)) for k in range(1, longest + 1)] for curve in curves], float)
    values = numpy.array([[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves], float)
    reached = numpy.array(points, float)

    def lift(chosen: Sequence[int]) -> float:  # The envelope of fixed_envelope, for many draws.
        cost, value = reached[chosen].mean(axis=0).tolist()
        means = costs[chosen].mean(axis=0).tolist(), values[chosen].mean(axis=0).tolist()
        return float(value - interpolate(upper_concave_hull(list(zip(*means, strict=True))), cost))

    numbers = [f"{rounds:.2f}", f"{recall:.3f}", f"{fixed:.3f}", f"{oracle:.3f}", _sign(recall - fixed)]
    bounds = _resample([row["question"] for row in free], lift)
    count = f"{len({row['question'] for row in free})}{_mark_questions(free)}"
    return [[*key, count, *numbers, _format_bounds(bounds)]]


def _resample(
    questions: Sequence[str], measure: Callable[[Sequence[int]], float], draws: int = 200
) -> tuple[float, float] | None:
    """Return the bootstrap 95 % interval of a measure of runs. Questions are drawn, each with all its runs."""
    import numpy

    runs: dict[str, list[int]] = defaultdict(list)
    for position, question in enumerate(questions):
        runs[question].append(position)
    clusters = list(runs.values())
    if len(clusters) < 2:
        return None
    random = numpy.random.default_rng(0)
    chosen = (random.integers(0, len(clusters), len(clusters)).tolist() for _ in range(draws))
    values = [measure([run for cluster in some for run in clusters[cluster]]) for some in chosen]
    low, high = numpy.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _f1_at(free: Sequence[Row], tokens: float) -> float:
    """Return the F1 of a fixed number of rounds at this mean cost."""
    longest = max(len(row["f1_by_round"]) for row in free)
    points = []
    for k in range(longest):
        costs, scores = [], []
        for row in free:
            last = min(k, len(row["f1_by_round"]) - 1)
            costs.append(row["tokens_by_round"][last] + row["answer_tokens_by_round"][last])
            scores.append(row["f1_by_round"][last])
        points.append((fmean(costs), fmean(scores)))
    return interpolate(upper_concave_hull(sorted(points)), tokens)


def _readings(row: Row) -> list[Readings]:
    pairs = zip(row["similarity_by_round"], row["new_by_round"], strict=True)
    return [{"overlap.jaccard": similarity, "overlap.upr": new} for similarity, new in pairs]


def _sort_key(row: Row) -> tuple[Any, ...]:
    order = [*HARNESSES, row["harness"]].index(row["harness"])
    memory = [*CONDITIONS, row["memory"]].index(row["memory"])
    gate = "" if row["gate"] == NO_GATE else row["gate"]
    return row["data"], order, memory, gate, row["variant"], str(row["question"])


def _group(rows: Iterable[Row], *names: str) -> list[tuple[tuple[Any, ...], list[Row]]]:
    """Return the rows by the values of these fields, in the order of the rows."""
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in names)].append(row)
    return list(groups.items()) if names[:1] == ("question",) else sorted(groups.items(), key=_group_key(names))


def _group_key(names: Sequence[str]) -> Callable[[tuple[tuple[Any, ...], Any]], tuple[Any, ...]]:
    orders: dict[str, Sequence[str]] = {"harness": HARNESSES, "memory": tuple(CONDITIONS)}

    def key(item: tuple[tuple[Any, ...], Any]) -> tuple[Any, ...]:
        parts: list[Any] = []
        for name, value in zip(names, item[0], strict=True):
            known = list(orders.get(name, ()))
            parts.append((known.index(value) if value in known else len(known), "" if value == NO_GATE else str(value)))
        return tuple(parts)

    return key


def _select(rows: Iterable[Row], **values: str) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def _list_memories(rows: Sequence[Row]) -> list[str]:
    found = {row["memory"] for row in rows}
    return [*(name for name in CONDITIONS if name in found), *sorted(found - CONDITIONS.keys())]


def _value(row: Row, score: str) -> float | None:
    value: float | None = row["recall"] if score == "recall" else row["scores"].get(score)
    return value


def _values(rows: Iterable[Row], score: str) -> list[float]:
    return [value for row in rows if (value := _value(row, score)) is not None]


def _tokens(row: Row) -> int:
    return int(row["input_tokens"]) + int(row["output_tokens"])


def _pair(
    left: Sequence[Row], right: Sequence[Row], by: Sequence[str] = ("data", "harness", "memory", "question")
) -> list[tuple[Row, Row]]:
    """Return the rows that agree in these fields. Each must be unique on the right."""
    others = {tuple(row[name] for name in by): row for row in right}
    keys = [(row, tuple(row[name] for name in by)) for row in left]
    return [(row, others[key]) for row, key in keys if key in others]


def _test(pairs: Sequence[tuple[Row, Row]], score: str) -> PairedTest:
    """Compare the pairs by question: several pairs of a question are not independent, so their mean counts once."""
    by_question: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for left, right in pairs:
        a, b = _value(left, score), _value(right, score)
        if a is not None and b is not None:
            by_question[left["question"]].append((a, b))
    means = [(fmean(a for a, _ in own), fmean(b for _, b in own)) for own in by_question.values()]
    return paired_test([a for a, _ in means], [b for _, b in means])


def _share(rows: Sequence[Row], *names: str) -> tuple[list[Row], str]:
    """Return the rows of the questions that all cells by these fields have, and their number with its mark."""
    cells = [{row["question"] for row in own} for _, own in _group(rows, *names)]
    shared = set.intersection(*cells) if cells else set()
    return [row for row in rows if row["question"] in shared], f"{len(shared)}{'*' if len(shared) < FEW else ''}"


def _balance(rows: Sequence[Row], name: str) -> list[Row]:
    """Return the rows whose harness ran their question with every value of this field."""
    values = {row[name] for row in rows}
    groups = [own for _, own in _group(rows, "harness", "question")]
    return [row for own in groups if {row[name] for row in own} == values for row in own]


def _average(rows: Sequence[Row], score: str) -> list[float]:
    """Return the mean score of each question."""
    return [fmean(values) for _, own in _group(rows, "question") if (values := _values(own, score))]


def _list_harnesses(rows: Sequence[Row]) -> list[str]:
    return [str(name) for (name,), _ in _group(rows, "harness")]


def _format_effect(pairs: Sequence[tuple[Row, Row]], f1: PairedTest) -> list[str]:
    """Return the number of questions, the differences of the scores and tokens, and the p-value for F1."""
    scores = [_format_difference(_test(pairs, score), score) for score in ("judge", "f1", "recall")]
    return [f"{f1.pairs}{'*' if f1.pairs < FEW else ''}", *scores, _format_token_change(pairs), _format_p(f1.p)]


def _format_token_change(pairs: Sequence[tuple[Row, Row]], *, saved: bool = False) -> str:
    """Return the tokens of the left rows relative to those of the right ones, less 1; or what the left ones save."""

    import numpy

    by_question: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for left, right in pairs:
        by_question[left["question"]][0] += _tokens(left)
        by_question[left["question"]][1] += _tokens(right)
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


def _mark(values: Sequence[Any]) -> str:
    return "*" if len(values) < FEW else ""


def _mark_questions(rows: Sequence[Row]) -> str:
    """Return the mark for several runs of a question: too few questions, not too few runs. A trace has no question id."""
    return "*" if len({row.get("question", position) for position, row in enumerate(rows)}) < FEW else ""


def _digits(score: str) -> int:
    return 1 if score == "judge" else 3


def _format_mean(values: Sequence[float], score: str, *, interval: bool = True) -> str:
    if not values:
        return "–"
    digits = _digits(score)
    text = f"{fmean(values):.{digits}f}{_mark(values)}"
    bounds = bootstrap_interval(values) if interval else None
    return text if bounds is None else f"{text} [{bounds[0]:.{digits}f}, {bounds[1]:.{digits}f}]"


def _format_difference(test: PairedTest, score: str) -> str:
    if not test.pairs:
        return "–"
    digits = _digits(score)
    text = f"{_sign(test.difference, digits)}{'*' if test.pairs < FEW else ''}"
    if test.interval is None:
        return text
    return f"{text} [{_sign(test.interval[0], digits)}, {_sign(test.interval[1], digits)}]"


def _format_bounds(bounds: tuple[float, float] | None) -> str:
    return "–" if bounds is None else f"[{_sign(bounds[0])}, {_sign(bounds[1])}]"


def _sign(value: float, digits: int = 3) -> str:
    """Return a number with its sign; one that rounds to zero is +0."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def _format_p(p: float | None) -> str:
    return "–" if p is None else "<.001" if p < 0.001 else f"{p:.3f}"
