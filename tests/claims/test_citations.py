"""Citations must name evidence of the run, by handle or by the anchor of a typed source; others are dropped and recorded."""

import pytest
from bridge_story import PASSAGES, model, outcome, setup

from suffice.claims.split import drop_unknown_citations
from suffice.prompts import SynthesisResponse
from suffice.testing import FixtureSearch
from suffice.types import Passage, Place, Report

RATE = "Unemployment Rate (UNRATE), 2024-05: 4.0 Percent."
FRED = Passage(
    "FRED:UNRATE:2024-05", RATE, "Unemployment Rate", Place("https://fred.stlouisfed.org/series/UNRATE"), "data"
)


def report_on(draft: str) -> Report:
    scripted = model(drafts=[SynthesisResponse(draft)])
    return outcome(setup(scripted, FixtureSearch(default=[PASSAGES[0], FRED]), "fixed(1)"))


def test_an_anchor_becomes_the_number_of_its_source() -> None:
    report = report_on("Unemployment Rate (UNRATE), 2024-05: 4.0 Percent [FRED:UNRATE:2024-05].")
    assert "4.0 Percent [1]." in report.final_answer
    [source] = report.sources
    assert (source.type, source.url) == ("data", "https://fred.stlouisfed.org/series/UNRATE")
    assert report.claims[0].citations == ("[1]",)
    assert report.error_log == ()


@pytest.mark.parametrize("anchor", ["[FRED:UNRATE:2024-06]", "[YF:MSFT:snapshot]", "[BLS:CES:2024-05]"])
def test_an_unknown_anchor_is_dropped_and_recorded(anchor: str) -> None:
    report = report_on(f"Halloran Works built the Meridian bridge in 1887 [1]. The rate was 4.0 percent {anchor}.")
    assert anchor not in report.final_answer
    [failure] = [failure for failure in report.error_log if failure.kind == "InventedCitation"]
    assert anchor in failure.message


def test_several_citations_in_one_bracket_are_checked_one_by_one() -> None:
    text = "Halloran Works built the Meridian bridge in 1887 [FRED:UNRATE:2024-05; 1, FRED:UNRATE:1900-01]."
    report = report_on(text)
    assert "[1] [2]" in report.final_answer
    assert len([failure for failure in report.error_log if failure.kind == "InventedCitation"]) == 1


@pytest.mark.parametrize(
    "text", ["[THESIS:MSFT:long]", "[a:b:c]", "[10:30:00]", r"\[FRED:UNRATE:2024-06\]", "[NOTE: see]"]
)
def test_text_in_brackets_that_is_not_an_anchor_stays(text: str) -> None:
    assert drop_unknown_citations(text, lambda citation: None) == (text, [])
