"""Fail closed: what is written is settled before anybody reads it."""

import asyncio

import pytest
from bridge_story import ENOUGH, PASSAGES, model, outcome, setup
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.claims.checkers import LexicalChecker, default_checker
from suffice.claims.notices import QUOTED_NOTICE
from suffice.claims.split import CONTRADICTED_MARK, UNSUPPORTED_MARK
from suffice.claims.verify import ClaimVerifier, make_ask_support
from suffice.events import CheckingClaim
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts import SupportResponse, SynthesisResponse
from suffice.state.run import RunState
from suffice.testing import FixtureSearch, ScriptedModel, make_passage, make_search_error
from suffice.types import Bounds, Usage

BUILT = "The Meridian bridge was built by Halloran Works in 1887 [1]."
AWAY = make_passage("p9", "The river Mur floods the old town of Graz each spring.", "Floods", path="floods.txt")


def settling(search=None, *, strict=True, passages=PASSAGES, bounds=Bounds()):
    run = RunState("Who built it?", ScriptedModel({}), TrajectoryMemory, run_id="r", bounds=bounds)
    for found in passages:
        run.evidence.add(found)
    return run, ClaimVerifier(run, search or FixtureSearch(), LexicalChecker(), strict=strict)


def settled(answer, search=None, **options):
    run, settle = settling(search, **options)
    text = asyncio.run(settle(SynthesisResponse(answer)))
    return text, settle.claims(text), run


def test_what_the_sources_hold_is_not_touched():
    answer = f"## Who\n\n{BUILT}\n\n- Halloran Works was founded by Ida Halloran [2].\n- Why so late?"
    text, claims, run = settled(answer)
    assert text.answer == answer
    assert [claim.support for claim in claims] == ["supported", "supported", "unknown"]
    assert run.searches == 0


def test_a_citation_that_stands_behind_the_wrong_source_is_moved():
    text, [claim], _ = settled("Graz lies on the river Mur [1].")
    assert text.answer == "Graz lies on the river Mur. [4]"
    assert claim.support == "supported"


def test_a_claim_without_a_citation_is_given_one():
    text, _, _ = settled(f"{BUILT} Graz lies on the river Mur.")
    assert text.answer == f"{BUILT} Graz lies on the river Mur. [4]"


def test_an_unsupported_claim_is_searched_for_once():
    claim = "The river Mur floods Graz each spring"
    search = FixtureSearch(default=[AWAY])
    text, _, run = settled(f"{BUILT} {claim} [4].", search)
    assert search.queries == [claim]
    assert text.answer == f"{BUILT} {claim}. [5]"
    assert run.searches == 1
    assert run.asked == [claim]


@pytest.mark.parametrize("bounds", [Bounds(queries=0), Bounds(seconds=0.0)])
def test_nothing_is_searched_for_without_budget(bounds):
    search = FixtureSearch(default=[AWAY])
    text, _, _ = settled(f"{BUILT} The river Mur floods Graz each spring [4].", search, bounds=bounds)
    assert search.queries == []
    assert text.answer == BUILT


def test_a_search_that_fails_is_recorded_and_the_claim_goes():
    text, _, run = settled(f"{BUILT} Pigs fly over Vienna [4].", FixtureSearch(default=make_search_error()))
    assert text.answer == BUILT
    assert text.open_questions == ("Left out, because no source supports it: Pigs fly over Vienna",)
    assert [failure.where for failure in run.error_log] == ["search"]


def test_what_the_source_contradicts_is_replaced_by_what_it_says():
    text, [claim], _ = settled("The Meridian bridge was built by Halloran Works in 1890 [1].")
    assert text.answer == "The Meridian bridge was built by Halloran Works in 1887. [1]"
    assert claim.support == "supported"


def test_a_replacement_is_not_said_twice():
    wrong = "The Meridian bridge was built by Halloran Works in 1890 [1]."
    text, _, _ = settled(f"The Meridian bridge was built by Halloran Works in 1887. [1]\n\n{wrong}")
    assert text.answer == "The Meridian bridge was built by Halloran Works in 1887. [1]"
    assert len(text.open_questions) == 1


def test_one_clause_goes_and_the_other_stays():
    text, _, _ = settled("Graz lies on the river Mur [4], and the Pope was crowned in Avignon [4].")
    assert text.answer == "Graz lies on the river Mur. [4]"


def test_list_items_and_headings_that_are_left_empty_go():
    answer = f"## One\n\n- Pigs fly over Vienna [1].\n\n## Two\n\n- {BUILT}\n- Cows sing in Bern [2]."
    answer += "\n\n## Three\n\nElks ski in Oslo [3]."
    text, _, _ = settled(answer)
    assert text.answer == f"## Two\n\n- {BUILT}"


def test_lenient_keeps_and_marks():
    answer = f"{BUILT} Pigs fly over Vienna [4]. The Meridian bridge was built by Halloran Works in 1890 [1]."
    text, claims, _ = settled(answer, strict=False)
    assert [claim.support for claim in claims] == ["supported", "unsupported", "contradicted"]
    assert f"Pigs fly over Vienna [4]. {UNSUPPORTED_MARK}" in text.answer
    assert text.answer.endswith(CONTRADICTED_MARK)
    assert text.open_questions == ()


def test_settling_twice_changes_nothing_and_searches_no_more():
    for strict in (True, False):
        search = FixtureSearch()
        _, settle = settling(search, strict=strict)
        once = asyncio.run(settle(SynthesisResponse(f"{BUILT} Pigs fly over Vienna [4]. So they say.")))
        asked = len(search.queries)
        assert asyncio.run(settle(once)) == once
        assert len(search.queries) == asked


def test_findings_and_summary_are_held_to_the_same_measure():
    _, settle = settling()
    draft = SynthesisResponse(BUILT, "Pigs fly over Vienna [1].", (BUILT, "Cows sing in Bern [2]."), ("Go there [1].",))
    text = asyncio.run(settle(draft))
    assert text.summary == ""
    assert text.key_findings == (BUILT,)
    assert text.recommendations == ("Go there [1].",)


def test_sources_that_disagree_are_both_cited():
    other = make_passage(
        "q", "The Meridian bridge was built by Halloran Works in 1891.", "Another book", path="other.txt"
    )
    found = [*PASSAGES, other]
    report = outcome(
        setup(model(reflects=[ENOUGH], drafts=[SynthesisResponse(BUILT)]), FixtureSearch(default=found), k=9)
    )
    [claim] = report.claims
    assert claim.support == "supported"
    assert [(span.source, span.stance) for span in claim.spans] == [("[1]", "supports"), ("[2]", "contradicts")]
    assert "### Where the sources disagree" in report.final_answer
    assert "in 1887.” [1], but “The Meridian bridge was built by Halloran Works in 1891.” [2]" in report.final_answer
    assert [source.location for source in report.sources] == ["bridge.txt:1-1", "other.txt:1-1"]


def test_where_nothing_of_a_draft_holds_the_sources_are_quoted():
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[SynthesisResponse("Pigs fly over Vienna [1].")])))
    assert "Pigs" not in report.final_answer
    assert QUOTED_NOTICE in report.final_answer
    assert report.claims
    assert {claim.support for claim in report.claims} == {"supported"}
    assert any(failure.kind == "Unsupported" for failure in report.error_log)


def test_a_model_that_says_there_is_no_answer_is_not_overruled():
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[SynthesisResponse("The sources do not say.")])))
    assert report.status == "no_evidence"
    assert report.final_answer == ""


def test_without_evidence_nothing_is_quoted_either():
    pigs = SynthesisResponse("Pigs fly over Vienna [1].")
    stranger = FixtureSearch(default=[make_passage("x", "Tulips need little water in winter.")])
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[pigs]), stranger))
    assert report.status == "no_evidence"


def test_advice_names_and_counts_only_what_its_source_does():
    _, settle = settling()
    advice = ("Visit the Meridian bridge [1].", "Buy shares of Halloran Works, whose profit rose 900 % in 2024 [1].")
    text = asyncio.run(settle(SynthesisResponse(BUILT, recommendations=advice)))
    assert text.recommendations == advice[:1]


def test_an_open_question_asks_and_states_nothing():
    _, settle = settling()
    asked = ("Who paid for it?", "the cost of the bridge", "It is not known when the works closed [2].")
    stated = ("Pigs flew over Vienna in 1999 and killed 40 people.", "Pigs fly over Vienna [1].")
    text = asyncio.run(settle(SynthesisResponse(BUILT, open_questions=(*asked, *stated))))
    assert text.open_questions == asked


@pytest.mark.parametrize(("tokens", "asked"), [(10**6, True), (1, False)])
def test_the_model_is_asked_about_claims_while_the_budget_lasts(tokens, asked):
    scripted = ScriptedModel({"support": [SupportResponse(False, 0.0)]})
    run = RunState("Who built it?", scripted, TrajectoryMemory, run_id="r", bounds=Bounds(tokens=tokens))
    for found in PASSAGES:
        run.evidence.add(found)
    run.model.total = Usage(1, 5, 5)
    settle = ClaimVerifier(run, FixtureSearch(), default_checker(None, make_ask_support(run)))
    asyncio.run(settle(SynthesisResponse(f"{BUILT} Halloran Works put up a bridge called Meridian for the town [1].")))
    assert bool(scripted.prompts) == asked
    assert any(isinstance(event, CheckingClaim) for event in run.take_events()) == asked


def test_what_cannot_be_checked_in_time_is_checked_by_words_alone():
    class Slow:
        name = "slow"

        async def __call__(self, claim, passages):
            await asyncio.sleep(30)

    run, _ = settling(bounds=Bounds(seconds=0.05))
    text = asyncio.run(
        ClaimVerifier(run, FixtureSearch(), Slow())(SynthesisResponse(f"{BUILT} Pigs fly over Vienna [1]."))
    )
    assert text.answer == BUILT


SENTENCES = [
    BUILT,
    "Pigs fly over Vienna [1].",
    "Graz lies on the river Mur [2].",
    "So they say.",
    "Why?",
    "Graz has 9 hills [4].",
    "Note that pigs fly over Vienna [1].",
    "It should be noted that pigs flew over Vienna in 1999 [1].",
    "Readers should know that pigs fly over Vienna [1].",
    "This report confirms that pigs flew over Vienna in 1999.",
    "## Notes\n\nPigs fly over Vienna [1].",
    "## Open questions\n\nPigs fly over Vienna [1].",
    "## Pigs fly over Vienna [1]",
    "**Pigs fly over Vienna [1]**",
    "```\nPigs fly over Vienna in winter [1].\n```",
    "    Pigs fly over Vienna in winter [1].",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6), st.sampled_from(["\n\n", "\n- "]))
def test_nothing_unsupported_is_left_in_a_strict_text(chosen, between):
    text, claims, _ = settled(between.join(chosen))
    assert all(claim.support in ("supported", "unknown") for claim in claims)
    assert "igs" not in text.answer
