"""Evidence: each passage once, under a handle that does not change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.memory.evidence import Evidence, drop_repeated_columns, drop_repeated_titles, refer_to_copies
from suffice.testing import make_passage
from suffice.types import Note, Place


@given(st.lists(st.sampled_from("abcdefg"), max_size=20))
def test_a_passage_is_stored_once_under_its_first_handle(ids):
    evidence = Evidence()
    handles = [evidence.add(make_passage(id, f"text of {id}")) for id in ids]
    order = list(dict.fromkeys(ids))
    assert [found.id for found in evidence] == order
    assert len(evidence) == len(order)
    assert handles == [f"[{order.index(id) + 1}]" for id in ids]
    for handle, id in zip(handles, ids, strict=True):
        assert evidence.find_passage(handle).id == id
        assert id in evidence


@pytest.mark.parametrize("handle", ["[0]", "[3]", "[99]", "[-1]", "[]", "[x]", "", "[1.5]", "[1e0]"])
def test_an_unknown_handle_finds_nothing(handle):
    evidence = Evidence()
    evidence.add(make_passage("a", "one"))
    evidence.add(make_passage("b", "two"))
    assert evidence.find_passage(handle) is None


def test_a_title_is_shown_once_for_each_document_and_never_beside_the_same_heading():
    notes = (
        Note("# Mill\n\n## Wheels\n\nNine.", ("[1]",), "Mill > Wheels", place=Place("mill.md")),
        Note("## Bread\n\nRye.", ("[2]",), "Mill > Bread", place=Place("mill.md")),
        Note("4 euros.", ("[3]",), "Mill > Price", place=Place("mill.md")),
        Note("5 euros.", ("[4]",), "Mill > Price", place=Place("other.md")),
        Note("6 euros.", ("[5]",), "Mill > Price", place=Place("other.md")),
    )
    assert [note.title for note in drop_repeated_titles(notes)] == ["", "", "Price", "Mill > Price", "Price"]


def test_a_message_says_once_who_wrote_it_and_when():
    title = "Re: Flour (ann@mill.org, 2024-07-15 10:00:00)"
    written = Note("[2024-07-15 10:00:00] ann@mill.org: Hello,\n\nit is rye.", ("[1]",), title)
    [short, whole] = drop_repeated_titles((written, Note("It is rye.", ("[2]",), title, place=Place("b"))))
    assert (short.title, short.text, whole.title) == ("Re: Flour", written.text, title)


def test_rows_name_their_columns_once_where_they_have_the_same():
    rows = "Year: 2023 · Sacks: 7\nYear: 2024 · Sacks: 9\nYear: 2025\nHighest: 9 (2024) · Lowest: 7\nA: a · b"
    short = drop_repeated_columns(Note(rows, ("[1]",), "flour.csv", "csv"))
    assert short.text == "Year: 2023 · Sacks: 7\n2024 · 9\nYear: 2025\nHighest: 9 (2024) · Lowest: 7\nA: a · b"
    prose = Note("Flour: rye.\n\nPrice: 4 euros.", ("[1]",))
    assert drop_repeated_columns(prose) == prose


def test_a_paragraph_that_an_earlier_note_has_is_shown_once_with_both_sources():
    quoted = "The ferry was closed for two weeks because the quay was flooded."
    first = Note(f"Dear Ada,\n\n{quoted}\n\nKarl", ("[1]",), "mail")
    reply = Note(f"Dear Karl,\n\nthank you.\n\n> {quoted}\n\nAda", ("[2]",), "reply")
    other = Note(quoted.replace("two", "three"), ("[3]",), "minutes")
    sign = Note(quoted.replace("two", "-two"), ("[4]",), "minutes")
    shown = refer_to_copies([first, reply, other, sign])
    assert (shown[0], *shown[2:]) == (first, other, sign), "another figure or sign is no copy"
    assert shown[1].text == "Dear Karl,\n\nthank you.\n\n(as in [1])\n\nAda"
