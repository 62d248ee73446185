"""Each provider against a local server that follows its documentation: requests and answers."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, Loopback, Request, serving

from suffice import plugins
from suffice.errors import InputError, SearchError, SearchRefused
from suffice.search.web.provider import MAX_TEXT_CHARS, Provider, SearchResult, to_passages
from suffice.settings import Settings
from suffice.types import Passage, Query

KEY = "secret-0123"
ATOM = """<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>ArXiv Query</title>
<entry><id>http://arxiv.org/abs/1001.1000v2</id><title>Waggle
  dance</title><summary>  Bees dance.
 </summary></entry>
<entry><id>http://arxiv.org/abs/1001.2000v1</id><title>Hive</title><summary>A hive holds one queen.</summary></entry></feed>"""
DUCK = """<html><body><div class="links_main result__body"><h2><a href="https://a.example/dance">Waggle dance</a></h2>
<a href="https://a.example/dance">Bees dance.</a></div>
<div class="result__body"><h2>Hive</h2><a href="https://a.example/hive">A hive holds one queen.</a></div>
<div class="result__body"><h2>Ad</h2><a href="https://duckduckgo.com/y.js?ad=1">Buy a hive.</a></div></body></html>"""
BOTH = [
    ("https://a.example/dance", "Waggle dance", "Bees dance."),
    ("https://a.example/hive", "Hive", "A hive holds one queen."),
]


def listed(url: str, title: str, text: str) -> list[dict[str, Any]]:
    return [dict(zip((url, title, text), row, strict=True)) for row in BOTH]


# The setting of the URL, the setting of the key, a good answer, an empty one.
SERVICES: dict[str, tuple[str, str, Any, Any]] = {
    "searxng": (
        "SEARXNG_URL",
        "",
        {"query": "bees", "results": listed("url", "title", "content"), "answers": [], "unresponsive_engines": []},
        {"query": "bees", "results": [], "unresponsive_engines": []},
    ),
    "tavily": (
        "TAVILY_BASE_URL",
        "TAVILY_API_KEY",
        {"query": "bees", "results": [{**row, "score": 0.9} for row in listed("url", "title", "content")]},
        {"query": "bees", "results": []},
    ),
    "brave": (
        "BRAVE_BASE_URL",
        "BRAVE_API_KEY",
        {"type": "search", "web": {"type": "search", "results": listed("url", "title", "description")}},
        {"type": "search", "query": {"original": "bees"}},
    ),
    "exa": (
        "EXA_BASE_URL",
        "EXA_API_KEY",
        {"results": [{**row, "highlights": [row["text"]], "text": "all"} for row in listed("url", "title", "text")]},
        {"results": []},
    ),
    "serper": (
        "SERPER_BASE_URL",
        "SERPER_API_KEY",
        {"searchParameters": {"q": "bees"}, "organic": listed("link", "title", "snippet")},
        {"searchParameters": {"q": "bees"}, "organic": []},
    ),
    "wikipedia": (
        "WIKIPEDIA_URL",
        "",
        {
            "batchcomplete": True,
            "query": {
                "pages": [{**row, "index": 2 - i} for i, row in enumerate(listed("fullurl", "title", "extract")[::-1])]
            },
        },
        {"batchcomplete": True},
    ),
    "arxiv": ("ARXIV_BASE_URL", "", ATOM.encode(), b'<feed xmlns="http://www.w3.org/2005/Atom"/>'),
    "duckduckgo": ("DUCKDUCKGO_URL", "", DUCK.encode(), b'<html><div class="no-results">No results.</div></html>'),
    "endpoint": ("SUFFICE_SEARCH_URL", "", {"hits": listed("url", "title", "text")}, {"hits": []}),
}
PLACES = {
    "arxiv": ["https://arxiv.org/abs/1001.1000v2", "https://arxiv.org/abs/1001.2000v1"],
}


def provider(name: str, server: Loopback, **more: str) -> Provider:
    url_setting, key, _, _ = SERVICES[name]
    url = f"{server.url}/find?q={{query}}&n={{k}}" if name == "endpoint" else server.url
    loaded = plugins.load_plugin("providers", name)(
        Settings(cache_dir=Path(), environment={url_setting: url, key: KEY, **more})
    )
    assert loaded.name == name
    return loaded  # type: ignore[no-any-return]


def answered(name: str, body: object, k: int = 5, query: str = "bees", **more: str) -> tuple[list[Passage], Request]:
    with serving(lambda asked: Answer(body)) as server:
        found = asyncio.run(provider(name, server, **more).search(Query(query), k))
    return found, server.requests[0]


def test_every_provider_is_tested() -> None:
    assert SERVICES.keys() == set(plugins.list_plugins("providers")) - {"fred", "yahoo"}


@pytest.mark.parametrize("name", SERVICES)
def test_answer_becomes_passages(name: str) -> None:
    found, _ = answered(name, SERVICES[name][2])
    assert [passage.title for passage in found] == ["Waggle dance", "Hive"]
    assert [passage.text for passage in found] == ["Bees dance.", "A hive holds one queen."]
    assert [passage.location for passage in found] == PLACES.get(name, [url for url, _, _ in BOTH])
    assert [passage.id for passage in found] == [passage.url for passage in found]
    assert {(passage.kind, passage.score) for passage in found} == {("web", None)}


@pytest.mark.parametrize("name", SERVICES)
def test_returns_at_most_k_results(name: str) -> None:
    found, _ = answered(name, SERVICES[name][2], k=1)
    assert [passage.title for passage in found] == ["Waggle dance"]


@pytest.mark.parametrize("name", SERVICES)
def test_empty_answer_is_empty(name: str) -> None:
    assert answered(name, SERVICES[name][3])[0] == []


@pytest.mark.parametrize("name", SERVICES)
@pytest.mark.parametrize(
    ("status", "refused", "retryable"), [(403, True, False), (429, True, True), (503, False, True)]
)
def test_refusals_and_failures_are_distinguished(name: str, status: int, refused: bool, retryable: bool) -> None:
    with serving(lambda asked: Answer(b"no", status=status)) as server, pytest.raises(SearchError) as caught:
        asyncio.run(provider(name, server).search(Query("bees"), 5))
    assert isinstance(caught.value, SearchRefused) == refused
    if name != "duckduckgo":  # Without a key, every refusal means too many requests.
        assert caught.value.retryable == retryable
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("name", [name for name in SERVICES if name != "duckduckgo"])
def test_malformed_answer_is_a_search_error(name: str) -> None:
    for body in (b"<html><body>Please log in</body></html>", b"", b"\x00\x01"):
        with pytest.raises(SearchError):
            answered(name, body)


@pytest.mark.parametrize("name", [name for name, service in SERVICES.items() if service[1] or name == "searxng"])
def test_missing_setting_is_named(name: str) -> None:
    needed = SERVICES[name][1] or SERVICES[name][0]
    with pytest.raises(InputError, match=f"needs {needed}"):
        plugins.load_plugin("providers", name)(Settings(environment={needed: "  "}))


@pytest.mark.parametrize("name", SERVICES)
def test_invalid_url_names_the_setting(name: str) -> None:
    url_setting, key, _, _ = SERVICES[name]
    with pytest.raises(InputError, match=url_setting):
        plugins.load_plugin("providers", name)(Settings(environment={url_setting: "localhost:8080", key: KEY}))


def test_requests_of_each_provider() -> None:
    sent = {name: answered(name, SERVICES[name][2], query="What do bees do?")[1] for name in SERVICES}
    assert (sent["searxng"].path, sent["searxng"].params) == ("/search", {"q": "What do bees do?", "format": "json"})
    assert sent["tavily"].headers["authorization"] == f"Bearer {KEY}"
    assert sent["tavily"].body == {"query": "What do bees do?", "max_results": 5, "search_depth": "basic"}
    assert sent["brave"].path == "/web/search"
    assert sent["brave"].headers["x-subscription-token"] == KEY
    assert (sent["brave"].params["q"], sent["brave"].params["count"]) == ("What do bees do?", "5")
    assert sent["exa"].headers["x-api-key"] == KEY
    assert sent["exa"].body["numResults"] == 5
    assert sent["exa"].body["contents"] == {"highlights": True}
    assert sent["serper"].headers["x-api-key"] == KEY
    assert sent["serper"].body == {"q": "What do bees do?", "num": 5}
    assert (sent["wikipedia"].path, sent["wikipedia"].params["gsrsearch"]) == ("/w/api.php", "What do bees do?")
    assert sent["arxiv"].params["search_query"] == "all:what OR all:do OR all:bees"
    assert (sent["endpoint"].path, sent["endpoint"].params) == ("/find", {"q": "What do bees do?", "n": "5"})


@pytest.mark.parametrize(
    ("name", "field", "maximum"), [("tavily", "max_results", 20), ("exa", "numResults", 25), ("serper", "num", 20)]
)
def test_requested_count_is_capped(name: str, field: str, maximum: int) -> None:
    assert answered(name, SERVICES[name][3], k=500)[1].body[field] == maximum


def test_searxng_without_a_responsive_engine_is_a_failure() -> None:
    body = {"results": [], "unresponsive_engines": [["google", "Suspended: CAPTCHA"], ["bing", "timeout"]]}
    with pytest.raises(SearchError, match=r"google \(Suspended: CAPTCHA\), bing \(timeout\)"):
        answered("searxng", body)


def test_searxng_refusal_says_how_to_enable_json() -> None:
    with (
        serving(lambda asked: Answer(b"<html>403 Forbidden</html>", status=403)) as server,
        pytest.raises(SearchRefused, match=r"search\.formats"),
    ):
        asyncio.run(provider("searxng", server).search(Query("bees"), 5))


@pytest.mark.parametrize(("code", "kind"), [("ratelimited", SearchRefused), ("internal_api_error", SearchError)])
def test_wikipedia_error_with_status_200(code: str, kind: type) -> None:
    with pytest.raises(SearchError, match="no bees today") as caught:
        answered("wikipedia", {"error": {"code": code, "info": "no bees today"}})
    assert type(caught.value) is kind


def test_arxiv_error_in_the_feed() -> None:
    feed = ATOM.replace("http://arxiv.org/abs/1001.1000v2", "http://arxiv.org/api/errors#incorrect_id")
    with pytest.raises(SearchError, match="Bees dance"):
        answered("arxiv", feed.encode())


def test_arxiv_rejects_entities() -> None:
    bomb = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><feed>&b;</feed>'
    with pytest.raises(SearchError, match="entities"):
        answered("arxiv", bomb)


@pytest.mark.parametrize("answer", [Answer(b"", 202), Answer(b'<div class="anomaly-modal__title">Bots</div>')])
def test_duckduckgo_captcha_is_a_refusal(answer: Answer) -> None:
    with serving(lambda asked: answer) as server, pytest.raises(SearchRefused, match="too many requests"):
        asyncio.run(provider("duckduckgo", server).search(Query("bees"), 5))


def test_endpoint_is_described_by_settings() -> None:
    body = {
        "data": {
            "items": [{"go": "https://a.example/x", "meta": {"name": ["Hive"]}, "parts": [{"body": "One queen."}]}]
        }
    }
    found, asked = answered(
        "endpoint",
        body,
        SUFFICE_SEARCH_RESULTS="data.items",
        SUFFICE_SEARCH_FIELDS="url=go, title=meta.name.0, text=parts.0.body",
        SUFFICE_SEARCH_HEADER="Authorization: Bearer abc",
    )
    assert [(passage.id, passage.title, passage.text) for passage in found] == [
        ("https://a.example/x", "Hive", "One queen.")
    ]
    assert asked.headers["authorization"] == "Bearer abc"


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"SUFFICE_SEARCH_URL": "https://a.example/find"}, "{query}"),
        (
            {"SUFFICE_SEARCH_URL": "https://a.example/?q={query}", "SUFFICE_SEARCH_FIELDS": "url"},
            "SUFFICE_SEARCH_FIELDS",
        ),
        (
            {"SUFFICE_SEARCH_URL": "https://a.example/?q={query}", "SUFFICE_SEARCH_FIELDS": "link=x"},
            "SUFFICE_SEARCH_FIELDS",
        ),
    ],
)
def test_wrong_endpoint_settings_raise_input_error(settings: dict[str, str], word: str) -> None:
    with pytest.raises(InputError, match=word.replace("{", r"\{").replace("}", r"\}")):
        plugins.load_plugin("providers", "endpoint")(Settings(environment=settings))


def test_endpoint_without_a_list_names_the_setting() -> None:
    with pytest.raises(SearchError, match="SUFFICE_SEARCH_RESULTS"):
        answered("endpoint", {"found": []})


def test_documentation_names_every_provider_and_its_settings() -> None:
    documentation = (Path(__file__).parents[3] / "docs" / "web.md").read_text(encoding="utf-8")
    assert [name for name in plugins.list_plugins("providers") if f"| `{name}` |" not in documentation] == []
    assert [
        name
        for url_setting, key, _, _ in SERVICES.values()
        for name in (url_setting, key)
        if f"`{name}`" not in documentation and name
    ] == []


def test_password_in_a_url_is_used_but_not_shown() -> None:
    with serving(lambda asked: Answer(b"", 503)) as server:
        searxng = provider("searxng", Loopback(server.url.replace("://", "://ann:hidden@")))
        with pytest.raises(SearchError) as caught:
            asyncio.run(searxng.search(Query("bees"), 5))
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert searxng.address == server.url
    assert "hidden" not in str(caught.value)


def some(*found: SearchResult) -> list[Passage]:
    return to_passages(found, 10)


@pytest.mark.parametrize("clean", [lambda text: some(SearchResult("https://a.example", "", text))[0].text])
def test_text_is_cleaned_and_cut(clean: Callable[[str], str]) -> None:
    assert clean("a\x1b[31m\x00b\u202ec\u200b d\r\n\n e\ud800") == "a [31m b c d\ne\ufffd"
    assert len(clean("x" * 50_000)) == MAX_TEXT_CHARS


def test_results_are_deduplicated_and_filtered() -> None:
    found = some(
        SearchResult("https://a.example/x?utm_source=y", "X", "one"),
        SearchResult("https://A.example/x/", "X again", "two"),
        SearchResult("javascript:alert(1)", "Bad", "bad"),
        SearchResult("https://a.example/empty", "", ""),
        SearchResult("https://a.example/titled", "Only a title", ""),
        SearchResult("https://a.example/untitled", "", "Only a text"),
    )
    assert [(passage.id, passage.title, passage.text) for passage in found] == [
        ("https://a.example/x", "X", "one"),
        ("https://a.example/titled", "Only a title", "Only a title"),
        ("https://a.example/untitled", "https://a.example/untitled", "Only a text"),
    ]
    assert found[0].location == "https://a.example/x?utm_source=y"
