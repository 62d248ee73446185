"""Sources are quoted in Markdown as they read, and nothing in them acts as markup of ours."""

import pytest

from suffice.answers import Quotation
from suffice.text.quotations import build_excerpt
from suffice.text.quoting import quote_block, quote_markdown
from suffice.types import Passage, Place


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Return a :class:`Path` at 10:30:`x`.", "Return a :class:`Path` at 10:30:`x`."),
        ("In _The Old Man_ the field _fields_ is set.", "In _The Old Man_ the field `_fields_` is set."),
        ("*See `x_y` there*, and **now**", "See `x_y` there, and now"),
    ],
)
def test_a_source_is_quoted_as_it_reads(text: str, expected: str) -> None:
    assert quote_markdown(text) == expected


def test_stars_of_a_source_do_not_end_a_highlight() -> None:
    text = "Similar to chain(*iterables), at a price* of 3."
    assert quote_block(text, "prose", [(0, len(text))]) == r"**Similar to `chain(*iterables)`, at a price\* of 3.**"


def test_code_in_an_item_stays_code() -> None:
    text = (
        "1. Set this\n   option:\n\n   ```yaml\n   # a\n   - b_c: *d*\n   ```\n\n   as `a\n   b` says\n2. Or not_this_"
    )
    assert quote_block(text, "list") == (
        "1. Set this option:\n\n   ```yaml\n   # a\n   - b_c: *d*\n   ```\n\n   as `a b` says\n2. Or `not_this_`"
    )


def test_the_cells_of_a_row_of_a_sheet_are_kept_apart() -> None:
    text = "Month: 2025-05\nBicycles: 1720\nDiesel (litres): 24800"
    passage = Passage(
        "a", text, "figures.xlsx, sheet Ferry", Place("figures.xlsx", section="sheet Ferry row 6"), "xlsx"
    )
    place = text.index("1720")
    excerpt = build_excerpt(Quotation(passage, ((0, len(text)),), marked=((place, place + 4),)), "1")
    assert excerpt.text == "Month: 2025-05 · Bicycles: 1720 · Diesel (litres): 24800"
    assert [excerpt.text[slice(*span)] for span in excerpt.highlight] == ["1720"]
