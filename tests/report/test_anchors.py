"""Typed anchors that a writer left out: added where a data source states the figure, reported where none does."""

from suffice.memory.evidence import Evidence
from suffice.report.anchors import add_anchors
from suffice.types import Passage, Place

RATE = Passage(
    "FRED:UNRATE:2024-05",
    "Unemployment Rate (UNRATE), 2024-05: 4.0 Percent.",
    "Unemployment Rate FRED:UNRATE:2024-05",
    Place("https://fred.example/UNRATE"),
    "data",
)
PRICE = Passage(
    "YF:MSFT:snapshot",
    "Microsoft Corporation (MSFT) stood at 415.13 USD on 2024-06-03 at 20:00 UTC.",
    "Microsoft Corporation YF:MSFT:snapshot",
    Place("https://yahoo.example/MSFT"),
    "data",
)
PAGE = Passage("p", "Unemployment was low.", "A page", Place("https://page.example"), "web")


def make_evidence(*passages: Passage) -> Evidence:
    evidence = Evidence()
    for passage in passages:
        evidence.add(passage)
    return evidence


def test_figure_of_a_data_source_gets_its_citation() -> None:
    text = (
        "Unemployment was low [1]. The unemployment rate stood at 4.0 percent in May 2024 [1]. It fell by 7.7 points."
    )
    anchored, _ = add_anchors(text, "research", make_evidence(PAGE, RATE))
    assert "percent in May 2024 [1] [2]. It fell by 7.7 points." in anchored
    assert add_anchors(anchored, "research", make_evidence(PAGE, RATE)) == (anchored, [])


def test_anchor_that_is_there_is_not_added_again() -> None:
    for citation in ("[2]", "[FRED:UNRATE:2024-05]"):
        text = f"The unemployment rate was 4.0 percent {citation}."
        assert add_anchors(text, "research", make_evidence(PAGE, RATE))[0] == text


def test_another_figure_name_or_variant_gets_none() -> None:
    evidence = make_evidence(PAGE, RATE)
    for text in ("The unemployment rate was 5.0 percent.", "The wage rose by 4.0 percent.", "Unemployment in 2024."):
        assert add_anchors(text, "research", evidence)[0] == text
    text = "The unemployment rate was 4.0 percent."
    assert add_anchors(text, "prose", evidence)[0] == text


def test_memo_without_price_source_or_thesis_mark_is_reported() -> None:
    memo = "## Microsoft\n\n[THESIS:MSFT] Cloud grows. Microsoft trades at $415.13.\n\n## Apple\n\nApple trades at $99.50.\n"
    anchored, missing = add_anchors(memo, "trading", make_evidence(PRICE))
    assert "$415.13 [1]." in anchored
    assert len(missing) == 2
    assert "99.50" in missing[0]
    assert "'Apple'" in missing[1]
