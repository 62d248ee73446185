"""Which limits apply to a run, and where each of them comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suffice.engine.presets import Preset
from suffice.gates.base import Gate
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


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of a run, and for each kind who set it, in words."""

    bounds: Bounds
    origins: Mapping[str, str]


def resolve_limits(
    tier: str,
    preset: Preset,
    stop: Gate | None,
    user: Bounds,
    environment: Bounds = Bounds(),
    *,
    has_time_limit: bool = True,
    is_strong: bool = False,
) -> RunLimits:
    """Return the limits of a run: the tier's, replaced by the strategy's cap, the stop gate's own limits and the user's.

    If the stop gate and the user limit the same thing, the lower limit counts. ``environment`` are those of the user's limits
    that come from environment variables. Without ``has_time_limit`` the tier does not limit the time. With ``is_strong`` the
    limits for a strong model take the place of the tier's.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    base = (STRONG_BOUNDS, "the class of the model") if is_strong else (resolve_bounds(tier), f"the tier {tier}")
    for bounds, origin in (base, (preset.cap, f"the strategy {preset.strategy}")):
        for kind, value in bounds.known.items():
            values[kind], origins[kind] = value, f"{origin} (set another one with {BOUND_OPTIONS[kind]})"
    if not has_time_limit:
        values.pop("seconds", None)
    own = {} if stop is None else stop.bounds
    is_preset = str(stop) in (preset.gate, preset.patient_gate)
    for kind, value in own.items():
        values[kind], origins[kind] = value, f"the strategy {preset.strategy}" if is_preset else "the stop expression"
    for kind, value in user.known.items():
        if kind not in own or value < own[kind]:
            is_variable = value == getattr(environment, kind)
            values[kind], origins[kind] = value, BOUND_VARIABLES[kind][0] if is_variable else BOUND_OPTIONS[kind]
    return RunLimits(Bounds(**values), origins)
