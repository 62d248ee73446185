"""The whole program against a small local web, over the same code as the real one: answers, faults and costs."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from little_web import LittleWeb

from suffice import research
from suffice.events import Event, InjectionsStripped, PageRead
from suffice.storage.report_json import dumps

QUESTION = "Who designed the Sorrel lighthouse and when was it first lit?"
ODD = "An unheard-of account of beacons, keepers and storms that no other page has."


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[LittleWeb]:
    with LittleWeb() as little:
        monkeypatch.setenv("SEARXNG_URL", little.url)
        monkeypatch.setenv("SUFFICE_ALLOW_HOSTS", little.host)
        monkeypatch.setattr("suffice.search.resilience.MAX_WAIT_SECONDS", 0.01)
        yield little


def run_research(question: str, **more: str) -> tuple[dict, list[Event]]:
    """Return the report as JSON, and the events."""
    events: list[Event] = []
    options = {"providers": ["searxng"], "model": "extractive", "alpha": 1.0, **more}
    report = asyncio.run(research(question, on_event=events.append, **options))
    return json.loads(dumps(report)), events


def test_ask_finds_the_answer_on_a_page(web, program):
    result = program(
        "ask", QUESTION, "--web", "--provider", "searxng", "--model", "extractive", "--alpha", "1", "--json"
    )
    assert result.status == 0
    assert "Ada Kovalenko" in json.loads(result.out)["final_answer"]


def test_pages_give_an_answer_that_is_not_in_the_snippets(web):
    report, events = run_research(QUESTION)
    assert report["status"] == "answered"
    assert "Ada Kovalenko" in report["final_answer"]
    assert "4 March 1871" in report["final_answer"]
    assert report["usage"]["pages_read"] == 2
    source = report["sources"][0]
    assert source["url"] == web.url + "/pages/lighthouse"
    assert source["title"] == "The Sorrel lighthouse (2021-06-05)"
    spans = [span["quote"] for claim in report["claims"] for span in claim["spans"]]
    assert any("Ada Kovalenko" in quote for quote in spans)
    assert source["url"] in {event.url for event in events if isinstance(event, PageRead)}


def test_for_a_list_of_things_the_snippets_are_enough(web):
    assert run_research(QUESTION, strategy="saturate")[0]["usage"]["pages_read"] == 2
    report, _ = run_research("Name the top 3 facts about the lighthouse on Sorrel Island", strategy="saturate")
    assert report["usage"]["pages_read"] == 0


def test_a_pdf_gives_an_answer(web):
    report, _ = run_research("What was the highest tide ever measured at Sorrel Island?")
    assert report["status"] == "answered"
    assert "7.4 metres" in report["final_answer"]


@pytest.mark.parametrize(
    "path", ["/error/x", "/reset/x", "/bomb/x", "/private/x", "/to?u=http://169.254.169.254/", "http://10.0.0.1/"]
)
def test_an_unreadable_page_is_only_logged(web, path):
    web.listed.append((path, "A result that breaks", ODD))
    report, _ = run_research(QUESTION)
    assert report["status"] == "answered"
    assert "Ada Kovalenko" in report["final_answer"]
    assert report["usage"]["pages_read"] >= 2
    assert [failure["where"] for failure in report["error_log"]] == ["page"]


@pytest.mark.parametrize("fault", ["500", "429", "401", "reset", "garbage"])
def test_a_failing_search_ends_the_run(web, fault):
    web.search_fault = fault
    report, _ = run_research(QUESTION)
    assert report["status"] == "failed"
    assert report["stop"]["reason"] == "search_unavailable"
    assert web.hits["/search"] <= 9


def test_finding_nothing_is_not_a_failure(web):
    web.search_fault = "empty"
    report, _ = run_research(QUESTION)
    assert report["status"] == "no_evidence"
    assert report["stop"]["reason"] != "search_unavailable"


def test_instructions_on_a_page_are_removed(web):
    web.listed.append(
        ("/injected/x", "Visiting Sorrel Island", "The harbour office of the island, its mayor and its maps")
    )
    report, events = run_research("Who opened the harbour office on Sorrel Island?")
    assert report["status"] == "answered"
    assert "Tomas Brill" in report["final_answer"]
    assert "PWNED" not in json.dumps(report)
    assert "evil.example" not in json.dumps(report)
    assert any("PWNED" in line for event in events if isinstance(event, InjectionsStripped) for line in event.lines)


def test_pages_on_this_machine_need_permission(web, monkeypatch):
    monkeypatch.delenv("SUFFICE_ALLOW_HOSTS")
    report, _ = run_research(QUESTION)
    assert report["usage"]["pages_read"] == 0
    assert {failure["kind"] for failure in report["error_log"]} == {"PageRefused"}
    assert not web.hits["/pages/lighthouse"]
