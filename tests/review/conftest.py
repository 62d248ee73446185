"""A judge who answers from a script, and a run whose answer is under review."""

import asyncio

import pytest

from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts import Evaluation, EvaluationIssue, SynthesisResponse
from suffice.review.loop import ReviewLoop
from suffice.settings import ReviewRules
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, make_passage
from suffice.types import Bounds

FIRST = SynthesisResponse("## Builders\n\nHalloran Works built it [1].", "Halloran Works [1].", ("Halloran [1].",))


def scored(every=7.0, *issues, **own):
    names = ("relevance", "completeness", "depth", "grounded", "specificity", "structure")
    return Evaluation(**{name: own.get(name, every) for name in names}, issues=issues)


def version(number):
    return SynthesisResponse(f"## Builders\n\nHalloran Works built it, version {number} [1].")


def missing(section="Builders", problem="say when"):
    return EvaluationIssue("depth", section, problem)


class Case:
    """``judgements`` and ``revisions`` are what the model answers, in order."""

    def __init__(
        self, judgements, revisions=(), *, rules=None, bounds=Bounds(), settle=None, clock=None, kind=ScriptedModel
    ):
        self.model = kind({"evaluate": list(judgements), "revise": list(revisions)})
        options = {} if clock is None else {"clock": clock}
        self.run = RunState("Who built the bridge?", self.model, TrajectoryMemory, run_id="r", bounds=bounds, **options)
        self.run.evidence.add(make_passage("p1", "The bridge was built by Halloran Works in 1887.", "Bridge"))
        self.review = ReviewLoop(self.run, settle or as_it_is, rules or ReviewRules())

    def play(self, written=FIRST):
        async def all_of_them():
            return [judged async for judged in self.review.run(written)]

        return asyncio.run(all_of_them())

    @property
    def told(self):
        return self.review.summarize()

    @property
    def roles(self):
        return [ask.role for ask in self.model.prompts]


async def as_it_is(text):
    return text


@pytest.fixture
def case():
    return Case
