"""The ``spend.*`` readings: what a run has used so far. Budgets and the default gate judge them."""


def spend_readings(
    *,
    rounds: int,
    queries: int,
    sources: int,
    tokens: int | None,
    seconds: float | None = None,
    usd: float | None = None,
) -> dict[str, float | None]:
    """Return the readings by name. An unknown amount is ``None``."""
    return {
        "spend.rounds": float(rounds),
        "spend.queries": float(queries),
        "spend.sources": float(sources),
        "spend.tokens": None if tokens is None else float(tokens),
        "spend.seconds": None if seconds is None else round(seconds, 3),
        "spend.usd": usd,
    }
