"""The report of a finished run: its citations, sources, claims and status."""

from dataclasses import replace

import pytest
from bridge_story import ENOUGH, PASSAGES, asking, kinds, model, outcome, play, roles, setup

from suffice.errors import ModelError
from suffice.events import PromptCompacted, SearchStopped
from suffice.prompts.judging import Evaluation, EvaluationIssue
from suffice.prompts.writing import SynthesisResponse
from suffice.settings import ReviewRules
from suffice.testing import FixtureSearch, make_passage
from suffice.text.citations import drop_unknown_citations
from suffice.text.markdown import strip_markdown
from suffice.types import Bounds, Passage, Place

DRAFT = (
    "Graz lies on the Mur [4]. The bridge was built in 1887 [1], and Graz lies on a river [4]. Ida Halloran moved [3]."
)

RATE = "Unemployment Rate (UNRATE), 2024-05: 4.0 Percent."
FRED = Passage(
    "FRED:UNRATE:2024-05", RATE, "Unemployment Rate", Place("https://fred.stlouisfed.org/series/UNRATE"), "data"
)


def report_on(*drafts, search=None, **options):
    return outcome(setup(model(reflects=[ENOUGH], drafts=drafts), search or FixtureSearch(default=PASSAGES), **options))


def test_an_invented_citation_is_dropped_and_recorded():
    report = report_on(SynthesisResponse("Halloran Works built it [1] [99]. It is tall [77].", "Built [99] [1]."))
    assert "[99]" not in report.final_answer + report.summary
    assert "[77]" not in report.final_answer
    assert "It is tall." in report.final_answer
    assert [source.id for source in report.sources] == ["[1]"]
    logged = [failure.message for failure in report.error_log if failure.where == "citations"]
    assert any("[99]" in message for message in logged)
    assert any("[77]" in message for message in logged)


def test_citations_are_renumbered_without_gaps_in_order_of_first_citation():
    report = report_on(SynthesisResponse(DRAFT))
    assert DRAFT.replace("[4]", "[x]").replace("[1]", "[2]").replace("[x]", "[1]") in report.final_answer
    assert [(source.id, source.title) for source in report.sources] == [
        ("[1]", "Graz"),
        ("[2]", "Meridian bridge"),
        ("[3]", "Ida Halloran"),
    ]
    assert report.summary == "Graz lies on the Mur [1]."


def test_citations_in_the_reviewers_issues_are_renumbered_too():
    named = EvaluationIssue("grounded", "", "[4] says it, [2] and [9] do not.")
    script = model(reflects=[ENOUGH], drafts=[SynthesisResponse("Graz lies on the Mur [4].")])
    script._script |= {"evaluate": [Evaluation(*[9] * 6, issues=(named,))]}
    report = outcome(setup(script, FixtureSearch(default=PASSAGES), review=ReviewRules()))
    [judged] = report.metadata["review"]["rounds"]
    [line] = judged["issues"]
    assert "[1] says it" in line
    assert "[2]" not in line
    assert "[9]" not in line


def test_citations_in_the_lists_are_renumbered_too():
    answer, finding, risk = (
        "Halloran Works was founded [2].",
        "Graz lies on a river [4].",
        "Ida Halloran moved to Trieste [3].",
    )
    draft = SynthesisResponse(answer, "", (finding,), ("Visit the works [2].",), (risk,), ("What of [4]?",))
    config = setup(model(reflects=[ENOUGH], drafts=[draft]), FixtureSearch(default=PASSAGES))
    report = outcome(replace(config, task="What do you recommend about the Meridian bridge, and what are the risks?"))
    assert report.key_findings == ("Graz lies on a river [2].",)
    assert report.recommendations == ("Visit the works [1].",)
    assert report.risks == ("Ida Halloran moved to Trieste [3].",)
    assert report.open_questions == ("What of [2]?",)
    assert [source.title for source in report.sources] == ["Halloran Works", "Graz", "Ida Halloran"]


def test_several_sources_in_one_bracket_are_checked_one_by_one():
    both = "The bridge was built in 1887, and Graz lies on the river Mur [4, 1]. "
    report = report_on(SynthesisResponse(both + "Halloran Works was founded by Ida Halloran [2, 99]."))
    assert report.status == "answered"
    assert "99" not in report.final_answer
    assert [source.title for source in report.sources] == ["Graz", "Meridian bridge", "Halloran Works"]
    assert report.claims[0].citations == ("[1]", "[2]")
    assert report.claims[-1].citations == ("[3]",)


def test_one_source_is_listed_once_however_its_number_is_written():
    report = report_on(SynthesisResponse("One [1]. The same [01]."))
    assert len({source.location for source in report.sources}) == len(report.sources)


def test_a_quote_is_found_across_line_breaks_with_its_line_numbers():
    text = "Heading of the page\n\nThe bridge was built\nby Halloran Works\nin 1887. It is long.\nNothing more."
    search = FixtureSearch(default=[make_passage("x", text, "Page", path="page.txt")])
    report = report_on(SynthesisResponse("The bridge was built by Halloran Works in 1887. [1]"), search=search)
    (claim,) = report.claims
    assert claim.support == "supported"
    assert claim.citations == ("[1]",)
    (span,) = claim.spans
    assert span.quote == "The bridge was built\nby Halloran Works\nin 1887."
    assert span.location == "page.txt:3-5"
    assert report.sources[0].location == "page.txt:1-6"


def test_a_false_claim_is_unsupported_and_an_empty_phrase_unknown():
    draft = SynthesisResponse("Halloran Works was founded by Ida Halloran [2]. Pigs fly [1]. So they say.")
    assert [claim.support for claim in report_on(draft, strict=False).claims] == ["supported", "unsupported", "unknown"]
    assert [claim.support for claim in report_on(draft).claims] == ["supported", "unknown"]


@pytest.mark.parametrize("text", ["", "I cannot help with that."])
def test_a_model_that_declines_to_write_is_named_and_the_sources_are_quoted(text):
    report = report_on(SynthesisResponse(text, "A summary.", ("A finding.",) if not text else ()))
    assert report.status == "partial"
    assert "declined to answer" in report.final_answer
    assert report.excerpts
    assert report.key_findings == ()
    assert [one.kind for one in report.error_log] == ["ModelDeclined"]


def test_a_model_that_says_what_no_source_states_has_not_declined():
    report = report_on(SynthesisResponse("The sources do not say it.", sufficiency="partly"))
    assert (report.status, report.final_answer) == ("no_evidence", "")
    assert report.claims == ()


@pytest.mark.parametrize("cited", ["", " [99]"])
def test_a_claim_without_a_citation_gets_the_source_that_supports_it(cited):
    report = report_on(SynthesisResponse(f"Halloran Works was founded by Ida Halloran{cited}."))
    assert report.status == "answered"
    [claim] = report.claims
    assert claim.support == "supported"
    assert claim.citations == ("[1]",)


def test_without_evidence_there_is_no_answer():
    the_model = model(reflects=[asking()])
    report = outcome(setup(the_model, FixtureSearch(), bounds=Bounds(rounds=3)))
    assert report.status == "no_evidence"
    assert report.final_answer == ""
    assert "draft" not in roles(the_model)
    assert len(report.failed_queries) == 3


def test_a_failed_writer_is_recorded():
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[ModelError("no words")])))
    assert (report.status, report.degraded_mode) == ("partial", True)
    assert "The Meridian bridge was built by Halloran Works" in strip_markdown(report.final_answer)
    assert "could not be used" in report.final_answer
    assert [(failure.where, failure.message) for failure in report.error_log] == [("draft", "no words")]


def test_the_bound_on_sources_limits_the_writer_and_not_the_search():
    the_model = model(reflects=[ENOUGH])
    events = play(setup(the_model, FixtureSearch(default=PASSAGES), bounds=Bounds(sources=2)))
    prompt = next(one for one in the_model.prompts if one.role == "draft").render()
    assert sum(found.text in prompt for found in PASSAGES) == 2
    assert PASSAGES[0].text in prompt, "the passage most similar to the question is among them"
    assert len(kinds(events, SearchStopped)[0].state["search_results"]) == 4
    assert any(event.whole == 2 and event.shortened == 2 for event in kinds(events, PromptCompacted))


def test_the_writers_prompt_stays_within_its_limit():
    """Evidence over 50,000 tokens is compacted before writing, too."""
    long = [make_passage(f"p{n}", f"Fact {n} about the bridge. " * 600, f"Chapter {n}") for n in range(15)]
    the_model = model(reflects=[ENOUGH])
    events = play(setup(the_model, FixtureSearch(default=long), k=15, bounds=Bounds(tokens=10**9)))
    assert kinds(events, PromptCompacted)
    for prompt in the_model.prompts:
        assert len(prompt.render()) / 4 < 52_000, prompt.role


def report_with_rates(draft):
    scripted = model(drafts=[SynthesisResponse(draft)])
    return outcome(setup(scripted, FixtureSearch(default=[PASSAGES[0], FRED]), "fixed(1)"))


def test_an_anchor_becomes_the_number_of_its_source():
    report = report_with_rates("Unemployment Rate (UNRATE), 2024-05: 4.0 Percent [FRED:UNRATE:2024-05].")
    assert "4.0 Percent [1]." in report.final_answer
    [source] = report.sources
    assert (source.type, source.url) == ("data", "https://fred.stlouisfed.org/series/UNRATE")
    assert report.claims[0].citations == ("[1]",)
    assert report.error_log == ()


@pytest.mark.parametrize("anchor", ["[FRED:UNRATE:2024-06]", "[YF:MSFT:snapshot]", "[BLS:CES:2024-05]"])
def test_an_unknown_anchor_is_dropped_and_recorded(anchor):
    report = report_with_rates(
        f"Halloran Works built the Meridian bridge in 1887 [1]. The rate was 4.0 percent {anchor}."
    )
    assert anchor not in report.final_answer
    [failure] = [failure for failure in report.error_log if failure.kind == "InventedCitation"]
    assert anchor in failure.message


def test_several_citations_in_one_bracket_are_checked_one_by_one():
    text = "Halloran Works built the Meridian bridge in 1887 [FRED:UNRATE:2024-05; 1, FRED:UNRATE:1900-01]."
    report = report_with_rates(text)
    assert "[1] [2]" in report.final_answer
    assert len([failure for failure in report.error_log if failure.kind == "InventedCitation"]) == 1


@pytest.mark.parametrize(
    "text", ["[THESIS:MSFT:long]", "[a:b:c]", "[10:30:00]", r"\[FRED:UNRATE:2024-06\]", "[NOTE: see]"]
)
def test_text_in_brackets_that_is_not_an_anchor_stays(text):
    assert drop_unknown_citations(text, lambda citation: None) == (text, [])
