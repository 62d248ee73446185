"""The tables of a grid, from its rows alone: the paper's tables, and what it lacks. The first one says what is not written.

Every table says how many questions it is based on. A cell with fewer than ``FEW`` questions is marked with ``*``. Cells of an
unfinished grid have different questions: columns that invite a comparison use the questions that all of them have, and
differences on the pairs that both cells have. Several runs of a question are averaged before an interval is drawn, because
they are not independent. Rows with an error are left out and counted in the first table. The same rows give the same text.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median, pstdev

from suffice.gates.parse import parse_gate
from suffice.lab.episode import Row
from suffice.lab.experiment import EXHAUSTION_SWEEP, NO_GATE
from suffice.lab.gaps import GAPS
from suffice.lab.result_table import (
    FEW,
    ResultTable,
    format_count,
    format_difference,
    format_mean,
    format_p,
    format_signed,
    format_tested,
    format_token_change,
    mark_few,
    mark_few_questions,
)
from suffice.lab.rows import (
    CELL,
    compare_pairs,
    count_tokens,
    get_value,
    group_rows,
    list_names,
    list_values,
    pair_rows,
    select_rows,
    select_shared,
    select_usual,
    sort_key,
)
from suffice.lab.scores import SCORES
from suffice.lab.statistics import adjust_holm
from suffice.measure.frontier import Point, interpolate, oracle_envelope
from suffice.replay.compare import FixedReference
from suffice.replay.judge import find_stop
from suffice.types import Readings

_MAIN_SCORES = ("judge", "f1", "recall")
_HARNESS = ("data", "harness")
_FIXED = ["fixed(k)", "oracle", "lift", "95 %"]
_Case = tuple[Sequence[str], list[tuple[Row, Row]]]
_HOLM_NOTE = "p: paired t-test; p (Holm): adjusted over the rows of this table."


def build_tables(rows: Sequence[Row]) -> list[ResultTable]:
    """Return all tables that the rows can fill."""
    good = sorted((row for row in rows if not row.get("error")), key=sort_key)
    usual = select_usual(good)
    tables = [
        _count_rows(rows),
        *(_score_table(usual, name, title) for name, title in _SCORE_TITLES.items()),
        _abstention_table(usual),
        _gate_impact_table(usual, "memory"),
        _gate_impact_table(usual, "harness"),
        build_gap_table(usual),
        _memory_test_table(usual),
        _memory_effect_table(usual),
        _memory_score_table(usual, "", "every score (the paper's Tables 10 to 12)"),
        _memory_score_table(usual, "answerable", "answerable and unanswerable questions (Table 9)"),
        _memory_score_table(usual, "group", "hop count or category (Table 15)"),
        _effect_table("gate-by-score", "What a gate changes, by every score (Table 13)", CELL, _gate_cases(usual)),
        _metric_table(usual),
        _round_table(usual),
        _fire_table(usual),
        _ablation_table(good),
        _memory_score_table(
            [row for row in good if row["variant"]], "variant", "retriever and depth (Tables 20 and 22)"
        ),
        _effect_table("variants", "What a setting changes (Table 21)", [*CELL, "variant"], _variant_cases(good)),
        _equal_round_table(usual),
        _equal_token_table(usual),
        _sweep_table(usual),
        _variance_table(usual),
        _failure_table(usual),
        _frontier_table(usual),
    ]
    if empty := [f'"{table.title}"' for table in tables if not table.rows]:
        tables[0].note += f" No row can fill {', '.join(empty)}."
    return [table for table in tables if table.rows]


# -- the tables ----------------------------------------------------------------------------------------------------------


def _count_rows(rows: Sequence[Row]) -> ResultTable:
    note = f"*: fewer than {FEW} questions, in all tables. The paper's Table 4 is not written: it needs texts, which rows lack."
    table = ResultTable("rows", "What was run", ["data", "model", "cells", "rows", "questions a cell", "errors"], note)
    for (data, model), group in group_rows(rows, "data", "model"):
        cells = [len(own) for _, own in group_rows(group, "harness", "memory", "gate", "variant")]
        spread = f"{min(cells)}" if min(cells) == max(cells) else f"{min(cells)}–{max(cells)}"
        errors = sum(bool(row.get("error")) for row in group)
        table.rows.append([data, model, str(len(cells)), f"{len(group):,}", spread, str(errors)])
    return table


_SCORE_TITLES = {"judge": "Judge score (0–100)", "f1": "Token F1", "recall": "Recall of gold passages"}


def _score_table(rows: Sequence[Row], name: str, title: str) -> ResultTable:
    note = "Mean and bootstrap 95 % interval over the n questions that all memories of a harness have."
    table = ResultTable(f"{name}-by-memory", f"{title} by harness and memory, without a gate", [*_HARNESS, "n"], note)
    own = [row for row in rows if row["gate"] == NO_GATE and get_value(row, name) is not None]
    cells = _group_shared(own, *_HARNESS)
    return _add_memories(table, rows, cells, lambda cell: format_mean(list_values(cell, name), name))


def _abstention_table(rows: Sequence[Row]) -> ResultTable:
    note = "Without a gate; n: the answerable questions that all memories of a harness have."
    table = ResultTable("no-answer", "Share of answerable questions that were not answered", [*_HARNESS, "n"], note)
    cells = _group_shared([row for row in rows if row["gate"] == NO_GATE and row["answerable"]], *_HARNESS)
    return _add_memories(
        table, rows, cells, lambda cell: f"{fmean(float(row['abstained']) for row in cell):.0%}{mark_few(cell)}"
    )


def _gate_impact_table(rows: Sequence[Row], by: str) -> ResultTable:
    note = (
        "With the gate minus without it, on the same questions, averaged over the other parts of the cells, with a bootstrap "
        f"95 % interval; {_HOLM_NOTE}"
    )
    cases = (
        ([data, name, gate], pair_rows(own, select_rows(rows, data=data, gate=NO_GATE)))
        for (data, gate), group in group_rows(_select_gated(rows), "data", "gate")
        for name, own in _group_and_all(group, by)
    )
    return _impact_table(f"gate-by-{by}", f"What a gate changes, by {by}", ["data", by, "gate"], cases, note)


def build_gap_table(rows: Sequence[Row]) -> ResultTable:
    """Return how often each failure was found, by harness and memory. Unknown verdicts are left out."""
    names = "; ".join(f"{key} {name}" for key, (name, _) in GAPS.items())
    note = f"Share of runs, over all gates. {names}. Rules: suffice.lab.gaps."
    table = ResultTable("gaps", "Gap prevalence", ["data", "harness", "memory", "n", *GAPS], note)
    for key, group in group_rows([row for row in rows if row.get("gaps")], "data", "harness", "memory"):
        cells = []
        for name in GAPS:
            known = [row for row in group if row["gaps"].get(name) is not None]
            share = fmean(float(row["gaps"][name]) for row in known) if known else 0.0
            cells.append(f"{share:.0%}{mark_few_questions(known)}" if known else "–")
        table.rows.append([*key, str(len(group)), *cells])
    return table


def _memory_test_table(rows: Sequence[Row]) -> ResultTable:
    cases = (
        ([data, name], pairs)
        for (data,), group in group_rows(select_rows(rows, gate=NO_GATE), "data")
        for name, pairs in _pair_memories(group)
    )
    title = "Paired tests of memories over all harnesses, without a gate"
    return _effect_table("memory-tests", title, ["data", "memories"], cases, _MAIN_SCORES)


def _memory_effect_table(rows: Sequence[Row]) -> ResultTable:
    note = (
        "On the questions that both cells have, with a bootstrap 95 % interval; tokens: those of the whole run. "
        f"{_HOLM_NOTE} all: averaged over the harnesses that ran both."
    )
    title = "What a memory changes, by harness, without a gate"
    return _impact_table("memory-by-harness", title, ["data", "harness", "memories"], _memory_cases(rows), note)


def _memory_score_table(rows: Sequence[Row], by: str, title: str) -> ResultTable:
    split = [by] if by else []
    header = ["data", *split, "harness", "memories"]
    cases = _memory_cases(rows, *split)
    return _effect_table(f"memory-by-{by or 'score'}", f"What a memory changes, by {title}", header, cases)


def _memory_cases(rows: Sequence[Row], *split: str) -> Iterator[_Case]:
    """Yield the pairs of memories of each harness and of all of them, without a gate."""
    for (data, *part), group in group_rows(select_rows(rows, gate=NO_GATE), "data", *split):
        for harness, some in _group_and_all(group, "harness"):
            for name, pairs in _pair_memories(some):
                yield [data, *map(str, part), harness, name], pairs


def _gate_cases(rows: Sequence[Row]) -> Iterator[_Case]:
    return ((key, _pair_with_free(group, rows)) for key, group in group_rows(_select_gated(rows), *CELL))


def _impact_table(slug: str, title: str, names: list[str], cases: Iterable[_Case], note: str) -> ResultTable:
    """Return the differences of the main scores and the tokens for each case that has pairs, tested for F1."""
    header = [*names, "questions", "judge", "F1", "recall", "tokens", "p (F1)", "p (Holm)"]
    table = ResultTable(slug, title, header, note)
    found = [(key, pairs, compare_pairs(pairs, "f1")) for key, pairs in cases if pairs]
    for (key, pairs, test), p in zip(found, adjust_holm([test.p for *_, test in found]), strict=True):
        scores = [format_difference(compare_pairs(pairs, score), score) for score in _MAIN_SCORES]
        change, tested = format_token_change(pairs), (format_p(test.p), format_p(p))
        table.rows.append([*key, format_count(test.pairs), *scores, change, *tested])
    return table


def _effect_table(
    slug: str, title: str, header: Sequence[str], cases: Iterable[_Case], scores: Sequence[str] = SCORES
) -> ResultTable:
    """Return the differences of the scores for each case that has pairs. Several pairs of a question count once."""
    note = "†: p < .05, paired t-test, as in the paper; ‡: also after Holm's adjustment over all tests of this table."
    table = ResultTable(slug, title, [*header, "questions", *scores], note)
    found = [(key, [compare_pairs(pairs, score) for score in scores]) for key, pairs in cases if pairs]
    adjusted = iter(adjust_holm([test.p for _, tests in found for test in tests]))
    for key, tests in found:
        cells = [format_tested(test, score, next(adjusted)) for test, score in zip(tests, scores, strict=True)]
        table.rows.append([*key, format_count(max(test.pairs for test in tests)), *cells])
    return table


def _metric_table(rows: Sequence[Row]) -> ResultTable:
    note = "Means over the n questions that all cells of a harness have."
    table = ResultTable("metrics", "All scores by harness, memory and gate", [*CELL, "n", *SCORES], note)
    for key, group in _group_shared(rows, *CELL):
        table.rows.append([*key, *_format_scores(group, SCORES, interval=False)])
    return table


def _round_table(rows: Sequence[Row]) -> ResultTable:
    note = "Over the n questions that all cells of a harness have; in brackets the median."
    table = ResultTable("rounds", "Rounds per run: mean and median (Table 14)", [*_HARNESS, "gate", "n"], note)
    cells = _group_shared(rows, *_HARNESS, "gate")

    return _add_memories(table, rows, cells, lambda own: _format_rounds([row["rounds"] for row in own]) + mark_few(own))


def _format_rounds(rounds: Sequence[float]) -> str:
    return f"{fmean(rounds):.2f} ({median(rounds):g})"


def _fire_table(rows: Sequence[Row]) -> ResultTable:
    note = (
        "Tokens saved: all tokens of the run, the gate's own calls included, against the run without a gate, on the questions "
        "that have both, with a bootstrap 95 % interval."
    )
    header = [*CELL, "n", "fired", "fire round (median)", "tokens saved"]
    table = ResultTable("fire", "Fire rate, fire round and net savings", header, note)
    for key, group in group_rows(_select_gated(rows), *CELL):
        fired = [row["fire_round"] for row in group if row["fired"]]
        saved = format_token_change(_pair_with_free(group, rows), saved=True)
        rounds = _format_rounds(fired) if fired else "–"
        table.rows.append([*key, format_count(len(group)), f"{len(fired) / len(group):.0%}", rounds, saved])
    return table


def _ablation_table(rows: Sequence[Row]) -> ResultTable:
    title = "Ablations: retrieval depth k, weight of words alpha, limits K of the belief"
    table = ResultTable("ablations", title, [*CELL, "variant", "n", "judge", "F1", "recall", "tokens"])
    for key, group in group_rows(rows, *CELL):
        variants = group_rows(group, "variant")
        for (variant,), own in variants if len(variants) > 1 else ():
            cells = [format_count(len(own)), *_format_scores(own), f"{fmean(map(count_tokens, own)):,.0f}"]
            table.rows.append([*key, variant or "usual", *cells])
    return table


def _variant_cases(rows: Sequence[Row]) -> Iterator[_Case]:
    """Yield the pairs of each varied setting and the usual one."""
    for key, group in group_rows(rows, *CELL):
        usual = select_rows(group, variant="")
        for (variant,), own in group_rows(group, "variant"):
            if variant:
                yield [*key, variant], pair_rows(own, usual)


def _equal_round_table(rows: Sequence[Row]) -> ResultTable:
    note = (
        "fixed(k): the recall of the runs without a gate at the same mean number of rounds (upper concave envelope over k); "
        "oracle: the best that the same rounds could buy if gold were known; lift = recall − fixed(k), with a bootstrap "
        "interval over questions."
    )
    title = "Gates against fixed(k) at the same number of rounds, and against the oracle: recall"
    table = ResultTable("equal-rounds", title, [*CELL, "n", "rounds", "recall", *_FIXED], note)
    for key, group in group_rows([row for row in _select_gated(rows) if row["recall"] is not None], *CELL):
        pairs = _pair_with_free(group, rows)
        reached = [(left["rounds"], left["recall"]) for left, _ in pairs]
        table.rows += _compare_recall(key, reached, [right for _, right in pairs])
    return table


def _equal_token_table(rows: Sequence[Row]) -> ResultTable:
    note = (
        "fixed(k): the F1 of the answers after k rounds without a gate at the same mean tokens (upper concave envelope); "
        "oracle: the best answer of each run, at whatever cost."
    )
    title = "Gates against fixed(k) at the same number of tokens: F1"
    table = ResultTable("equal-tokens", title, [*CELL, "n", "tokens", "F1", *_FIXED], note)
    for key, group in group_rows(_select_gated(rows), *CELL):
        pairs = [pair for pair in _pair_with_free(group, rows) if pair[1].get("f1_by_round")]
        if pairs:
            reached = [(float(count_tokens(left)), left["scores"]["f1"]) for left, _ in pairs]
            free = [right for _, right in pairs]
            oracle = fmean(max(row["f1_by_round"]) for row in free)
            cells = _compare_with_fixed(free, reached, [_list_answer_points(row) for row in free], oracle, ",.0f")
            table.rows.append([*key, *cells])
    return table


def _sweep_table(rows: Sequence[Row]) -> ResultTable:
    note = "All harnesses and memories together. The paper names only j=0.6, u=0.3, p=2; see suffice.lab.experiment."
    title = "The sixteen exhaustion gates replayed over the runs without a gate: recall"
    table = ResultTable("sweep", title, [*CELL, "n", "rounds", "recall", *_FIXED], note)
    own = [row for row in rows if row["gate"] == NO_GATE and row["recall"] is not None]
    for (data,), group in group_rows(own, "data"):
        for gate in EXHAUSTION_SWEEP:
            parsed = parse_gate(gate)
            stops = [find_stop(parsed, _readings(row)).rounds for row in group]
            reached = [(stop, row["recall_by_round"][stop - 1]) for stop, row in zip(stops, group, strict=True)]
            table.rows += _compare_recall((data, "all", "all", gate), reached, group)
    return table


def _variance_table(rows: Sequence[Row]) -> ResultTable:
    note = "Of the judge score with the gate minus the score without it, question by question."
    title = "Standard deviation of a gate's effect over questions: judge"
    table = ResultTable("variance", title, [*_HARNESS, "gate"], note)

    def show(own: list[Row]) -> str:
        scores = [(get_value(gated, "judge"), get_value(free, "judge")) for gated, free in _pair_with_free(own, rows)]
        effects = [one - other for one, other in scores if one is not None and other is not None]
        return f"{pstdev(effects):.1f}{mark_few(effects)}" if effects else "–"

    return _add_memories(table, rows, group_rows(_select_gated(rows), *_HARNESS, "gate"), show)


def _failure_table(rows: Sequence[Row]) -> ResultTable:
    note = (
        "Over all gates. A failed call gave an error or an answer that could not be used, even if asking again helped. A "
        "refused fact was not believed: its source does not support it, or it repeats the belief."
    )
    counts = ["runs", "with a failed call", "failed calls a run", "refused facts a run"]
    header = ["data", "harness", "memory", *counts]
    table = ResultTable("failures", "Failed model calls and refused facts", header, note)
    for key, group in group_rows([row for row in rows if "failures" in row], "data", "harness", "memory"):
        failed = [int(row["failures"]) for row in group]
        share = f"{fmean(float(count > 0) for count in failed):.0%}{mark_few_questions(group)}"
        refused = fmean(row.get("refused", 0) for row in group)
        table.rows.append([*key, str(len(group)), share, f"{fmean(failed):.2f}", f"{refused:.1f}"])
    return table


def _frontier_table(rows: Sequence[Row]) -> ResultTable:
    note = "On the n questions that all cells have. No other cell has a higher F1 for fewer tokens than one of these."
    title = "Quality against tokens: the cells on the frontier"
    table = ResultTable("frontier", title, [*CELL, "n", "tokens", "F1"], note)
    for (data,), group in group_rows(rows, "data"):
        for point in find_frontier(group):
            numbers = [format_count(point.count), f"{point.tokens:,.0f}", f"{point.score:.3f}"]
            table.rows.append([data, *point.cell, *numbers])
    return table


@dataclass(frozen=True, slots=True)
class CellPoint:
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


def _select_gated(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["gate"] != NO_GATE]


def _pair_with_free(group: Sequence[Row], rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Return the rows of a cell, each with the one of the same question without a gate."""
    own = {name: group[0][name] for name in ("data", "harness", "memory")}
    return pair_rows(group, select_rows(rows, **own, gate=NO_GATE))


def _pair_memories(rows: Sequence[Row]) -> Iterator[tuple[str, list[tuple[Row, Row]]]]:
    """Yield each pair of memories with the rows that both have."""
    for left, right in combinations(list_names(rows, "memory"), 2):
        pairs = pair_rows(select_rows(rows, memory=right), select_rows(rows, memory=left), ("harness", "question"))
        yield f"{right} − {left}", pairs


def _group_shared(rows: Sequence[Row], *names: str) -> Iterator[tuple[tuple[str, ...], list[Row]]]:
    """Yield the rows by these fields and their number of questions, over the questions that all cells of a harness have."""
    for _, own in group_rows(rows, *_HARNESS):
        shared, count = select_shared(own, "memory", "gate")
        for key, group in group_rows(shared, *names):
            yield (*key, format_count(count)), group


def _add_memories(
    table: ResultTable,
    rows: Sequence[Row],
    groups: Iterable[tuple[tuple[str, ...], list[Row]]],
    show: Callable[[list[Row]], str],
) -> ResultTable:
    """Return the table with a row for each group and a column for each memory; a dash where there are no rows."""
    memories = list_names(rows, "memory")
    table.header += memories
    for key, group in groups:
        cells = (select_rows(group, memory=memory) for memory in memories)
        table.rows.append([*key, *(show(own) if own else "–" for own in cells)])
    return table


def _format_scores(rows: Sequence[Row], names: Sequence[str] = _MAIN_SCORES, *, interval: bool = True) -> list[str]:
    return [format_mean(list_values(rows, name), name, interval=interval) for name in names]


def _group_and_all(rows: Sequence[Row], name: str) -> list[tuple[str, Sequence[Row]]]:
    """Return the rows by the values of a field and, if there are several, all of them as ``all``."""
    groups: list[tuple[str, Sequence[Row]]] = [(value, own) for (value,), own in group_rows(rows, name)]
    return [*groups, ("all", rows)] if len(groups) > 1 else groups


def _compare_recall(key: tuple[str, ...], reached: Sequence[Point], free: Sequence[Row]) -> list[list[str]]:
    """Return the row that compares (rounds, recall) with fixed k and the oracle over the runs without a gate."""
    curves = [row["recall_by_round"] for row in free]
    if not curves or any(value is None for curve in curves for value in curve):
        return []
    oracle = interpolate(oracle_envelope(curves), fmean(rounds for rounds, _ in reached))
    points = [[(float(k), value) for k, value in enumerate(curve, 1)] for curve in curves]
    return [[*key, *_compare_with_fixed(free, reached, points, oracle, ".2f")]]


def _compare_with_fixed(
    free: Sequence[Row], reached: Sequence[Point], curves: Sequence[Sequence[Point]], oracle: float, spec: str
) -> list[str]:
    """Return the cells that compare (cost, value) with a fixed number of rounds at the same mean cost.

    ``curves`` are the costs and values of the runs without a gate after each round.
    """
    reference = FixedReference([row["question"] for row in free], curves)
    cost, value = (fmean(column) for column in zip(*reached, strict=True))
    fixed = interpolate(reference.envelope, cost)
    interval = "–"
    if reference.question_count > 1:
        interval = "[{}, {}]".format(*map(format_signed, reference.lift_interval(reached)))
    numbers = [f"{cost:{spec}}", f"{value:.3f}", f"{fixed:.3f}", f"{oracle:.3f}", format_signed(value - fixed)]
    return [format_count(reference.question_count), *numbers, interval]


def _list_answer_points(row: Row) -> list[Point]:
    """Return the tokens that an answer after each round had cost, and its F1."""
    costs = zip(row["tokens_by_round"], row["answer_tokens_by_round"], strict=True)
    return [(spent + answer, score) for (spent, answer), score in zip(costs, row["f1_by_round"], strict=True)]


def _readings(row: Row) -> list[Readings]:
    pairs = zip(row["similarity_by_round"], row["new_by_round"], strict=True)
    return [{"overlap.jaccard": similarity, "overlap.upr": new} for similarity, new in pairs]
