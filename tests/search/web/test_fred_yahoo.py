"""Providers of figures, whose sources have an anchor: their requests and their answers."""

import asyncio
from collections.abc import Callable

import pytest
from loopback import Answer, Loopback, Request, serving

from suffice import plugins
from suffice.errors import InputError, SearchError, SearchRefused
from suffice.settings import Settings
from suffice.types import Passage, Query

SERIES = {"id": "UNRATE", "title": "Unemployment Rate", "units": "Percent", "frequency_short": "M"}
VALUES = [
    {"realtime_start": "2024-07-01", "realtime_end": "2024-07-01", "date": "2024-06-01", "value": "."},
    {"realtime_start": "2024-07-01", "realtime_end": "2024-07-01", "date": "2024-05-01", "value": "4.0"},
    {"realtime_start": "2024-07-01", "realtime_end": "2024-07-01", "date": "2024-04-01", "value": "3.9"},
]


def fred(asked: Request) -> Answer:
    if asked.path.endswith("/series/search"):
        return Answer({"seriess": [SERIES] if "nemployment" in asked.params["search_text"] else []})
    return Answer({"units": "lin", "observations": VALUES})


def yahoo(asked: Request) -> Answer:
    if not asked.path.endswith("/MSFT"):
        return Answer({"chart": {"result": None, "error": {"code": "Not Found", "description": "No data found"}}}, 404)
    meta = {
        "currency": "USD",
        "symbol": "MSFT",
        "longName": "Microsoft Corporation",
        "regularMarketPrice": 420.55,
        "chartPreviousClose": 415.13,
        "regularMarketTime": 1_715_976_001,
    }
    return Answer({"chart": {"result": [{"meta": meta, "timestamp": [], "indicators": {}}], "error": None}})


def found(name: str, answer: Callable[[Request], Answer], query: str, k: int = 5) -> tuple[list[Passage], Loopback]:
    with serving(answer) as server:
        config = Settings(environment={f"{name.upper()}_BASE_URL": server.url, "FRED_API_KEY": "abc"})
        return asyncio.run(plugins.load_plugin("providers", name)(config).search(Query(query), k)), server


def test_fred_observation_has_an_anchor() -> None:
    passages, server = found("fred", fred, "unemployment rate in 2024-05")
    assert [passage.id for passage in passages] == ["FRED:UNRATE:2024-05", "FRED:UNRATE:2024-04"]
    assert passages[0].text == "Unemployment Rate (UNRATE), 2024-05: 4.0 Percent."
    assert passages[0].url == "https://fred.stlouisfed.org/series/UNRATE"
    asked = server.requests[1].params
    assert (asked["series_id"], asked["api_key"], asked["file_type"]) == ("UNRATE", "abc", "json")
    assert (asked["observation_start"], asked["observation_end"]) == ("2024-05-01", "2024-05-31")


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("unemployment", None),
        ("unemployment in 2023", ("2023-01-01", "2023-12-31")),
        ("unemployment from 2019 to 2024-02", ("2019-01-01", "2024-02-29")),
    ],
)
def test_fred_dates_in_a_query_limit_the_observations(query: str, dates: tuple[str, str] | None) -> None:
    asked = found("fred", fred, query)[1].requests[1].params
    assert (asked.get("observation_start"), asked.get("observation_end")) == (dates or (None, None))


def test_fred_without_a_series_is_empty() -> None:
    assert found("fred", fred, "honey")[0] == []


def test_returns_at_most_k_results() -> None:
    assert len(found("fred", fred, "unemployment", k=1)[0]) == 1


def test_fred_without_key_names_the_setting() -> None:
    with pytest.raises(InputError, match="FRED_API_KEY"):
        plugins.load_plugin("providers", "fred")(Settings())


def test_yahoo_price_has_an_anchor() -> None:
    passages, server = found("yahoo", yahoo, "What is the price of $MSFT today, or of XYZ?")
    [passage] = passages
    assert (passage.id, passage.url) == ("YF:MSFT:snapshot", "https://finance.yahoo.com/quote/MSFT")
    assert "Microsoft Corporation (MSFT) stood at 420.55 USD on 2024-05-17 at 20:00 UTC" in passage.text
    assert [asked.path for asked in server.requests] == ["/v8/finance/chart/MSFT", "/v8/finance/chart/XYZ"]


def test_yahoo_query_without_a_ticker_sends_nothing() -> None:
    passages, server = found("yahoo", yahoo, "how do bees dance")
    assert (passages, server.requests) == ([], [])


@pytest.mark.parametrize("name", ["fred", "yahoo"])
@pytest.mark.parametrize(("status", "kind"), [(403, SearchRefused), (429, SearchRefused), (500, SearchError)])
def test_refusals_and_failures_are_distinguished(name: str, status: int, kind: type) -> None:
    with pytest.raises(SearchError) as caught:
        found(name, lambda asked: Answer({"error_message": "Bad abc"}, status), "unemployment MSFT")
    assert type(caught.value) is kind


@pytest.mark.parametrize("name", ["fred", "yahoo"])
@pytest.mark.parametrize("body", [b"", b"<html>", {"chart": {"result": [{}]}, "seriess": [{}]}, []])
def test_malformed_answer_is_a_search_error(name: str, body: object) -> None:
    with pytest.raises(SearchError):
        found(name, lambda asked: Answer(body), "unemployment MSFT")
