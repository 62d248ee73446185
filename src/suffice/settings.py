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

from suffice.errors import InputError
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
_ROLE_PREFIX = "SUFFICE_MODEL_"
_CACHE_VARIABLE = "SUFFICE_MODEL_CACHE"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Unset means the default of whoever uses it."""

    roles: Mapping[str, str] = field(default_factory=dict)
    """Models for single roles or groups of roles, by the name in ``SUFFICE_MODEL_<ROLE>``, in small letters."""
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """API keys by provider."""
    base_urls: Mapping[str, str] = field(default_factory=dict)
    """Where a provider is reached, if not at its usual address."""
    context: int | None = None
    """Tokens that the model can read, if it is not to be asked."""
    timeout: float | None = None
    """Seconds that one attempt at a call may take."""
    concurrency: Mapping[str, float] = field(default_factory=dict)
    """Calls at a time, by provider; the empty name is for all others."""
    per_minute: Mapping[str, float] = field(default_factory=dict)
    """Calls a minute, in the same way."""
    prices: Path | None = None
    """A file of prices that beat the table's."""
    think: bool = False
    """A thinking model may think (S4)."""
    keep_alive: str | None = None
    """How long Ollama keeps a model in memory; unset, earlier runs tell (S4)."""
    cache: str | None = None
    """``1``: answers are kept and not asked for again, ``all``: sampled ones too."""
    embeddings: str | None = None
    """Which embedding model, as ``PROVIDER:NAME``."""


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
        models=parse_model_settings(values),
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


KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "ollama": ("OLLAMA_API_KEY",),
}
_BASE_URL_VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
    "ollama": "OLLAMA_HOST",
}


def parse_model_settings(values: Mapping[str, str]) -> ModelSettings:
    """The settings that these variables stand for."""
    roles = {
        name.removeprefix(_ROLE_PREFIX).lower(): text
        for name, text in values.items()
        if name.startswith(_ROLE_PREFIX) and text and name != _CACHE_VARIABLE
    }
    producer = values.get("HARNESS_PRODUCER_MODEL", "").strip()
    if producer:  # S4's name for the writer's model; it names an Ollama model, as `qwen3:8b` does.
        known = producer.partition(":")[0] in (*KEY_VARIABLES, "extractive")
        roles.setdefault("writer", producer if known else f"ollama:{producer}")
    keys = {
        provider: next(values[name] for name in names if values.get(name))
        for provider, names in KEY_VARIABLES.items()
        if any(values.get(name) for name in names)
    }
    context = _parse_optional_number(values, "SUFFICE_CONTEXT")
    return ModelSettings(
        roles=roles,
        keys=keys,
        base_urls={
            provider: values[name].strip()
            for provider, name in _BASE_URL_VARIABLES.items()
            if values.get(name, "").strip()
        },
        context=None if context is None else int(context),
        timeout=_parse_optional_number(values, "SUFFICE_TIMEOUT"),
        concurrency=_parse_provider_limits(values, "SUFFICE_CONCURRENCY"),
        per_minute=_parse_provider_limits(values, "SUFFICE_REQUESTS_PER_MINUTE"),
        prices=Path(values["SUFFICE_PRICES"]).expanduser() if values.get("SUFFICE_PRICES") else None,
        think=values.get("HARNESS_PRODUCER_THINK", "") not in ("", "0"),
        keep_alive=values.get("OLLAMA_KEEP_ALIVE", "").strip() or None,
        cache=_parse_cache_mode(values.get(_CACHE_VARIABLE, "").strip()),
        embeddings=values.get("SUFFICE_EMBEDDINGS", "").strip() or None,
    )


def _parse_cache_mode(text: str) -> str | None:
    if text not in ("", "0", "1", "all"):
        raise InputError(
            f"{_CACHE_VARIABLE}={text!r} is not known; set it to 1, to all (sampled answers too) or unset it"
        )
    return text if text in ("1", "all") else None


def _parse_optional_number(values: Mapping[str, str], name: str) -> float | None:
    text = values.get(name, "").strip()
    return _parse_number(text, name) if text else None


def _parse_provider_limits(values: Mapping[str, str], name: str) -> dict[str, float]:
    """``8``, or ``openai:8,ollama:1``: a number for all, or one by provider."""
    limits: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in values.get(name, "").split(","))):
        provider, separator, number = part.rpartition(":")
        if separator and provider not in KEY_VARIABLES:
            raise InputError(
                f"{name}={part!r}: there is no provider {provider!r}; choose one of: {', '.join(KEY_VARIABLES)}"
            )
        limits[provider] = _parse_number(number, name)
    return limits


def _parse_number(text: str, name: str) -> float:
    try:
        number: Any = float(text)
    except ValueError:
        raise InputError(f"{name}={text!r} is not a number; set it to one of at least 1 or unset it") from None
    if not 1 <= number < math.inf:
        raise InputError(f"{name}={text} must be at least 1; unset it for the default")
    return float(number)
