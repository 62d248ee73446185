"""Every ending of a review, the version that it reports, and what the judge is shown of a long text."""

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review.conftest import FIRST, Case, issue, scored, show, version

from suffice.answers import Draft, Statement, replace_statements
from suffice.claims.reasons import describe_reason
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked
from suffice.errors import ModelError
from suffice.prompts.judging import EvaluationIssue
from suffice.prompts.writing import SynthesisResponse
from suffice.settings import ReviewRules
from suffice.testing import ScriptedModel, make_passage
from suffice.text.parts import parse_parts
from suffice.text.tokens import estimate_tokens
from suffice.types import Bounds, Reason

UNREADABLE = ModelError("no readable answer to 'evaluate'")


def test_a_good_answer_passes_in_the_first_round():
    case = Case([scored(9)])
    [judged] = case.play()
    assert (judged.composite, judged.passed) == (9.0, True)
    assert (case.result.ending, case.result.passed, case.result.kept) == ("passed", True, 1)
    assert case.review.best == FIRST
    assert case.roles == ["evaluate"]


def test_a_conclusion_that_the_reviewer_finds_ungrounded_is_not_called_supported():
    flat, own = Statement("So every change costs time [1].", ("[1]",)), Statement("It was built in 1887 [1].", ("[1]",))
    verdicts = ClaimVerdict(flat, "supported", role="conclusion"), ClaimVerdict(own, "supported", role="stated")
    named = (EvaluationIssue("grounded", "", "stated flatly", one.text) for one in (flat, own))
    case = Case([scored(9, *named)])
    case.play(replace(FIRST, verdicts=verdicts))
    marked, kept = case.review.best.verdicts
    assert (marked.support, describe_reason(marked.reason)) == ("unknown", "a reviewer says: “stated flatly”")
    assert kept == verdicts[1], "what a source states is for the check"


def test_a_weak_answer_is_revised_until_it_passes():
    case = Case([scored(6, issue()), scored(8.5)], [version(2)])
    case.play()
    assert case.roles == ["evaluate", "revise", "evaluate"]
    assert show(case.review.best) == version(2).answer
    assert case.review.best.draft.lists == FIRST.draft.lists, "a revision without findings keeps the earlier ones"
    assert (case.result.ending, case.result.kept, case.result.composite) == ("passed", 2, 8.5)
    assert case.model.prompts[1].issues[0] == "depth, “Builders”: “say when”"


def test_reviewer_and_reviser_are_told_what_was_taken_out_and_why():
    lost = ClaimVerdict(
        Statement("It was built in 1888 [1].", ("[1]",)), "unsupported", reason=Reason("figure", "1887", "1888")
    )
    named = EvaluationIssue("depth", "Builders", "sag, wann", "Halloran Works built it [1].")
    case = Case([scored(6, named), scored(9)], [version(2)])
    case.run.evidence.add(make_passage("p2", "Nothing cites this.", "Other"))
    case.play(replace(FIRST, removed=(lost,)))
    first, revise, second = case.model.prompts
    assert [note.text for note in first.sources] == ["The bridge was built by Halloran Works in 1887."]
    for prompt in (first, revise):
        assert "“It was built in 1888 [1].” Doubted: the source says 1887, not 1888" in prompt.render()
    assert "depth, “Builders”: “sag, wann” Of: “Halloran Works built it [1].”" in revise.render()
    assert [note.handles for note in second.sources] == [("[1]",)], "a sentence is new, and what it cites is shown"


def test_a_second_review_is_shown_only_what_new_sentences_cite():
    revised = SynthesisResponse("## Builders\n\nIt has rivets [2]. Halloran Works built it [1].")
    case = Case([scored(6, issue()), scored(9)], [revised])
    case.run.evidence.add(make_passage("p2", "The bridge has rivets.", "Rivets"))
    case.play()
    assert [[*note.handles] for note in case.model.prompts[2].sources] == [["[2]"]]


def test_what_a_reviewer_misses_is_searched_for_and_shown_to_the_reviser():
    found = [make_passage("p2", "The rivets of the bridge were made in Leeds.", "Rivets")]
    named = (
        EvaluationIssue("completeness", "", "It does not say where the rivets were made.", query="rivets made where"),
        EvaluationIssue("structure", "", "too long"),
    )
    case = Case([scored(6, *named), scored(9)], [version(2)], found=found)
    case.run.evidence.add(make_passage("old", "Where the rivets were made is not said. " * 200))
    case.play()
    assert case.wanted == ["rivets made where"], "only what a reviewer has a query for is searched"
    assert found[0].text in [note.text for note in case.model.prompts[1].notes]


def test_a_long_text_is_cut_to_fit_the_judges_context():
    class Small(ScriptedModel):
        context = 4_096

    long = "\n\n".join(f"## Part {number}\n\n" + "Halloran Works built it [1]. " * 40 for number in range(20))
    case = Case([scored(9)], model_class=Small)
    [judged] = case.play(Checked(Draft(parse_parts(long))))
    assert judged.passed
    [prompt] = case.model.prompts
    assert estimate_tokens(prompt.render()) + prompt.max_tokens <= Small.context
    assert all(f"- Part {number}\n" in prompt.render() for number in range(20))
    assert "[…]" in prompt.text.text


def test_a_long_text_that_fits_is_judged_whole():
    class Large(ScriptedModel):
        context = 32_000

    long = "\n\n".join(f"## Part {number}\n\n" + "Halloran Works built it [1]. " * 60 for number in range(20))
    case = Case([scored(9)], model_class=Large)
    case.play(Checked(Draft(parse_parts(long))))
    assert case.model.prompts[0].text.text == long.replace(" \n", "\n").strip()


def test_a_review_that_never_passes_fails_after_three_rounds():
    case = Case([scored(5), scored(6), scored(7)], [version(2), version(3)])
    case.play()
    assert (case.result.ending, case.result.passed, case.result.kept, case.result.composite) == (
        "failed",
        False,
        3,
        7.0,
    )
    assert case.roles == ["evaluate", "revise"] * 2 + ["evaluate"], "the last version is not revised"


def test_the_same_score_twice_ends_the_review():
    case = Case([scored(6), scored(6)], [version(2)])
    case.play()
    assert case.result.ending == "no_progress"
    assert case.review.best == FIRST, "an equal version does not replace the first"


def test_an_unchanged_revision_is_not_evaluated():
    case = Case([scored(6)], [SynthesisResponse("## Builders\n\nHalloran Works built it [1].")])
    case.play()
    assert (case.result.ending, case.roles) == ("no_progress", ["evaluate", "revise"])


def test_a_worse_revision_is_not_reported():
    case = Case([scored(7), scored(5), scored(6)], [version(2), version(3)])
    case.play()
    assert case.review.best == FIRST
    assert (case.result.ending, case.result.kept, case.result.composite) == ("failed", 1, 7.0)


@pytest.mark.parametrize("empty", [SynthesisResponse("  "), ModelError("dizzy")])
def test_an_empty_revision_ends_the_review(empty):
    case = Case([scored(6)], [empty])
    case.play()
    assert (case.result.ending, case.review.best) == ("empty_revision", FIRST)


def test_an_evaluation_that_stays_unreadable_is_unknown_and_not_zero():
    case = Case([UNREADABLE])
    [judged] = case.play()
    assert (judged.scores, judged.composite, judged.passed) == (None, None, None)
    assert (case.result.ending, case.result.passed, case.result.composite, case.result.kept) == (
        "unreadable",
        None,
        None,
        0,
    )
    assert case.review.best == FIRST


def test_a_revision_without_a_readable_evaluation_is_not_reported():
    case = Case([scored(6), UNREADABLE], [version(2)])
    case.play()
    assert (case.result.ending, case.result.composite, case.review.best) == ("unreadable", 6.0, FIRST)


def test_unsupported_claims_of_a_revision_are_removed_before_it_is_evaluated():
    async def verify(draft):
        parts = replace_statements(draft.parts, lambda one: () if "king" in one.text else (one,))
        return Checked(replace(draft, parts=parts))

    invented = SynthesisResponse("## Builders\n\nHalloran Works built it in 1887 [1]. The king paid for it [1].")
    case = Case([scored(6), scored(9)], [invented], verify_claims=verify)
    case.play()
    assert show(case.review.best) == "## Builders\n\nHalloran Works built it in 1887 [1]."
    assert "king" not in case.model.prompts[2].text.text, "the judge reads the verified text"


def test_what_was_removed_before_a_revision_stays_listed_unless_it_is_back():
    kept, back = (ClaimVerdict(Statement(text), "unsupported") for text in ("The king paid.", "It is blue."))

    async def verify(draft):
        return Checked(draft, (ClaimVerdict(Statement("It is blue [1]."), "supported"),), (again,))

    again = ClaimVerdict(Statement("Pigs fly."), "unsupported")
    case = Case([scored(6), scored(9)], [version(2)], verify_claims=verify)
    case.play(replace(FIRST, removed=(kept, back, again)))
    assert case.review.best.removed == (kept, again)


def test_a_revision_without_supported_claims_counts_as_empty():
    async def verify(draft):
        return Checked()

    case = Case([scored(6)], [version(2)], verify_claims=verify)
    case.play()
    assert (case.result.ending, case.review.best) == ("empty_revision", FIRST)


def test_no_round_starts_when_the_tokens_are_spent():
    case = Case([scored(6)], [version(2)], bounds=Bounds(tokens=1))
    case.play()
    assert (case.result.ending, case.roles) == ("budget", ["evaluate"])
    again = Case([scored(6)], bounds=Bounds(tokens=0))
    assert again.play() == []
    assert (again.result.ending, again.roles, again.review.best) == ("budget", [], FIRST)


def test_no_round_starts_when_the_time_is_up():
    times = iter([0.0, *[100.0] * 50])
    case = Case([scored(6)], bounds=Bounds(seconds=60), clock=lambda: next(times))
    case.play()
    assert (case.result.ending, case.roles) == ("budget", [])


def test_a_slow_judge_is_cut_off_at_the_time_limit():
    class Slow(ScriptedModel):
        async def __call__(self, prompt):
            await asyncio.sleep(30)
            raise AssertionError

    case = Case([scored(6)], bounds=Bounds(seconds=0.05), model_class=Slow)
    case.play()
    assert (case.result.ending, case.review.best) == ("budget", FIRST)


def test_the_median_of_a_panel_decides():
    def evaluate(prompt):
        reader = next(word for word in ("practitioner", "doubt", "new to") if word in prompt.reader)
        return scored({"practitioner": 9, "doubt": 2, "new to": 9}[reader], issue(problem=f"says the {reader}"))

    case = Case([evaluate], rules=ReviewRules(panel=True))
    [judged] = case.play()
    assert case.roles == ["evaluate"] * 3
    assert (judged.composite, case.result.ending) == (9.0, "passed")
    assert len(judged.issues) == 3


def test_a_panel_ignores_an_unreadable_reader():
    def evaluate(prompt):
        if "doubt" in prompt.reader:
            raise UNREADABLE
        return scored(9)

    case = Case([evaluate], rules=ReviewRules(panel=True))
    case.play()
    assert (case.result.ending, case.result.composite) == ("passed", 9.0)


def test_without_a_text_there_is_no_review():
    case = Case([scored(9)])
    assert case.play(Checked()) == []
    assert (case.result, case.review.best, case.roles) == (None, Checked(), [])


@given(st.lists(st.integers(0, 10), min_size=1, max_size=5), st.integers(1, 5), st.floats(1, 10))
def test_the_reported_version_is_the_best_evaluated_one(scores, rounds, pass_mark):
    numbers = iter(range(2, 99))
    case = Case(
        [scored(score) for score in scores],
        [lambda prompt: version(next(numbers))],
        rules=ReviewRules(pass_mark, rounds),
    )
    judged = case.play()
    composites = [round.composite for round in judged]
    assert len(composites) <= rounds
    assert case.result.composite == max(composites)
    texts = [show(FIRST), *(version(number).answer for number in range(2, 99))]
    assert show(case.review.best) == texts[case.result.kept - 1]
    assert case.result.passed == (max(composites) >= pass_mark)
