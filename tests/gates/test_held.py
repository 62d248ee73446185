"""Stops that are held back: for open questions, and for one more try after a stagnation."""

import pytest

from suffice.errors import InputError
from suffice.gates import budget, exhaustion, saturation
from suffice.gates.base import GapAwareGate, ResampleGate
from suffice.gates.parse import parse_gate

STALE = {"overlap.jaccard": 0.9, "overlap.upr": 0.0}
FRESH = {"overlap.jaccard": 0.1, "overlap.upr": 1.0}


def test_no_stop_while_a_question_is_open():
    gate = GapAwareGate(saturation())
    held = gate.judge([{"novelty.words": 1.0, "belief.open": 2.0}])
    assert held.stop is False
    assert "2 needed questions are open" in held.because
    assert gate.judge([{"novelty.words": 1.0, "belief.open": 0.0}]).reason == "saturated"
    assert gate.judge([{"novelty.words": 9.0, "belief.open": 0.0}]).stop is False


def test_a_round_judged_before_it_was_believed_is_held_against_the_belief_before():
    assert (
        GapAwareGate(saturation()).judge([{"novelty.words": 9.0, "belief.open": 1.0}, {"novelty.words": 1.0}]).stop
        is False
    )


def test_without_open_questions_on_record_nothing_is_held_back():
    assert GapAwareGate(saturation()).judge([{"novelty.words": 1.0}]).stop
    assert GapAwareGate(saturation()).judge([{"novelty.words": 1.0, "belief.open": None}]).stop


def test_exhaustion_and_a_spent_budget_end_it_all_the_same():
    gate = GapAwareGate(saturation() | exhaustion(p=1) | budget(rounds=3))
    assert gate.judge([{**STALE, "belief.open": 2.0}]).reason == "exhausted"
    assert gate.judge([{**FRESH, "belief.open": 2.0, "spend.rounds": 3.0}]).reason == "budget_rounds"


def test_a_stagnation_gets_one_more_try():
    gate = ResampleGate(exhaustion(p=2))
    assert gate.judge([STALE]).stop is False
    held = gate.judge([STALE, STALE])
    assert held.stop is False
    assert "another try" in held.because
    assert gate.judge([STALE, STALE, STALE]).reason == "exhausted"


def test_each_stagnation_gets_its_own():
    gate = ResampleGate(exhaustion(p=2))
    assert gate.judge([STALE, STALE, FRESH]).stop is False
    assert gate.judge([STALE, STALE, FRESH, STALE, STALE]).stop is False
    assert gate.judge([STALE, STALE, FRESH, STALE, STALE, STALE]).stop


def test_other_stops_are_not_put_off():
    assert ResampleGate(saturation() | exhaustion()).judge([{"novelty.words": 0.0}]).reason == "saturated"


@pytest.mark.parametrize(
    "text", ["saturation.gap_aware(0)", "(exhaustion | budget(rounds=3)).resample(1).gap_aware(2)"]
)
def test_they_are_written_and_read_like_any_gate(text):
    assert str(parse_gate(text)) == text


@pytest.mark.parametrize("text", ["saturation.gap_aware(-1)", "exhaustion.resample(0)", "exhaustion.resample(0.5)"])
def test_numbers_that_make_no_sense(text):
    with pytest.raises(InputError):
        parse_gate(text)
