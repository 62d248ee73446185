"""The paragraph that explains why a run stopped."""

import pytest

from suffice.gates.explanation import STOP_REASON_TEXT, explain_stop
from suffice.types import RoundRecord


def record(index: int, new: int, accepted: bool = True, queries: int = 1) -> RoundRecord:
    return RoundRecord(index, accepted, ("q",) * queries, new, {}, ())


@pytest.mark.parametrize("reason", STOP_REASON_TEXT)
@pytest.mark.parametrize("promise", ["heuristic", "estimate", "guarantee"])
@pytest.mark.parametrize("rounds", [[], [record(1, 2)]])
def test_every_stop_reason_has_an_explanation(reason: str, promise: str, rounds: list[RoundRecord]) -> None:
    text = explain_stop(reason, "it was time", promise, rounds)  # type: ignore[arg-type]
    assert text.endswith(".")
    assert "it was time" in text
    assert reason not in text or "_" not in reason
    assert ".." not in text


def test_every_stop_reason_has_its_own_explanation() -> None:
    assert len({explain_stop(reason, "", "heuristic", [record(1, 2)]) for reason in STOP_REASON_TEXT}) == len(
        STOP_REASON_TEXT
    )


def test_it_counts_rounds_queries_and_passages() -> None:
    text = explain_stop("saturated", "nothing new", "heuristic", [record(1, 4, queries=2), record(2, 1)])
    assert "after 2 rounds" in text
    assert "3 queries" in text
    assert "5 passages, 1 of them in the last round" in text
    assert "1 query brought 1 passage" in explain_stop("sufficient", "", "heuristic", [record(1, 1)])


def test_a_rejected_round_does_not_count() -> None:
    text = explain_stop("saturated", "nothing new", "heuristic", [record(1, 4), record(2, 3, accepted=False)])
    assert "4 passages" in text
    assert "not used" in text


def test_a_promise_is_named_only_for_judged_stops() -> None:
    assert "rule of thumb" in explain_stop("exhausted", "", "heuristic", [record(1, 1)])
    assert "estimate" in explain_stop("saturated", "", "estimate", [record(1, 1)])
    assert "confidence" in explain_stop("sufficient", "", "guarantee", [record(1, 1)])
    for reason in ("budget_rounds", "cancelled", "search_unavailable", "planner_done"):
        assert "rule of thumb" not in explain_stop(reason, "", "heuristic", [record(1, 1)])
