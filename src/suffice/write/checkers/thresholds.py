"""The fitted thresholds of the checkers, with where they come from."""

import json
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class CheckerThresholds:
    supports: float
    contradicts: float
    cosine: float
    cosine_near: float
    cosine_contradicts: float
    model_yes: float
    """The likelihood from which on a language model's yes counts."""
    model_mark: float
    """The mark, as a share of 10, where the provider tells no likelihoods."""


@cache
def load_thresholds() -> CheckerThresholds:
    stored = json.loads((files("suffice.write.checkers") / "thresholds.json").read_text(encoding="utf-8"))
    return CheckerThresholds(**{item.name: float(stored[item.name]) for item in fields(CheckerThresholds)})
