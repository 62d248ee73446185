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

SINGERS = notes(
    Ada_Quill="Ada Quill is the lead singer of the British synthpop group Lantern.",
    Bo_Strand="Bo Strand is a British singer, best known as the voice of the girl group Harbour.",
    Cy_Moor="Cy Moor is a Welsh drummer of the band Lantern.",
)
FILMS = notes(
    Snow="Snow is a 2013 film co-produced by Peak Studios, Lin Pictures and Dale Productions.",
    Rain="Rain is a 1946 film produced by Peak and released by Coast Radio.",
    Hail="Hail is a 1950 film produced by Ada Quill.",
)
FAR = notes(
    Old_Life="Old Life is an American magazine.", Far_Life="Far Life is an Irish magazine. It is sold in the US."
)
DIRECTED = notes(Snow="Snow is a film directed by Ada Quill.", Rain="Rain is a film directed by Ada Strand.")
MAGAZINES = notes(
    Old_Life="Old Life is a British magazine about the past.",
    New_Life="New Life is a monthly magazine published in the US by Press Inc.",
    Last_Life="Last Life is an American magazine.",
)


@pytest.mark.parametrize(
    ("question", "found", "answer"),
    [
        ("Are Ada Quill and Bo Strand members of the same band?", SINGERS[:2], "No"),
        ("Are Ada Quill and Cy Moor members of the same band?", [SINGERS[0], SINGERS[2]], "Yes"),
        ("Are Snow and Rain produced by the same company?", FILMS[:2], "Yes"),
        (
            "Are Merulia and Tessaria in the same family?",
            [*PLANTS, *notes(**{"Merulia (band)": "Merulia is a band of the family Fabaceae."})],
            "No",
        ),
        ("Are Old Life and Far Life both American magazines?", FAR, "No"),
        ("Are Snow and Rain directed by the same person?", DIRECTED, "No"),
        ("Are Old Life and New Life both US-based magazines?", MAGAZINES[:2], "No"),
        ("Are New Life and Last Life both American magazines?", MAGAZINES[1:], "Yes"),
        (
            "Are Merulia Lind and Tessaria both shrubs?",
            [*notes(Merulia="Merulia Lind is a genus of shrubs."), PLANTS[1]],
            "Yes",
        ),
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
        ("Are Snow and Hail produced by the same company?", [FILMS[0], FILMS[2]]),
        (
            "Are Merulia and Tessaria in the same family?",
            notes(
                **{
                    "Merulia (plant)": "Merulia is a plant of the family Fabaceae.",
                    "Merulia (shrub)": PLANTS[0].text,
                    "Tessaria": PLANTS[1].text,
                }
            ),
        ),
    ],
    ids=[
        "one side only",
        "no figures",
        "neither has the word",
        "no value",
        "abbreviated",
        "one thing",
        "a person",
        "two of a name",
    ],
)
def test_without_a_value_on_both_sides_nothing_is_decided(question: str, found: list[Note]) -> None:
    assert decide(analyze_question(question), found) is None


def test_a_name_that_ends_as_a_verb_does_is_no_verb() -> None:
    films = notes(
        Dawn="Dawn is a film directed by Joe Ray and Fred Wills.",
        Dusk="Dusk is a film directed by Max Orr and Fred Wills.",
    )
    decision = decide(analyze_question("Were Dawn and Dusk directed by the same person?"), films)
    assert decision is not None
    assert decision.text == "Yes"
