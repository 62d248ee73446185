"""The weights of the extractive model: ``weights.json``, which says where each comes from."""

import json
from functools import cache
from importlib.resources import files


@cache
def load_weights() -> dict[str, dict[str, float]]:
    """Return the weights by part (``unit``, ``sufficiency``) and feature."""
    text = files("suffice.models.extractive").joinpath("weights.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, float]] = json.loads(text)
    return loaded
