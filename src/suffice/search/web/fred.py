"""FRED: economic series of the St. Louis Fed, one passage an observation, each under an anchor such as FRED:UNRATE:2024-05."""

import re
from calendar import monthrange
from collections.abc import Iterator
from typing import Any, NamedTuple

from suffice.search.web.http import ProviderRequest, fetch_json
from suffice.search.web.provider import Provider, get_base_url, require_setting, strip_control_chars
from suffice.settings import Settings
from suffice.types import Passage, Place, Query

API_KEY_SETTING = "FRED_API_KEY"
MAX_SERIES = 2  # How many of the series that fit are read.
_DATE_PATTERN = re.compile(r"\b((?:19|20)\d\d)(?:-(0[1-9]|1[0-2]))?\b")
_DATE_LENGTH = {"A": 4, "SA": 7, "Q": 7, "M": 7}  # An annual value belongs to a year, a monthly one to a month.


class _Series(NamedTuple):
    id: str
    title: str
    units: str
    frequency: str


def fred(config: Settings) -> Provider:
    key = require_setting(config, API_KEY_SETTING, "FRED")
    url = get_base_url(config, "FRED_BASE_URL", "https://api.stlouisfed.org/fred")

    async def ask(path: str, read: Any, **params: str | int) -> Any:
        asked = {"api_key": key, "file_type": "json", **params}
        refusals = {400: f"the request or the key is not accepted; check {API_KEY_SETTING}"}
        return await fetch_json(
            "FRED",
            ProviderRequest(f"{url}/{path}", asked, key_setting=API_KEY_SETTING, secret=key, refusal_messages=refusals),
            read,
        )

    async def search(query: Query, k: int) -> list[Passage]:
        found: list[Passage] = []
        for series in await ask("series/search", _parse_series, search_text=query.text, limit=MAX_SERIES):
            found += await ask(
                "series/observations",
                lambda answer, of=series: list(_parse_observations(of, answer)),
                series_id=series.id,
                sort_order="desc",
                limit=k,
                **_parse_date_range(query.text),
            )
        return found[:k]

    return Provider("fred", url, search, per_second=2.0)


def _parse_date_range(text: str) -> dict[str, str]:
    """The time that the query speaks of, if it does."""
    named = _DATE_PATTERN.findall(text)
    if not named:
        return {}
    first = min(f"{year}-{month or '01'}" for year, month in named)
    last = max(f"{year}-{month or '12'}" for year, month in named)
    days = monthrange(*map(int, last.split("-")))[1]
    return {"observation_start": f"{first}-01", "observation_end": f"{last}-{days}"}


def _parse_series(answer: Any) -> list[_Series]:
    return [
        _Series(
            str(one["id"]),
            strip_control_chars(one["title"]),
            strip_control_chars(one.get("units") or ""),
            one.get("frequency_short", ""),
        )
        for one in answer["seriess"]
    ]


def _parse_observations(series: _Series, answer: Any) -> Iterator[Passage]:
    for observation in answer["observations"]:
        if observation["value"] == ".":  # How it says that there is none.
            continue
        date = observation["date"][: _DATE_LENGTH.get(series.frequency, 10)]
        anchor = f"FRED:{series.id}:{date}"
        text = (
            f"{series.title} ({series.id}), {date}: {strip_control_chars(observation['value'])} {series.units}".strip()
        )
        place = Place(f"https://fred.stlouisfed.org/series/{series.id}")
        yield Passage(anchor, f"{text}.", f"{series.title} {anchor}", place, "data")
