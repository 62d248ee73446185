"""Leaf gates: how they print, and that every value a dial offers is valid."""

import pytest

from suffice import plugins
from suffice.gates.base import Dial
from suffice.gates.leaf import LeafGate
from suffice.gates.parse import parse_gate

DIALS = [(name, dial) for name in plugins.list_plugins("gates") for dial in plugins.load_plugin("gates", name).dials]


@pytest.mark.parametrize(("name", "dial"), DIALS)
def test_every_value_of_a_dial_is_valid(name: str, dial: Dial) -> None:
    assert dial.low <= dial.usual <= dial.high
    for value in (dial.low, dial.usual, dial.high, dial.low + dial.step):
        parse_gate(f"{name}({dial.name}={value:g})")


@pytest.mark.parametrize(
    "name", [name for name in plugins.list_plugins("gates") if plugins.load_plugin("gates", name).dials]
)
def test_the_usual_value_of_a_dial_is_the_default(name: str) -> None:
    kind = plugins.load_plugin("gates", name)
    if name not in ("budget", "fixed"):  # These have no default.
        written = ", ".join(f"{dial.name}={dial.usual:g}" for dial in kind.dials)
        assert str(parse_gate(f"{name}({written})")) == name


class quiet(LeafGate):
    """The example of the ``Gate`` docstring, with a required argument."""

    needs = frozenset({"novelty.words"})

    def __init__(self, word, below=2.0, strict=False):
        super().__init__(word, below=below, strict=strict)
        self.below = below

    def judge(self, readings, seed=0):
        return self.judge_below("novelty.words", readings, self.below, "saturated", "little is new")


@pytest.mark.parametrize(
    ("gate", "text"),
    [
        (quiet("a"), "quiet(a)"),
        (quiet("a", below=2), "quiet(a)"),
        (quiet("a", below=0.5), "quiet(a, below=0.5)"),
        (quiet("a", below=3.0, strict=True), "quiet(a, below=3, strict=true)"),
    ],
)
def test_a_leaf_prints_its_arguments_without_defaults(gate: LeafGate, text: str) -> None:
    assert str(gate) == text


def test_a_new_gate_needs_only_judge() -> None:
    gate = quiet("a")
    assert gate.judge([{"novelty.words": 1.0}]).reason == "saturated"
    assert gate.judge([{"novelty.words": 2.0}]).stop is False
    assert gate.judge([{}]).stop is None
    assert (gate | quiet("b")).needs == {"novelty.words"}
