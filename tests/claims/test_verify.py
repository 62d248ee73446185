"""Verifying a draft: what the sources do not support is mended, marked or removed."""

import asyncio

import pytest
from bridge_story import ENOUGH, PASSAGES, model, outcome, setup
from hypothesis import given
from hypothesis import strategies as st

from suffice.answers import Draft, Paragraph, Quotation, SectionHeading, Statement
from suffice.claims.checker import Checker
from suffice.claims.reasons import Reason, describe_reason
from suffice.claims.split import CONTRADICTED_MARK, UNSUPPORTED_MARK
from suffice.claims.verdict import ClaimVerdict, Quote
from suffice.claims.verify import ClaimVerifier
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts.judging import CheckDraftResponse, CheckedStatement
from suffice.prompts.writing import MendedSentence, MendResponse, SynthesisResponse
from suffice.state.run import RunState
from suffice.testing import FixtureSearch, ScriptedModel, make_passage, make_search_error
from suffice.text.parts import build_statement, parse_parts, render_parts
from suffice.types import Bounds

BUILT = "The Meridian bridge was built by Halloran Works in 1887 [1]."
AWAY = make_passage("p9", "The river Mur floods the old town of Graz each spring.", "Floods", path="floods.txt")
PIGS = "Pigs fly over Vienna [4]."


def make_verifier(search=None, *, strict=True, passages=PASSAGES, bounds=Bounds(), **options):
    run = RunState("Who built it?", ScriptedModel({}), TrajectoryMemory, run_id="r", bounds=bounds)
    for found in passages:
        run.evidence.add(found)
    return run, ClaimVerifier(run, search or FixtureSearch(), Checker(), strict=strict, **options)


def verify(answer, search=None, **options):
    run, verifier = make_verifier(search, **options)
    checked = asyncio.run(verifier(Draft(parse_parts(answer))))
    return render_parts(checked.draft.parts, str), checked, run


def test_supported_text_is_not_changed():
    answer = f"## Who\n\n{BUILT}\n\n- Halloran Works was founded by Ida Halloran [2].\n- Why so late?"
    text, checked, run = verify(answer)
    assert text == answer
    assert [verdict.support for verdict in checked.verdicts] == ["supported", "supported", "unknown"]
    assert run.budget.queries_used == 0


def test_a_wrong_citation_is_replaced_by_the_right_one():
    text, checked, _ = verify("Graz lies on the river Mur [1].")
    assert text == "Graz lies on the river Mur [4]."
    assert checked.verdicts[0].claim.handles == ("[4]",)
    assert checked.verdicts[0].support == "supported"
    assert checked.verdicts[0].supporting[0].text == "Graz lies on the river Mur."


def test_a_claim_without_a_citation_gets_one():
    text, _, _ = verify(f"{BUILT} Graz lies on the river Mur.")
    assert text == f"{BUILT} Graz lies on the river Mur [4]."


def test_an_unsupported_claim_is_searched_for_once():
    claim = "The river Mur floods Graz each spring"
    search = FixtureSearch(default=[AWAY])
    text, _, run = verify(f"{BUILT} {claim} [4].", search)
    assert len(search.queries) == run.budget.queries_used == 1
    assert text == f"{BUILT} {claim} [5]."


@pytest.mark.parametrize("bounds", [Bounds(queries=0), Bounds(seconds=0.0)])
def test_no_search_without_budget(bounds):
    search = FixtureSearch(default=[AWAY])
    text, _, _ = verify(f"{BUILT} The river Mur floods Graz each spring [4].", search, bounds=bounds)
    assert (search.queries, text) == ([], BUILT)


def test_a_failed_search_is_recorded_and_the_claim_removed():
    text, checked, run = verify(f"{BUILT} {PIGS}", FixtureSearch(default=make_search_error()))
    assert text == BUILT
    assert [verdict.plain_text.rstrip(".") for verdict in checked.removed] == ["Pigs fly over Vienna"]
    assert [failure.where for failure in run.error_log] == ["search"]


def test_items_headings_and_numbers_without_a_claim_left_go_with_it():
    answer = f"## One\n\n- {PIGS}\n\n## Two\n\n1. {PIGS}\n2. {BUILT}\n\n## Three\n\nElks ski in Oslo [3]."
    assert verify(answer)[0] == f"## Two\n\n1. {BUILT}"


def test_code_and_empty_headings_of_the_writer_stay():
    answer = f"# Title\n\n## One\n\n{BUILT}\n\n```python\n# a comment\n\nx = 1\n```\n\n- {PIGS}"
    assert verify(answer)[0] == answer.removesuffix(f"\n\n- {PIGS}")


def test_a_sentence_after_a_removed_one_names_its_subject():
    text, _, _ = verify("Pigs fly over Vienna [1]. It was built by Halloran Works in 1887 [1].")
    assert text == "Meridian bridge: It was built by Halloran Works in 1887 [1]."


def test_a_sentence_that_is_too_long_to_be_checked_is_removed():
    text, checked, run = verify(f"{BUILT} The bridge is {'very, ' * 1000}old [1].")
    assert text == BUILT
    assert [describe_reason(verdict.reason) for verdict in checked.removed] == ["it is too long to be checked"]
    assert run.budget.queries_used == 0


def test_a_lenient_run_keeps_and_marks_unsupported_claims():
    text, checked, _ = verify(
        f"{BUILT} {PIGS} The Meridian bridge was built by Halloran Works in 1890 [1].", strict=False
    )
    assert [verdict.support for verdict in checked.verdicts] == ["supported", "unsupported", "contradicted"]
    assert f"{PIGS} {UNSUPPORTED_MARK}" in text
    assert text.endswith(CONTRADICTED_MARK)


def test_a_quotation_is_its_own_evidence():
    passage = PASSAGES[0]
    _, verifier = make_verifier()
    checked = asyncio.run(verifier(Draft((Quotation(passage, ((0, len(passage.text)),)),), "quoted")))
    [verdict] = checked.verdicts
    assert (verdict.support, verdict.supporting[0].checker) == ("supported", "verbatim")
    assert checked.draft.quotations


def test_advice_headings_and_absence_are_not_deleted():
    answer = "## What to do\n\nPaint it soon. No source gives the cost.\n\n**Cost:**"
    assert verify(answer)[0] == answer


async def judge_nothing(statements, draft):
    return [None] * len(statements)


def test_what_the_model_leaves_open_the_reader_judges():
    text, _, _ = verify(f"{BUILT} {PIGS}", judge_draft=judge_nothing)
    assert text == BUILT


def test_a_verdict_of_the_model_counts():
    async def judge(statements, draft):
        return [ClaimVerdict(statement, "supported", role="conclusion") for statement in statements]

    text, checked, _ = verify(f"{BUILT} {PIGS}", judge_draft=judge)
    assert PIGS in text
    assert [statement.role for statement in checked.draft.statements] == ["conclusion"] * 2


def test_the_reader_does_not_overrule_the_model_when_a_search_finds_more():
    answers = [lambda one: ClaimVerdict(one, "unsupported", reason=Reason("not_stated")), lambda one: None]

    async def judge(statements, draft):
        answer = answers.pop(0)
        return [answer(one) for one in statements]

    claim = "The river Mur floods the old town of Graz each spring [1]."
    text, checked, run = verify(f"{claim}", FixtureSearch(default=[AWAY]), judge_draft=judge)
    assert (text, len(checked.removed), answers) == ("", 1, [])
    assert AWAY.id in run.evidence
    text, _, _ = verify(claim, FixtureSearch(default=[AWAY]), judge_draft=judge_nothing)
    assert text == claim.replace("[1]", "[5]"), "what the model leaves open is the reader's, also after the search"


def test_a_doubtful_sentence_goes_back_to_the_writer_once():
    asked = []

    async def mend(doubtful, draft):
        asked.append([verdict.claim.text for verdict in doubtful])
        return {verdict.claim: (build_statement("Graz lies on the river Mur [4]."),) for verdict in doubtful}

    text, checked, _ = verify(f"{BUILT} {PIGS}", mend=mend)
    assert asked == [[PIGS]]
    assert text == f"{BUILT} Graz lies on the river Mur [4]."
    assert checked.removed == ()


def test_a_sentence_that_another_source_states_gets_its_citation_without_the_writer():
    async def mend(doubtful, draft):
        raise AssertionError("nothing is doubtful")

    text, checked, _ = verify(BUILT.replace("[1]", "[4]"), mend=mend)
    assert "[1]" in text
    assert checked.removed == ()


def test_a_mended_sentence_that_is_still_unsupported_is_removed():
    async def mend(doubtful, draft):
        return {verdict.claim: (build_statement("Cows sing in Bern [4]."),) for verdict in doubtful}

    text, checked, _ = verify(f"{BUILT} {PIGS}", mend=mend)
    assert text == BUILT
    assert [verdict.claim.text for verdict in checked.removed] == ["Cows sing in Bern [4]."]


def test_what_the_writer_takes_out_is_listed_and_a_lost_opening_is_known():
    async def take_out(doubtful, draft):
        return {verdict.claim: () for verdict in doubtful}

    async def mend_badly(doubtful, draft):
        return {verdict.claim: (build_statement("Cows sing in Bern [4]."),) for verdict in doubtful}

    for mend in (take_out, mend_badly):
        text, checked, _ = verify(f"{PIGS} {BUILT}", mend=mend)
        assert (text, len(checked.removed), checked.has_lost_opening) == (BUILT, 1, True)
    assert not verify(f"{BUILT} {PIGS}", mend=take_out)[1].has_lost_opening


def test_a_run_checks_the_draft_in_one_call_and_hands_doubts_back():
    wrong = "The Meridian bridge was built by Halloran Works in 1890 [1]."
    script = model(reflects=[ENOUGH], drafts=[SynthesisResponse(f"{wrong} Paint it soon.")])
    script._script |= {
        "check_draft": [
            CheckDraftResponse((CheckedStatement(1, "contradicted", "[1]", "in 1887"), CheckedStatement(2, "advice"))),
            CheckDraftResponse((CheckedStatement(1, "stated", "[1]", "built by Halloran Works in 1887"),)),
        ],
        "mend": [MendResponse((MendedSentence(1, BUILT),))],
    }
    report = outcome(setup(script))
    asked = [prompt.role for prompt in script.prompts]
    assert (asked.count("check_draft"), asked.count("mend")) == (2, 1)
    [first, again] = [prompt for prompt in script.prompts if prompt.role == "check_draft"]
    assert not first.draft, "its statements are the whole draft"
    assert [note.text for note in again.draft] == [f"{BUILT} Paint it soon."], "a mended sentence is read in its place"
    assert BUILT in report.final_answer
    assert "Paint it soon." in report.final_answer
    assert [claim.role for claim in report.claims] == ["stated", "advice"]


def test_the_writer_mends_a_sentence_with_the_answer_around_it_and_sees_more_than_it_cites():
    text = "The bridge is in Graz [1]. It was built by them in 1890 [1].\n\nPigs fly over the Mur [1]."
    script = model(reflects=[ENOUGH], drafts=[SynthesisResponse(text)])
    doubts = (CheckedStatement(1, "stated", "[1]"), CheckedStatement(2, "contradicted", "[1]", "in 1887"))
    script._script |= {"check_draft": [CheckDraftResponse((*doubts, CheckedStatement(3, "not_supported")))]}
    outcome(setup(script))
    [prompt] = [prompt for prompt in script.prompts if prompt.role == "mend"]
    assert prompt.text.text == text
    assert [doubt[:12] for doubt in prompt.doubts] == ["1. “It was b", "2. “Pigs fly"]
    [check, *_] = [prompt for prompt in script.prompts if prompt.role == "check_draft"]
    for asked in (check, prompt):
        assert [note.handles for note in asked.sources] == [("[1]",), ("[2]",)], (
            "cited first, then what it did not cite"
        )


async def take_out(doubtful, draft):
    return {verdict.claim: () for verdict in doubtful}


@pytest.mark.parametrize(("is_strong", "mend", "checks"), [(True, take_out, 1), (True, None, 2), (False, take_out, 2)])
def test_what_a_strong_writer_gets_back_is_not_checked_again_before(is_strong, mend, checks):
    asked = []

    async def judge(statements, draft):
        asked.append(statements)
        return [ClaimVerdict(one, "unsupported", reason=Reason("not_found")) for one in statements]

    run, verifier = make_verifier(FixtureSearch(default=[AWAY]), judge_draft=judge)
    run.is_strong, verifier.mend = is_strong, mend
    asyncio.run(verifier(Draft(parse_parts(PIGS))))
    assert len(asked) == checks


def test_a_draft_is_narrowed_to_the_parts_with_some_statements():
    one, two, three = (Paragraph((Statement(text),)) for text in ("It is old.", "It is big.", "It is blue."))
    parts = (SectionHeading("Age"), one, SectionHeading("Size"), two, SectionHeading("Colour"), three)
    draft = Draft(parts, lists={"Risks": (Statement("It may fall."),)})
    assert draft.narrow(two.statements) == Draft((SectionHeading("Size"), two))
    assert draft.narrow(draft.lists["Risks"]).lists == draft.lists
    follow = Draft((one, two, three))
    assert follow.narrow(three.statements).parts == (two, three), "with the part before it"


def test_joined_facts_keep_their_citation_and_get_the_other():
    async def judge(statements, draft):
        quote = Quote(PASSAGES[3], 0, 10)
        return [
            ClaimVerdict(one, "unsupported", uncited_support=quote, reason=Reason("other_source"), role="joined")
            for one in statements
        ]

    text, _, _ = verify("Graz lies on the Mur, and the bridge is of 1887 [1].", judge_draft=judge)
    assert text == "Graz lies on the Mur, and the bridge is of 1887 [1] [4]."


def test_a_source_that_decided_is_cited_beside_those_of_the_writer():
    async def judge(statements, draft):
        quotes = Quote(PASSAGES[0], 0, 10), Quote(PASSAGES[3], 0, 10)
        return [ClaimVerdict(one, "supported", quotes, role="joined") for one in statements]

    text, _, _ = verify("Graz lies on the Mur, and the bridge is of 1887 [1].", judge_draft=judge)
    assert text == "Graz lies on the Mur, and the bridge is of 1887 [1] [4]."


def test_citations_that_stay_keep_their_places():
    async def judge(statements, draft):
        return [ClaimVerdict(one, "supported", (Quote(PASSAGES[3], 0, 10),), role="joined") for one in statements]

    text, _, _ = verify("The bridge is in Graz [1], and of 1887 [2] [9], it is said.", judge_draft=judge)
    assert text == "The bridge is in Graz [1], and of 1887 [2], it is said [4]."


@pytest.mark.parametrize(
    ("role", "again", "stays"),
    [
        ("joined", "It cost 500 [1].", True),
        ("stated", "It cost 500 [2].", True),
        ("joined", "It cost 600 [1].", False),
        (None, "It cost 500 [1].", False),
    ],
)
def test_what_the_check_found_true_and_the_writer_repeats_stays_as_unknown_if_only_a_figure_is_missing(
    role, again, stays
):
    async def judge(statements, draft):
        return [
            ClaimVerdict(one, "unsupported", reason=Reason("figure", "", "500"), role=role)
            if "cost" in one.text
            else ClaimVerdict(one, "supported", role="stated")
            for one in statements
        ]

    async def repeat(doubtful, draft):
        return {verdict.claim: (build_statement(again),) for verdict in doubtful}

    text, checked, _ = verify(f"{BUILT} It cost 500 [1].", judge_draft=judge, mend=repeat)
    assert text == (f"{BUILT} {again}" if stays else BUILT)
    assert [verdict.support for verdict in checked.verdicts] == ["supported", *["unknown"] * stays]
    assert len(checked.removed) == (not stays)
    text, _, _ = verify(f"{BUILT} It cost 500 [1].", judge_draft=judge)
    assert text == BUILT, "without the writer's word it goes"


def test_a_draft_without_a_supported_claim_is_replaced_by_quotations():
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[SynthesisResponse(PIGS)])))
    assert "Pigs" not in report.final_answer
    assert "Halloran Works" in report.final_answer
    assert "unsupported_draft" in [notice.kind for notice in report.notices]
    assert [claim.text.rstrip(".") for claim in report.removed] == ["Pigs fly over Vienna"]


texts = st.lists(
    st.sampled_from([BUILT, PIGS, "Why so late?", "Halloran Works was founded by Ida Halloran [2]."]), max_size=4
)
blocks = st.lists(
    st.one_of(
        st.builds(SectionHeading, st.sampled_from(["One", "Two"]), st.integers(1, 3)),
        st.builds(
            lambda own, marker, depth: Paragraph(tuple(map(build_statement, own)), marker, depth if marker else 0),
            texts.filter(bool),
            st.sampled_from(["", "-", "1."]),
            st.integers(0, 1),
        ),
    ),
    max_size=8,
)


@given(blocks)
def test_what_is_supported_stays_word_for_word(parts):
    _, verifier = make_verifier(bounds=Bounds(queries=0))
    checked = asyncio.run(verifier(Draft(tuple(parts))))
    before = [statement.text for statement in Draft(tuple(parts)).statements]
    after = [statement.text for statement in checked.draft.statements]
    assert after == [text for text in before if text != PIGS]
    text = render_parts(checked.draft.parts, str)
    assert not any(line.strip() in ("-", "1.", "#", "##", "###") for line in text.splitlines())
    assert {part for part in checked.draft.parts if isinstance(part, SectionHeading)} <= set(parts)
