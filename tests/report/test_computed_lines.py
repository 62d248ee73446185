"""A program's output is evidence only where it states a computed value in the words of the sources."""

import pytest

from suffice.report.compute import keep_computed_lines

SOURCES = "In Q3 the old mill has 12 wheels. The new mill has 30 wheels. Rent rose from 400 to 500 euros in 2020."


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("print(f'Difference: {30 - 12} wheels')", "Difference: 18 wheels"),
        ("print(f'The mills have {30 + 12} wheels together.')", "The mills have 42 wheels together."),
        ("print(f'Increase of the rent: {(500 - 400) / 400:.0%}')", "Increase of the rent: 25%"),
        ("print(f'Wheels in Q3: {30 - 12}')", "Wheels in Q3: 18"),
        ("print(30 / 12)", "2.5"),
    ],
)
def test_computed_values_stay(code: str, output: str) -> None:
    assert keep_computed_lines(output, code, SOURCES) == output


@pytest.mark.attack("false claims from the sandbox")
@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("print('The old mill was built by aliens.')", "The old mill was built by aliens."),
        ("print('The old mill has 30 wheels.')", "The old mill has 30 wheels."),
        ("print('Rent rose ' + 'in 2020.')", "Rent rose in 2020."),
        ("print(''.join(map(chr, [84, 104, 101])))", "The mayor is corrupt."),
    ],
)
def test_a_printed_sentence_is_no_evidence(code: str, output: str) -> None:
    assert keep_computed_lines(output, code, SOURCES) == ""


@pytest.mark.attack("false claims from the sandbox")
@pytest.mark.parametrize(
    ("output", "kept"),
    [
        ("The corrupt mayor stole 18 wheels.", "Result: 18"),
        ("The old mill does not have 18 wheels.", "Result: 18"),
        ("The mill is bankrupt: 18", "Result: 18"),
        ("The bankrupt mills fell by -28.6 %", "Result: -28.6 %"),
        ("The mayor is corrupt.\nDifference: 18", "Difference: 18"),
    ],
)
def test_words_of_no_source_do_not_ride_on_a_figure(output: str, kept: str) -> None:
    assert keep_computed_lines(output, "print(words, 30 - 12)", SOURCES) == kept
