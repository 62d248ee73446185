"""Which services are queried, and how their faults affect a search."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from loopback import Answer, Loopback, serving

from suffice.errors import InputError, SearchError
from suffice.search.resilience import make_resilient
from suffice.search.web.choose import find_configured, list_data_providers, open_web_search
from suffice.settings import Settings
from suffice.types import Failure, Passage, Query


def page(name: str) -> dict[str, str]:
    return {"url": f"https://{name}.example", "title": name, "content": f"About {name}.", "snippet": f"About {name}."}


@contextmanager
def services(**answers: Answer) -> Iterator[tuple[dict[str, str], dict[str, Loopback]]]:
    """Run servers for some providers; yield the environment that names them, and the servers."""
    with ExitStack() as stack:
        servers = {name: stack.enter_context(serving(lambda _, a=answer: a)) for name, answer in answers.items()}
        environment = {}
        for name, server in servers.items():
            environment |= (
                {"SEARXNG_URL": server.url}
                if name == "searxng"
                else {f"{name.upper()}_BASE_URL": server.url, f"{name.upper()}_API_KEY": "key"}
            )
        yield environment, servers


def ask(config: Settings, names: list[str], failures: list[Failure], messages: list[str]) -> list[Passage]:
    search = make_resilient(open_web_search(config, names, messages.append), failures.append)
    return asyncio.run(search(Query("bees"), 5))


def found(
    tmp_path: Path, environment: dict[str, str], *names: str
) -> tuple[list[str] | SearchError, list[str], list[str]]:
    """Return the titles or the error, the kinds of reported failures, and the messages to the user."""
    failures: list[Failure] = []
    messages: list[str] = []
    config = Settings(cache_dir=tmp_path, environment=environment)
    try:
        return (
            [passage.title for passage in ask(config, list(names), failures, messages)],
            [failure.kind for failure in failures],
            messages,
        )
    except SearchError as error:
        return error, [failure.kind for failure in failures], messages


BEES = Answer({"results": [page("bees"), page("both")]})
WASPS = Answer({"results": [page("wasps"), page("both")]})


def test_first_configured_provider_is_used_and_named(tmp_path: Path) -> None:
    with services(tavily=WASPS, searxng=BEES) as (environment, servers):
        titles, failures, messages = found(tmp_path, environment)
        assert (titles, failures) == (["bees", "both"], [])
        assert servers["tavily"].requests == []
        assert servers["searxng"].url in messages[-1]


def test_refusal_falls_back_to_the_next_provider(tmp_path: Path) -> None:
    with services(searxng=Answer(b"", 403), tavily=WASPS) as (environment, _):
        assert found(tmp_path, environment)[:2] == (["wasps", "both"], ["SearchRefused"])


def test_named_providers_are_merged(tmp_path: Path) -> None:
    with services(searxng=BEES, tavily=WASPS) as (environment, _):
        assert found(tmp_path, environment, "searxng", "tavily")[0] == ["both", "bees", "wasps"]


def test_one_named_provider_may_fail(tmp_path: Path) -> None:
    with services(searxng=Answer(b"", 404), tavily=WASPS) as (environment, _):
        assert found(tmp_path, environment, "searxng", "tavily")[:2] == (["wasps", "both"], ["SearchError"])


def test_error_names_all_providers(tmp_path: Path) -> None:
    with services(searxng=Answer(b"", 404), tavily=Answer(b"", 401)) as (environment, _):
        error = found(tmp_path, environment)[0]
        assert isinstance(error, SearchError)
        assert "SearXNG" in str(error)
        assert "TAVILY_API_KEY" in str(error)


def test_duckduckgo_is_used_if_nothing_is_configured(tmp_path: Path) -> None:
    page = b'<div class="body"><h2>Hive</h2><a href="https://a.example/hive">One queen.</a></div>'
    with serving(lambda asked: Answer(page)) as server:
        titles, _, messages = found(tmp_path, {"DUCKDUCKGO_URL": server.url})
    assert titles == ["Hive"]
    assert "No search service is configured" in messages[0]


def test_answers_are_cached_across_processes(tmp_path: Path) -> None:
    with services(searxng=BEES) as (environment, servers):
        assert found(tmp_path, environment) == found(tmp_path, environment)
        assert len(servers["searxng"].requests) == 1


def test_failing_provider_is_not_queried_again(tmp_path: Path) -> None:
    with services(searxng=Answer(b"", 404)) as (environment, servers):
        web = open_web_search(Settings(cache_dir=tmp_path, environment=environment), [], lambda message: None)

        async def five_times() -> list[str]:
            errors = []
            for number in range(5):
                with pytest.raises(SearchError) as caught:
                    await web(Query(f"bees {number}"), 5)
                errors.append(str(caught.value))
            return errors

        messages = asyncio.run(five_times())
        assert len(servers["searxng"].requests) == 3
        assert "searxng has failed too often" in messages[-1]


def test_offline_setting_forbids_web_search(tmp_path: Path) -> None:
    config = Settings(cache_dir=tmp_path, offline=True, environment={"SEARXNG_URL": "http://127.0.0.1:1"})
    with pytest.raises(InputError, match="SUFFICE_OFFLINE"):
        open_web_search(config, [], lambda message: None)


def test_invalid_url_of_a_provider_raises_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="SEARXNG_URL"):
        find_configured(Settings(environment={"SEARXNG_URL": "localhost", "TAVILY_API_KEY": "key"}))


def test_configured_services_of_figures_are_asked_for_research_and_trading(tmp_path: Path) -> None:
    none, both = Settings(environment={}), Settings(environment={"FRED_API_KEY": "k", "YAHOO_BASE_URL": "http://y"})
    assert [list_data_providers(variant, none) for variant in ("research", "trading")] == [(), ()]
    assert list_data_providers("research", both) == ("fred",)
    assert list_data_providers("trading", both) == ("fred", "yahoo")
    assert list_data_providers("prose", both) == ()


def test_figures_are_merged_with_the_web_and_may_fail(tmp_path: Path) -> None:
    chart = {"symbol": "MSFT", "currency": "USD", "regularMarketTime": 1717444800, "regularMarketPrice": 415.13}
    quote = {"chart": {"result": [{"meta": chart}], "error": None}}
    with services(searxng=Answer({"results": [page("bees")]}), yahoo=Answer(quote), fred=Answer({}, 403)) as (
        environment,
        _,
    ):
        config = Settings(cache_dir=tmp_path, environment=environment)
        messages: list[str] = []
        failures: list[Failure] = []
        web = make_resilient(open_web_search(config, [], messages.append, ["fred", "yahoo"]), failures.append)
        found = asyncio.run(web(Query("MSFT"), 5))
    assert [passage.id for passage in found] == ["https://bees.example", "YF:MSFT:snapshot"]
    assert {failure.where for failure in failures} == {"search"}
    assert "for figures: fred" in messages[-1]
