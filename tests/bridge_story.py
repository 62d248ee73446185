"""The story the run tests are told with: four pages about a bridge, and a model that has read them."""

import asyncio
from contextlib import aclosing

from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.engine.presets import Preset
from suffice.gates.parse import parse_gate
from suffice.prompts import PlannedQuery, PlanResponse, ReflectionResponse, SynthesisResponse
from suffice.testing import ScriptedModel, WordSearch, make_passage
from suffice.types import Bounds

TASK = "Who built the Meridian bridge?"
PASSAGES = [
    make_passage(
        "p1", "The Meridian bridge was built by Halloran Works in 1887.", "Meridian bridge", path="bridge.txt"
    ),
    make_passage("p2", "Halloran Works was founded by Ida Halloran.", "Halloran Works", path="works.txt"),
    make_passage("p3", "Ida Halloran studied in Graz and moved to Trieste.", "Ida Halloran", path="ida.txt"),
    make_passage("p4", "Graz lies on the river Mur.", "Graz", path="graz.txt"),
]
MORE = ReflectionResponse(False, 0.4, ("the founder",), ("who founded Halloran Works",))
ENOUGH = ReflectionResponse(True, 0.9)
ANSWER = SynthesisResponse("Halloran Works built it [1].", "Halloran Works [1].")


def plan(*queries, complexity="standard"):
    return PlanResponse(tuple(PlannedQuery(query, "why") for query in queries or (TASK,)), complexity)


def asking(*, sufficient=False):
    """A reflection that always has something new to ask."""
    count = iter(range(10_000))
    return lambda prompt: ReflectionResponse(sufficient, 0.5, ("a gap",), (f"another question number {next(count)}",))


def model(*, plans=None, reflects=(MORE,), drafts=(ANSWER,), usage=None, kind=ScriptedModel):
    return kind({"plan": plans or [plan()], "reflect": list(reflects), "draft": list(drafts)}, usage=usage)


class Slow(ScriptedModel):
    """Takes its time over one role, from its nth answer on."""

    def __init__(self, script, *, usage=None, role="reflect", first=1, delay=5.0):
        super().__init__(script, usage=usage)
        self.role, self.first, self.delay = role, first, delay

    async def __call__(self, prompt):
        if prompt.role == self.role and sum(earlier.role == self.role for earlier in self.prompts) + 1 >= self.first:
            self.prompts.append(prompt)
            await asyncio.sleep(self.delay)
        return await super().__call__(prompt)


def setup(the_model, search=None, stop="sufficiency", *, bounds=Bounds(), cap=Bounds(), **options):
    preset = Preset("reflect", "trajectory", stop, cap)
    return RunConfig(
        TASK, search or WordSearch(PASSAGES), the_model, preset, parse_gate(stop), bounds=bounds, **options
    )


def play(chosen):
    async def all_of_them():
        async with aclosing(run_pipeline(chosen)) as events:
            return [event async for event in events]

    return asyncio.run(all_of_them())


def outcome(chosen):
    return play(chosen)[-1].report


def kinds(events, kind):
    return [event for event in events if isinstance(event, kind)]


def roles(the_model):
    return [ask.role for ask in the_model.prompts]
