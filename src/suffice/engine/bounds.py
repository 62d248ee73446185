"""Which limits apply to a run, and where each of them comes from."""

from dataclasses import replace
from typing import Any

from suffice.engine.config import RunConfig
from suffice.gates.base import Gate
from suffice.gates.limits import budget
from suffice.settings import BOUND_VARIABLES, STRONG_BOUNDS, resolve_bounds
from suffice.types import Bounds

BOUND_OPTIONS = {
    "rounds": "max_rounds",
    "queries": "max_queries",
    "sources": "max_sources",
    "seconds": "max_seconds",
    "tokens": "max_tokens",
    "usd": "max_cost_usd",
}


def resolve_limits(config: RunConfig, tier: str, *, is_strong: bool) -> tuple[Bounds, dict[str, str]]:
    """Return the limits of a run, and for each kind who set it, in words.

    They are the tier's, replaced by the strategy's cap, the stop gate's own limits and the user's. If the stop gate and the
    user limit the same thing, the lower limit counts. A strong model has limits of its own, unless the user named the tier.
    ``sources`` limits what is shown, all others when the search ends.
    A model on this machine gets no time limit unless the user sets one: it may just be slow.
    """
    preset, user = config.preset, config.bounds
    is_strong = is_strong and preset.adapts
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    has_own = is_strong and not config.names_tier
    base = (STRONG_BOUNDS, "the class of the model") if has_own else (resolve_bounds(tier), f"the tier {tier}")
    for bounds, origin in (base, (preset.cap, f"the strategy {preset.strategy}")):
        for kind, value in bounds.known.items():
            values[kind], origins[kind] = value, f"{origin} (set another one with {BOUND_OPTIONS[kind]})"
    if config.model.local:
        values.pop("seconds", None)
    own = {} if config.gate is None else config.gate.bounds
    is_preset = str(config.gate) in (preset.gate, preset.patient_gate)
    for kind, value in own.items():
        values[kind], origins[kind] = value, f"the strategy {preset.strategy}" if is_preset else "the stop expression"
    for kind, value in user.known.items():
        if kind not in own or value < own[kind]:
            is_variable = value == getattr(config.environment_bounds, kind)
            values[kind], origins[kind] = value, BOUND_VARIABLES[kind][0] if is_variable else BOUND_OPTIONS[kind]
    # Only the user limits how much of a broad question is read, or a strong model is shown.
    is_broad = config.breadth != "narrow"
    if is_broad or is_strong:
        values["sources"] = user.sources
    if is_broad and config.ranked_scope is not None:
        values["rounds"], values["queries"] = user.rounds, user.queries
    return Bounds(**values), origins


def add_budget(stop: Gate | None, bounds: Bounds) -> Gate:
    """Return a gate that stops at the first bound or when ``stop`` does."""
    limits = replace(bounds, sources=None).known  # How much is shown does not end the search.
    if stop is None:
        return budget(**limits)
    return stop | budget(**limits) if limits else stop
