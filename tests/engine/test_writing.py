"""From evidence to the answer: what a model writes is computed, verified and reviewed."""

import asyncio

import pytest

from suffice import research
from suffice.errors import InputError
from suffice.prompts.judging import Evaluation
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import ComputeResponse, DraftAnswer, SynthesisResponse
from suffice.testing import FixtureSearch, ScriptedModel, make_passage

FOUND = [
    make_passage("a", "The Meridian bridge was built by Halloran Works in 1887.", "Meridian"),
    make_passage("b", "The Graz bridge was built by Halloran Works in 1903.", "Graz"),
]
TASK = "How many years lie between the Meridian bridge and the Graz bridge?"
PROGRAM = ComputeResponse("print(f'years between the Meridian bridge and the Graz bridge: {1903 - 1887}')")
GOOD, POOR = (Evaluation(*[score] * 6) for score in (9, 5))


@pytest.fixture(autouse=True)
def _clean_machine(tmp_path, monkeypatch):
    for name in ("SUFFICE_REVIEW_PASS", "MAX_WIGGUM_ROUNDS", "PYTHON_TOOL_ROUNDS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def asked(
    task=TASK, *, drafts, evaluations=(GOOD,), revisions=(), programs=(PROGRAM,), complexity="standard", **options
):
    model = ScriptedModel(
        {
            "plan": [PlanResponse((PlannedQuery(task),), complexity)],
            "reflect": [ReflectionResponse(True, 0.9)],
            "compute": list(programs),
            "draft": list(drafts),
            "evaluate": list(evaluations),
            "revise": list(revisions),
        }
    )
    search = FixtureSearch(default=FOUND)
    report = asyncio.run(research(task, search=search, model=model, strategy="reflect", **options))
    return report, [prompt.role for prompt in model.prompts]


def test_a_computed_number_is_cited_verified_and_shown():
    draft = SynthesisResponse("There are 16 years between the Meridian bridge and the Graz bridge [3].")
    report, roles = asked(drafts=[draft])
    assert "16 years between" in report.final_answer
    assert [source.type for source in report.sources] == ["computed"]
    assert report.sources[0].location == "computed:1"
    assert report.claims[0].support == "supported"
    assert "1903 - 1887" in report.metadata["computed"]["[1]"]
    assert roles.index("compute") < roles.index("draft")


def test_raw_is_the_writers_last_text_unparsed_also_when_no_claim_of_it_held():
    text = "The Graz bridge was built in 1903 [2].\n\n## Risks\n\n- None known\n\nShort answer: 1903"
    report, _ = asked("When was the Graz bridge built?", drafts=[DraftAnswer.parse(text)], programs=())
    assert report.raw == text
    report, _ = asked(
        "When was the Graz bridge built?", drafts=[DraftAnswer.parse("It fell in 1950 [2].")], programs=()
    )
    assert "1950" not in report.final_answer
    assert report.raw == "It fell in 1950 [2]."
    assert asyncio.run(research(TASK, search=FixtureSearch(default=FOUND), model="extractive")).raw is None


def test_a_number_other_than_the_computed_one_is_removed():
    wrong = "There are 17 years between the Meridian bridge and the Graz bridge [3]."
    report, _ = asked(drafts=[SynthesisResponse(f"The Graz bridge was built in 1903 [2]. {wrong}")])
    assert "1903" in report.final_answer
    assert "17 years" not in report.final_answer
    [removed] = report.removed
    assert (removed.reason.kind, removed.reason.claim_value) == ("figure", "17 years")
    assert "16" in removed.nearest.quote


def test_a_revision_adds_no_unsupported_claim():
    first = SynthesisResponse("The Graz bridge was built in 1903 [2].")
    second = SynthesisResponse(
        "The Graz bridge was built by Halloran Works in 1903 [2]. The emperor Franz opened it [2]."
    )
    report, roles = asked(drafts=[first], evaluations=[POOR, GOOD], revisions=[second], programs=[ComputeResponse()])
    assert [role for role in roles if role in ("evaluate", "revise")] == ["evaluate", "revise", "evaluate"]
    assert report.metadata["review"]["ending"] == "passed"
    assert "Halloran Works" in report.final_answer
    assert "Franz" not in report.final_answer


def test_one_reader_reviews_also_a_complex_task():
    draft = SynthesisResponse("The Graz bridge was built in 1903 [2].")
    assert asked(drafts=[draft], complexity="deep")[1].count("evaluate") == 1


def test_without_review_nothing_is_evaluated():
    report, roles = asked(drafts=[SynthesisResponse("The Graz bridge was built in 1903 [2].")], review=False)
    assert "evaluate" not in roles
    assert "review" not in report.metadata
    with pytest.raises(InputError, match="--panel"):
        asked(drafts=[], review=False, panel=True)


def test_a_list_has_the_number_of_sections_asked_for_or_says_so():
    def listed(count):
        items = [
            "Meridian\n\nThe Meridian bridge was built by Halloran Works in 1887 [1].",
            "Graz\n\nThe Graz bridge was built by Halloran Works in 1903 [2].",
            "More\n\nThe Graz bridge was built in 1903 [2].",
        ]
        return SynthesisResponse("\n\n".join(f"## {n}. {item}" for n, item in enumerate(items[:count], 1)))

    enough, _ = asked("What are the top 2 bridges of Halloran Works?", drafts=[listed(3)])
    assert enough.final_answer.count("## ") == 2
    short, roles = asked("What are the top 4 bridges of Halloran Works?", drafts=[listed(2), listed(2)])
    assert "shorter than the task asks for" in short.final_answer
    assert roles.count("draft") == 2
