"""FRED: economic series of the St. Louis Fed, one passage an observation, each under an anchor such as FRED:UNRATE:2024-05."""

import re
from calendar import monthrange
from collections.abc import Iterator
from typing import Any, NamedTuple

from suffice.search.web.http import Call, ask_parsed
from suffice.search.web.provider import Provider, base_url, clean, required
from suffice.settings import Settings
from suffice.types import Passage, Place, Query

KEY = "FRED_API_KEY"
SERIES = 2  # How many of the series that fit are read.
_WHEN = re.compile(r"\b((?:19|20)\d\d)(?:-(0[1-9]|1[0-2]))?\b")
_DATE_LENGTH = {"A": 4, "SA": 7, "Q": 7, "M": 7}  # An annual value belongs to a year, a monthly one to a month.


class _Series(NamedTuple):
    id: str
    title: str
    units: str
    frequency: str


def fred(config: Settings) -> Provider:
    key = required(config, KEY, "FRED")
    url = base_url(config, "FRED_BASE_URL", "https://api.stlouisfed.org/fred")

    async def ask(path: str, read: Any, **params: str | int) -> Any:
        asked = {"api_key": key, "file_type": "json", **params}
        refusals = {400: f"the request or the key is not accepted; check {KEY}"}
        return await ask_parsed("FRED", Call(f"{url}/{path}", asked, key=KEY, secret=key, refusals=refusals), read)

    async def search(query: Query, k: int) -> list[Passage]:
        found: list[Passage] = []
        for series in await ask("series/search", _series, search_text=query.text, limit=SERIES):
            found += await ask(
                "series/observations",
                lambda answer, of=series: list(_read(of, answer)),
                series_id=series.id,
                sort_order="desc",
                limit=k,
                **_span(query.text),
            )
        return found[:k]

    return Provider("fred", url, search, per_second=2.0)


def _span(text: str) -> dict[str, str]:
    """The time that the query speaks of, if it does."""
    named = _WHEN.findall(text)
    if not named:
        return {}
    first = min(f"{year}-{month or '01'}" for year, month in named)
    last = max(f"{year}-{month or '12'}" for year, month in named)
    days = monthrange(*map(int, last.split("-")))[1]
    return {"observation_start": f"{first}-01", "observation_end": f"{last}-{days}"}


def _series(answer: Any) -> list[_Series]:
    return [
        _Series(str(one["id"]), clean(one["title"]), clean(one.get("units") or ""), one.get("frequency_short", ""))
        for one in answer["seriess"]
    ]


def _read(series: _Series, answer: Any) -> Iterator[Passage]:
    for observation in answer["observations"]:
        if observation["value"] == ".":  # How it says that there is none.
            continue
        date = observation["date"][: _DATE_LENGTH.get(series.frequency, 10)]
        anchor = f"FRED:{series.id}:{date}"
        text = f"{series.title} ({series.id}), {date}: {clean(observation['value'])} {series.units}".strip()
        place = Place(f"https://fred.stlouisfed.org/series/{series.id}")
        yield Passage(anchor, f"{text}.", f"{series.title} {anchor}", place, "data")
