"""What the environment says about language models: which, where, with which keys and under which limits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suffice.errors import InputError

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


_KEY_VARIABLES = {
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
        known = producer.partition(":")[0] in (*_KEY_VARIABLES, "extractive")
        roles.setdefault("writer", producer if known else f"ollama:{producer}")
    keys = {
        provider: next(values[name] for name in names if values.get(name))
        for provider, names in _KEY_VARIABLES.items()
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
        if separator and provider not in _KEY_VARIABLES:
            raise InputError(
                f"{name}={part!r}: there is no provider {provider!r}; choose one of: {', '.join(_KEY_VARIABLES)}"
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
