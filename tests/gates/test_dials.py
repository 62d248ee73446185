"""The dials of a gate: what a page may offer to turn must be what the gate takes."""

import pytest

from suffice import plugins
from suffice.gates.base import Dial
from suffice.gates.parse import parse_gate

DIALS = [(name, dial) for name in plugins.list_plugins("gates") for dial in plugins.load_plugin("gates", name).dials]


@pytest.mark.parametrize(("name", "dial"), DIALS)
def test_every_position_of_a_dial_is_taken(name: str, dial: Dial) -> None:
    assert dial.low <= dial.usual <= dial.high
    for value in (dial.low, dial.usual, dial.high, dial.low + dial.step):
        parse_gate(f"{name}({dial.name}={value:g})")


@pytest.mark.parametrize(
    "name", [name for name in plugins.list_plugins("gates") if plugins.load_plugin("gates", name).dials]
)
def test_the_usual_position_is_the_default(name: str) -> None:
    kind = plugins.load_plugin("gates", name)
    if name not in ("budget", "fixed"):  # Those have no default: somebody must say how much.
        written = ", ".join(f"{dial.name}={dial.usual:g}" for dial in kind.dials)
        assert str(parse_gate(f"{name}({written})")) == name
