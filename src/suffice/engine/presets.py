"""Presets: each strategy with the memory, gate and bounds it was designed for. Every part can be overridden."""

from dataclasses import dataclass

from suffice import plugins
from suffice.errors import InputError
from suffice.types import Bounds


@dataclass(frozen=True, slots=True)
class Preset:
    strategy: str
    memory: str
    gate: str | None
    """A gate expression; ``None``: the strategy ends by itself, or a bound ends it."""
    cap: Bounds = Bounds()
    alpha: float | None = None
    """The weight of words (1) against meaning (0) in search; ``None``: the default."""
    honors_sufficient: bool = False
    """Whether a model that is sure of the evidence ends the search beside the gate."""
    adapts: bool = False
    """Whether steps that are not useful with the model at hand are left out of the search."""
    patient_gate: str | None = None
    """The gate for a question that needs several steps, where a round costs only a search of own documents."""


def _limit_rounds(rounds: int) -> Bounds:
    """Return the cap of an agent: one query a round, with room for a follow-up beside it. See docs/sources.md."""
    return Bounds(rounds=rounds, queries=2 * rounds)


PRESETS = {
    "auto": Preset(
        *("reflect", "trajectory", "worth | exhaustion"),
        honors_sufficient=True,
        adapts=True,
        patient_gate="worth(price=0.03) | exhaustion",
    ),
    "reflect": Preset("reflect", "trajectory", "sufficiency"),
    # The quality floor is part of the gate, so that the loop, a replay and `explain` agree.
    "saturate": Preset("saturate", "rolling", "saturation.after(2).epsilon(0.15).floor(1800)", Bounds(rounds=5)),
    "predicates": Preset("predicates", "freeform", "predicates | exhaustion", alpha=0.5),
    "outline": Preset("outline", "trajectory", "gain"),
    "survey": Preset("survey", "trajectory", "coverage"),
    "ircot": Preset("ircot", "trajectory", None, _limit_rounds(10), alpha=0.9),
    "react": Preset("react", "trajectory", None, _limit_rounds(7), alpha=0.5),
    "memgpt": Preset("memgpt", "trajectory", None, _limit_rounds(12), alpha=0.5),
    "iterretgen": Preset("iterretgen", "trajectory", "fixed(4)", _limit_rounds(4), alpha=0.5),
}


def list_strategies() -> list[str]:
    """Return the names of all strategies: the presets, then those of plug-ins."""
    return [*PRESETS, *(name for name in plugins.list_plugins("strategies") if name not in PRESETS)]


def get_preset(name: str) -> Preset:
    """Return a preset by name; a plug-in's strategy gets the parts that suit most strategies."""
    if name in PRESETS:
        return PRESETS[name]
    if name in list_strategies():
        return Preset(name, "trajectory", "sufficiency")
    raise InputError(f"There is no strategy {name!r}; choose one of: {', '.join(list_strategies())}")
