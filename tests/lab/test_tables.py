"""Tables of a grid: what they compare, what they mark, and that the same rows always give the same text."""

import json
import random

import pytest

from suffice.lab.figures import draw_figures
from suffice.lab.result_table import FEW, to_csv, to_latex, to_markdown
from suffice.lab.tables import build_tables, find_frontier


def make_row(question, memory="baseline", gate="none", *, harness="ircot", f1=0.5, tokens=1000, variant="", **parts):
    recall = [0.5, 0.5, 1.0, 1.0]
    rounds = 4 if gate == "none" else 3
    row = {
        "data": "tiny",
        "question": f"q{question}",
        "group": "2hop" if question % 2 else "3hop",
        "answerable": question % 5 > 0,
        "harness": harness,
        "memory": memory,
        "gate": gate,
        "variant": variant,
        "model": "scripted",
        "scores": {"em": 0.0, "f1": f1, "rouge1": f1, "meteor": f1, "cosine": None, "judge": 100 * f1},
        "recall": recall[rounds - 1],
        "abstained": False,
        "stop": "budget_rounds" if gate == "none" else "exhausted",
        "fired": gate != "none",
        "fire_round": None if gate == "none" else rounds,
        "rounds": rounds,
        "input_tokens": tokens,
        "output_tokens": 0,
        "recall_by_round": recall[:rounds],
        "tokens_by_round": [250, 500, 750, 1000][:rounds],
        "similarity_by_round": [0.0, 0.9, 0.9, 0.9][:rounds],
        "new_by_round": [1.0, 0.0, 0.0, 0.0][:rounds],
        "gaps": {"G1": False, "G2": None, "G3": False, "G4": True, "G5": True, "G6": True, "G7": False},
        "error": None,
        **parts,
    }
    if gate == "none":
        row |= {"f1_by_round": [0.1, 0.2, 0.3, f1], "answer_tokens_by_round": [10] * 4}
    return row


def make_rows(count=40):
    rows = []
    for question in range(count):
        noise = (question % 7) / 20
        rows += [make_row(question, f1=0.3 + noise), make_row(question, "structured", f1=0.5 + noise)]
        rows += [make_row(question, memory, "exhaustion", f1=0.4, tokens=800) for memory in ("baseline", "structured")]
    return rows


def find(rows, slug):
    return next(table for table in build_tables(rows) if table.slug == slug)


def test_the_variance_of_a_gate_is_that_of_its_effect_on_each_question():
    rows = [make_row(n, gate=gate) for n in range(40) for gate in ("none", "exhaustion")]
    for row in rows:
        row["scores"]["judge"] = 100.0 if row["gate"] == "none" and row["question"].endswith("0") else 0.0
    [row] = find(rows, "variance").rows
    assert row[-1] == "30.0"


def test_every_table_is_there_and_names_its_references():
    rows = [
        *make_rows(),
        *(make_row(n, gate="judged") for n in range(40)),
        make_row(1, variant="k=3"),
        make_row(1, "structured", variant="k=3"),
    ]
    tables = {table.slug: table for table in build_tables(rows)}
    assert tables.keys() == set(
        """rows judge-by-memory f1-by-memory recall-by-memory no-answer gate-by-memory gate-by-harness
        gaps memory-tests memory-by-harness memory-by-score memory-by-answerable memory-by-group
        gate-by-score metrics rounds fire ablations memory-by-variant variants equal-rounds equal-tokens
        sweep variance frontier""".split()
    )
    text = "\n\n".join(map(to_markdown, tables.values()))
    assert all(word in text for word in ("fixed(k)", "oracle", "Holm"))


def test_memories_are_compared_pair_by_pair():
    assert find(make_rows(), "memory-tests").rows == [
        ["tiny", "structured − baseline", "40", "+20.0‡", "+0.200‡", "+0.000"]
    ]


def test_every_score_is_compared_by_split_and_by_gate():
    rows = make_rows(60)
    for row in rows:  # The structured memory helps with three hops only.
        if row["memory"] == "structured" and row["group"] == "2hop" and row["gate"] == "none":
            row["scores"] = make_row(0, f1=row["scores"]["f1"] - 0.2)["scores"]
    effects = {row[1]: row for row in find(rows, "memory-by-group").rows}
    assert effects["2hop"][2:] == ["ircot", "structured − baseline", "30", *["+0.000"] * 4, "–", "+0.0"]
    assert effects["3hop"][5:7] == ["+0.000", "+0.200‡"]
    assert [row[1] for row in find(rows, "memory-by-answerable").rows] == ["False", "True"]
    gated = {row[2]: row for row in find(rows, "gate-by-score").rows}
    assert gated["baseline"][3:6] == ["exhaustion", "60", "+0.000"]
    assert gated["baseline"][6].startswith("-0.0")


def test_the_rounds_of_a_run_are_given_as_mean_and_median():
    rows = [make_row(n, rounds=9 if n == 0 else 3) for n in range(40)]
    assert find(rows, "rounds").rows == [["tiny", "ircot", "none", "40", "3.15 (3)"]]


def test_a_varied_setting_is_tested_against_the_usual_one_and_memories_at_each_setting():
    rows = make_rows()
    for question in range(40):
        noise = (question % 7) / 20
        rows += [
            make_row(question, f1=0.2 + noise, variant="k=3"),
            make_row(question, "structured", f1=0.6, variant="k=3"),
        ]
    effects = {row[1]: row[6] for row in find(rows, "memory-by-variant").rows}
    assert effects["k=3"].endswith("‡")
    settings = {(row[2], row[4]): row[7] for row in find(rows, "variants").rows}
    assert settings[("baseline", "k=3")] == "-0.100‡"


def test_the_first_table_says_what_is_not_written():
    assert "Table 4" in find(make_rows(), "rows").note
    assert "Ablations" in find(make_rows(), "rows").note


def test_a_question_counts_once_however_many_harnesses_ran_it():
    rows = [row for name in ("ircot", "react") for row in (dict(row, harness=name) for row in make_rows(10))]
    assert {row[2] for row in find(rows, "memory-tests").rows} == {"10*"}


def test_cells_with_different_questions_are_compared_on_those_that_both_have():
    easy = [make_row(n, f1=0.9, tokens=100) for n in range(100, 140)]  # Only the baseline has run these.
    rows = [*make_rows(), *easy]
    before, after = ({table.slug: table.rows for table in build_tables(some)} for some in (make_rows(), rows))
    assert after["f1-by-memory"][0][2] == "40"
    assert after["memory-by-harness"][0][2:4] == ["structured − baseline", "40"]
    for slug in ("f1-by-memory", "memory-by-harness", "metrics", "rounds", "memory-by-group", "frontier"):
        assert after[slug] == before[slug], slug


def test_what_a_memory_changes_is_shown_by_harness_and_over_all():
    rows = [row for name in ("ircot", "react") for row in (dict(row, harness=name) for row in make_rows(40))]
    for row in rows:
        row["input_tokens"] *= 2 if row["memory"] == "structured" else 1
    effects = {row[1]: row for row in find(rows, "memory-by-harness").rows}
    assert list(effects) == ["ircot", "react", "all"]
    tail = ["+0.200 [+0.200, +0.200]", "+0.000 [+0.000, +0.000]", "+100% [+100%, +100%]"]
    assert effects["all"][3:8] == ["40", "+20.0 [+20.0, +20.0]", *tail]


def test_several_runs_of_a_question_do_not_narrow_an_interval():
    rows = make_rows(20)
    runs = [dict(row, harness=name) for name in ("ircot", "react") for row in rows]
    once, twice = ({table.slug: table.rows for table in build_tables(some)} for some in (rows, runs))
    assert twice["sweep"] == once["sweep"]
    assert [row[2:] for row in twice["memory-tests"]] == [row[2:] for row in once["memory-tests"]]
    assert twice["sweep"][0][4] == "20*"
    assert all(cell == "–" or cell.endswith("*") for cell in once["gaps"][0][4:])  # 40 runs, but 20 questions.


def test_failed_calls_and_refused_facts_are_counted():
    rows = [make_row(n, failures=n % 2, refused=3) for n in range(40)]
    assert find(rows, "failures").rows == [["tiny", "ircot", "baseline", "40", "50%", "0.50", "3.0"]]


def test_a_gate_is_compared_with_no_gate_on_the_same_questions():
    row = find(make_rows(), "gate-by-memory").rows[0]
    assert row[:4] == ["tiny", "baseline", "exhaustion", "40"]
    assert row[7] == "-20% [-20%, -20%]"
    fire = find(make_rows(), "fire").rows[0]
    assert fire[4:] == ["40", "100%", "3.00 (3)", "20% [20%, 20%]"]


def test_a_gate_is_held_against_fixed_k_and_the_oracle():
    row = find(make_rows(), "equal-rounds").rows[0]
    # fixed(3) reaches recall 1 as well: no lift. The oracle could not do better.
    assert row[5:10] == ["3.00", "1.000", "1.000", "1.000", "+0.000"]
    tokens = find(make_rows(), "equal-tokens").rows[0]
    # 800 tokens buy between fixed(3) (760 tokens) and fixed(4) (1,010 tokens) on the envelope.
    assert float(tokens[7]) == pytest.approx(0.345, abs=0.15)


def test_the_sweep_is_replayed_from_the_rows():
    rows = {row[3]: row for row in find(make_rows(), "sweep").rows}
    assert len(rows) == 16
    assert rows["exhaustion(j=0.6, u=0.3, p=1)"][5] == "2.00"
    assert rows["exhaustion(j=0.6, u=0.3, p=2)"][5] == "3.00"


def test_few_questions_are_marked_and_errors_counted():
    rows = make_rows(FEW - 1)
    assert "*" in find(rows, "f1-by-memory").rows[0][2]
    assert "*" not in find(make_rows(FEW), "f1-by-memory").rows[0][2]
    names = ("data", "model", "harness", "memory", "gate", "variant")
    failed = {"question": "q99", "error": "gone", **{name: rows[0][name] for name in names}}
    assert find([*rows, failed], "rows").rows[0][-1] == "1"


def test_unknown_verdicts_are_left_out():
    row = find(make_rows(), "gaps").rows[0]
    assert row[3:] == ["80", "0%", "–", "0%", "100%", "100%", "100%", "0%"]


def test_the_same_rows_give_the_same_text_in_any_order():
    rows = make_rows()
    text = "\n".join(map(to_markdown, build_tables(rows)))
    shuffled = json.loads(json.dumps(rows))
    random.Random(1).shuffle(shuffled)
    assert "\n".join(map(to_markdown, build_tables(shuffled))) == text


def test_csv_and_latex():
    table = find(make_rows(), "rows")
    assert to_csv(table).splitlines()[1].startswith("tiny,scripted,4,160")
    latex = to_latex(find(make_rows(), "fire"))
    assert r"100\%" in latex
    assert latex.count("\\\\") == 3


def test_the_frontier_has_no_beaten_cell():
    points = find_frontier(make_rows())
    assert [point.cell for point in points] == [("ircot", "baseline", "exhaustion"), ("ircot", "structured", "none")]


def test_the_figure_is_drawn_and_reproducible(tmp_path):
    (path,) = draw_figures(make_rows(), tmp_path)
    first = path.read_bytes()
    draw_figures(make_rows(), tmp_path)
    assert path.name == "frontier-tiny.svg"
    assert path.read_bytes() == first
