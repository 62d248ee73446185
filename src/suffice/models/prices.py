"""What a call costs in US dollars: from the user's own file, else from the dated table of the ``genai-prices`` package.

An unknown model has an unknown cost, never zero. A model on this machine costs nothing.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from suffice.errors import InputError

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """US dollars a million tokens."""

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        return (self.input * input_tokens + self.output * output_tokens) / MILLION


FREE = TokenPrice(0.0, 0.0)


def load_user_prices(path: Path | None) -> Mapping[str, TokenPrice]:
    """The user's prices: a TOML file of ``["PROVIDER:NAME"]`` tables with ``input`` and ``output``."""
    if path is None:
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: TokenPrice(float(table["input"]), float(table["output"])) for name, table in tables.items()}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"SUFFICE_PRICES={path} cannot be read: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f'SUFFICE_PRICES={path}: each model is a table like ["openai:NAME"] with the numbers input and output, '
            "US dollars a million tokens"
        ) from error


@dataclass(frozen=True, slots=True)
class CatalogPrice:
    """A model of the table: its price may depend on the length of the prompt and on what of it was cached."""

    provider: str
    model: str
    context: int | None

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        from genai_prices import Usage, calc_price

        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
        return float(calc_price(usage, model_ref=self.model, provider_id=self.provider).total_price)


def find_catalog_price(provider: str, model: str) -> CatalogPrice | None:
    """What the table knows of a cloud model; ``None`` when it does not."""
    from genai_prices import Usage, calc_price

    try:
        found = calc_price(Usage(input_tokens=1), model_ref=model, provider_id=provider).model
    except (LookupError, ValueError):
        return None
    return CatalogPrice(provider, model, found.context_window)
