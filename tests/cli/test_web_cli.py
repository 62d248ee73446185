"""Asking the web at the command line, against a search server on this machine."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loopback import Answer, Loopback, Request, serving

PAGES = {
    "https://bees.example/dance?utm_source=feed": (
        "Waggle dance",
        "The waggle dance of the honeybee tells nestmates where flowers are. Karl von Frisch decoded the dance in 1927.",
    ),
    "https://bees.example/hive": ("Hive", "A hive holds one queen. Workers live six weeks in summer."),
    "https://bridge.example/forth": ("Forth Bridge", "The Forth Bridge was opened in 1890."),
}
QUESTION = "Who decoded the waggle dance of the honeybee?"


def results(asked: Request) -> Answer:
    """As SearXNG answers: the pages that share a word with the query."""
    wanted = set(asked.params["q"].lower().replace("?", "").split())
    fitting = [
        {"url": url, "title": title, "content": text, "engine": "pages", "score": 1.0, "category": "general"}
        for url, (title, text) in PAGES.items()
        if wanted & set(f"{title} {text}".lower().replace(".", "").split())
    ]
    return Answer({"query": asked.params["q"], "number_of_results": 0, "results": fitting, "unresponsive_engines": []})


@pytest.fixture
def searxng(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    with serving(results) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        yield server


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    with serving(lambda asked: Answer({"message": "closed for today"}, 404)) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        yield server


def test_an_answer_from_the_web_is_cited_with_its_address(suffice: Callable, searxng: Loopback) -> None:
    ended = suffice("ask", QUESTION, "--web", "--json")
    report = json.loads(ended.out)
    assert (ended.status, report["status"]) == (0, "answered")
    assert "Karl von Frisch decoded the dance in 1927" in report["final_answer"]
    [source] = [source for source in report["sources"] if source["title"] == "Waggle dance"]
    assert source["type"] == "web"
    assert source["url"] == source["location"] == "https://bees.example/dance?utm_source=feed"
    quoted = [span for claim in report["claims"] for span in claim["spans"] if "1927" in span["quote"]]
    assert quoted[0]["location"] == source["url"]
    assert f"searxng ({searxng.url})" in ended.err
    assert all(asked.params["format"] == "json" for asked in searxng.requests)


def test_documents_and_the_web_together(suffice: Callable, searxng: Loopback, docs: Path) -> None:
    ended = suffice(
        "ask", "Who decoded the dance and when was the Forth Bridge opened?", "--web", "--docs", docs, "--json"
    )
    report = json.loads(ended.out)
    assert ended.status == 0
    assert {source["type"] for source in report["sources"]} >= {"web"}
    found = suffice("search", "Forth Bridge opened", "--web", "--docs", docs, "--json")
    places = [passage["location"] for passage in json.loads(found.out)["passages"]]
    assert "https://bridge.example/forth" in places
    assert any(place.startswith("docs/bridge.txt") for place in places)


def test_documents_answer_when_the_web_does_not(suffice: Callable, broken: Loopback, docs: Path) -> None:
    ended = suffice("ask", QUESTION, "--web", "--docs", docs, "--json")
    report = json.loads(ended.out)
    assert (ended.status, report["status"]) == (0, "answered")
    assert any("closed for today" in failure["message"] for failure in report["error_log"])


def test_a_web_that_does_not_answer_ends_soon_and_is_named(suffice: Callable, broken: Loopback) -> None:
    ended = suffice("ask", QUESTION, "--web", "--json")
    report = json.loads(ended.out)
    assert (ended.status, report["status"]) == (4, "failed")
    assert report["stop"]["reason"] == "search_unavailable"
    assert report["final_answer"] == ""
    assert "closed for today" in ended.err
    assert len(broken.requests) <= 3


def test_a_refusal_is_named_as_one(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda asked: Answer({"detail": {"error": "Unauthorized: invalid API key."}}, 401)) as server:
        monkeypatch.setenv("TAVILY_BASE_URL", server.url)
        monkeypatch.setenv("TAVILY_API_KEY", "tvly-wrong")
        ended = suffice("ask", QUESTION, "--provider", "tavily", "--json")
    report = json.loads(ended.out)
    assert (ended.status, report["stop"]["reason"]) == (4, "search_unavailable")
    assert report["error_log"][0]["kind"] == "SearchRefused"
    assert "check TAVILY_API_KEY" in ended.err
    assert "tvly-wrong" not in ended.out + ended.err


def test_a_web_that_finds_nothing_is_not_a_web_that_does_not_answer(suffice: Callable, searxng: Loopback) -> None:
    ended = suffice("ask", "Xylophone zzzq?", "--web", "--json")
    report = json.loads(ended.out)
    assert (ended.status, report["status"]) == (3, "no_evidence")
    assert report["stop"]["reason"] != "search_unavailable"


def test_one_search(suffice: Callable, searxng: Loopback) -> None:
    ended = suffice("search", "waggle dance", "--provider", "searxng", "-k", 1)
    assert ended.status == 0
    assert "https://bees.example/dance" in ended.out
    assert "Karl von Frisch" in ended.out


def test_one_search_that_fails(suffice: Callable, broken: Loopback) -> None:
    ended = suffice("search", "waggle dance", "--web")
    assert (ended.status, ended.out) == (4, "")
    assert "closed for today" in ended.err


@pytest.mark.parametrize("options", [["--web"], ["--provider", "searxng"]])
def test_offline_forbids_it_in_one_sentence(
    suffice: Callable, searxng: Loopback, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setenv("SUFFICE_OFFLINE", "1")
    ended = suffice("ask", QUESTION, *options)
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "SUFFICE_OFFLINE" in ended.err
    assert searxng.requests == []


def test_a_file_cannot_send_queries_elsewhere(suffice: Callable, searxng: Loopback, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SEARXNG_URL=http://127.0.0.1:9\nTAVILY_BASE_URL=http://127.0.0.1:9\n")
    assert suffice("search", "waggle dance", "--web").status == 0


def test_the_doctor_says_what_is_there(suffice: Callable, searxng: Loopback) -> None:
    told = suffice("doctor").out
    assert f"searxng ({searxng.url}) is there" in told
    assert searxng.requests == []


def test_the_doctor_says_what_is_not(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:9")
    ended = suffice("doctor")
    assert ended.status == 0, "documents can be asked all the same"
    assert "cannot be reached" in ended.out


def test_the_help_names_the_providers(suffice: Callable) -> None:
    for command in ("ask", "search"):
        assert "wikipedia" in suffice(command, "--help").out
