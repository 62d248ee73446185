"""What a call costs in US dollars: from the user's own file, else from the dated table of the ``genai-prices`` package.

The cost of an unknown model is unknown, not zero. A model on this machine costs nothing.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from suffice.errors import InputError
from suffice.models.base import Model
from suffice.models.capability import find_model

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """US dollars per million tokens."""

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        return (self.input * input_tokens + self.output * output_tokens) / MILLION


FREE = TokenPrice(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class CatalogPrice:
    """The price of a model in the table; it may depend on the length of the prompt and on how much of it was cached."""

    provider: str
    model: str
    context: int | None

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
        from genai_prices import Usage, calc_price

        usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens, cache_read_tokens=cached_tokens)
        return float(calc_price(usage, model_ref=self.model, provider_id=self.provider).total_price)


Price = TokenPrice | CatalogPrice


def load_user_prices(path: Path | None) -> Mapping[str, TokenPrice]:
    """Return the user's prices: a TOML file of ``["PROVIDER:NAME"]`` tables with ``input`` and ``output``."""
    if path is None:
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: TokenPrice(float(table["input"]), float(table["output"])) for name, table in tables.items()}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"SUFFICE_PRICES={path} cannot be read: {error}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f'SUFFICE_PRICES={path}: write each model as a table like ["openai:NAME"] with the numbers input and output, '
            "in US dollars per million tokens"
        ) from error


def find_catalog_price(provider: str, model: str) -> CatalogPrice | None:
    """Return the table's price of a cloud model; ``None`` when it is not in the table."""
    from genai_prices import Usage, calc_price

    try:
        found = calc_price(Usage(input_tokens=1), model_ref=model, provider_id=provider).model
    except (LookupError, ValueError):
        return None
    return CatalogPrice(provider, model, found.context_window)


def find_price(model: Model, role: str) -> Price | None:
    """Return the price of the model that answers a role, also behind wrappers and routers; ``None`` when it is unknown."""
    return cast("Price | None", getattr(find_model(model, role), "price", None))
