"""Every distinct text of a web page is evidence, and the page is still one source."""

import pytest
from bridge_story import ENOUGH, MORE, TASK, model, outcome, play, setup

from suffice.events import RoundDone
from suffice.prompts.judging import CheckDraftResponse, CheckedStatement
from suffice.prompts.writing import SynthesisResponse
from suffice.search.pages.fetch import Fetcher
from suffice.search.pages.guard import HostAllowlist
from suffice.search.pages.reader import PageReader
from suffice.search.screened import identify_text
from suffice.testing import FixtureSearch
from suffice.types import Passage, Place

URL = "https://example.org/bridge"
OPENING = "The Meridian bridge was built by Halloran Works in 1887."
PAINT = "The Meridian bridge was painted green by Oskar Lindqvist in 1931."
FOUNDER = "who founded Halloran Works"


def snippet(text: str, url: str = URL) -> Passage:
    return Passage(URL, text, "Meridian bridge", Place(url), "web")


def test_a_new_text_of_a_known_page_supports_a_claim() -> None:
    """The claim is searched for, and the service answers with another snippet of the same page."""
    search = FixtureSearch({TASK: [snippet(OPENING)]}, default=[snippet(PAINT, f"{URL}?utm_source=x")])
    writer = model(reflects=[ENOUGH], drafts=[SynthesisResponse(f"{OPENING} [1] {PAINT} [1]")])
    checked = CheckedStatement(1, "stated", "[1]", OPENING), CheckedStatement(2, "not_supported")
    again = CheckedStatement(1, "stated", "[2]", PAINT)
    writer._script |= {"check_draft": [CheckDraftResponse(checked), CheckDraftResponse((again,))]}
    report = outcome(setup(writer, search))
    assert f"{OPENING} [1] {PAINT[:-1]} [1]." in report.final_answer
    assert [(source.id, source.url) for source in report.sources] == [("[1]", URL)]
    assert [(claim.support, claim.citations) for claim in report.claims] == [("supported", ("[1]",))] * 2


def test_two_texts_of_a_page_are_cited_once_in_a_run_of_citations() -> None:
    search = FixtureSearch(default=[snippet(OPENING), snippet(f"{OPENING} {PAINT}")])
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[SynthesisResponse(f"{OPENING} [1] [2]")]), search))
    assert report.final_answer.endswith(f"{OPENING} [1]")
    assert len(report.sources) == 1


@pytest.mark.parametrize(("second", "new", "unique"), [(OPENING, 0, 0.0), (f"… {OPENING} …", 0, 0.0), (PAINT, 1, 1.0)])
def test_only_another_text_of_a_known_page_is_new(second: str, new: int, unique: float) -> None:
    search = FixtureSearch({TASK: [snippet(OPENING)], FOUNDER: [snippet(second)]})
    events = play(setup(model(reflects=[MORE, ENOUGH]), search, "exhaustion(p=2)"))
    _, last = [event for event in events if isinstance(event, RoundDone)][:2]
    assert len(last.round.new) == new
    assert last.readings["overlap.upr"] == unique


def test_two_texts_of_a_page_in_one_round_are_both_kept() -> None:
    search = FixtureSearch(default=[snippet(OPENING), snippet(PAINT)])
    [done, *_] = [event for event in play(setup(model(reflects=[ENOUGH]), search)) if isinstance(event, RoundDone)]
    assert [passage.text for passage in done.round.new] == [OPENING, PAINT]
    assert len({passage.id for passage in done.round.new}) == 2


def test_other_ids_stay() -> None:
    for passage in (
        Passage("p1", OPENING, "", Place("bridge.txt", (1, 1))),
        Passage("FRED:UNRATE:2024-05", "4.0", "", Place("https://fred.stlouisfed.org/series/UNRATE"), "data"),
        Passage(f"{URL}#1", OPENING, "", Place(URL), "web"),
    ):
        assert identify_text(passage) is passage


def test_a_page_with_two_texts_is_read_once() -> None:
    reader = PageReader(Fetcher(HostAllowlist()))
    found = [identify_text(snippet(text)) for text in (OPENING, PAINT)]
    assert [passage.text for passage in reader._select_unread(found, set())] == [OPENING]
    reader._tried.add(URL)
    assert reader._select_unread(found, set()) == []
