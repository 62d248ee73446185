"""Reading numbers as values with units."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.claims.checkers.features import extract_features
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
        ("the 19th century", [(19, "century")]),
        ("the nineteenth century", [(19, "century")]),
        ("CD4, IL-2 and python3 in 3D", []),
        ("three million", [(3e6, "")]),
        ("-5 °C and −3 kg, minus 2 km", [(-5, "°c"), (-3, "kg"), (-2, "km")]),
        ("50%-75%, (-0.26 to 0.31), (IL)-15", [(50, "%"), (75, "%"), (-0.26, ""), (0.31, ""), (15, "")]),
        ("-$5 million", [(-5e6, "$")]),
        ("12M users", [(12e6, "")]),
        ("12m users", [(12e6, "")]),
        ("12 m tall", [(12, "m")]),
        ("7B parameters", [(7e9, "")]),
        ("a 5G network", []),
        ("2.5x faster, 3× slower, 4 times as long", [(2.5, "x"), (3, "x"), (4, "x")]),
        ("5-10 kg", [(5, "kg"), (10, "kg")]),
        ("2–3 million people", [(2e6, ""), (3e6, "")]),
        ("2 to 3 million people", [(2e6, ""), (3e6, "")]),
        ("in 2020 and 3 million people", [(2020, ""), (3e6, "")]),
        ("from 500 to 2 million", [(500, ""), (2e6, "")]),
        ("12 000 t or 1.234.567 or 1'200", [(12000, "t"), (1234567, ""), (1200, "")]),
        ("a quarter of them, half of us, 3/4 of all", [(25, "%"), (50, "%"), (75, "%")]),
        ("the second half of 1990, the third of May", [(1990, "")]),
        ("2021-03-05", [(2021, ""), (3, "calendar month"), (5, "")]),
        ("5.3.2021", [(2021, ""), (3, "calendar month"), (5, "")]),
        ("from 2009 to 2014.", [(2009, ""), (2014, "")]),
        ("1914–18", [(1914, ""), (1918, "")]),
        ("between 5 and 10 kg", [(5, "kg"), (10, "kg")]),
        ("one hundred and twenty, two dozen, half a million", [(120, ""), (24, ""), (500000, "")]),
        ("the twenty-first, 22nd and thirtieth", [(21, "ordinal"), (22, "ordinal"), (30, "ordinal")]),
        ("twice as long, doubled, a three-fold rise", [(2, "x"), (2, "x"), (3, "x")]),
        ("1.5e6, 10^6, 2.5 × 10^3, 10⁻²", [(1.5e6, ""), (1e6, ""), (2500, ""), (0.01, "")]),
        ("at 9 am, 2:30 p.m. and 14:30", [(540, "min after midnight")] + [(870, "min after midnight")] * 2),
        ("5 m², 3 ha, 100 km/h, 5 MV", [(5, "m²"), (3, "ha"), (100, "km/h"), (5, "MV")]),
        ("2½ hours, 2 1/2-hour", [(2.5, "h"), (2.5, "h")]),
        ("12,5 kg, 1.234,56, 1,50,000", [(12.5, "kg"), (1234.56, ""), (150000, "")]),
        ("US$5, CHF 12 million, -€3.4bn", [(5, "US$"), (12e6, "CHF"), (-3.4e9, "€")]),
        ("300 BC, 300 BCE, AD 300", [(300, "BC"), (300, "BC"), (300, "AD")]),
        ("2021/03/05", [(2021, ""), (3, "calendar month"), (5, "")]),
        ("the 5th of March 2021", [(2021, ""), (3, "calendar month"), (5, "")]),
        ("25/3/2021 or 3/25/2021", [(2021, ""), (3, "calendar month"), (25, "")] * 2),
        ("in March 2021, on 5 May", [(2021, ""), (3, "calendar month"), (5, "calendar month"), (5, "")]),
        ("It may march 5 km.", [(5, "km")]),
        ("World War II, Louis XIV, Type I", [(2, "ordinal"), (14, "ordinal"), (1, "ordinal")]),
        ("When I saw Plan B", []),
        ("1 h 30 min, 5 feet 6 inches", [(1.5, "h"), (5.5, "ft")]),
        ("half an hour, one and a half days", [(0.5, "h"), (1.5, "d")]),
        ("minus five degrees Celsius", [(-5, "°c")]),
        ("at noon or 5 o'clock", [(720, "min after midnight"), (300, "min after midnight")]),
        ("$5–10 million", [(5e6, "$"), (10e6, "$")]),
        ("12.500 users, 12.500 kg, 2 lakh rows", [(12500, ""), (12.5, "kg"), (200000, "")]),
        ("three quarters, by half, ½ cup", [(75, "%"), (50, "%"), (0.5, "")]),
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
        ("5 °C", "-5 °C", False),
        ("2.5x", "3.5x", False),
        ("2.5x", "2.5 times", True),
        ("3.11.4", "3.11.5", False),
        ("3.11.4", "3.11.4", True),
        ("version 3.1", "version 3.10", False),
        ("version 3.10", "3.10", True),
        ("12M users", "12 million users", True),
        ("12M users", "12 metres", False),
        ("25 %", "a quarter of", True),
        ("25 %", "a third of", False),
        ("5th", "5", True),
        ("5th", "5 kg", False),
        ("1 234 567", "1,234,567", True),
        ("5 km", "5,000 metres", True),
        ("1.5 kg", "1500 g", True),
        ("2 hours", "120 minutes", True),
        ("5 MW", "5 mW", False),
        ("5 MB", "5 GB", False),
        ("100 km/h", "100 mph", False),
        ("5 m²", "5 metres", False),
        ("2 percentage points", "2 percent", False),
        ("€12", "$12", False),
        ("A$12", "$12", True),
        ("C$12", "US$12", False),
        ("v2.3.1", "2.3.1", True),
        ("2.0.0-rc1", "2.0.0-rc2", False),
        ("Python 3.1", "Python 3.10", False),
        ("35 %", "0.35", True),
        ("two thirds of", "about 67 %", True),
        ("one in five", "20 %", True),
        ("3 out of 10", "40 %", False),
        ("at least 5", "at most 5", False),
        ("up to 5", "5", True),
        ("9 am", "9 pm", False),
        ("2:30 pm", "14:30", True),
        ("300 BC", "AD 300", False),
        ("5 km", "3.1 miles", True),
        ("5 km", "3 miles", False),
        ("41 °F", "5 °C", True),
        ("5 ms", "5 µs", False),
        ("£3m", "3 million pounds", True),
        ("5 lb", "5 pounds", True),
        ("£3", "3 lb", False),
        ("the '90s", "the 1990s", True),
        ("20 ‰", "2 %", True),
        ("90 minutes", "1 h 30 min", True),
    ],
)
def test_whether_two_numbers_match(one, other, same):
    assert extract_quantities(one)[0].matches(extract_quantities(other)[0]) is same


@pytest.mark.parametrize(
    ("claimed", "said", "stated"),
    [
        ("more than 500", "512", True),
        ("512", "more than 500", False),
        ("more than 500", "450", False),
        ("fewer than 500", "450", True),
        ("after 2010", "2012", True),
        ("before 2010", "2012", False),
        ("the 1990s", "1994", True),
        ("1994", "the 1990s", False),
        ("the 19th century", "1887", True),
        ("the 20th century", "1887", False),
        ("5 km", "5–10 km", False),
        ("5 km", "between 5 and 10 km", False),
        ("up to 10 km", "5–10 km", False),
        ("at least 5 km", "5–10 km", True),
        ("5 km to 10 km", "5–10 km", True),
        ("5 %", "from 5 % to 10 %", True),
        ("1914", "1914–18", True),
    ],
)
def test_a_number_is_stated_by_one_in_its_bounds(claimed, said, stated):
    assert extract_quantities(claimed)[0].is_stated_by(extract_quantities(said)[0]) is stated


UNITS = st.sampled_from(["", " kg", " %", "%", " °C", " km", "x", " days", " million", " GB"])
VALUES = st.integers(0, 10**9) | st.decimals(0, 10**5, places=2)


@given(VALUES, VALUES, UNITS, st.sampled_from(["", "-", "−"]), st.sampled_from(["", "-", "−"]))
def test_two_numbers_match_only_where_value_and_sign_do(one, other, unit, sign, other_sign):
    [first] = extract_quantities(f"It was {sign}{one}{unit}.")
    [second] = extract_quantities(f"It was {other_sign}{other}{unit}.")
    same = float(one) * (-1 if sign else 1) == float(other) * (-1 if other_sign else 1)
    assert first.matches(second) is second.matches(first) is same


@given(st.integers(1000, 10**12), st.sampled_from([",", " ", "'", "\u00a0", "\u202f"]), UNITS)
def test_separated_thousands_are_the_same_number(value, separator, unit):
    [plain] = extract_quantities(f"It was {value}{unit}.")
    [separated] = extract_quantities(f"It was {f'{value:,}'.replace(',', separator)}{unit}.")
    assert plain.matches(separated)


@given(*[st.lists(st.integers(0, 30), min_size=3, max_size=4)] * 2)
def test_versions_match_only_themselves(one, other):
    first, second = (".".join(map(str, parts)) for parts in (one, other))
    [left], [right] = extract_quantities(f"In {first}."), extract_quantities(f"In {second}.")
    assert left.matches(right) is (one == other)


@given(
    VALUES,
    st.sampled_from([("km", "m", 1000), ("kg", "g", 1000), ("h", "minutes", 60), ("GB", "MB", 1000), ("%", "", 0.01)]),
)
def test_units_of_one_kind_are_converted(value, units):
    large, small, factor = units
    [one] = extract_quantities(f"It was {value} {large}.")
    [other] = extract_quantities(f"It was {float(value) * factor:.12f} {small}".rstrip() + ".")
    assert one.matches(other) or (not small and not 0 < float(value) < 100)


@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)))
def test_a_date_is_the_same_in_every_spelling(day):
    month = day.strftime("%B")
    spellings = [
        day.isoformat(),
        f"{day.day}.{day.month}.{day.year}",
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"{month[:3]} {day.day} {day.year}",
        f"{day.year}/{day.month:02}/{day.day:02}",
        f"{day.day} of {month}, {day.year}",
        f"{day.day}-{month[:3]}-{day.year}",
    ]
    read = [extract_features(f"It opened on {spelling}.") for spelling in spellings]
    assert {(one.months, frozenset(number.value for number in one.numbers)) for one in read} == {
        (frozenset({day.month}), frozenset({float(day.day), float(day.year)}))
    }


@given(st.text(alphabet="0123456789.,-−–/% $€kmMKB°CxX×'’ \u00a0thandoftover½", max_size=40))
def test_offsets_lie_inside_the_text(text):
    for found in extract_quantities(text):
        assert 0 <= found.start < found.end <= len(text)
