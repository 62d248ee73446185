"""Searching the web at the command line, against a search server on this machine."""

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
    """Answer as SearXNG does, with the pages that share a word with the query."""
    words = set(asked.params["q"].lower().replace("?", "").split())
    matches = [
        {"url": url, "title": title, "content": text, "engine": "pages", "score": 1.0, "category": "general"}
        for url, (title, text) in PAGES.items()
        if words & set(f"{title} {text}".lower().replace(".", "").split())
    ]
    return Answer({"query": asked.params["q"], "number_of_results": 0, "results": matches, "unresponsive_engines": []})


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


def test_an_answer_from_the_web_cites_the_url(suffice: Callable, searxng: Loopback) -> None:
    result = suffice("ask", QUESTION, "--web", "--json")
    report = json.loads(result.out)
    assert (result.status, report["status"]) == (0, "answered")
    assert "Karl von Frisch decoded the dance in 1927" in report["final_answer"].replace("**", "")
    [source] = [source for source in report["sources"] if source["title"] == "Waggle dance"]
    assert source["type"] == "web"
    assert source["url"] == source["location"] == "https://bees.example/dance?utm_source=feed"
    quoted = [span for claim in report["claims"] for span in claim["spans"] if "1927" in span["quote"]]
    assert quoted[0]["location"] == source["url"]
    assert f"searxng ({searxng.url})" in result.err
    assert all(asked.params["format"] == "json" for asked in searxng.requests)


def test_documents_and_the_web_together(suffice: Callable, searxng: Loopback, docs: Path) -> None:
    result = suffice(
        "ask", "Who decoded the dance and when was the Forth Bridge opened?", "--web", "--docs", docs, "--json"
    )
    report = json.loads(result.out)
    assert result.status == 0
    assert {source["type"] for source in report["sources"]} >= {"web"}
    found = suffice("search", "Forth Bridge opened", "--web", "--docs", docs, "--json")
    places = [passage["location"] for passage in json.loads(found.out)["passages"]]
    assert "https://bridge.example/forth" in places
    assert any(place.startswith("docs/bridge.txt") for place in places)


def test_documents_answer_when_the_web_search_fails(suffice: Callable, broken: Loopback, docs: Path) -> None:
    result = suffice("ask", QUESTION, "--web", "--docs", docs, "--json")
    report = json.loads(result.out)
    assert (result.status, report["status"]) == (0, "answered")
    assert any("closed for today" in failure["message"] for failure in report["error_log"])


def test_a_failing_web_search_ends_the_run_early(suffice: Callable, broken: Loopback) -> None:
    result = suffice("ask", QUESTION, "--web", "--json")
    report = json.loads(result.out)
    assert (result.status, report["status"]) == (4, "failed")
    assert report["stop"]["reason"] == "search_unavailable"
    assert report["final_answer"] == ""
    assert "closed for today" in result.err
    assert len(broken.requests) <= 3


def test_a_rejected_key_is_named_but_not_shown(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda asked: Answer({"detail": {"error": "Unauthorized: invalid API key."}}, 401)) as server:
        monkeypatch.setenv("TAVILY_BASE_URL", server.url)
        monkeypatch.setenv("TAVILY_API_KEY", "tvly-wrong")
        result = suffice("ask", QUESTION, "--provider", "tavily", "--json")
    report = json.loads(result.out)
    assert (result.status, report["stop"]["reason"]) == (4, "search_unavailable")
    assert report["error_log"][0]["kind"] == "SearchRefused"
    assert "TAVILY_API_KEY" in result.err
    assert "tvly-wrong" not in result.out + result.err


def test_finding_nothing_is_not_a_failed_search(suffice: Callable, searxng: Loopback) -> None:
    result = suffice("ask", "Xylophone zzzq?", "--web", "--json")
    report = json.loads(result.out)
    assert (result.status, report["status"]) == (3, "no_evidence")
    assert report["stop"]["reason"] != "search_unavailable"


def test_one_search(suffice: Callable, searxng: Loopback) -> None:
    result = suffice("search", "waggle dance", "--provider", "searxng", "-k", 1)
    assert result.status == 0
    assert "https://bees.example/dance" in result.out
    assert "Karl von Frisch" in result.out


def test_one_search_that_fails(suffice: Callable, broken: Loopback) -> None:
    result = suffice("search", "waggle dance", "--web")
    assert (result.status, result.out) == (4, "")
    assert "closed for today" in result.err


@pytest.mark.parametrize("options", [["--web"], ["--provider", "searxng"]])
def test_offline_rejects_web_search_in_one_sentence(
    suffice: Callable, searxng: Loopback, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.setenv("SUFFICE_OFFLINE", "1")
    result = suffice("ask", QUESTION, *options)
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "SUFFICE_OFFLINE" in result.err
    assert searxng.requests == []


def test_a_dotenv_file_cannot_redirect_queries(suffice: Callable, searxng: Loopback, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SEARXNG_URL=http://127.0.0.1:9\nTAVILY_BASE_URL=http://127.0.0.1:9\n")
    assert suffice("search", "waggle dance", "--web").status == 0


def test_doctor_shows_a_reachable_service(suffice: Callable, searxng: Loopback) -> None:
    [line] = [line for line in suffice("doctor").out.splitlines() if f"searxng ({searxng.url})" in line]
    assert line.startswith("ok ")
    assert searxng.requests == []


def test_doctor_separates_services_that_lack_a_setting(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRED_API_KEY", "k")
    [line] = [line for line in suffice("doctor").out.splitlines() if line[5:].startswith("web")]
    available, _, lacking = line.partition("also available with --provider: ")[2].partition(";")
    assert available == "arxiv, fred, wikipedia, yahoo"
    assert "brave, endpoint, exa, searxng, serper, tavily" in lacking
    assert "docs/web.md" in lacking


def test_doctor_shows_an_unreachable_service(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:9")
    result = suffice("doctor")
    assert result.status == 0, "documents can still be searched"
    assert "FAIL web" in result.out
    assert "http://127.0.0.1:9" in result.out


def test_help_lists_the_providers(suffice: Callable) -> None:
    for command in ("ask", "search", "mcp"):
        assert "wikipedia" in suffice(command, "--help-all" if command == "ask" else "--help").out
