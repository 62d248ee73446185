"""A small scenario for tests of whole runs: four passages about a bridge and a scripted model."""

import asyncio
from contextlib import aclosing

from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.engine.presets import Preset
from suffice.gates.parse import parse_gate
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
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
MORE = ReflectionResponse(False, 0.4, ("the founder",), (PlannedQuery("who founded Halloran Works"),))
ENOUGH = ReflectionResponse(True, 0.9)
ANSWER = SynthesisResponse("Halloran Works built it [1].", "Halloran Works [1].")


def plan(*queries, complexity="standard"):
    return PlanResponse(tuple(PlannedQuery(query, "why") for query in queries or (TASK,)), complexity)


def asking(*, sufficient=False):
    """Return a reflection that always proposes a new query."""
    count = iter(range(10_000))
    return lambda prompt: ReflectionResponse(
        sufficient, 0.5, ("a gap",), (PlannedQuery(f"another question number {next(count)}"),)
    )


def model(*, plans=None, reflects=(MORE,), drafts=(ANSWER,), usage=None, kind=ScriptedModel):
    return kind({"plan": plans or [plan()], "reflect": list(reflects), "draft": list(drafts)}, usage=usage)


class Slow(ScriptedModel):
    """A scripted model that is slow for one role, from its nth answer on."""

    def __init__(self, script, *, usage=None, role="reflect", first=1, delay=600.0):
        super().__init__(script, usage=usage)
        self.role, self.first, self.delay = role, first, delay
        self.is_waiting = False

    async def __call__(self, prompt):
        if prompt.role == self.role and sum(earlier.role == self.role for earlier in self.prompts) + 1 >= self.first:
            self.prompts.append(prompt)
            self.is_waiting = True
            await asyncio.sleep(self.delay)
        return await super().__call__(prompt)


def setup(the_model, search=None, stop="sufficiency", *, bounds=Bounds(), cap=Bounds(), **options):
    """Return the configuration of a run with the strategy ``reflect``."""
    preset = Preset("reflect", "trajectory", stop, cap)
    return RunConfig(
        TASK, search or WordSearch(PASSAGES), the_model, preset, parse_gate(stop), bounds=bounds, **options
    )


def play(config):
    """Return all events of a run."""

    async def collect():
        async with aclosing(run_pipeline(config)) as events:
            return [event async for event in events]

    return asyncio.run(collect())


def outcome(config):
    """Return the report of a run."""
    return play(config)[-1].report


def kinds(events, kind):
    """Return the events of a type."""
    return [event for event in events if isinstance(event, kind)]


def roles(the_model):
    """Return the roles of the prompts that the model got."""
    return [prompt.role for prompt in the_model.prompts]


def get_draft_prompt(the_model):
    """Return the prompt of the last draft."""
    return [prompt for prompt in the_model.prompts if prompt.role == "draft"][-1]
