"""The fitted weights of the extractive model: ``weights.json``, made by ``python -m training.extractive``."""

import json
from functools import cache
from importlib.resources import files


@cache
def load_weights() -> dict[str, dict[str, float]]:
    """Return the weights by part (``unit``, ``sufficiency``) and feature."""
    text = files("suffice.models.extractive").joinpath("weights.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, float]] = json.loads(text)
    return loaded
