"""Names of a claim in the forms that a text may give them."""

import pytest

from suffice.claims.checkers.names import find_missing_names


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("William Howard Taft declined.", "Despite his ambition, Taft declined repeated offers."),
        ("It joined the US in 1959.", "It joined the United States in 1959."),
        ("It joined the U.S. in 1959.", "It joined the United States in 1959."),
        ("The World Health Organization met.", "The WHO met in May."),
        ("He sailed to America.", "He sailed on an American ship."),
        ("A trade with Turkey grew.", "Turkish trade grew."),
        ("The army used M47s.", "The army used M47 tanks."),
        ("His birthday is in February.", "He was born on February 20, 1989."),
    ],
)
def test_a_name_in_another_form_is_named(claim, text):
    assert find_missing_names(claim, text) == []


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("It was built by Edith Halloran.", "Halloran Works was founded by Ida Halloran."),
        ("It was built by Ada Berg.", "Otto Berg built it."),
        ("It joined the UK.", "It joined the United States."),
        ("He sailed to Austria.", "He sailed to Australia."),
        ("His birthday is in March.", "He was born on February 20, 1989."),
    ],
)
def test_another_name_is_missing(claim, text):
    assert find_missing_names(claim, text)
