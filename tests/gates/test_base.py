"""Composition of gates: three-valued logic, who names the stop, silence, patience and chance."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.gates import Gate, budget, exhaustion, fixed, saturation, sufficiency
from suffice.gates.base import LeafGate

quick = settings(deadline=None, max_examples=150)


class says(LeafGate):
    """A gate that stops when its own reading is 1: what a stranger would write."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name
        self.needs = frozenset({name})

    def judge(self, readings, seed=0):
        return self.judge_at_least(self.name, readings, 1, f"ended_{self.name}", f"{self.name} is there")


A, B, C = says("a"), says("b"), says("c")
FIRES, GOES_ON, UNKNOWN = 1.0, 0.0, None

values = st.sampled_from([FIRES, GOES_ON, UNKNOWN])
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
    """Kleene's logic and the definitions of ``after`` and ``patience``, written out a second time."""
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


@quick
@given(trees, histories)
def test_any_composition_follows_the_definitions(tree, history):
    assert built(tree).judge(history).stop is expected(tree, history)


@quick
@given(trees, histories)
def test_a_verdict_has_a_reason_exactly_when_it_stops(tree, history):
    verdict = built(tree).judge(history)
    assert bool(verdict.reason) == (verdict.stop is True)


@quick
@given(trees, st.integers(1, 7))
def test_unknown_never_stops(tree, length):
    assert not built(tree).judge([{"a": None, "b": None, "c": None}] * length).stop
    assert not built(tree).judge([{}] * length).stop


@quick
@given(trees, histories, st.integers(0, 5))
def test_judging_is_pure(tree, history, seed):
    gate, before = built(tree).epsilon(0.5), copy.deepcopy(history)
    first = gate.judge(history, seed)
    assert history == before
    assert gate.judge(tuple(history), seed) == first
    assert built(tree).epsilon(0.5).judge(history, seed) == first


@quick
@given(trees, histories, rounds)
def test_a_verdict_depends_on_no_later_round(tree, history, later):
    gate = built(tree)
    known = gate.judge(history)
    gate.judge([*history, later])
    assert gate.judge(history) == known


@quick
@given(histories)
def test_or_is_named_by_the_first_firing_gate_from_the_left(history):
    verdict = (A | B | C).judge(history)
    firing = [name for name in "abc" if history[-1][name] == 1]
    assert verdict.reason == (f"ended_{firing[0]}" if firing else "")
    assert [leaf.gate for leaf in verdict.leaves] == ["says(a)", "says(b)", "says(c)"]


def test_or_is_named_from_the_left_through_brackets():
    readings = [{"a": 0.0, "b": 1.0, "c": 1.0}]
    assert (A | (B | C)).judge(readings).reason == "ended_b"
    assert (C | (A | B)).judge(readings).reason == "ended_c"
    assert ((A & B) | C).judge(readings).reason == "ended_c"


@quick
@given(st.permutations([1, 3, 5]), st.integers(5, 8))
def test_and_is_named_by_the_last_gate_to_become_true(starts, length):
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


def test_after_is_silent_for_n_rounds_and_then_transparent():
    gate = A.after(2)
    assert [gate.judge([{"a": 1.0}] * n).stop for n in (1, 2, 3)] == [False, False, True]
    assert gate.judge([{"a": None}] * 3).stop is None
    assert gate.judge([{"a": 1.0}] * 3).reason == "ended_a"


def test_patience_wants_the_rounds_to_be_consecutive():
    gate = A.patience(2)
    fires = [{"a": value} for value in (1.0, 0.0, 1.0, None, 1.0, 1.0)]
    assert [gate.judge(fires[:n]).stop for n in range(1, 7)] == [False, False, False, None, False, True]


@pytest.mark.parametrize("chance", [0.0, 0.15, 0.5, 1.0])
def test_epsilon_ignores_stops_with_its_probability(chance):
    gate = A.epsilon(chance)
    seeds = 4000
    ignored = sum(not gate.judge([{"a": 1.0}] * 3, seed).stop for seed in range(seeds))
    assert ignored / seeds == pytest.approx(chance, abs=0.03)


@quick
@given(histories, st.integers(), st.floats(0, 1))
def test_epsilon_only_turns_stops_into_going_on(history, seed, chance):
    inner, outer = A.judge(history, seed), A.epsilon(chance).judge(history, seed)
    assert outer.stop is inner.stop or (inner.stop is True and outer.stop is False)


def test_epsilon_draws_anew_each_round_and_the_same_for_the_same_run():
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


def test_equal_gates_are_equal_by_what_they_say():
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
    ],
)
def test_settings_without_meaning_are_refused(make):
    with pytest.raises(ValueError, match="takes"):
        make()
