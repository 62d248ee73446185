"""Log lines and metrics of a run, and that they contain no text of questions or documents."""

import asyncio
import io
import json
import logging
from typing import Any

import pytest
from prometheus_client import generate_latest

from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.jobs import telemetry
from suffice.jobs.telemetry import MAX_REPEATS, configure_logging
from suffice.options import RunOptions
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.testing import FixtureSearch, ScriptedModel, WordSearch, make_passage, make_search_error
from suffice.types import Usage

QUESTION = "Which pastry does the minister prefer?"
PASSAGES = [
    make_passage(f"p{n}", f"The minister prefers a pastry with {fruit}.") for n, fruit in enumerate(("plum", "pear"))
]


def run_and_read_log(search: object, **options: Any) -> list[dict]:
    """Run a question and return the log lines."""
    lines = io.StringIO()
    telemetry.configure_logging(lines)

    async def work() -> None:
        recorder = telemetry.Telemetry("run-1")
        config = await prepare_run(QUESTION, RunOptions(**{"search": search, "model": "extractive", **options}))
        async for event in run_pipeline(config):
            recorder.record_event(event)

    asyncio.run(work())
    return [json.loads(line) for line in lines.getvalue().splitlines()]


def read_metric(name: str) -> float:
    text = generate_latest(telemetry.REGISTRY).decode()
    return next((float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name + " ")), 0.0)


def test_every_phase_is_logged_with_the_documented_fields() -> None:
    lines = run_and_read_log(WordSearch(PASSAGES))
    assert [line["event"] for line in lines][:3] == ["run_started", "planned", "searching"]
    assert {"reflected", "stopped", "writing", "run_finished"} <= {line["event"] for line in lines}
    for line in lines:
        assert {"run", "iteration", "token_budget", "results", "level", "timestamp"} <= line.keys()


def test_the_token_budget_in_the_log_is_what_is_left() -> None:
    model = ScriptedModel(
        {
            "plan": [PlanResponse((PlannedQuery("minister"),))],
            "reflect": [
                ReflectionResponse(False, 0.2, ("pears",), (PlannedQuery("pear"),)),
                ReflectionResponse(True, 0.9, (), ()),
            ],
            "draft": [SynthesisResponse("The minister prefers a pastry with plum [1].")],
        },
        usage=Usage(1, 70, 30),
    )
    options = {"model": model, "strategy": "reflect", "max_tokens": 1000, "review": False}
    lines = run_and_read_log(WordSearch(PASSAGES), **options)
    left = [(line["event"], line["token_budget"]) for line in lines]
    assert left[:3] == [("run_started", 1000), ("planned", 900), ("searching", 900)]
    assert [tokens for event, tokens in left if event == "reflected"] == [800, 700]
    assert left[-1] == ("run_finished", 500), "the draft and its check were paid"


def test_log_contains_no_text_of_questions_or_documents() -> None:
    log = json.dumps(run_and_read_log(WordSearch(PASSAGES)))
    assert "pastry" not in log
    assert "plum" not in log


def test_metrics_count_stops_rounds_and_failed_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.search.resilience.asyncio.sleep", lambda seconds: _do_not_sleep())
    before = read_metric("search_failures_total"), read_metric("iterations_per_request_count")
    run_and_read_log(WordSearch(PASSAGES))
    run_and_read_log(FixtureSearch({}, make_search_error()))
    assert read_metric("search_failures_total") > before[0]
    assert read_metric("iterations_per_request_count") == before[1] + 2
    assert "suffice_stops_total" in generate_latest(telemetry.REGISTRY).decode()


async def _do_not_sleep() -> None:
    pass


@pytest.mark.attack("floods of log lines")
def test_repeated_log_lines_are_limited():
    stream = io.StringIO()
    configure_logging(stream)
    for number in range(5000):
        logging.getLogger("asyncio").error("socket.accept() out of system resource\nsocket: %d", number)
    logging.getLogger("asyncio").error("something else")
    lines = stream.getvalue().splitlines()
    assert len(lines) == MAX_REPEATS + 1
    assert "something else" in lines[-1]
