"""S2's quality floor: a stop with too little text is put off exactly once."""

import pytest

from suffice.errors import InputError
from suffice.gates import budget, exhaustion, saturation
from suffice.gates.parse import parse_gate
from suffice.monitor import StopMonitor

GATE = saturation().floor(1800)


def before(novelty, chars):
    return {"novelty.words": novelty, "evidence.chars": chars}


def after(novelty, chars, rounds):
    return {**before(novelty, chars), "spend.rounds": float(rounds)}


def test_a_stop_with_enough_text_stands():
    verdict = GATE.judge([before(1.0, 1800.0)])
    assert (verdict.stop, verdict.reason) == (True, "saturated")


def test_a_stop_with_too_little_text_is_put_off_once():
    first = after(1.0, 500.0, 1)
    held = GATE.judge([first])
    assert held.stop is False
    assert held.signals["evidence.chars"] == (500.0, 1800.0)
    assert "put off once" in held.because
    # The further round is not judged before it is accepted, however stale it is, and ends the run afterwards.
    assert GATE.judge([first, before(0.0, 600.0)]).stop is False
    ended = GATE.judge([first, after(9.0, 600.0, 2)])
    assert (ended.stop, ended.reason) == (True, "saturated")


def test_without_a_stop_the_floor_says_nothing():
    assert GATE.judge([before(9.0, 0.0)]).stop is False
    assert GATE.judge([before(None, 0.0)]).stop is None
    assert GATE.judge([]).stop is None


def test_text_that_nobody_measured_puts_nothing_off():
    assert GATE.judge([before(1.0, None)]).stop is True
    assert GATE.judge([{"novelty.words": 1.0}]).stop is True


def test_a_bound_is_not_put_off():
    gate = GATE | budget(rounds=1)
    assert gate.judge([after(1.0, 10.0, 1)]).reason == "budget_rounds"


def test_the_leaves_of_a_composed_gate_are_still_shown():
    gate = (saturation() | exhaustion()).floor(1800)
    held = gate.judge([after(1.0, 10.0, 1) | {"overlap.jaccard": 0.0, "overlap.upr": 1.0}])
    assert [leaf.gate for leaf in held.leaves] == ["saturation", "exhaustion", str(gate)]
    assert held.stop is False


def test_it_reads_back_as_it_is_written():
    text = "saturation.after(2).epsilon(0.15).floor(1800)"
    assert str(parse_gate(text)) == text
    assert {"evidence.chars", "novelty.words"} <= parse_gate(text).needs


@pytest.mark.parametrize("text", ["saturation.floor(0)", "saturation.floor(1.5)", "saturation.floor(x)"])
def test_a_floor_that_is_none(text):
    with pytest.raises(InputError):
        parse_gate(text)


def test_in_somebody_elses_loop():
    monitor = StopMonitor(GATE)
    found = [{"id": "a", "text": "one and the same text"}]
    verdicts = [monitor.observe([f"q{n}"], found) for n in range(3)]
    assert [verdict.stop for verdict in verdicts] == [False, False, True]
    assert [record.accepted for record in monitor.rounds] == [True, True, True]
    long = [{"id": "b", "text": "words " * 400}]
    monitor = StopMonitor(GATE)
    assert [monitor.observe([f"q{n}"], long).stop for n in range(2)] == [False, True]
