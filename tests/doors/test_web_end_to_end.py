"""The whole program against the little web, by the code path of the live one: answers, faults, and what it costs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from little_web import LittleWeb

from suffice.doors.cli import main

QUESTION = "Who designed the Sorrel lighthouse and when was it first lit?"
ODD = "An unheard-of account of beacons, keepers and storms that nobody else has published."


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LittleWeb]:
    with LittleWeb() as little:
        monkeypatch.setenv("SEARXNG_URL", little.url)
        monkeypatch.setenv("SUFFICE_ALLOW_HOSTS", little.host)
        monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
        monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
        monkeypatch.setattr("suffice.search.resilience.LONGEST_WAIT", 0.01)
        monkeypatch.chdir(tmp_path)
        yield little


def asked(capsys: pytest.CaptureFixture[str], question: str, *more: str) -> tuple[int, dict]:
    with pytest.raises(SystemExit) as ended:
        main(
            [
                "ask",
                question,
                "--web",
                "--provider",
                "searxng",
                "--model",
                "extractive",
                "--alpha",
                "1",
                "--json",
                *more,
            ]
        )
    out = capsys.readouterr().out
    return int(ended.value.code or 0), json.loads(out) if out.strip() else {}


def test_an_answer_from_pages_that_snippets_do_not_hold(web, capsys, tmp_path):
    status, report = asked(capsys, QUESTION, "--trace", str(tmp_path / "trace.jsonl"))
    assert status == 0
    assert "Ada Kovalenko" in report["final_answer"]
    assert "4 March 1871" in report["final_answer"]
    assert report["usage"]["pages_read"] == 2
    source = report["sources"][0]
    assert source["url"] == web.url + "/pages/lighthouse"
    assert source["title"] == "The Sorrel lighthouse (2021-06-05)"
    spans = [span["quote"] for claim in report["claims"] for span in claim["spans"]]
    assert any("Ada Kovalenko" in quote for quote in spans)
    events = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    assert {event["url"] for event in events if event["type"] == "page"} >= {source["url"]}


def test_a_pdf_answers_too(web, capsys):
    status, report = asked(capsys, "What was the highest tide ever measured at Sorrel Island?")
    assert status == 0
    assert "7.4 metres" in report["final_answer"]


@pytest.mark.parametrize(
    "path", ["/error/x", "/reset/x", "/bomb/x", "/private/x", "/to?u=http://169.254.169.254/", "http://10.0.0.1/"]
)
def test_a_page_that_cannot_be_read_costs_nothing_but_a_line_in_the_log(web, capsys, path):
    web.listed.append((path, "A result that breaks", ODD))
    status, report = asked(capsys, QUESTION)
    assert status == 0
    assert "Ada Kovalenko" in report["final_answer"]
    assert report["usage"]["pages_read"] >= 2
    assert [failure["where"] for failure in report["error_log"]] == ["page"]


@pytest.mark.parametrize("fault", ["500", "429", "401", "reset", "garbage"])
def test_a_search_that_keeps_failing_ends_the_run_by_its_name(web, capsys, fault):
    web.search_fault = fault
    status, report = asked(capsys, QUESTION)
    assert status == 4
    assert report["stop"]["reason"] == "search_unavailable"
    assert web.hits["/search"] <= 9


def test_a_search_that_finds_nothing_is_another_thing(web, capsys):
    web.search_fault = "empty"
    status, report = asked(capsys, QUESTION)
    assert status == 3
    assert report["stop"]["reason"] != "search_unavailable"


def test_a_page_that_commands_the_model_is_read_and_not_obeyed(web, capsys, tmp_path):
    web.listed.append(
        ("/injected/x", "Visiting Sorrel Island", "The harbour office of the island, its mayor and its maps")
    )
    status, report = asked(
        capsys, "Who opened the harbour office on Sorrel Island?", "--trace", str(tmp_path / "t.jsonl")
    )
    assert status == 0
    assert "Tomas Brill" in report["final_answer"]
    assert "PWNED" not in json.dumps(report)
    assert "evil.example" not in json.dumps(report)
    screened = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines() if '"screened"' in line]
    assert any("PWNED" in line for event in screened for line in event["lines"])


def test_without_leave_the_page_reader_stays_off_this_machine(web, capsys, monkeypatch):
    monkeypatch.delenv("SUFFICE_ALLOW_HOSTS")
    status, report = asked(capsys, QUESTION)
    assert status in (0, 3)  # Snippets may be enough for an answer or not.
    assert report["usage"]["pages_read"] == 0
    assert {failure["kind"] for failure in report["error_log"]} == {"PageRefused"}
    assert not web.hits["/pages/lighthouse"]
