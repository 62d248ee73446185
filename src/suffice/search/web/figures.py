"""Services of figures: FRED and Yahoo Finance, whose passages are cited by anchors."""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple, TypeVar

from suffice.errors import SearchError
from suffice.search.web.http import ProviderRequest, fetch_json
from suffice.search.web.provider import Provider, clean_text, get_base_url, require_setting
from suffice.settings import Settings
from suffice.types import Passage, Place, Query

T = TypeVar("T")

MAX_SERIES = 2  # Matching series that are read for one query.
_DATE_PATTERN = re.compile(r"\b((?:19|20)\d\d)(?:-(0[1-9]|1[0-2]))?\b")
# Characters of the date to show, by frequency: a year for annual values, a month for monthly ones, else the day.
_DATE_LENGTH = {"A": 4, "SA": 7, "Q": 7, "M": 7}
MAX_TICKERS = 3  # Tickers looked up for one query.
_TICKER_PATTERN = re.compile(r"(?<![\w.])\$?(\^?[A-Z]{1,5}(?:[.-][A-Z]{1,3})?)(?![\w])")


class _Series(NamedTuple):
    id: str
    title: str
    units: str
    frequency: str


def fred(config: Settings) -> Provider:
    """Economic series of the St. Louis Fed, one passage for each observation, cited as FRED:UNRATE:2024-05."""
    setting = "FRED_API_KEY"
    key = require_setting(config, setting, "FRED")
    url = get_base_url(config, "FRED_BASE_URL", "https://api.stlouisfed.org/fred")

    async def fetch(path: str, parse: Callable[[Any], T], **params: str | int) -> T:
        params = {"api_key": key, "file_type": "json", **params}
        refusals = {400: f"the request or the key was not accepted; check {setting}"}
        request = ProviderRequest(f"{url}/{path}", params, key_setting=setting, secret=key, refusal_messages=refusals)
        return await fetch_json("FRED", request, parse)

    async def search(query: Query, k: int) -> list[Passage]:
        passages: list[Passage] = []
        for series in await fetch("series/search", _parse_series, search_text=query.text, limit=MAX_SERIES):
            parse = partial(_parse_observations, series)
            wanted = {"series_id": series.id, "sort_order": "desc", **_parse_date_range(query.text)}
            passages += await fetch("series/observations", parse, limit=k, **wanted)
        return passages[:k]

    return Provider("fred", url, search, per_second=2.0)


def _parse_date_range(text: str) -> dict[str, str]:
    """Return the request parameters for the dates in a query, if it has any."""
    dates = _DATE_PATTERN.findall(text)
    if not dates:
        return {}
    first = min(f"{year}-{month or '01'}" for year, month in dates)
    last = max(f"{year}-{month or '12'}" for year, month in dates)
    days = monthrange(*map(int, last.split("-")))[1]
    return {"observation_start": f"{first}-01", "observation_end": f"{last}-{days}"}


def _parse_series(answer: Any) -> list[_Series]:
    found = []
    for one in answer["seriess"]:
        title, units = clean_text(one["title"]), clean_text(one.get("units") or "")
        found.append(_Series(str(one["id"]), title, units, one.get("frequency_short", "")))
    return found


def _parse_observations(series: _Series, answer: Any) -> list[Passage]:
    passages = []
    for observation in answer["observations"]:
        if observation["value"] == ".":  # A missing value.
            continue
        date = observation["date"][: _DATE_LENGTH.get(series.frequency, 10)]
        anchor = f"FRED:{series.id}:{date}"
        text = f"{series.title} ({series.id}), {date}: {clean_text(observation['value'])} {series.units}".strip()
        place = Place(f"https://fred.stlouisfed.org/series/{series.id}")
        passages.append(Passage(anchor, f"{text}.", f"{series.title} {anchor}", place, "data"))
    return passages


def yahoo(config: Settings) -> Provider:
    """Yahoo Finance: the last price of each ticker in the query, cited as YF:MSFT:snapshot. It needs no key."""
    url = get_base_url(config, "YAHOO_BASE_URL", "https://query1.finance.yahoo.com")

    async def search(query: Query, k: int) -> list[Passage]:
        quotes: list[Passage] = []
        for ticker in list(dict.fromkeys(_TICKER_PATTERN.findall(query.text)))[: min(k, MAX_TICKERS)]:
            chart, params = f"{url}/v8/finance/chart/{ticker}", {"range": "1d", "interval": "1d"}
            request = ProviderRequest(chart, params, empty_statuses=(404,))
            quote = await fetch_json("Yahoo", request, _parse_quote)
            if quote is not None:
                quotes.append(quote)
        return quotes

    return Provider("yahoo", url, search, per_second=2.0)


def _parse_quote(answer: Any) -> Passage | None:
    if answer is None:
        return None
    chart = answer["chart"]
    if error := chart.get("error"):
        raise SearchError(f"Yahoo failed: {clean_text(str(error.get('description') or error.get('code')))[:160]}")
    if not chart.get("result"):
        return None
    meta = chart["result"][0]["meta"]
    symbol, currency = str(meta["symbol"]), clean_text(meta.get("currency") or "")
    name = clean_text(meta.get("longName") or meta.get("shortName") or symbol)
    moment = datetime.fromtimestamp(int(meta["regularMarketTime"]), UTC)
    price = f"{float(meta['regularMarketPrice']):g} {currency}"
    parts = [f"{name} ({symbol}) stood at {price} on {moment:%Y-%m-%d at %H:%M} UTC"]
    if previous := meta.get("chartPreviousClose"):
        parts.append(f"its previous close was {float(previous):g} {currency}")
    anchor = f"YF:{symbol}:snapshot"
    place = Place(f"https://finance.yahoo.com/quote/{symbol}")
    return Passage(anchor, f"{'; '.join(parts)}.", f"{name} {anchor}", place, "data")
