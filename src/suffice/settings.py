"""Every setting, and the only reader of the environment.

A ``.env`` file in the working directory is read too, below the real environment. It may not set base URLs, allow-lists or
database addresses: a folder somebody else wrote must not be able to redirect documents or keys.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from suffice import model_settings
from suffice.errors import InputError
from suffice.model_settings import ModelSettings
from suffice.types import Bounds

# What a run of each size may spend (S1): rounds, queries, sources, seconds, tokens.
TIERS = {
    "simple": Bounds(2, 3, 5, 60, 20_000),
    "standard": Bounds(5, 10, 15, 90, 60_000),
    "deep": Bounds(10, 15, 20, 120, 150_000),
}

DEFAULT_KEEP_RUNS = 200  # About 100 kB each.

_BOUND_VARIABLES = {
    "rounds": ("RESEARCH_MAX_ITERS", int),
    "queries": ("RESEARCH_MAX_QUERIES", int),
    "sources": ("RESEARCH_MAX_SOURCES", int),
    "seconds": ("RESEARCH_MAX_EXECUTION_TIME_S", float),
    "tokens": ("RESEARCH_TOKEN_BUDGET", int),
    "usd": ("RESEARCH_MAX_COST_USD", float),
}
_DOTENV_FORBIDDEN = ("_BASE_URL", "_URL", "_HOST", "SUFFICE_ALLOW_HOSTS", "SUFFICE_DATABASE_URL")


@dataclass(frozen=True, slots=True)
class ReviewRules:
    """How a written answer is reviewed (S4)."""

    pass_mark: float = 8.0
    """The composite, of 10, that an answer needs. 9 is nearly out of reach: depth alone seldom gets more than 7."""
    rounds: int = 3
    """Evaluations at most; between two of them the answer is revised."""
    panel: bool = False
    """Three readers instead of one judge."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the environment says. Command-line options and arguments of ``research`` come on top."""

    model: str | None = None
    """Which model to use, as ``PROVIDER:NAME`` or ``extractive``; several, separated by commas, to fall back through."""
    offline: bool = False
    """No document may leave this machine."""
    data_dir: Path = Path(".")
    """Where runs are kept."""
    cache_dir: Path = Path(".")
    """Where indexes and vectors are kept; safe to delete."""
    database_url: str | None = None
    """A Postgres that several workers share; without one, an SQLite file in the data directory."""
    keep_runs: int = DEFAULT_KEEP_RUNS
    """How many runs are kept with their evidence and report; 0 keeps nothing of any run."""
    recall: bool = True
    """Whether what runs found out is remembered and looked up again by later ones."""
    bounds: Bounds = field(default_factory=Bounds)
    """Bounds set for every run; they beat the tier's."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Everything else, for services that are known by their own names: keys, base URLs. Never shown, it holds secrets."""
    models: ModelSettings = ModelSettings()
    """Everything else about language models."""
    review: ReviewRules = ReviewRules()
    """How answers are reviewed, unless a run says that they are not."""
    python_rounds: int = 3
    """Tries that a model has for a computation before it writes; 0: it computes nothing."""


def load(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """The settings of this process: the real environment over ``.env`` over the defaults."""
    values = {**read_dotenv(folder or Path.cwd()), **(os.environ if environment is None else environment)}
    return Settings(
        model=values.get("SUFFICE_MODEL") or None,
        offline=values.get("SUFFICE_OFFLINE", "") not in ("", "0"),
        data_dir=_resolve_folder(values, "SUFFICE_DATA_DIR", "XDG_DATA_HOME", ".local/share"),
        cache_dir=_resolve_folder(values, "SUFFICE_CACHE_DIR", "XDG_CACHE_HOME", ".cache"),
        database_url=values.get("SUFFICE_DATABASE_URL") or None,
        keep_runs=_parse_keep_runs(values),
        recall=values.get("SUFFICE_MEMORY", "") != "0",
        bounds=_parse_bounds(values),
        environment=values,
        models=model_settings.parse_model_settings(values),
        review=_parse_review_rules(values),
        python_rounds=_parse_python_rounds(values),
    )


def _parse_keep_runs(values: Mapping[str, str]) -> int:
    text = values.get("SUFFICE_KEEP_RUNS", "").strip() or str(DEFAULT_KEEP_RUNS)
    if not text.isdecimal():
        raise InputError(f"SUFFICE_KEEP_RUNS={text!r} is not a number; set it to how many runs to keep, 0 for none")
    return int(text)


def read_dotenv(folder: Path) -> dict[str, str]:
    """The ``NAME=value`` lines of ``.env``, without the names it may not set."""
    try:
        lines = (folder / ".env").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    values = {}
    for line in lines:
        name, separator, value = line.strip().removeprefix("export ").partition("=")
        if separator and name.strip().isidentifier() and not name.strip().endswith(_DOTENV_FORBIDDEN):
            values[name.strip()] = value.strip().strip("\"'")
    return values


def resolve_bounds(tier: str, *layers: Bounds) -> Bounds:
    """A tier's bounds with each later layer's set values on top."""
    if tier not in TIERS:
        raise InputError(f"There is no tier {tier!r}; choose one of: auto, {', '.join(TIERS)}")
    result = TIERS[tier]
    for layer in layers:
        result = merge_bounds(result, layer)
    return result


def merge_bounds(under: Bounds, over: Bounds) -> Bounds:
    chosen = {name: getattr(over, name) for name in _BOUND_VARIABLES if getattr(over, name) is not None}
    return replace(under, **chosen)


def validate_bounds(given: Bounds) -> Bounds:
    """The bounds, if every one of them is above zero."""
    for name in _BOUND_VARIABLES:
        value = getattr(given, name)
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"The bound on {name} must be a number greater than 0, not {value:g}")
    return given


def _parse_bounds(values: Mapping[str, str]) -> Bounds:
    found: dict[str, Any] = {name: _parse_positive_number(values, *how) for name, how in _BOUND_VARIABLES.items()}
    return Bounds(**found)


def _parse_review_rules(values: Mapping[str, str]) -> ReviewRules:
    usual = ReviewRules()
    mark = _parse_positive_number(values, "SUFFICE_REVIEW_PASS", float) or usual.pass_mark
    if mark > 10:
        raise InputError(f"SUFFICE_REVIEW_PASS={mark:g} cannot be reached: scores go from 0 to 10")
    rounds = _parse_positive_number(values, "MAX_WIGGUM_ROUNDS", int) or usual.rounds
    return ReviewRules(mark, int(rounds), values.get("SUFFICE_REVIEW_PANEL", "") not in ("", "0"))


def _parse_python_rounds(values: Mapping[str, str]) -> int:
    if values.get("PYTHON_TOOL_ROUNDS", "").strip() == "0":
        return 0
    return int(_parse_positive_number(values, "PYTHON_TOOL_ROUNDS", int) or Settings().python_rounds)


def _parse_positive_number(values: Mapping[str, str], name: str, kind: type[int] | type[float]) -> int | float | None:
    text = values.get(name, "").strip()
    if not text:
        return None
    try:
        number = kind(text)
    except ValueError:
        raise InputError(f"{name}={text!r} is not a number; set it to one greater than 0 or unset it") from None
    if not 0 < number < math.inf:
        raise InputError(f"{name}={text} must be greater than 0; unset it for the usual value")
    return number


def _resolve_folder(values: Mapping[str, str], own: str, shared: str, usual: str) -> Path:
    if values.get(own):
        return Path(values[own]).expanduser()
    base = Path(values[shared]) if values.get(shared) else Path.home() / usual
    return base / "suffice"
