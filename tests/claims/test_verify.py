"""Verifying a draft: what the sources do not support is fixed, marked or removed."""

import asyncio
from functools import partial

import pytest
from bridge_story import ENOUGH, PASSAGES, model, outcome, setup
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.claims.checker import Checker
from suffice.claims.split import CONTRADICTED_MARK, UNSUPPORTED_MARK
from suffice.claims.verify import ClaimVerifier
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts import SynthesisResponse
from suffice.report.build import QUOTED_NOTICE
from suffice.report.draft import clean_draft
from suffice.state.run import RunState
from suffice.testing import FixtureSearch, ScriptedModel, make_passage, make_search_error
from suffice.types import Bounds

BUILT = "The Meridian bridge was built by Halloran Works in 1887 [1]."
AWAY = make_passage("p9", "The river Mur floods the old town of Graz each spring.", "Floods", path="floods.txt")


def make_verifier(search=None, *, checker=None, strict=True, passages=PASSAGES, bounds=Bounds()):
    run = RunState("Who built it?", ScriptedModel({}), TrajectoryMemory, run_id="r", bounds=bounds)
    for found in passages:
        run.evidence.add(found)
    clean = partial(clean_draft, run)
    return run, ClaimVerifier(run, search or FixtureSearch(), checker or Checker(), clean, strict=strict)


def verify(answer, search=None, **options):
    run, verifier = make_verifier(search, **options)
    text = asyncio.run(verifier(SynthesisResponse(answer)))
    return text, verifier.get_verdicts(text), run


def test_supported_text_is_not_changed():
    answer = f"## Who\n\n{BUILT}\n\n- Halloran Works was founded by Ida Halloran [2].\n- Why so late?"
    text, claims, run = verify(answer)
    assert text.answer == answer
    assert [claim.support for claim in claims] == ["supported", "supported", "unknown"]
    assert run.budget.queries_used == 0


def test_a_wrong_citation_is_replaced_by_the_right_one():
    text, [claim], _ = verify("Graz lies on the river Mur [1].")
    assert text.answer == "Graz lies on the river Mur. [4]"
    assert claim.support == "supported"


def test_a_claim_without_a_citation_gets_one():
    text, _, _ = verify(f"{BUILT} Graz lies on the river Mur.")
    assert text.answer == f"{BUILT} Graz lies on the river Mur. [4]"


def test_an_unsupported_claim_is_searched_for_once():
    claim = "The river Mur floods Graz each spring"
    search = FixtureSearch(default=[AWAY])
    text, _, run = verify(f"{BUILT} {claim} [4].", search)
    assert search.queries == [claim]
    assert text.answer == f"{BUILT} {claim}. [5]"
    assert run.budget.queries_used == 1
    assert run.searches.queries == [claim]


@pytest.mark.parametrize("bounds", [Bounds(queries=0), Bounds(seconds=0.0)])
def test_no_search_without_budget(bounds):
    search = FixtureSearch(default=[AWAY])
    text, _, _ = verify(f"{BUILT} The river Mur floods Graz each spring [4].", search, bounds=bounds)
    assert search.queries == []
    assert text.answer == BUILT


def test_a_failed_search_is_recorded_and_the_claim_removed():
    text, _, run = verify(f"{BUILT} Pigs fly over Vienna [4].", FixtureSearch(default=make_search_error()))
    assert text.answer == BUILT
    assert text.open_questions == ("Left out, because no source supports it: Pigs fly over Vienna",)
    assert [failure.where for failure in run.error_log] == ["search"]


def test_empty_list_items_and_headings_are_removed():
    answer = f"## One\n\n- Pigs fly over Vienna [1].\n\n## Two\n\n- {BUILT}\n- Cows sing in Bern [2]."
    answer += "\n\n## Three\n\nElks ski in Oslo [3]."
    text, _, _ = verify(answer)
    assert text.answer == f"## Two\n\n- {BUILT}"


CODE = """```python
# Comment, followed by two blank lines.


x = 1

# Another comment.
y = x + 1
```"""


def test_code_is_not_changed_when_a_line_is_removed():
    text, _, _ = verify(
        f"## One\n\n{BUILT}\n\n{CODE}\n\n- Pigs fly over Vienna [1].\n\n## Two\n\nCows sing in Bern [2]."
    )
    assert text.answer == f"## One\n\n{BUILT}\n\n{CODE}"


def test_removing_several_lines_keeps_the_others_in_place():
    answer = f"## Empty\n\n## One\n\n- Pigs fly over Vienna [1].\n- {BUILT}\n\n## Two\n\nCows sing in Bern [2]."
    text, _, _ = verify(answer)
    assert text.answer == f"## One\n\n- {BUILT}"


def test_a_lenient_run_keeps_and_marks_unsupported_claims():
    answer = f"{BUILT} Pigs fly over Vienna [4]. The Meridian bridge was built by Halloran Works in 1890 [1]."
    text, claims, _ = verify(answer, strict=False)
    assert [claim.support for claim in claims] == ["supported", "unsupported", "contradicted"]
    assert f"Pigs fly over Vienna [4]. {UNSUPPORTED_MARK}" in text.answer
    assert text.answer.endswith(CONTRADICTED_MARK)
    assert text.open_questions == ()


def test_verifying_twice_changes_nothing_and_searches_no_more():
    for strict in (True, False):
        search = FixtureSearch()
        _, verifier = make_verifier(search, strict=strict)
        once = asyncio.run(verifier(SynthesisResponse(f"{BUILT} Pigs fly over Vienna [4]. So they say.")))
        asked = len(search.queries)
        assert asyncio.run(verifier(once)) == once
        assert len(search.queries) == asked


def test_findings_and_summary_are_verified_too():
    _, verifier = make_verifier()
    draft = SynthesisResponse(BUILT, "Pigs fly over Vienna [1].", (BUILT, "Cows sing in Bern [2]."), ("Go there [1].",))
    text = asyncio.run(verifier(draft))
    assert text.summary == ""
    assert text.key_findings == (BUILT,)
    assert text.recommendations == ("Go there [1].",)


def test_disagreeing_sources_are_both_cited():
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


def test_sources_are_quoted_when_no_claim_is_supported():
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[SynthesisResponse("Pigs fly over Vienna [1].")])))
    assert "Pigs" not in report.final_answer
    assert QUOTED_NOTICE in report.final_answer
    assert report.claims
    assert {claim.support for claim in report.claims} == {"supported"}
    assert any(failure.kind == "Unsupported" for failure in report.error_log)


def test_without_evidence_nothing_is_quoted():
    pigs = SynthesisResponse("Pigs fly over Vienna [1].")
    stranger = FixtureSearch(default=[make_passage("x", "Tulips need little water in winter.")])
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[pigs]), stranger))
    assert report.status == "no_evidence"


def test_advice_with_unsourced_names_or_numbers_is_removed():
    _, verifier = make_verifier()
    advice = ("Visit the Meridian bridge [1].", "Buy shares of Halloran Works, whose profit rose 900 % in 2024 [1].")
    text = asyncio.run(verifier(SynthesisResponse(BUILT, recommendations=advice)))
    assert text.recommendations == advice[:1]


def test_open_questions_that_state_something_are_removed():
    _, verifier = make_verifier()
    asked = ("Who paid for it?", "the cost of the bridge", "It is not known when the works closed [2].")
    stated = ("Pigs flew over Vienna in 1999 and killed 40 people.", "Pigs fly over Vienna [1].")
    text = asyncio.run(verifier(SynthesisResponse(BUILT, open_questions=(*asked, *stated))))
    assert text.open_questions == asked


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
def test_a_strict_text_has_no_unsupported_claim(chosen, between):
    text, claims, _ = verify(between.join(chosen))
    assert all(claim.support in ("supported", "unknown") for claim in claims)
    assert "igs" not in text.answer


GOES_BACK = "The firm that put up the Meridian bridge in 1887 goes back to Ida Halloran"


def test_footnotes_of_a_source_are_no_citations_where_a_removed_claim_is_listed():
    footnote = make_passage("p8", "The Meridian bridge was painted green by Halloran Works in 1931.[89]", "Paint")
    text, _, _ = verify(
        f"{BUILT} The Meridian bridge was painted red by a guild of bakers in 1931 [5].", passages=[*PASSAGES, footnote]
    )
    assert any("painted red" in line for line in text.open_questions)
    assert not any("[89]" in line for line in text.open_questions)
