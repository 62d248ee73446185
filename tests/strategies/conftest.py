"""The fixture ``play`` runs a strategy through the real loop over four passages."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from suffice import budget
from suffice.engine.loop import run_loop
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, WordSearch, make_passage
from suffice.types import Bounds, Stop

TASK = "Where was the founder of the works that built the Meridian bridge born?"
LIBRARY = [
    make_passage("bridge", "The Meridian bridge was built by Halloran Works. It spans the Mur.", "Meridian bridge"),
    make_passage(
        "works", "Halloran Works was founded by Ida Halloran in 1850. Halloran Works made steel.", "Halloran Works"
    ),
    make_passage("ida", "Ida Halloran was born in Trieste. Ida Halloran studied in Graz.", "Ida Halloran"),
    make_passage("graz", "Graz lies on the river Mur.", "Graz"),
]


@dataclass
class Played:
    run: RunState
    stop: Stop
    model: Any

    @property
    def queries(self) -> list[tuple[str, ...]]:
        return [record.queries for record in self.run.records]

    @property
    def prompts(self) -> list[Any]:
        return self.model.prompts

    @property
    def failures(self) -> list[tuple[str, str]]:
        return [(failure.where, failure.message) for failure in self.run.error_log]


@pytest.fixture
def play():
    def go(strategy, script, *, rounds=5, k=1, search=None, bounds=Bounds(), gate=None):
        model = ScriptedModel(script) if isinstance(script, dict) else script
        run = RunState(TASK, model, TrajectoryMemory, run_id="r", bounds=bounds)
        stop = gate or budget(rounds=rounds)

        async def main():
            return await run_loop(run, search or WordSearch(LIBRARY), strategy, stop, build_meters(stop.needs), k=k)

        return Played(run, asyncio.run(main()).stop, model)

    return go
