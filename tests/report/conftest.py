"""A realistic report: five rounds over the source of the standard library, one of them rejected."""

from dataclasses import replace

import pytest

from suffice.types import Claim, Failure, Report, RoleUsage, RoundRecord, Source, Span, Stop, UsageSummary, Verdict

EVENTS = "lib/python3.11/asyncio/base_events.py"


def _verdicts(jaccard: float | None, upr: float | None, rounds: int, stop: bool) -> tuple[Verdict, ...]:
    unknown = jaccard is None or upr is None
    because = "Fewer than two rounds to compare." if unknown else f"Overlap {jaccard}, new share {upr}."
    return (
        Verdict(
            "exhaustion",
            None if unknown else stop,
            "exhausted" if stop else "",
            because,
            {"overlap.jaccard": (jaccard, 0.6), "overlap.upr": (upr, 0.3)},
        ),
        Verdict("budget", False, "", f"{rounds} of 8 rounds.", {"spend.rounds": (float(rounds), 8.0)}),
    )


def _round(
    index: int,
    queries: tuple[str, ...],
    new: int,
    words: float | None,
    jaccard: float | None,
    upr: float | None,
    coverage: float,
    *,
    accepted: bool = True,
    stop: bool = False,
) -> RoundRecord:
    readings = {
        "novelty.words": words,
        "overlap.jaccard": jaccard,
        "overlap.upr": upr,
        "coverage.mean": coverage,
        "spend.rounds": float(index),
    }
    return RoundRecord(index, accepted, queries, new, readings, _verdicts(jaccard, upr, index, stop))


@pytest.fixture
def stop() -> Stop:
    return Stop(
        reason="exhausted",
        gate="exhaustion",
        round=5,
        promise="heuristic",
        explanation="For two rounds in a row at least 60 % of the passages had been seen before and fewer than 30 % "
        "were new; two reworded queries led back to the same functions of base_events.py.",
        rounds=(
            _round(1, ("asyncio event loop run_once order", "call_soon ready queue"), 9, 1.0, None, None, 0.41),
            _round(2, ("heapq timers scheduled call_later",), 5, 0.58, 0.12, 0.83, 0.66),
            _round(
                3, ("selector events | select timeout", "_process_events"), 0, None, None, 0.7, 0.66, accepted=False
            ),
            _round(4, ("_ready deque popleft ntodo",), 2, 0.21, 0.64, 0.28, 0.88),
            _round(5, ("which callback runs next asyncio",), 1, 0.08, 0.79, 0.11, 0.9, stop=True),
        ),
        expression="exhaustion(j=0.6, u=0.3, p=2) | budget(rounds=8)",
    )


@pytest.fixture
def report(stop: Stop) -> Report:
    return Report(
        run="20260711-5f3a",
        task="How does Python's asyncio event loop decide which callback runs next?",
        status="answered",
        summary="First in, first out: timers that are due join the same queue as everything else.",
        final_answer="""> The search ended on its own rule.

The loop keeps a **first-in, first-out queue** of ready callbacks and runs them in the order in which \
they became ready [1]. Timers wait in a heap ordered by their due time, and a timer that has come due is moved to the \
same queue [1][2].

### Within one turn

1. The selector is polled, with a timeout of zero if something is ready already [2].
2. Callbacks for ready file descriptors are appended to the queue [2].
3. Only the callbacks that were ready at the start of the turn are run, so a callback that schedules itself cannot \
starve the others [1].

There are no priorities: an urgent callback can overtake others [3]. The documentation promises that \
each callback is called exactly once ([asyncio docs](https://docs.python.org/3/library/asyncio-eventloop.html)) [3].
""",
        key_findings=(
            "Ready callbacks run first in, first out [1].",
            "A due timer gets no head start over callbacks that are ready [2].",
        ),
        recommendations=(),
        risks=(),
        open_questions=("Does `uvloop` keep the same order | or only the same interface?",),
        sources=(
            Source("[1]", "asyncio.base_events – _run_once", "code", f"{EVENTS}:1890-1945"),
            Source("[2]", "asyncio.base_events – call_at | call_later", "code", f"{EVENTS}:742-790"),
            Source(
                "[3]",
                "Event Loop — Python documentation",
                "web",
                "https://docs.python.org/3/library/asyncio-eventloop.html",
                "https://docs.python.org/3/library/asyncio-eventloop.html",
            ),
        ),
        claims=(
            Claim(
                "The loop keeps a first-in, first-out queue of ready callbacks and runs them in the order in which "
                "they became ready.",
                ("[1]",),
                "supported",
                (Span("[1]", "handle = self._ready.popleft()", f"{EVENTS}:1928-1928"),),
            ),
            Claim(
                "Timers wait in a heap ordered by their due time, and a timer that has come due is moved to the same "
                "queue",
                ("[1]", "[2]"),
                "supported",
                (
                    Span("[2]", "heapq.heappush(self._scheduled, timer)", f"{EVENTS}:778-778"),
                    Span(
                        "[1]",
                        "handle = heapq.heappop(self._scheduled) … self._ready.append(handle)",
                        f"{EVENTS}:1915-1919",
                    ),
                ),
            ),
            Claim("The selector is polled, with a timeout of zero if something is ready already.", ("[2]",), "unknown"),
            Claim(
                "Only the callbacks that were ready at the start of the turn are run, so a callback that schedules "
                "itself cannot starve the others.",
                ("[1]",),
                "supported",
                (
                    Span(
                        "[1]",
                        "This is the only place where callbacks are actually *called*. All other places just add them "
                        "to ready.",
                        f"{EVENTS}:1921-1923",
                    ),
                ),
            ),
            Claim(
                "There are no priorities: an urgent callback can overtake others.",
                ("[3]",),
                "contradicted",
                (
                    Span(
                        "[3]",
                        "Callbacks are called in the order in which they are registered.",
                        "https://docs.python.org/3/library/asyncio-eventloop.html",
                        "contradicts",
                    ),
                ),
            ),
            Claim("The order is part of the language reference.", (), "unsupported"),
        ),
        stop=stop,
        usage=UsageSummary(
            "ollama:qwen3",
            14,
            38210,
            2950,
            7,
            0,
            41.27,
            None,
            {"plan": RoleUsage(6, 9100, 700), "write": RoleUsage(1, 9800, 900)},
        ),
        sufficient=True,
        confidence=0.82,
        gaps=(),
        failed_queries=("uvloop scheduling order",),
        insufficient_termination=False,
        degraded_mode=False,
        error_log=(Failure("search", "timeout", "The search took longer than 10 s.", True, 2),),
        metadata={"strategy": "auto"},
    )


@pytest.fixture
def hostile(report: Report) -> Report:
    """A report with malicious text in every field that is shown."""
    bad = (
        "<script>alert(1)</script></script><img src=x onerror=alert(1)> \u202eevil\u2066 [x](javascript:alert(1)) "
        "![p](https://tracker.example/p.png) <https://evil.example/> [out](https://evil.example/) \ud800 | "
        "`broken **markdown [1](https://evil.example)"
    )
    claim = Claim(bad, ("[1]",), "supported", (Span("[9]", bad, bad, "contradicts"), Span("[1]", bad, bad)))
    record = RoundRecord(
        1,
        True,
        (bad, ""),
        1,
        {bad: float("nan"), "novelty.words": 1.0},
        (Verdict(bad, True, bad, bad, {bad: (2.0, float("inf"))}),),
    )
    return replace(
        report,
        run=bad,
        task="A" * 9000 + bad + "B" * 1000,
        summary=bad,
        final_answer=f"# {bad}\n\n[1]: https://evil.example\n\n<div onclick=x()>{bad}</div>\n\n- {bad}\n\n"
        "```\n</script>",
        key_findings=(bad,),
        recommendations=(bad,),
        risks=(bad,),
        open_questions=(bad,),
        failed_queries=(bad,),
        sources=(
            Source("[1]", bad, bad, bad, "javascript:alert(1)"),
            Source('"><b>', "T" * 10_000, "web", bad, 'https://ok.example/"><script>alert(1)</script>'),
        ),
        claims=(claim, Claim("", (), "unknown")),
        stop=replace(report.stop, reason=bad, gate=bad, explanation=bad, expression=bad, round=1, rounds=(record,)),
    )
