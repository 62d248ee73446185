"""Composed gates: three-valued logic, which part gives the reason, and every wrapper."""

import copy
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import Gate, budget, exhaustion, fixed, saturation, sufficiency, unseen
from suffice.errors import InputError
from suffice.gates.leaf import LeafGate
from suffice.gates.parse import parse_gate
from suffice.monitor import StopMonitor


class says(LeafGate):
    """A third-party gate that stops when its own reading is 1."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name
        self.needs = frozenset({name})

    def judge(self, readings, seed=0):
        return self.judge_at_least(self.name, readings, 1, f"ended_{self.name}", f"{self.name} is there")


A, B, C = says("a"), says("b"), says("c")
STOPS, GOES_ON, UNKNOWN = 1.0, 0.0, None

values = st.sampled_from([STOPS, GOES_ON, UNKNOWN])
rounds = st.fixed_dictionaries({"a": values, "b": values, "c": values})
histories = st.lists(rounds, min_size=1, max_size=7)
trees = st.recursive(
    st.sampled_from("abc").map(lambda name: ("leaf", name)),
    lambda kids: st.one_of(
        st.tuples(st.just("or"), kids, kids),
        st.tuples(st.just("and"), kids, kids),
        st.tuples(st.just("after"), kids, st.integers(0, 4)),
        st.tuples(st.just("patience"), kids, st.integers(1, 4)),
    ),
    max_leaves=6,
)


def built(tree) -> Gate:
    kind, first, *rest = tree
    if kind == "leaf":
        return says(first)
    if kind == "or":
        return built(first) | built(rest[0])
    if kind == "and":
        return built(first) & built(rest[0])
    return getattr(built(first), kind)(rest[0])


def expected(tree, history):
    """An independent implementation of Kleene's logic, ``after`` and ``patience``."""
    kind, first, *rest = tree
    if kind == "leaf":
        value = history[-1][first]
        return None if value is None else value >= 1
    if kind in ("or", "and"):
        sides = [expected(first, history), expected(rest[0], history)]
        decisive = kind == "or"
        return decisive if decisive in sides else None if None in sides else not decisive
    now = expected(first, history)
    if kind == "after":
        return now if len(history) > rest[0] else False
    if now is not True:
        return now
    patience = rest[0]
    return len(history) >= patience and all(
        expected(first, history[: len(history) - back]) is True for back in range(patience)
    )


@pytest.mark.parametrize(
    ("left", "right", "both", "either"),
    [
        (None, True, None, True),
        (None, False, False, None),
        (None, None, None, None),
        (True, False, False, True),
        (True, True, True, True),
        (False, False, False, False),
    ],
)
def test_unknown_is_a_third_value(left, right, both, either):
    number = {True: 1.0, False: 0.0, None: None}
    for a, b in ((left, right), (right, left)):
        readings = [{"a": number[a], "b": number[b]}]
        assert (A & B).judge(readings).stop is both
        assert (A | B).judge(readings).stop is either


@given(trees, histories)
def test_any_composition_follows_the_definitions(tree, history):
    assert built(tree).judge(history).stop is expected(tree, history)


@given(trees, histories)
def test_a_verdict_has_a_reason_exactly_when_it_stops(tree, history):
    verdict = built(tree).judge(history)
    assert bool(verdict.reason) == (verdict.stop is True)


@given(trees, st.integers(1, 7))
def test_unknown_never_stops(tree, length):
    assert not built(tree).judge([{"a": None, "b": None, "c": None}] * length).stop
    assert not built(tree).judge([{}] * length).stop


@given(trees, histories, st.integers(0, 5))
def test_judging_is_pure(tree, history, seed):
    gate, before = built(tree).epsilon(0.5), copy.deepcopy(history)
    first = gate.judge(history, seed)
    assert history == before
    assert gate.judge(tuple(history), seed) == first
    assert built(tree).epsilon(0.5).judge(history, seed) == first


@given(trees, histories, rounds)
def test_a_verdict_depends_on_no_later_round(tree, history, later):
    gate = built(tree)
    known = gate.judge(history)
    gate.judge([*history, later])
    assert gate.judge(history) == known


@given(histories)
def test_or_takes_the_reason_of_the_first_stopping_part(history):
    verdict = (A | B | C).judge(history)
    firing = [name for name in "abc" if history[-1][name] == 1]
    assert verdict.reason == (f"ended_{firing[0]}" if firing else "")
    assert [leaf.gate for leaf in verdict.leaves] == ["says(a)", "says(b)", "says(c)"]


def test_or_takes_the_first_reason_through_parentheses():
    readings = [{"a": 0.0, "b": 1.0, "c": 1.0}]
    assert (A | (B | C)).judge(readings).reason == "ended_b"
    assert (C | (A | B)).judge(readings).reason == "ended_c"
    assert ((A & B) | C).judge(readings).reason == "ended_c"


@given(st.permutations([1, 3, 5]), st.integers(5, 8))
def test_and_takes_the_reason_of_the_last_part_to_become_true(starts, length):
    """Gate a has fired since round starts[0], b since starts[1], c since starts[2]."""
    history = [
        {name: float(done >= start) for name, start in zip("abc", starts, strict=True)} for done in range(1, length + 1)
    ]
    last = "abc"[starts.index(5)]
    verdict = (A & B & C).judge(history)
    assert verdict.stop
    assert verdict.reason == f"ended_{last}"
    assert verdict.gate == f"says({last})"


def test_and_counts_from_the_last_time_a_gate_became_true():
    history = [{"a": 1.0, "b": 0.0}, {"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 1.0}]
    assert (A & B).judge(history).reason == "ended_a"
    assert (B & A).judge(history).reason == "ended_a"


def test_the_leaves_of_a_composition_show_every_signal():
    verdict = ((A & B) | C).judge([{"a": 1.0, "b": 0.0, "c": None}])
    assert {leaf.gate: leaf.stop for leaf in verdict.leaves} == {"says(a)": True, "says(b)": False, "says(c)": None}
    assert all(leaf.signals for leaf in verdict.leaves)


def test_after_does_not_stop_in_the_first_n_rounds():
    gate = A.after(2)
    assert [gate.judge([{"a": 1.0}] * n).stop for n in (1, 2, 3)] == [False, False, True]
    assert gate.judge([{"a": None}] * 3).stop is None
    assert gate.judge([{"a": 1.0}] * 3).reason == "ended_a"


def test_patience_needs_consecutive_rounds():
    gate = A.patience(2)
    fires = [{"a": value} for value in (1.0, 0.0, 1.0, None, 1.0, 1.0)]
    assert [gate.judge(fires[:n]).stop for n in range(1, 7)] == [False, False, False, None, False, True]


@pytest.mark.parametrize("chance", [0.0, 0.15, 0.5, 1.0])
def test_epsilon_ignores_stops_with_its_probability(chance):
    gate = A.epsilon(chance)
    seeds = 4000
    ignored = sum(not gate.judge([{"a": 1.0}] * 3, seed).stop for seed in range(seeds))
    assert ignored / seeds == pytest.approx(chance, abs=0.03)


@given(histories, st.integers(), st.floats(0, 1))
def test_epsilon_only_ignores_stops(history, seed, chance):
    inner, outer = A.judge(history, seed), A.epsilon(chance).judge(history, seed)
    assert outer.stop is inner.stop or (inner.stop is True and outer.stop is False)


def test_epsilon_draws_per_round_and_repeats_for_the_same_run():
    gate = A.epsilon(0.5)
    draws = [gate.judge([{"a": 1.0}] * n, seed=7).stop for n in range(1, 41)]
    assert draws == [gate.judge([{"a": 1.0}] * n, seed=7).stop for n in range(1, 41)]
    assert set(draws) == {True, False}
    assert draws != [gate.judge([{"a": 1.0}] * n, seed=8).stop for n in range(1, 41)]


def test_a_composition_needs_what_its_parts_need():
    gate = (exhaustion(window=3) | (saturation() & sufficiency())).after(2).epsilon(0.1) | budget(rounds=5, usd=1)
    assert gate.needs == {
        "overlap.jaccard@3",
        "overlap.upr",
        "novelty.words",
        "sufficiency.model",
        "spend.rounds",
        "spend.usd",
    }


def test_gates_with_the_same_text_are_equal():
    assert exhaustion(p=2) | budget(rounds=5) == exhaustion() | budget(rounds=5)
    assert len({saturation(), saturation(3), saturation(4)}) == 2
    assert fixed(3) != fixed(4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: A.after(-1),
        lambda: A.after(1.5),
        lambda: A.patience(0),
        lambda: A.patience(1.5),
        lambda: A.epsilon(-0.1),
        lambda: A.epsilon(1.1),
        lambda: A.epsilon(float("nan")),
        lambda: A.after(float("inf")),
        lambda: A.patience(float("nan")),
    ],
)
def test_invalid_settings_are_rejected(make):
    with pytest.raises(ValueError, match="takes"):
        make()


def test_a_conjunction_promises_no_more_than_its_weakest_part():
    readings = [{"unseen.mass": 0.0, "novelty.words": 0.0}]
    assert (unseen() & saturation()).judge(readings).promise == "heuristic"
    assert (unseen() | saturation()).judge(readings).promise == "estimate"


FLOOR_GATE = saturation().floor(1800)


def before(novelty, chars):
    return {"novelty.words": novelty, "evidence.chars": chars}


def after(novelty, chars, rounds):
    return {**before(novelty, chars), "spend.rounds": float(rounds)}


def test_a_stop_with_enough_text_counts():
    verdict = FLOOR_GATE.judge([before(1.0, 1800.0)])
    assert (verdict.stop, verdict.reason) == (True, "saturated")


def test_a_stop_with_too_little_text_is_put_off_once():
    first = after(1.0, 500.0, 1)
    held = FLOOR_GATE.judge([first])
    assert held.stop is False
    assert held.signals["evidence.chars"] == (500.0, 1800.0)
    assert "1800 characters" in held.because
    # The further round is not judged before it is accepted; afterwards it ends the run.
    assert FLOOR_GATE.judge([first, before(0.0, 600.0)]).stop is False
    ended = FLOOR_GATE.judge([first, after(9.0, 600.0, 2)])
    assert (ended.stop, ended.reason) == (True, "saturated")


def test_the_floor_changes_nothing_without_a_stop():
    assert FLOOR_GATE.judge([before(9.0, 0.0)]).stop is False
    assert FLOOR_GATE.judge([before(None, 0.0)]).stop is None
    assert FLOOR_GATE.judge([]).stop is None


def test_an_unknown_amount_of_text_puts_nothing_off():
    assert FLOOR_GATE.judge([before(1.0, None)]).stop is True
    assert FLOOR_GATE.judge([{"novelty.words": 1.0}]).stop is True


def test_a_budget_stop_is_not_put_off_by_a_floor_elsewhere():
    gate = FLOOR_GATE | budget(rounds=1)
    assert gate.judge([after(1.0, 10.0, 1)]).reason == "budget_rounds"


def test_the_floor_keeps_the_leaves_of_a_composed_gate():
    gate = (saturation() | exhaustion()).floor(1800)
    held = gate.judge([after(1.0, 10.0, 1) | {"overlap.jaccard": 0.0, "overlap.upr": 1.0}])
    assert [leaf.gate for leaf in held.leaves] == ["saturation", "exhaustion", str(gate)]
    assert held.stop is False


def test_a_floor_parses_back():
    text = "saturation.after(2).epsilon(0.15).floor(1800)"
    assert str(parse_gate(text)) == text
    assert {"evidence.chars", "novelty.words"} <= parse_gate(text).needs


@pytest.mark.parametrize("text", ["saturation.floor(0)", "saturation.floor(1.5)", "saturation.floor(x)"])
def test_an_invalid_floor_is_rejected(text):
    with pytest.raises(InputError):
        parse_gate(text)


def test_a_floor_in_a_stop_monitor():
    monitor = StopMonitor(FLOOR_GATE)
    found = [{"id": "a", "text": "one and the same text"}]
    verdicts = [monitor.observe([f"q{n}"], found) for n in range(3)]
    assert [verdict.stop for verdict in verdicts] == [False, False, True]
    assert [record.accepted for record in monitor.rounds] == [True, True, True]
    long = [{"id": "b", "text": "words " * 400}]
    monitor = StopMonitor(FLOOR_GATE)
    assert [monitor.observe([f"q{n}"], long).stop for n in range(2)] == [False, True]


STALE = {"overlap.jaccard": 0.9, "overlap.upr": 0.0}
FRESH = {"overlap.jaccard": 0.1, "overlap.upr": 1.0}


def test_no_stop_while_a_question_is_open():
    gate = saturation().gap_aware()
    held = gate.judge([{"novelty.words": 1.0, "belief.open": 2.0}])
    assert held.stop is False
    assert "2 open questions" in held.because
    assert gate.judge([{"novelty.words": 1.0, "belief.open": 0.0}]).reason == "saturated"
    assert gate.judge([{"novelty.words": 9.0, "belief.open": 0.0}]).stop is False


def test_a_round_without_a_count_uses_the_open_questions_of_the_round_before():
    assert (
        saturation().gap_aware().judge([{"novelty.words": 9.0, "belief.open": 1.0}, {"novelty.words": 1.0}]).stop
        is False
    )


def test_an_unknown_number_of_open_questions_puts_nothing_off():
    assert saturation().gap_aware().judge([{"novelty.words": 1.0}]).stop
    assert saturation().gap_aware().judge([{"novelty.words": 1.0, "belief.open": None}]).stop


def test_exhaustion_and_a_spent_budget_stop_despite_open_questions():
    gate = (saturation() | exhaustion(p=1) | budget(rounds=3)).gap_aware()
    assert gate.judge([{**STALE, "belief.open": 2.0}]).reason == "exhausted"
    assert gate.judge([{**FRESH, "belief.open": 2.0, "spend.rounds": 3.0}]).reason == "budget_rounds"


def test_a_stagnation_gets_one_more_try():
    gate = exhaustion(p=2).resample()
    assert gate.judge([STALE]).stop is False
    held = gate.judge([STALE, STALE])
    assert held.stop is False
    assert "other queries" in held.because
    assert gate.judge([STALE, STALE, STALE]).reason == "exhausted"


def test_each_stagnation_gets_its_own_try():
    gate = exhaustion(p=2).resample()
    assert gate.judge([STALE, STALE, FRESH]).stop is False
    assert gate.judge([STALE, STALE, FRESH, STALE, STALE]).stop is False
    assert gate.judge([STALE, STALE, FRESH, STALE, STALE, STALE]).stop


def test_resample_puts_off_only_exhausted_stops():
    assert (saturation() | exhaustion()).resample().judge([{"novelty.words": 0.0}]).reason == "saturated"


@pytest.mark.parametrize(
    "text", ["saturation.gap_aware(0)", "(exhaustion | budget(rounds=3)).resample(1).gap_aware(2)"]
)
def test_gap_aware_and_resample_parse_back(text):
    assert str(parse_gate(text)) == text


@pytest.mark.parametrize("text", ["saturation.gap_aware(-1)", "exhaustion.resample(0)", "exhaustion.resample(0.5)"])
def test_invalid_gap_aware_and_resample_are_rejected(text):
    with pytest.raises(InputError):
        parse_gate(text)


@pytest.mark.parametrize("combine", [lambda gate, other: gate | other, lambda gate, other: gate & other])
@pytest.mark.parametrize("other", ["budget(rounds=3)", 3, None])
def test_only_gates_are_combined(combine, other):
    with pytest.raises(TypeError, match=r"gate.*parse_gate"):
        combine(fixed(1), other)


class counts(says):
    """Counts how often it is asked."""

    asked = 0

    def judge(self, readings, seed=0):
        self.asked += 1
        return super().judge(readings, seed)


@pytest.mark.parametrize("method", ["after", "patience", "epsilon", "floor", "gap_aware", "resample"])
@pytest.mark.parametrize("reading", [STOPS, GOES_ON])
def test_a_nested_gate_is_judged_once_for_each_round(method, reading):
    gate = inner = counts("a")
    for _ in range(12):
        gate = getattr(gate, method)(0 if method == "epsilon" else 2)
    history = [{"a": reading, "evidence.chars": 1.0, "spend.rounds": float(n)} for n in range(1, 13)]
    gate.judge(history)
    assert 1 <= inner.asked <= len(history)


def test_alternating_operators_judge_each_part_once_for_each_round():
    inner = counts("a")
    gate = inner
    for _ in range(12):
        gate = ((gate & A).patience(2) | B).floor(1)
    gate.judge([{"a": STOPS, "b": GOES_ON, "evidence.chars": 0.0, "spend.rounds": 1.0}] * 12)
    assert inner.asked <= 12


def test_fifty_nested_floors_are_judged_at_once():
    gate = parse_gate("fixed(50)" + ".floor(1)" * 50)
    history = [{"spend.rounds": float(n), "evidence.chars": 0.0} for n in range(1, 121)]
    started = time.process_time()
    assert [gate.judge(history[:n]).stop for n in (1, 60, 120)] == [False, False, True]
    assert time.process_time() - started < 1.0
