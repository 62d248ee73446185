"""A review whose evaluations and revisions come from a script."""

import asyncio

from suffice.answers import Draft
from suffice.claims.verify import Checked
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts.judging import Evaluation, EvaluationIssue
from suffice.prompts.writing import SynthesisResponse
from suffice.review.loop import ReviewLoop
from suffice.settings import ReviewRules
from suffice.state.run import RunState
from suffice.testing import ScriptedModel, make_passage
from suffice.text.parts import build_statement, parse_parts, render_parts
from suffice.types import Bounds

FIRST = Checked(
    Draft(
        parse_parts("## Builders\n\nHalloran Works built it [1]."),
        lists={"Key findings": (build_statement("Halloran [1]."),)},
    )
)


def scored(every=7.0, *issues, **own):
    names = ("relevance", "completeness", "depth", "grounded", "specificity", "structure")
    return Evaluation(**{name: own.get(name, every) for name in names}, issues=issues)


def version(number):
    return SynthesisResponse(f"## Builders\n\nHalloran Works built it, version {number} [1].")


def issue(section="Builders", problem="say when"):
    return EvaluationIssue("depth", section, problem)


class Case:
    """One review. The model answers with ``evaluations`` and ``revisions``, each in order."""

    def __init__(
        self,
        evaluations,
        revisions=(),
        *,
        rules=None,
        bounds=Bounds(),
        verify_claims=None,
        clock=None,
        found=(),
        model_class=ScriptedModel,
    ):
        self.model = model_class({"evaluate": list(evaluations), "revise": list(revisions)})
        options = {} if clock is None else {"clock": clock}
        self.run = RunState("Who built the bridge?", self.model, TrajectoryMemory, run_id="r", bounds=bounds, **options)
        self.run.evidence.add(make_passage("p1", "The bridge was built by Halloran Works in 1887.", "Bridge"))
        self.review = ReviewLoop(self.run, self.find_more, verify_claims or accept, rules or ReviewRules())

        self.found = found
        self.wanted = []

    async def find_more(self, wanted, intent):
        self.wanted += wanted
        for passage in self.found:
            self.run.evidence.add(passage)
        return bool(self.found)

    def play(self, written=FIRST):
        async def collect():
            return [judged async for judged in self.review.run(written)]

        return asyncio.run(collect())

    @property
    def result(self):
        return self.review.summarize()

    @property
    def roles(self):
        return [prompt.role for prompt in self.model.prompts]


async def accept(draft):
    return Checked(draft)


def show(checked):
    """The text of a checked draft."""
    return render_parts(checked.draft.parts, str)
