"""All settings of suffice. Only this module reads the environment.

Each setting is documented at its field: the variable, the unit, and why the default is what it is. ``load`` reads the real
environment first, then a ``.env`` file in the working directory, then the defaults. The ``.env`` file may not set addresses
of services, allow-lists or databases: a folder of documents from an untrusted author must not redirect texts or keys.
Options of the command line and arguments of ``research`` override the settings.
"""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from suffice.errors import InputError
from suffice.types import Bounds

Number = TypeVar("Number", int, float)

# Bounds by the size of a task: rounds, queries, sources, seconds, tokens (values of the source system, see docs/sources.md).
TIERS = {
    "simple": Bounds(2, 3, 5, 60, 20_000),
    "standard": Bounds(5, 10, 15, 90, 60_000),
    "deep": Bounds(10, 15, 20, 120, 150_000),
}
STRONG_BOUNDS = Bounds(8, 24, None, 900, 300_000)
"""The limits of a run with a strong model where the user names no tier: it is shown everything that fits its context."""
DEFAULT_KEEP_RUNS = 200  # Runs; about 100 kB each.
DEFAULT_PYTHON_ROUNDS = 3
# The variables of each provider's API key; the first one that is set counts.
KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
    "ollama": ("OLLAMA_API_KEY",),
}

BOUND_VARIABLES: dict[str, tuple[str, type[int] | type[float]]] = {
    "rounds": ("RESEARCH_MAX_ITERS", int),
    "queries": ("RESEARCH_MAX_QUERIES", int),
    "sources": ("RESEARCH_MAX_SOURCES", int),
    "seconds": ("RESEARCH_MAX_EXECUTION_TIME_S", float),
    "tokens": ("RESEARCH_TOKEN_BUDGET", int),
    "usd": ("RESEARCH_MAX_COST_USD", float),
}
_BASE_URL_VARIABLES = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "google": "GOOGLE_GEMINI_BASE_URL",
    "ollama": "OLLAMA_HOST",
}
_RETENTION_UNITS: dict[str, tuple[str, float, type[int] | type[float]]] = {
    "h": ("seconds", 3_600, float),
    "d": ("seconds", 86_400, float),
    "w": ("seconds", 604_800, float),
    "run": ("runs", 1, int),
    "runs": ("runs", 1, int),
    "mb": ("bytes", 1e6, int),
    "gb": ("bytes", 1e9, int),
}
_ROLE_PREFIX = "SUFFICE_MODEL_"
_CHILD_VARIABLES = ("PATH", "HOME", "TMPDIR", "LANG", "LC_", "LD_LIBRARY_PATH", "DYLD_", "PYTHON")
_DOTENV_FORBIDDEN_SUFFIXES = ("_URL", "_HOST", "SUFFICE_ALLOW_HOSTS")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings for language models and embeddings. ``None`` means the default of the code that uses the setting."""

    roles: Mapping[str, str] = field(default_factory=dict)
    """``SUFFICE_MODEL_<ROLE>``: models for single roles or groups of roles, by the role's name in lower case.

    A cheap model can plan while a better one writes. ``HARNESS_PRODUCER_MODEL`` is an alias for the writer's model; a name
    without a provider is an Ollama model.
    """
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """API keys by provider, from the variables that the providers document. Not shown in ``repr``, because they are secret."""
    base_urls: Mapping[str, str] = field(default_factory=dict)
    """Addresses by provider, for servers other than the provider's own, such as a local one."""
    context: int | None = None
    """``SUFFICE_CONTEXT``: tokens of the model's context window. Unset: the server is asked, because most servers report it."""
    timeout: float | None = None
    """``SUFFICE_TIMEOUT``: seconds for one attempt at a call. Unset: 180 for cloud models, 1800 for local ones, which need
    minutes for a long prompt."""
    concurrency: Mapping[str, int] = field(default_factory=dict)
    """``SUFFICE_CONCURRENCY``: simultaneous calls, as ``8`` or by provider as ``openai:8,ollama:1``; the empty name is for all
    other providers. Unset: 8 for cloud models, 2 for local ones, which share the cores of one machine."""
    prices: Path | None = None
    """``SUFFICE_PRICES``: a TOML file of prices in USD per million tokens that override the built-in table, for models that
    the table does not know or for negotiated prices."""
    think: bool = False
    """``HARNESS_PRODUCER_THINK``: let a reasoning model think before it answers. Off, because it multiplies the tokens."""
    keep_alive: str | None = None
    """``OLLAMA_KEEP_ALIVE``: how long Ollama keeps a model in memory. Unset: estimated from the duration of earlier runs."""
    writer: str | None = None
    """``SUFFICE_WRITER``: ``prose`` lets the model write the whole answer, ``sentence`` one sentence above quotes of the
    sources. Unset: by the size of the model, because small models write worse answers than the quotes are."""
    embeddings: str | None = None
    """``SUFFICE_EMBEDDINGS``: the embedding model as ``PROVIDER:NAME``. Unset: the small model that comes with the package."""


@dataclass(frozen=True, slots=True)
class ReviewRules:
    """How a written answer is reviewed."""

    pass_mark: float = 8.0
    """``SUFFICE_REVIEW_PASS``: the composite score, of 10, that an answer needs. A mark of 9 is nearly unreachable, because the
    dimension depth alone seldom scores above 7."""
    rounds: int = 3
    """``MAX_WIGGUM_ROUNDS``: the highest number of evaluations (value of the source system, see docs/sources.md).
    The answer is revised between two of them."""
    panel: bool = False
    """Three readers instead of one judge (``--panel``). Off, because it costs three times as many calls."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Which ended runs of the service are kept; ``None`` sets no limit."""

    seconds: float | None = None
    """Runs that ended longer ago are deleted."""
    runs: int | None = None
    """How many ended runs are kept, the newest."""
    bytes: int | None = None
    """How many characters all runs may take up in the database; the oldest are deleted first."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of this process."""

    model: str | None = None
    """``SUFFICE_MODEL``: the model as ``PROVIDER:NAME`` or ``extractive``; several, separated by commas, are tried in order.
    Unset: the first one for which there is a key or a local server, else no language model (``extractive``)."""
    offline: bool = False
    """``SUFFICE_OFFLINE``: no document may leave this machine, so cloud models and web search are refused."""
    data_dir: Path = Path(".")
    """``SUFFICE_DATA_DIR``: the folder for runs. Unset: ``suffice`` in the user's data folder (XDG)."""
    cache_dir: Path = Path(".")
    """``SUFFICE_CACHE_DIR``: the folder for indexes and vectors, safe to delete. Unset: ``suffice`` in the user's cache
    folder (XDG)."""
    config_dir: Path = Path(".")
    """``SUFFICE_CONFIG_DIR``: the folder for skills and prompts of the user. Unset: ``suffice`` in the user's configuration
    folder (XDG). A ``.env`` file cannot set it, because what is in there is followed."""
    database_url: str | None = None
    """``SUFFICE_DATABASE_URL``: a Postgres database that several workers share. Unset: an SQLite file in ``data_dir``."""
    retention: Retention = Retention()
    """``SUFFICE_RETENTION``: which runs of the service are kept, such as ``30d, 1000 runs, 2 GB``. Unset: all of them."""
    keep_runs: int = DEFAULT_KEEP_RUNS
    """``SUFFICE_KEEP_RUNS``: how many runs are stored with their evidence and report; 0 stores none."""
    recall: bool = True
    """``SUFFICE_MEMORY``: whether findings of runs are stored and looked up by later runs; ``0`` turns it off."""
    bounds: Bounds = field(default_factory=Bounds)
    """``RESEARCH_MAX_…``, ``RESEARCH_TOKEN_BUDGET``: bounds for every run, which override those of the tier."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """All variables, for search services that have their own names for keys and addresses. Not shown in ``repr``, because it
    contains secrets."""
    models: ModelSettings = ModelSettings()
    """Further settings for language models."""
    review: ReviewRules = ReviewRules()
    """How answers are reviewed, unless a run turns the review off."""
    python_rounds: int = DEFAULT_PYTHON_ROUNDS
    """``PYTHON_TOOL_ROUNDS``: attempts of the model to write a program that computes a figure before it writes the answer; 0
    turns computation off. Three attempts are enough to correct an error message."""


def load(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Load the settings from the environment and from ``.env`` in the folder, by default the working directory."""
    values = {**read_dotenv(folder or Path.cwd()), **(os.environ if environment is None else environment)}
    bounds: dict[str, Any] = {name: _parse_number(values, *how) for name, how in BOUND_VARIABLES.items()}
    return Settings(
        model=values.get("SUFFICE_MODEL") or None,
        offline=_is_enabled(values, "SUFFICE_OFFLINE"),
        data_dir=_resolve_folder(values, "SUFFICE_DATA_DIR", "XDG_DATA_HOME", ".local/share"),
        cache_dir=_resolve_folder(values, "SUFFICE_CACHE_DIR", "XDG_CACHE_HOME", ".cache"),
        config_dir=get_config_dir(environment),
        database_url=values.get("SUFFICE_DATABASE_URL") or None,
        retention=_parse_retention(values),
        keep_runs=_parse_count(values, "SUFFICE_KEEP_RUNS", DEFAULT_KEEP_RUNS),
        recall=values.get("SUFFICE_MEMORY", "") != "0",
        bounds=Bounds(**bounds),
        environment=values,
        models=_parse_model_settings(values),
        review=_parse_review_rules(values),
        python_rounds=_parse_count(values, "PYTHON_TOOL_ROUNDS", DEFAULT_PYTHON_ROUNDS),
    )


def get_config_dir(environment: Mapping[str, str] | None = None) -> Path:
    """Return the user's configuration folder."""
    values = os.environ if environment is None else environment
    return _resolve_folder(values, "SUFFICE_CONFIG_DIR", "XDG_CONFIG_HOME", ".config")


def get_prompts_dir() -> Path:
    """Return the folder of the user's own prompts: ``SUFFICE_PROMPTS``, else ``prompts`` in the configuration folder.

    A ``.env`` file cannot set it.
    """
    named = os.environ.get("SUFFICE_PROMPTS", "").strip()
    return Path(named).expanduser() if named else get_config_dir() / "prompts"


def read_dotenv(folder: Path) -> dict[str, str]:
    """Return the ``NAME=value`` lines of the folder's ``.env`` file, without the names that it may not set."""
    try:
        lines = (folder / ".env").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    values = {}
    for line in lines:
        name, separator, value = line.strip().removeprefix("export ").partition("=")
        if separator and name.strip().isidentifier() and not name.strip().endswith(_DOTENV_FORBIDDEN_SUFFIXES):
            values[name.strip()] = value.strip().strip("\"'")
    return values


def get_child_environment(**changes: str) -> dict[str, str]:
    """Return the environment of a process that parses untrusted files: without keys, addresses and other secrets."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(_CHILD_VARIABLES)}
    return {**kept, **changes}


def resolve_bounds(tier: str) -> Bounds:
    """Return a tier's bounds; raise ``InputError`` for an unknown tier."""
    if tier not in TIERS:
        raise InputError(f"There is no tier {tier!r}; choose one of: auto, {', '.join(TIERS)}")
    return TIERS[tier]


# -- Groups of settings ------------------------------------------------------------------------------------------------


def _parse_review_rules(values: Mapping[str, str]) -> ReviewRules:
    default = ReviewRules()
    pass_mark = _parse_number(values, "SUFFICE_REVIEW_PASS", float) or default.pass_mark
    if pass_mark > 10:
        raise InputError(f"SUFFICE_REVIEW_PASS={pass_mark:g} cannot be reached: scores go from 0 to 10")
    return ReviewRules(pass_mark, _parse_number(values, "MAX_WIGGUM_ROUNDS", int) or default.rounds)


def _parse_retention(values: Mapping[str, str]) -> Retention:
    """Parse limits such as ``30d, 1000 runs, 2 GB``: age (h, d, w), number and size (MB, GB), in any order."""
    text = values.get("SUFFICE_RETENTION", "").strip()
    found: dict[str, Any] = {}
    for part in filter(None, (part.strip().lower() for part in text.split(","))):
        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([a-z]*)", part)
        unit = _RETENTION_UNITS.get(match[2]) if match else None
        if match is None or unit is None or float(match[1]) <= 0 or unit[0] in found:
            raise InputError(
                f"SUFFICE_RETENTION={text!r} cannot be read; write an age, a number of runs, a size, or several of them: "
                "30d, 1000 runs, 2 GB"
            )
        found[unit[0]] = unit[2](float(match[1]) * unit[1])
    return Retention(**found)


def _parse_model_settings(values: Mapping[str, str]) -> ModelSettings:
    return ModelSettings(
        roles=_parse_roles(values),
        keys={
            provider: key
            for provider, names in KEY_VARIABLES.items()
            if (key := next(filter(None, map(values.get, names)), None))
        },
        base_urls={
            provider: url for provider, name in _BASE_URL_VARIABLES.items() if (url := values.get(name, "").strip())
        },
        context=_parse_number(values, "SUFFICE_CONTEXT", int, minimum=1),
        timeout=_parse_number(values, "SUFFICE_TIMEOUT", float, minimum=1),
        concurrency=_parse_concurrency(values),
        prices=Path(values["SUFFICE_PRICES"]).expanduser() if values.get("SUFFICE_PRICES") else None,
        think=_is_enabled(values, "HARNESS_PRODUCER_THINK"),
        keep_alive=values.get("OLLAMA_KEEP_ALIVE", "").strip() or None,
        writer=_parse_writer(values),
        embeddings=values.get("SUFFICE_EMBEDDINGS", "").strip() or None,
    )


def _parse_roles(values: Mapping[str, str]) -> dict[str, str]:
    roles = {
        name.removeprefix(_ROLE_PREFIX).lower(): text
        for name, text in values.items()
        if name.startswith(_ROLE_PREFIX) and text
    }
    producer = values.get("HARNESS_PRODUCER_MODEL", "").strip()
    if producer:
        # Names such as ``qwen3:8b`` contain a colon, too, but no provider in front of it.
        has_provider = producer.partition(":")[0] in (*KEY_VARIABLES, "extractive")
        roles.setdefault("writer", producer if has_provider else f"ollama:{producer}")
    return roles


def _parse_writer(values: Mapping[str, str]) -> str | None:
    text = values.get("SUFFICE_WRITER", "").strip()
    if text not in ("", "auto", "prose", "sentence"):
        raise InputError(f"SUFFICE_WRITER={text!r} is not known; set it to prose, sentence or auto")
    return None if text == "auto" else text or None


def _parse_concurrency(values: Mapping[str, str]) -> dict[str, int]:
    """Parse ``8`` for all providers, or ``openai:8,ollama:1``."""
    limits: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in values.get("SUFFICE_CONCURRENCY", "").split(","))):
        provider, separator, number = part.rpartition(":")
        if separator and provider not in KEY_VARIABLES:
            providers = ", ".join(KEY_VARIABLES)
            raise InputError(
                f"SUFFICE_CONCURRENCY={part!r}: there is no provider {provider!r}; choose one of: {providers}"
            )
        limits[provider] = _to_number(number, "SUFFICE_CONCURRENCY", int, minimum=1)
    return limits


# -- Single values -----------------------------------------------------------------------------------------------------


def _is_enabled(values: Mapping[str, str], name: str) -> bool:
    return values.get(name, "") not in ("", "0")


def _resolve_folder(values: Mapping[str, str], name: str, xdg_name: str, default: str) -> Path:
    if values.get(name):
        return Path(values[name]).expanduser()
    base = Path(values[xdg_name]) if values.get(xdg_name) else Path.home() / default
    return base / "suffice"


def _parse_count(values: Mapping[str, str], name: str, default: int) -> int:
    """Parse a whole number; 0 turns off what it counts."""
    number = _parse_number(values, name, int, minimum=0)
    return default if number is None else number


def _parse_number(
    values: Mapping[str, str], name: str, number_type: type[Number], *, minimum: int | None = None
) -> Number | None:
    text = values.get(name, "").strip()
    return _to_number(text, name, number_type, minimum=minimum) if text else None


def _to_number(text: str, name: str, number_type: type[Number], *, minimum: int | None = None) -> Number:
    """Convert the text to a number of at least ``minimum``, or above zero without one."""
    required = "greater than 0" if minimum is None else f"at least {minimum}"
    try:
        number = number_type(text)
    except ValueError:
        kind = "a whole number" if number_type is int else "a number"
        raise InputError(f"{name}={text!r} is not {kind}; set it to one {required} or unset it") from None
    if not (minimum or 0) <= number < math.inf or (minimum is None and number == 0):
        raise InputError(f"{name}={text} must be {required}; unset it for the default")
    return number
