"""Yahoo Finance: the last price of each ticker in the query, cited as YF:MSFT:snapshot. It needs no key."""

import re
from datetime import UTC, datetime
from typing import Any

from suffice.errors import SearchError
from suffice.search.web.http import ProviderRequest, fetch_json
from suffice.search.web.provider import Provider, clean_text, get_base_url
from suffice.settings import Settings
from suffice.types import Passage, Place, Query

MAX_TICKERS = 3  # Tickers looked up for one query.
_TICKER_PATTERN = re.compile(r"(?<![\w.])\$?(\^?[A-Z]{1,5}(?:[.-][A-Z]{1,3})?)(?![\w])")


def yahoo(config: Settings) -> Provider:
    url = get_base_url(config, "YAHOO_BASE_URL", "https://query1.finance.yahoo.com")

    async def search(query: Query, k: int) -> list[Passage]:
        quotes: list[Passage] = []
        for ticker in list(dict.fromkeys(_TICKER_PATTERN.findall(query.text)))[: min(k, MAX_TICKERS)]:
            request = ProviderRequest(
                f"{url}/v8/finance/chart/{ticker}", {"range": "1d", "interval": "1d"}, empty_statuses=(404,)
            )
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
    parts = [
        f"{name} ({symbol}) stood at {float(meta['regularMarketPrice']):g} {currency} on {moment:%Y-%m-%d at %H:%M} UTC"
    ]
    if previous := meta.get("chartPreviousClose"):
        parts.append(f"its previous close was {float(previous):g} {currency}")
    anchor = f"YF:{symbol}:snapshot"
    place = Place(f"https://finance.yahoo.com/quote/{symbol}")
    return Passage(anchor, f"{'; '.join(parts)}.", f"{name} {anchor}", place, "data")
