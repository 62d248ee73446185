import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import InputError
from suffice.storage import report_json
from suffice.types import STOP_REASONS, Claim, Report, RoundRecord, Source, Span, Stop, UsageSummary, Verdict

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
    stop=st.builds(Stop, reason=st.sampled_from(STOP_REASONS), rounds=st.lists(rounds, max_size=2).map(tuple)),
    usage=st.builds(UsageSummary, seconds=finite, cost_usd=numbers, by_role=st.just({})),
    raw=st.none() | texts | st.integers() | st.lists(st.integers()),
    metadata=st.dictionaries(texts, st.none() | texts | st.integers() | st.booleans(), max_size=2),
)


@given(reports)
def test_a_report_survives_the_way_to_json_and_back(report: Report) -> None:
    assert report_json.loads(report_json.dumps(report)) == report


def test_the_fixture_survives_too(report: Report) -> None:
    assert report_json.loads(report_json.dumps(report)) == report


def test_the_keys_are_those_of_the_contract(report: Report) -> None:
    wire = report_json.to_dict(report)
    assert " ".join(wire) == (
        "run task status summary final_answer key_findings recommendations risks open_questions sources claims stop "
        "usage sufficient confidence gaps failed_queries insufficient_termination degraded_mode error_log raw metadata"
    )
    assert set(wire["stop"]) == {"reason", "gate", "round", "promise", "explanation", "rounds", "expression"}
    told = {"index", "accepted", "queries", "new_passages", "readings", "verdicts", "found", "belief", "open"}
    assert set(wire["stop"]["rounds"][0]) == told
    assert set(wire["stop"]["rounds"][0]["verdicts"][0]) == {"gate", "stop", "reason", "because", "signals"}
    assert wire["stop"]["rounds"][1]["verdicts"][0]["signals"]["overlap.jaccard"] == [0.12, 0.6]
    assert wire["sources"][0] == {
        "id": "[1]",
        "title": "asyncio.base_events – _run_once",
        "type": "code",
        "location": "lib/python3.11/asyncio/base_events.py:1890-1945",
        "url": None,
    }


def test_an_unknown_reading_is_null(report: Report) -> None:
    assert json.loads(report_json.dumps(report))["stop"]["rounds"][0]["readings"]["overlap.upr"] is None


def test_what_json_cannot_say_does_not_break_it(hostile: Report) -> None:
    text = report_json.dumps(replace(hostile, raw={1: object()}, metadata={"rate": math.inf}))
    text.encode("utf-8")
    again = report_json.loads(text)
    assert again.metadata == {"rate": None}
    assert list(again.stop.rounds[0].verdicts[0].signals.values()) == [(2.0, math.inf)]


def test_keys_of_a_later_version_are_passed_over(report: Report) -> None:
    wire = report_json.to_dict(report) | {"mood": "good"}
    assert report_json.loads(json.dumps(wire)) == report


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"stop": 3}', '{"stop": {"rounds": []}}', "\x00"])
def test_anything_else_is_the_users_error(text: str) -> None:
    with pytest.raises(InputError, match="not a suffice report"):
        report_json.loads(text)
