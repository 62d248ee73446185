"""Measure what the engine itself costs per round, with a scripted model and search: ``python -m bench.overhead``.

The cost must be flat from round 2 to round 1,000: it may grow with what is new, not with what is known.
"""

import asyncio
import statistics
import time

from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.engine.presets import get_preset
from suffice.events import RoundDone
from suffice.gates.parse import parse_gate
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.testing import ScriptedModel, make_passage
from suffice.types import Bounds, Passage, Query, Usage

ROUNDS = 1000
_WINDOWS = ((2, 20), (90, 110), (480, 520), (900, 1000))


class EndlessSearch:
    """Returns five new passages for every query at once."""

    def __init__(self) -> None:
        self.query_count = 0

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        self.query_count += 1
        text = "A short passage about nothing in particular, of the length that a search engine returns. " * 3
        return [
            make_passage(f"{self.query_count}-{i}", f"{text} Item {self.query_count} {i}.", f"Title {i}")
            for i in range(5)
        ]


async def measure() -> list[float]:
    """Return the microseconds of each round."""
    number = iter(range(10**9))
    reflections = [lambda prompt: ReflectionResponse(False, 0.5, (), (PlannedQuery(f"query number {next(number)}"),))]
    script = {"plan": [PlanResponse((PlannedQuery("the first query"),))], "reflect": reflections}
    model = ScriptedModel(script, usage=Usage(1, 100, 10))
    bounds = Bounds(ROUNDS, 10 * ROUNDS, 15, None, 10**9)
    gate = parse_gate(f"fixed({ROUNDS}) | exhaustion")
    config = RunConfig("What is it?", EndlessSearch(), model, get_preset("auto"), gate, bounds=bounds)
    times: list[float] = []
    started = time.perf_counter()
    async for event in run_pipeline(config):
        if isinstance(event, RoundDone):
            now = time.perf_counter()
            times.append(1e6 * (now - started))
            started = now
    return times


def main() -> None:
    times = asyncio.run(measure())
    print("| rounds | median µs a round |")
    print("|---|--:|")
    for first, last in _WINDOWS:
        print(f"| {first}–{last} | {statistics.median(times[first - 1 : last]):,.0f} |")


if __name__ == "__main__":
    main()
