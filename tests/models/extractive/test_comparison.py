"""Questions about two things that both have a passage of their own."""

import pytest

from suffice.models.extractive.comparison import decide
from suffice.text.question import analyze_question
from suffice.types import Note


def notes(**texts: str) -> list[Note]:
    return [Note(text, (f"[{n}]",), title.replace("_", " ")) for n, (title, text) in enumerate(texts.items(), 1)]


PEOPLE = notes(
    Ada_Quill="Ada Quill (3 May 1902 – 9 June 1990) was a British painter and writer.",
    Bo_Strand="Bo Strand (born Bo Lind; 1 January 1911 – 5 July 1951) was a Swedish painter.",
)
PLANTS = notes(
    Merulia="Merulia is a genus of shrubs in the family Rosaceae with 40 species.",
    Tessaria="Tessaria is a genus of shrubs in the family Fabaceae with about 118 accepted species.",
)
TOWERS = notes(
    North_Tower="The North Tower is 210 m high. It was built in 1931 and is a hotel.",
    South_Tower="The South Tower is 500 feet high. Construction began in 1928.",
)


@pytest.mark.parametrize(
    ("question", "found", "answer"),
    [
        ("Who was born first, Ada Quill or Bo Strand?", PEOPLE, "Ada Quill"),
        ("Who is younger, Ada Quill or Bo Strand?", PEOPLE, "Bo Strand"),
        ("Who lived longer, Ada Quill or Bo Strand?", PEOPLE, "Ada Quill"),
        ("Which person was a writer, Ada Quill or Bo Strand?", PEOPLE, "Ada Quill"),
        ("Are Ada Quill and Bo Strand both painters?", PEOPLE, "Yes"),
        ("Were both Ada Quill and Bo Strand British painters?", PEOPLE, "No"),
        ("Are Merulia and Tessaria in the same family?", PLANTS, "No"),
        ("Which genus has more species, Merulia or Tessaria?", PLANTS, "Tessaria"),
        ("Which is higher, North Tower or South Tower?", TOWERS, "North Tower"),
        ("Which was built first, North Tower or South Tower?", TOWERS, "South Tower"),
    ],
)
def test_a_value_that_both_state_decides(question: str, found: list[Note], answer: str) -> None:
    decision = decide(analyze_question(question), found)
    assert decision is not None
    assert decision.text == answer
    assert sorted(decision.notes) == [0, 1]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Who was born first, Ada Quill or Bo Strand?", PEOPLE[:1]),
        ("Which is higher, Merulia or Tessaria?", PLANTS),
        ("Which is a tree, Merulia or Tessaria?", PLANTS),
        ("Are Ada Quill and Bo Strand in the same museum?", PEOPLE),
        ("Are Ada Quill and Bo Strand both from the US?", PEOPLE),
        ("Is Ada Quill a painter?", PEOPLE),
    ],
    ids=["one side only", "no figures", "neither has the word", "no value", "abbreviated", "one thing"],
)
def test_without_a_value_on_both_sides_nothing_is_decided(question: str, found: list[Note]) -> None:
    assert decide(analyze_question(question), found) is None
