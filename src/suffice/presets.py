"""A preset is a strategy with the memory, the gate and the cap it was made for. Everything in it can be overridden."""

from dataclasses import dataclass

from suffice import plugins
from suffice.errors import InputError
from suffice.types import Bounds


@dataclass(frozen=True, slots=True)
class Preset:
    strategy: str
    memory: str
    gate: str
    cap: Bounds = Bounds()


PRESETS = {
    "auto": Preset("reflect", "trajectory", "worth | exhaustion"),
    "reflect": Preset("reflect", "trajectory", "sufficiency"),
}


def preset(name: str) -> Preset:
    if name in PRESETS:
        return PRESETS[name]
    others = [other for other in plugins.names("strategies") if other not in PRESETS]
    if name in others:  # A stranger's strategy, with the parts that suit most.
        return Preset(name, "trajectory", "sufficiency")
    raise InputError(f"There is no strategy {name!r}; choose one of: {', '.join([*PRESETS, *others])}")
