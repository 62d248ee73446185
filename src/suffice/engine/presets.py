"""A preset is a strategy with the memory, the gate and the cap it was made for. Everything in it can be overridden."""

from dataclasses import dataclass

from suffice import plugins
from suffice.errors import InputError
from suffice.types import Bounds


@dataclass(frozen=True, slots=True)
class Preset:
    strategy: str
    memory: str
    gate: str | None
    """``None``: the strategy ends by itself, or on its bounds."""
    cap: Bounds = Bounds()
    alpha: float | None = None
    """The mix of words (1) and meaning (0) it was made for; ``None``: the usual one."""


def _limit_rounds(rounds: int) -> Bounds:
    """A harness's own cap (S3): one query a round, and room for a lead beside it."""
    return Bounds(rounds=rounds, queries=2 * rounds)


PRESETS = {
    "auto": Preset("reflect", "trajectory", "worth | exhaustion"),
    "reflect": Preset("reflect", "trajectory", "sufficiency"),
    # S2's quality floor is part of the gate: the loop, a replay and `explain` then tell the same story.
    "saturate": Preset("saturate", "rolling", "saturation.after(2).epsilon(0.15).floor(1800)", Bounds(rounds=5)),
    "predicates": Preset("predicates", "freeform", "predicates | exhaustion"),
    "outline": Preset("outline", "trajectory", "gain"),
    "ircot": Preset("ircot", "trajectory", None, _limit_rounds(10), alpha=0.9),
    "react": Preset("react", "trajectory", None, _limit_rounds(7)),
    "memgpt": Preset("memgpt", "trajectory", None, _limit_rounds(12)),
    "iterretgen": Preset("iterretgen", "trajectory", "fixed(4)", _limit_rounds(4)),
}


def list_strategies() -> list[str]:
    """Every strategy that can be named: the presets, then a stranger's."""
    return [*PRESETS, *(name for name in plugins.list_plugins("strategies") if name not in PRESETS)]


def get_preset(name: str) -> Preset:
    if name in PRESETS:
        return PRESETS[name]
    if name in list_strategies():  # A stranger's strategy, with the parts that suit most.
        return Preset(name, "trajectory", "sufficiency")
    raise InputError(f"There is no strategy {name!r}; choose one of: {', '.join(list_strategies())}")
