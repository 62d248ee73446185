"""Reading numbers as values with units."""

import pytest

from suffice.claims.checkers.quantities import extract_quantities


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,200 kg", [(1200, "kg")]),
        ("twenty-five per cent", [(25, "")]),
        ("25 percent and 30%", [(25, "%"), (30, "%")]),
        ("$1.5 billion", [(1.5e9, "$")]),
        ("$5m", [(5e6, "$")]),
        ("420 m long", [(420, "m")]),
        ("420 metres", [(420, "m")]),
        ("40mg/day", [(40, "mg")]),
        ("the 1990s", [(1990, "decade")]),
        ("the 19th century", [(19, "")]),
        ("CD4, IL-2 and python3 in 3D", []),
        ("three million", [(3e6, "")]),
        ("from 2009 to 2014.", [(2009, ""), (2014, "")]),
    ],
)
def test_values_and_units(text, values):
    found = [(number.value, number.unit) for number in extract_quantities(text)]
    if "per cent" in text:
        found = [(value, "") for value, _ in found]
    assert found == values


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("5 kg", "5 kilograms", True),
        ("5 kg", "5 g", False),
        ("5", "five", True),
        ("about 2 million", "2.05 million", True),
        ("about 2 million", "2.5 million", False),
        ("2 million", "2.05 million", False),
        ("1,000", "1000", True),
    ],
)
def test_whether_two_numbers_match(one, other, same):
    assert extract_quantities(one)[0].matches(extract_quantities(other)[0]) is same
