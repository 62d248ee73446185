"""The lexical checker: what supports a claim and what contradicts it."""

import pytest

from suffice.claims.checkers import LexicalChecker
from suffice.testing import make_passage

BRIDGE = make_passage(
    "p",
    "The Meridian bridge was built by Halloran Works in March 1887. It is 420 metres long.\n"
    "Halloran Works was founded by Ida Halloran, who studied in Graz and moved to Trieste.\n"
    "Traffic rose by 12 % between 1990 and 2000, but repairs were never finished.\n"
    "The mayor denied that the tower leans to the west. Otto Berg defeated Maria Lund in 1950.",
    "Meridian bridge",
)


def stance(claim, source=BRIDGE):
    found = LexicalChecker().check(claim, source)
    return None if found is None else found.stance


@pytest.mark.parametrize(
    "claim",
    [
        "The Meridian bridge was built by Halloran Works in March 1887.",
        "Halloran Works built the Meridian bridge in March 1887.",
        "The bridge is 420 m long.",
        "The Meridian bridge is 420 metres long.",
        "Ida Halloran founded Halloran Works.",
        "Between 1990 and 2000 traffic rose by 12 percent.",
        "Repairs were never finished.",
        "Repairs weren't finished.",
    ],
)
def test_supported_claims(claim):
    assert stance(claim) == "supports"


@pytest.mark.parametrize(
    "claim",
    [
        "The Meridian bridge was built by Halloran Works in 1890.",
        "Traffic rose by 21 % between 1990 and 2000.",
        "Traffic fell by 12 % between 1990 and 2000.",
        "Traffic did not rise by 12 % between 1990 and 2000.",
        "Repairs were finished.",
        "Halloran Works was not founded by Ida Halloran.",
        "Maria Lund defeated Otto Berg in 1950.",
        "The tower leans to the west.",
    ],
)
def test_contradicted_claims(claim):
    assert stance(claim) == "contradicts"


@pytest.mark.parametrize(
    "claim",
    [
        "The Meridian bridge was built by Foster Works in March 1887.",
        "The Meridian bridge was built by Halloran Works in June 1887.",
        "Pablo Picasso painted the river.",
        "The Meridian bridge was built by Halloran Works for the world exhibition of the emperor.",
    ],
)
def test_claims_that_are_neither(claim):
    assert stance(claim) is None


def test_a_pronoun_may_mean_the_name_in_the_title():
    about = make_passage("x", "She studied in Graz. Otto Berg taught her.", "Ida Halloran")
    assert stance("Ida Halloran studied in Graz.", about) == "supports"
    assert stance("Maria Berg studied in Graz.", about) is None


def test_the_span_is_exact():
    found = LexicalChecker().check("Ida Halloran founded Halloran Works.", BRIDGE)
    assert BRIDGE.text[found.start : found.end].startswith("Halloran Works was founded by Ida Halloran")


KEEPERS = make_passage(
    "k",
    "Marta Holm kept the northern light at Velholm, and Jens Dahl kept the southern one at Torvik. "
    "The pilots of Karsund trained under Jens Dahl.",
    "Lights of the strait",
)


@pytest.mark.parametrize(
    "claim",
    [
        "The pilots of Karsund trained under Marta Holm.",
        "Marta Holm kept the northern light at Torvik, and Jens Dahl kept the southern one at Torvik.",
        "Jens Dahl kept the northern light at Velholm.",
    ],
    ids=["of the sentence before", "said twice", "of the same sentence"],
)
def test_a_name_in_another_place_of_the_source_is_no_support(claim):
    assert stance(claim, KEEPERS) != "supports"


@pytest.mark.parametrize(
    "claim",
    [
        "Jens Dahl kept the southern light at Torvik, and Marta Holm kept the northern one at Velholm.",
        "At Velholm, Marta Holm kept the northern light.",
        "The pilots of Karsund trained under Dahl.",
    ],
    ids=["order", "front", "shorter"],
)
def test_names_in_another_order_still_support(claim):
    assert stance(claim, KEEPERS) == "supports"


def test_a_repeated_name_is_not_swapped():
    twice = make_passage(
        "t", "The Elia letter follows the life of Elia Kazan and how Kazan influenced Kent Jones.", "Elia"
    )
    assert stance(f"According to the source, {twice.text}", twice) == "supports"


def test_a_number_about_something_else_is_no_contradiction():
    other = make_passage("o", "With 5 runs no answer of Python was a 500; one status was added since.", "Reliability")
    assert stance("asyncio was added in Python 1.5.", other) is None


@pytest.mark.parametrize(
    ("said", "claim", "supported"),
    [
        ("-5 °C", "5 °C", False),
        ("5 °C", "-5 °C", False),
        ("-5 °C", "−5 °C", True),
        ("3.5x", "2.5x", False),
        ("2.5 times", "2.5x", True),
        ("3.11.5", "3.11.4", False),
        ("12 metres", "12M", False),
        ("12 million", "12M", True),
        ("5 to 10 kg", "5-10 kg", True),
        ("5 to 10 kg", "5-12 kg", False),
        ("1 234 567", "1,234,567", True),
        ("2021-03-05", "5 March 2021", True),
        ("2021-03-05", "5 April 2021", False),
        ("March 5, 2021", "2021-03-05", True),
        ("April 5, 2021", "2021-03-05", False),
        ("4 March 2021", "2021-03-05", False),
        ("the second highest level", "the third highest level", False),
        ("the second highest level", "the 2nd highest level", True),
        ("a third of the flood", "33 % of the flood", True),
        ("CHF 12 million", "$12 million", False),
        ("less than 5 mm", "more than 5 mm", False),
        ("the flood of World War I", "the flood of World War II", False),
        ("the flood of World War II", "the flood of World War I", False),
        ("the flood of World War II", "the flood of World War 2", True),
        ("the flood of Louis XVI", "the flood of Louis XIV", False),
        ("2021-04-03", "2021-03-03", False),
        ("3/4/2021", "3 April 2021", True),
        ("March 4, 2021", "3/4/2021", True),
        ("5 April 2021", "3/4/2021", False),
        ("3/4/2021", "4/3/2021", False),
        ("5–10 kg", "5 kg", False),
        ("one hour", "two hours", False),
        ("2–3 hours", "two to three hours", True),
        ("$5–10 million", "$5 million", False),
        ("$5–10 million", "$5 million to $10 million", True),
        ("3 cm on Tuesday", "3 cm on Monday", False),
        ("the flood of World War II", "the flood of the Second World War", True),
        ("two hours", "one hour", False),
    ],
)
def test_figures_are_compared_by_value_sign_and_unit(said, claim, supported):
    source = make_passage("p", f"The gauge at the Velholm station recorded {said} yesterday evening.", "Gauge")
    assert (stance(f"The Velholm station gauge recorded {claim} yesterday evening.", source) == "supports") is supported


@pytest.mark.parametrize(
    ("said", "claim"),
    [("-5 °C was recorded at Velholm.", "5 °C was recorded at Velholm"), ("Velholm runs 3.11.4.", "Velholm runs 3.11")],
)
def test_a_part_of_a_number_is_not_the_number(said, claim):
    assert stance(claim, make_passage("p", said, "Velholm")) != "supports"


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("On Christmas Day Ida Halloran studied in Graz.", "does not name Christmas Day"),
        ("Halloran Works was founded by Otto Berg, who studied in Graz.", "Otto Berg"),
    ],
)
def test_a_reason_writes_names_as_the_claim_does(claim, said):
    found = LexicalChecker().check(claim, BRIDGE)
    assert found is not None
    assert said in found.reason


@pytest.mark.parametrize(("said", "claim"), [("stable", "unstable"), ("inactive", "active"), ("illegal", "legal")])
def test_a_word_with_a_negating_prefix_is_the_opposite(said, claim):
    source = make_passage("p", f"The reaction in the tank is {said} at night.", "Tank")
    found = LexicalChecker().check(f"The reaction in the tank is {claim} at night.", source)
    assert (found.stance, found.overlap) == ("contradicts", 1.0)
    assert repr(said) in found.reason
