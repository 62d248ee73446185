"""Every column of the comparison, on runs small enough to work out by hand."""

import json

import pytest

from suffice import exhaustion, fixed, saturation, sufficiency
from suffice.gates.parse import parse_gate
from suffice.replay.compare import compare_gates, compute_recall_curve
from suffice.replay.episodes import Episode, RecordedHit, RecordedRound, read_episodes


def rounds_of(*ids, tokens=None, answers=None, sure=None):
    seen, rounds = set(), []
    for number, names in enumerate(ids):
        hits = tuple(RecordedHit(name) for name in names)
        new = tuple(hit for hit in hits if hit.id not in seen)
        seen |= {hit.id for hit in hits}
        readings = {} if sure is None else {"sufficiency.model": sure[number]}
        spent = None if tokens is None else tokens[number]
        answer = None if answers is None else answers[number]
        rounds.append(RecordedRound(number + 1, (f"query {number}",), hits, new, readings, spent, answer))
    return tuple(rounds)


def episode(id, gold, rounds, answers=("Ida Halloran",)):
    return Episode(id, "Who built it?", frozenset(gold), tuple(answers), None, rounds)


# A finds its two gold passages in rounds 1 and 3, B its only one in round 2, C never.
A = episode(
    "A",
    "ab",
    rounds_of("ax", "y", "b", tokens=(10, 20, 30), answers=("Ida", "?", "Ida Halloran"), sure=(0.2, 0.2, 0.9)),
)
B = episode(
    "B",
    "c",
    rounds_of("x", "c", "z", tokens=(10, 10, 10), answers=("", "Halloran", "Ida Halloran"), sure=(0.1, 0.9, 0.9)),
)
C = episode("C", "d", rounds_of("x", "y", "z", tokens=(5, 5, 5), answers=("x", "x", "x"), sure=(None, None, None)))
ALL = (A, B, C)


def rows(episodes, *gates, **options):
    return {row.gate: row for row in compare_gates(episodes, gates, **options)}


def test_recall_by_round():
    assert [compute_recall_curve(each) for each in ALL] == [[0.5, 0.5, 1.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert compute_recall_curve(episode("D", "", rounds_of("x"))) is None


def test_every_column_of_a_gate_by_hand():
    row = rows(ALL, sufficiency(0.8))["sufficiency(p=0.8)"]
    assert row.stops == (3, 2, 3)  # in the order of the file
    assert row.mean_rounds == pytest.approx(8 / 3)
    assert row.mean_tokens == pytest.approx((60 + 20 + 15) / 3)
    assert row.recall == pytest.approx(2 / 3)
    assert row.all_gold == pytest.approx(2 / 3)
    assert row.answer_f1 == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert row.fire_rate == pytest.approx(2 / 3)
    assert row.abstained == 1  # C has no reading of the model
    # fixed k: (1, 1/6), (2, 1/2), (3, 2/3); at 8/3 rounds two thirds of the way from 1/2 to 2/3.
    base = 1 / 2 + (2 / 3) * (1 / 6)
    assert row.lift == pytest.approx(2 / 3 - base)
    # The oracle has everything at (3 + 2 + 1)/3 = 2 rounds already.
    assert row.gap_closed == pytest.approx(1.0)
    assert row.lift_ci[0] <= row.lift <= row.lift_ci[1]


def test_a_partly_closed_gap_by_hand():
    # A stops at once, B at round 2, C at round 1: 4/3 rounds, recall 1/2.
    gate = parse_gate("sufficiency(p=0.15) | fixed(3)")
    early = [
        episode("A", "ab", rounds_of("ax", "y", "b", sure=(0.2, 0.2, 0.2))),
        episode("B", "c", rounds_of("x", "c", "z", sure=(0.1, 0.2, 0.2))),
        episode("C", "d", rounds_of("x", "y", "z", sure=(0.2, 0.2, 0.2))),
    ]
    row = rows(early, gate)[str(gate)]
    assert row.stops == (1, 2, 1)
    base = 1 / 6 + (1 / 3) * (1 / 3)  # a third of the way from fixed(1) to fixed(2)
    assert row.lift == pytest.approx(0.5 - base)
    # The oracle buys B's passage first, for one third of a round: it is at 1/2 too.
    assert row.gap_closed == pytest.approx(1.0)
    half = rows(early, parse_gate("fixed(2) | fixed(9)"))["fixed(2) | fixed(9)"]
    assert half.lift == pytest.approx(0.0)
    assert half.gap_closed == pytest.approx(0.0)


def test_fixed_numbers_have_no_lift_and_the_oracle_closes_the_gap():
    found = rows(ALL, sufficiency(0.8))
    assert list(found) == ["sufficiency(p=0.8)", "fixed(1)", "fixed(2)", "fixed(3)", "oracle"]
    for k, recall, tokens in ((1, 1 / 6, 25 / 3), (2, 1 / 2, 60 / 3), (3, 2 / 3, 105 / 3)):
        row = found[f"fixed({k})"]
        assert row.stops == (k, k, k)
        assert row.lift == pytest.approx(0.0)
        assert (row.recall, row.mean_tokens) == (pytest.approx(recall), pytest.approx(tokens))
    best = found["oracle"]
    assert best.stops == (3, 2, 1)
    assert (best.mean_rounds, best.recall) == (2.0, pytest.approx(2 / 3))
    assert best.gap_closed == pytest.approx(1.0)
    assert best.lift == pytest.approx(2 / 3 - 1 / 2)


def test_a_fixed_number_below_the_envelope_has_negative_lift():
    # All gold comes in round 3: mixing fixed(1) and fixed(3) beats fixed(2).
    late = [episode("A", "a", rounds_of("x", "y", "a"))]
    assert rows(late)["fixed(2)"].lift == pytest.approx(-0.5)


def test_a_run_shorter_than_k_costs_its_own_length():
    short = episode("S", "a", rounds_of("a"))
    row = rows([B, short], fixed(2))["fixed(2)"]
    assert row.stops == (2, 1)
    assert (row.mean_rounds, row.recall) == (1.5, 1.0)
    assert row.lift == pytest.approx(0.0)


def test_a_rejected_round_is_paid_for_but_not_kept():
    hits = (RecordedHit("a", text="one two"), RecordedHit("b", text="one two"))
    rounds = tuple(
        RecordedRound(number + 1, ("q",), (hit,), (hit,), {}, 10, answer)
        for number, (hit, answer) in enumerate(zip(hits, ("Ida Halloran", "unknown"), strict=True))
    )
    row = rows([episode("A", "ab", rounds)], saturation())["saturation"]
    assert (row.stops, row.mean_tokens) == ((2,), 20)
    assert (row.recall, row.answer_f1) == (0.5, 1.0)


def test_a_gate_that_never_fires_runs_to_the_end():
    row = rows(ALL, exhaustion())["exhaustion"]
    assert (row.fire_rate, row.abstained, row.stops) == (0.0, 0, (3, 3, 3))


def test_unknown_readings_are_counted_as_abstentions():
    row = rows(ALL, saturation())["saturation"]  # no texts
    assert (row.fire_rate, row.abstained) == (0.0, 3)


def test_what_cannot_be_measured_is_none():
    bare = episode("T", "", rounds_of("x", "y"), answers=())
    row = rows([bare], fixed(1))["fixed(1)"]
    assert (row.mean_rounds, row.stops) == (1.0, (1,))
    for name in ("mean_tokens", "recall", "all_gold", "answer_f1", "lift", "lift_ci", "gap_closed"):
        assert getattr(row, name) is None, name


def test_runs_without_gold_count_for_cost_only():
    row = rows([*ALL, episode("T", "", rounds_of("x", "y"))], sufficiency(0.8))["sufficiency(p=0.8)"]
    assert row.stops == (3, 2, 3, 2)
    assert row.mean_rounds == 2.5
    assert row.recall == pytest.approx(2 / 3)
    assert row.lift == pytest.approx(rows(ALL, sufficiency(0.8))["sufficiency(p=0.8)"].lift)


@pytest.mark.parametrize("text", ["fixed(2) | sufficiency(p=0.8)", "fixed(2)"])
def test_a_requested_gate_has_a_fire_rate_even_if_it_is_fixed(text):
    first = compare_gates(ALL, [parse_gate(text)])[0]
    assert (first.gate, first.fire_rate) == (text, 1.0)


def test_intervals_are_seeded_and_drawn_by_question():
    first, second = (rows(ALL, sufficiency(0.8))["sufficiency(p=0.8)"].lift_ci for _ in range(2))
    assert first == second
    # With one question every draw is the same, so the interval is a point.
    alone = [episode("A", "ab", each.rounds) for each in (A, A, B)]
    low, high = rows(alone, sufficiency(0.8))["sufficiency(p=0.8)"].lift_ci
    assert low == pytest.approx(high)


def test_every_run_has_its_own_random_draws(tmp_path):
    # ε ignores a stop with probability one half, so about half of many equal runs go on.
    rounds = [{"queries": ["q"], "passages": [{"id": id}], "readings": {"sufficiency.model": 0.9}} for id in "xy"]
    lines = [json.dumps({"id": f"q{number}", "question": "Who?", "rounds": rounds}) for number in range(60)]
    (tmp_path / "e.jsonl").write_text("\n".join(lines), encoding="utf-8")
    gate = sufficiency(0.8).epsilon(0.5)
    first, again = (rows(read_episodes(tmp_path / "e.jsonl"), gate)[str(gate)].stops for _ in range(2))
    assert 10 < first.count(1) < 50
    assert first == again
