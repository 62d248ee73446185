"""The tables of a grid, from its rows alone: most of the paper's tables, and what it lacks.

Not written: the share of "no evidence" open questions (its Table 4; the rows have no texts), and its Tables 9–13 and 15 as
differences with a test each: scores by split stand in "answerable", "group" and "metrics"; tests are pooled over harnesses.

Every table says how many questions it is based on. A cell with fewer than ``FEW`` questions is marked with ``*``. Cells of an
unfinished grid have different questions: columns that invite a comparison use the questions that all of them have, and
differences on the pairs that both cells have. Several runs of a question are averaged before an interval is drawn, because
they are not independent. Rows with an error are left out and counted in the first table. The same rows give the same text.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median, pstdev

from suffice.gates.parse import parse_gate
from suffice.lab.episode import Row
from suffice.lab.experiment import NO_GATE
from suffice.lab.gaps import DETECTORS, GAP_NAMES
from suffice.lab.result_table import (
    FEW,
    ResultTable,
    format_bounds,
    format_count,
    format_difference,
    format_effect,
    format_mean,
    format_p,
    format_signed,
    format_token_change,
    mark_few,
    mark_few_questions,
)
from suffice.lab.rows import (
    CELL,
    average_by_question,
    compare_pairs,
    count_tokens,
    get_value,
    group_rows,
    list_harnesses,
    list_memories,
    list_values,
    pair_rows,
    select_balanced,
    select_rows,
    select_shared,
    select_usual,
    sort_key,
)
from suffice.lab.scores import SCORES
from suffice.lab.statistics import PairedTest, adjust_holm
from suffice.lab.sweep import EXHAUSTION_SWEEP
from suffice.measure.frontier import fixed_envelope, interpolate, oracle_envelope, upper_concave_hull
from suffice.replay.judge import find_stop
from suffice.types import Readings


def build_tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Return all tables that the rows can fill."""
    good = sorted((row for row in rows if not row.get("error")), key=sort_key)
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
        _curation_table(usual),
        _failure_table(usual),
        _frontier_table(usual),
    ]
    return [table for table in tables if table.rows]


# -- the tables ----------------------------------------------------------------------------------------------------------


def _count_rows(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("rows", "What was run", ["data", "model", "cells", "rows", "questions a cell", "errors"])
    for (data, model), group in group_rows(rows, "data", "model"):
        cells = [len(own) for _, own in group_rows(group, "harness", "memory", "gate", "variant")]
        spread = f"{min(cells)}" if min(cells) == max(cells) else f"{min(cells)}–{max(cells)}"
        errors = sum(bool(row.get("error")) for row in group)
        table.rows.append([data, model, str(len(cells)), f"{len(group):,}", spread, str(errors)])
    return table


def _question_table(rows: Sequence[Row]) -> ResultTable:
    memories = list_memories(rows)
    table = ResultTable("questions", "Questions a cell", ["data", "harness", "gate", *memories])
    for key, group in group_rows(rows, "data", "harness", "gate"):
        cells = [select_rows(group, memory=memory) for memory in memories]
        table.rows.append([*key, *(f"{len(cell)}{mark_few(cell)}" if cell else "–" for cell in cells)])
    table.note = f"*: fewer than {FEW} questions, in this and all other tables."
    return table


def _score_tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Scores by harness and memory, without a gate."""
    tables = []
    for name, title in (("judge", "Judge score (0–100)"), ("f1", "Token F1"), ("recall", "Recall of gold passages")):
        memories = list_memories(rows)
        table = ResultTable(
            f"{name}-by-memory", f"{title} by harness and memory, without a gate", ["data", "harness", "n", *memories]
        )
        own = [row for row in rows if row["gate"] == NO_GATE and get_value(row, name) is not None]
        for (data, harness), group in group_rows(own, "data", "harness"):
            shared, count = select_shared(group, "memory")
            cells = [format_mean(list_values(select_rows(shared, memory=memory), name), name) for memory in memories]
            table.rows.append([data, harness, format_count(count), *cells])
        table.note = "Mean and bootstrap 95 % interval over the n questions that all memories of a harness have."
        tables.append(table)
    return tables


def _abstention_table(rows: Sequence[Row]) -> ResultTable:
    memories = list_memories(rows)
    table = ResultTable("no-answer", "Share of answerable questions that were not answered", [])
    table.header = ["data", "harness", "n", *memories]
    own = [row for row in rows if row["gate"] == NO_GATE and row["answerable"]]
    for (data, harness), group in group_rows(own, "data", "harness"):
        shared, count = select_shared(group, "memory")
        cells = []
        for memory in memories:
            flags = [float(row["abstained"]) for row in select_rows(shared, memory=memory)]
            cells.append(f"{fmean(flags):.0%}{mark_few(flags)}" if flags else "–")
        table.rows.append([data, harness, format_count(count), *cells])
    table.note = "Without a gate; n: the answerable questions that all memories of a harness have."
    return table


def _gate_impact_table(rows: Sequence[Row], by: str) -> ResultTable:
    table = ResultTable(f"gate-by-{by}", f"What a gate changes, by {by}", [])
    table.header = ["data", by, "gate", "questions", "judge", "F1", "recall", "tokens", "p (F1)", "p (Holm)"]
    tests: list[PairedTest] = []
    gated = [row for row in rows if row["gate"] != NO_GATE]
    for (data, gate), group in group_rows(gated, "data", "gate"):
        for name, own in _group_and_all(group, by):
            pairs = pair_rows(own, select_rows(rows, data=data, gate=NO_GATE))
            if not pairs:
                continue
            tests.append(compare_pairs(pairs, "f1"))
            table.rows.append([data, name, gate, *format_effect(pairs, tests[-1])])
    _append_adjusted(table, tests)
    table.note = (
        "With the gate minus without it, on the same questions, averaged over the other parts of the cells, with a bootstrap "
        "95 % interval; p: paired t-test; p (Holm): adjusted over the rows of this table."
    )
    return table


def _judged_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("judged-gates", "Programmatic and model-judged gates", [])
    table.header = ["data", "harness", "memory", "gate", "n", "judge", "F1", "recall", "rounds", "tokens", "fired"]
    judged = {(row["data"], row["harness"]) for row in rows if row["gate"].startswith("judged")}
    for key, group in group_rows([row for row in rows if (row["data"], row["harness"]) in judged], *CELL):
        flags = [float(row["fired"]) for row in group]
        table.rows.append(
            [
                *key,
                f"{len(group)}{mark_few(group)}",
                *(format_mean(list_values(group, score), score, interval=False) for score in ("judge", "f1", "recall")),
                f"{fmean(row['rounds'] for row in group):.2f}",
                f"{fmean(map(count_tokens, group)):,.0f}",
                f"{fmean(flags):.0%}" if key[3] != NO_GATE else "–",
            ]
        )
    return table


def build_gap_table(rows: Sequence[Row]) -> ResultTable:
    """Return how often each failure was found, by harness and memory. Unknown verdicts are left out."""
    table = ResultTable("gaps", "Gap prevalence", ["data", "harness", "memory", "n", *DETECTORS])
    for key, group in group_rows([row for row in rows if row.get("gaps")], "data", "harness", "memory"):
        cells = []
        for name in DETECTORS:
            known = [row for row in group if row["gaps"].get(name) is not None]
            share = fmean(float(row["gaps"][name]) for row in known) if known else 0.0
            cells.append(f"{share:.0%}{mark_few_questions(known)}" if known else "–")
        table.rows.append([*key, str(len(group)), *cells])
    names = "; ".join(f"{key} {name}" for key, name in GAP_NAMES.items())
    table.note = f"Share of runs, over all gates. {names}. Rules: suffice.lab.gaps."
    return table


def _memory_test_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("memory-tests", "Paired tests of memories, without a gate", [])
    table.header = ["data", "memories", "score", "pairs", "difference", "p", "p (Holm)"]
    tests: list[PairedTest] = []
    own = [row for row in rows if row["gate"] == NO_GATE]
    for (data,), group in group_rows(own, "data"):
        for left, right in combinations(list_memories(group), 2):
            pairs = pair_rows(
                select_rows(group, memory=right), select_rows(group, memory=left), by=("data", "harness", "question")
            )
            for score in ("judge", "f1", "recall"):
                test = compare_pairs(pairs, score)
                if test.pairs:
                    tests.append(test)
                    difference = format_difference(test, score)
                    table.rows.append([data, f"{right} − {left}", score, str(test.pairs), difference, format_p(test.p)])
    _append_adjusted(table, tests)
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
    for (data,), group in group_rows(own, "data"):
        for harness, some in _group_and_all(group, "harness"):
            for left, right in combinations(list_memories(some), 2):
                by = ("harness", "question")
                pairs = pair_rows(select_rows(some, memory=right), select_rows(some, memory=left), by)
                if pairs:
                    tests.append(compare_pairs(pairs, "f1"))
                    table.rows.append([data, harness, f"{right} − {left}", *format_effect(pairs, tests[-1])])
    _append_adjusted(table, tests)
    table.note = (
        "On the questions that both cells have, with a bootstrap 95 % interval; tokens: those of the whole run. p: paired "
        "t-test; p (Holm): adjusted over the rows of this table. all: averaged over the harnesses that ran both."
    )
    return table


def _split_table(rows: Sequence[Row], by: str, title: str) -> ResultTable:
    memories = list_memories(rows)
    table = ResultTable(f"by-{by}", f"{title}: F1, without a gate", ["data", "questions", "n a cell", *memories])
    own = [row for row in rows if row["gate"] == NO_GATE]
    complete = [row for _, group in group_rows(own, "data") for row in select_balanced(group, "memory")]
    for (data, value), group in group_rows(complete, "data", by):
        name = ("answerable" if value else "unanswerable") if by == "answerable" else str(value)
        cells = [format_mean(average_by_question(select_rows(group, memory=memory), "f1"), "f1") for memory in memories]
        table.rows.append([data, name, str(len({row["question"] for row in group})), *cells])
    table.note = (
        f"Mean over the harnesses that ran a question with every memory ({', '.join(list_harnesses(complete))}), with a "
        "bootstrap 95 % interval over questions. An unanswerable question scores 1 if the run says so."
    )
    return table


def _metric_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("metrics", "All scores by harness, memory and gate", [])
    table.header = ["data", "harness", "memory", "gate", "n", *SCORES]
    for _, own in group_rows(rows, "data", "harness"):
        shared, count = select_shared(own, "memory", "gate")
        for key, group in group_rows(shared, *CELL):
            cells = [format_mean(list_values(group, score), score, interval=False) for score in SCORES]
            table.rows.append([*key, format_count(count), *cells])
    table.note = "Means over the n questions that all cells of a harness have."
    return table


def _round_table(rows: Sequence[Row]) -> ResultTable:
    memories = list_memories(rows)
    table = ResultTable("rounds", "Rounds per run", ["data", "harness", "gate", "n", *memories])
    for _, own in group_rows(rows, "data", "harness"):
        shared, count = select_shared(own, "memory", "gate")
        for key, group in group_rows(shared, "data", "harness", "gate"):
            cells = []
            for memory in memories:
                rounds = [row["rounds"] for row in select_rows(group, memory=memory)]
                cells.append(f"{fmean(rounds):.2f}{mark_few(rounds)}" if rounds else "–")
            table.rows.append([*key, format_count(count), *cells])
    table.note = "Means over the n questions that all cells of a harness have."
    return table


def _fire_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("fire", "Fire rate, fire round and net savings", [])
    table.header = ["data", "harness", "memory", "gate", "n", "fired", "fire round", "median", "tokens saved"]
    for key, group in group_rows([row for row in rows if row["gate"] != NO_GATE], *CELL):
        data, harness, memory, _ = key
        fired = [row["fire_round"] for row in group if row["fired"]]
        pairs = pair_rows(group, select_rows(rows, data=data, harness=harness, memory=memory, gate=NO_GATE))
        saved = format_token_change(pairs, saved=True)
        mean_round, middle = (f"{fmean(fired):.2f}", f"{median(fired):g}") if fired else ("–", "–")
        table.rows.append(
            [*key, f"{len(group)}{mark_few(group)}", f"{len(fired) / len(group):.0%}", mean_round, middle, saved]
        )
    table.note = (
        "Tokens saved: all tokens of the run, the gate's own calls included, against the run without a gate, on the questions "
        "that have both, with a bootstrap 95 % interval."
    )
    return table


def _ablation_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("ablations", "Ablations: retrieval depth k, weight of words alpha, limits K of the belief", [])
    table.header = ["data", "harness", "memory", "gate", "variant", "n", "judge", "F1", "recall", "tokens"]
    varied = {key for key, group in group_rows(rows, *CELL) if len({row["variant"] for row in group}) > 1}
    for key, group in group_rows(
        [row for row in rows if tuple(row[name] for name in CELL) in varied], *CELL, "variant"
    ):
        table.rows.append(
            [
                *key[:4],
                key[4] or "usual",
                f"{len(group)}{mark_few(group)}",
                *(format_mean(list_values(group, score), score) for score in ("judge", "f1", "recall")),
                f"{fmean(map(count_tokens, group)):,.0f}",
            ]
        )
    return table


def _equal_cost_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable(
        "equal-rounds", "Gates against fixed(k) at the same number of rounds, and against the oracle: recall", []
    )
    table.header = ["data", "harness", "memory", "gate", "n", "rounds", "recall", "fixed(k)", "oracle", "lift", "95 %"]
    for key, group in group_rows([row for row in rows if row["gate"] != NO_GATE and row["recall"] is not None], *CELL):
        data, harness, memory, _ = key
        pairs = pair_rows(group, select_rows(rows, data=data, harness=harness, memory=memory, gate=NO_GATE))
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
    for key, group in group_rows([row for row in rows if row["gate"] != NO_GATE], *CELL):
        data, harness, memory, _ = key
        others = select_rows(rows, data=data, harness=harness, memory=memory, gate=NO_GATE)
        pairs = [pair for pair in pair_rows(group, others) if pair[1].get("f1_by_round")]
        if not pairs:
            continue
        spent = fmean(count_tokens(left) for left, _ in pairs)
        score = fmean(left["scores"]["f1"] for left, _ in pairs)
        fixed = _f1_at([right for _, right in pairs], spent)
        oracle = fmean(max(right["f1_by_round"]) for _, right in pairs)

        def lift(chosen: Sequence[int], pairs: list[tuple[Row, Row]] = pairs) -> float:
            some = [pairs[i] for i in chosen]
            tokens = fmean(count_tokens(left) for left, _ in some)
            return fmean(left["scores"]["f1"] for left, _ in some) - _f1_at([right for _, right in some], tokens)

        numbers = [f"{spent:,.0f}", f"{score:.3f}", f"{fixed:.3f}", f"{oracle:.3f}", format_signed(score - fixed)]
        interval = format_bounds(_resample([left["question"] for left, _ in pairs], lift))
        table.rows.append([*key, f"{len(pairs)}{mark_few(pairs)}", *numbers, interval])
    table.note = (
        "fixed(k): the F1 of the answers after k rounds without a gate at the same mean tokens (upper concave envelope); "
        "oracle: the best answer of each run, at whatever cost."
    )
    return table


def _sweep_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("sweep", "The sixteen exhaustion gates replayed over the runs without a gate: recall", [])
    table.header = ["data", "harness", "memory", "gate", "n", "rounds", "recall", "fixed(k)", "oracle", "lift", "95 %"]
    own = [row for row in rows if row["gate"] == NO_GATE and row["recall"] is not None]
    for (data,), group in group_rows(own, "data"):
        for gate in EXHAUSTION_SWEEP:
            parsed = parse_gate(gate)
            stops = [find_stop(parsed, _readings(row)).rounds for row in group]
            points = [(stop, row["recall_by_round"][stop - 1]) for stop, row in zip(stops, group, strict=True)]
            table.rows += _compare_recall((data, "all", "all", gate), points, group)
    table.note = "All harnesses and memories together. The paper names only j=0.6, u=0.3, p=2; see suffice.lab.sweep."
    return table


def _variance_table(rows: Sequence[Row]) -> ResultTable:
    memories = list_memories(rows)
    table = ResultTable("variance", "Standard deviation of a gate's effect over questions: judge", [])
    table.header = ["data", "harness", "gate", *memories]
    for (data, harness, gate), group in group_rows(
        [row for row in rows if row["gate"] != NO_GATE], "data", "harness", "gate"
    ):
        cells = []
        for memory in memories:
            free = select_rows(rows, data=data, harness=harness, memory=memory, gate=NO_GATE)
            pairs = pair_rows(select_rows(group, memory=memory), free)
            scores = [(get_value(gated, "judge"), get_value(other, "judge")) for gated, other in pairs]
            effects = [one - other for one, other in scores if one is not None and other is not None]
            cells.append(f"{pstdev(effects):.1f}{mark_few(effects)}" if effects else "–")
        table.rows.append([data, harness, gate, *cells])
    table.note = "Of the judge score with the gate minus the score without it, question by question."
    return table


def _curation_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("curation", "What curating the belief costs", [])
    table.header = ["data", "harness", "memory", "runs", "curated", "calls", "tokens a call", "share of tokens"]
    for key, group in group_rows(
        [row for row in rows if "extract" in row.get("by_role", ())], "data", "harness", "memory"
    ):
        curated = [row for row in group if "curate" in row["by_role"]]
        calls = sum(row["by_role"]["curate"][0] for row in curated)
        tokens = sum(sum(row["by_role"]["curate"][1:3]) for row in curated)
        costs = ["–"] * 3
        if curated:
            share = tokens / sum(map(count_tokens, curated))
            costs = [f"{calls / len(curated):.1f}", f"{tokens / calls:,.0f}", f"{share:.1%}"]
        table.rows.append([*key, str(len(group)), f"{len(curated) / len(group):.1%}", *costs])
    table.note = "Over all gates. Calls and the share of tokens: of the runs that curated."
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
    for key, group in group_rows([row for row in rows if "failures" in row], "data", "harness", "memory"):
        failed = [int(row["failures"]) for row in group]
        share = f"{fmean(float(count > 0) for count in failed):.0%}{mark_few_questions(group)}"
        refused = fmean(row.get("refused", 0) for row in group)
        table.rows.append([*key, str(len(group)), share, f"{fmean(failed):.2f}", f"{refused:.1f}"])
    table.note = (
        "Over all gates. A failed call gave an error or an answer that could not be used, even if asking again helped. A "
        "refused fact was not believed: its source does not support it, or it repeats the belief."
    )
    return table


def _frontier_table(rows: Sequence[Row]) -> ResultTable:
    table = ResultTable("frontier", "Quality against tokens: the cells on the frontier", [])
    table.header = ["data", "harness", "memory", "gate", "n", "tokens", "F1"]
    for (data,), group in group_rows(rows, "data"):
        for point in find_frontier(group):
            table.rows.append(
                [data, *point.cell, format_count(point.count), f"{point.tokens:,.0f}", f"{point.score:.3f}"]
            )
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
    shared, _ = select_shared(rows, "harness", "memory", "gate")
    return [
        CellPoint(key, len(own), fmean(map(count_tokens, own)), fmean(row["scores"]["f1"] for row in own))
        for key, own in group_rows(shared, "harness", "memory", "gate")
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


def _append_adjusted(table: ResultTable, tests: Sequence[PairedTest]) -> None:
    """Append to each row the p-value of its test, adjusted over all rows."""
    for row, p in zip(table.rows, adjust_holm([test.p for test in tests]), strict=True):
        row.append(format_p(p))


def _group_and_all(rows: Sequence[Row], name: str) -> list[tuple[str, Sequence[Row]]]:
    """Return the rows by the values of a field and, if there are several, all of them as ``all``."""
    groups: list[tuple[str, Sequence[Row]]] = [(value, own) for (value,), own in group_rows(rows, name)]
    return [*groups, ("all", rows)] if len(groups) > 1 else groups


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

    numbers = [f"{rounds:.2f}", f"{recall:.3f}", f"{fixed:.3f}", f"{oracle:.3f}", format_signed(recall - fixed)]
    bounds = _resample([row["question"] for row in free], lift)
    count = format_count(len({row["question"] for row in free}))
    return [[*key, count, *numbers, format_bounds(bounds)]]


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
