"""A report round-trips through JSON, and its keys are stable."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import InputError
from suffice.gates.explanation import STOP_REASON_TEXT
from suffice.storage import report_json
from suffice.types import (
    Claim,
    Failure,
    Report,
    RoleUsage,
    RoundRecord,
    Source,
    Span,
    Stop,
    UsageSummary,
    Verdict,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
lines = st.lists(texts, max_size=3).map(tuple)
verdicts = st.builds(
    Verdict,
    gate=texts,
    stop=st.none() | st.booleans(),
    reason=texts,
    because=texts,
    signals=st.dictionaries(texts, st.tuples(numbers, st.floats(allow_nan=False)), max_size=2),
    promise=st.just("heuristic"),
    parts=st.just(()),
).filter(lambda verdict: all(threshold > -math.inf for _, threshold in verdict.signals.values()))
rounds = st.builds(
    RoundRecord,
    queries=lines,
    readings=st.dictionaries(texts, numbers, max_size=3),
    verdicts=st.lists(verdicts, max_size=2).map(tuple),
)
finite = st.floats(allow_nan=False, allow_infinity=False)
reports = st.builds(
    Report,
    run=texts,
    task=texts,
    final_answer=texts,
    key_findings=lines,
    recommendations=lines,
    risks=lines,
    open_questions=lines,
    gaps=lines,
    failed_queries=lines,
    error_log=st.just(()),
    confidence=numbers,
    sources=st.lists(st.builds(Source, texts, texts, texts, texts, st.none() | texts), max_size=2).map(tuple),
    claims=st.lists(
        st.builds(Claim, citations=lines, spans=st.lists(st.builds(Span), max_size=2).map(tuple)), max_size=2
    ).map(tuple),
    stop=st.builds(
        Stop, reason=st.sampled_from(list(STOP_REASON_TEXT)), rounds=st.lists(rounds, max_size=2).map(tuple)
    ),
    usage=st.builds(UsageSummary, seconds=finite, cost_usd=numbers, by_role=st.just({})),
    raw=st.none() | texts | st.integers() | st.lists(st.integers()),
    metadata=st.dictionaries(texts, st.none() | texts | st.integers() | st.booleans(), max_size=2),
)


@pytest.fixture
def report() -> Report:
    def record(index: int, overlap: float | None) -> RoundRecord:
        verdict = Verdict("exhaustion", None, "", "too early", {"overlap.jaccard": (overlap, 0.6)})
        return RoundRecord(index, True, ("callback order",), 2, {"overlap.upr": overlap}, (verdict,))

    return Report(
        run="20260711-5f3a",
        task="Which callback runs next?",
        status="answered",
        summary="First in, first out.",
        final_answer="Ready callbacks run first in, first out [1].",
        key_findings=("First in, first out [1].",),
        recommendations=(),
        risks=(),
        open_questions=("Does `uvloop` keep the order?",),
        sources=(Source("[1]", "asyncio.base_events – _run_once", "code", "base_events.py:1890-1945"),),
        claims=(
            Claim(
                "First in, first out.", ("[1]",), "supported", (Span("[1]", "popleft()", "base_events.py:1928-1928"),)
            ),
        ),
        stop=Stop(
            "exhausted", "exhaustion", 2, "heuristic", "Nothing new.", (record(1, None), record(2, 0.12)), "exhaustion"
        ),
        usage=UsageSummary("extractive", 1, 38210, 2950, 7, 0, 41.27, None, {"plan": RoleUsage(6, 9100, 700)}),
        sufficient=True,
        confidence=0.82,
        gaps=(),
        failed_queries=("uvloop",),
        insufficient_termination=False,
        degraded_mode=False,
        error_log=(Failure("search", "timeout", "The search took longer than 10 s.", True, 2),),
        metadata={"strategy": "auto"},
    )


@given(reports)
def test_any_report_round_trips(report: Report) -> None:
    assert report_json.loads(report_json.dumps(report)) == report


def test_example_report_round_trips(report: Report) -> None:
    assert report_json.loads(report_json.dumps(report)) == report


def test_keys_are_stable(report: Report) -> None:
    encoded = report_json.to_dict(report)
    assert " ".join(encoded) == (
        "run task status summary final_answer key_findings recommendations risks open_questions sources claims stop "
        "usage sufficient confidence gaps failed_queries insufficient_termination degraded_mode error_log raw metadata "
        "short_answer excerpts closest left_undone notices disagreements removed findings aspects below"
    )
    stop_keys = "reason gate round promise explanation rounds expression sufficiency coverage absence"
    assert set(encoded["stop"]) == set(stop_keys.split())
    round_keys = {
        "index",
        "accepted",
        "queries",
        "new_passages",
        "readings",
        "verdicts",
        "found",
        "belief",
        "open",
        "skipped",
    }
    assert set(encoded["stop"]["rounds"][0]) == round_keys
    assert set(encoded["stop"]["rounds"][0]["verdicts"][0]) == {"gate", "stop", "reason", "because", "signals"}
    assert encoded["stop"]["rounds"][1]["verdicts"][0]["signals"]["overlap.jaccard"] == [0.12, 0.6]
    assert encoded["sources"][0] == {
        "id": "[1]",
        "title": "asyncio.base_events – _run_once",
        "type": "code",
        "location": "base_events.py:1890-1945",
        "url": None,
    }


def test_unknown_reading_is_null(report: Report) -> None:
    assert json.loads(report_json.dumps(report))["stop"]["rounds"][0]["readings"]["overlap.upr"] is None


def test_values_that_json_does_not_have_are_replaced(report: Report) -> None:
    bad = "lone surrogate \ud800"
    verdict = Verdict(bad, True, bad, bad, {bad: (2.0, math.inf)})
    record = RoundRecord(1, True, (bad,), 1, {bad: math.nan}, (verdict,))
    odd = replace(report, task=bad, stop=replace(report.stop, rounds=(record,)), raw={1: object()})
    text = report_json.dumps(replace(odd, metadata={"rate": math.inf}))
    text.encode("utf-8")
    again = report_json.loads(text)
    assert again.metadata == {"rate": None}
    assert list(again.stop.rounds[0].verdicts[0].signals.values()) == [(2.0, math.inf)]


def test_unknown_keys_are_ignored(report: Report) -> None:
    encoded = report_json.to_dict(report) | {"mood": "good"}
    assert report_json.loads(json.dumps(encoded)) == report


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"stop": 3}', '{"stop": {"rounds": []}}', "\x00"])
def test_other_text_raises_input_error(text: str) -> None:
    with pytest.raises(InputError, match="not a suffice report"):
        report_json.loads(text)
