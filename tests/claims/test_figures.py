"""Figures of a claim that no source has."""

import time
import tracemalloc

import pytest

from suffice.claims.figures import find_figures, find_missing_figure, list_claim_figures


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("It carried 1,200,000 people.", "It carried 1.2 million people."),
        ("It carried about 1.2 million people.", "It carried 1,234,567 people."),
        ("It costs $5m.", "It costs 5 million dollars."),
        ("It costs EUR 480.", "The fee is 480 EUR."),
        ("It is 3 km long.", "It is 3,000 m long."),
        ("It takes 90 minutes.", "It takes 1.5 hours."),
        ("It grew by 40 per cent.", "It grew by 40%."),
        ("Automation brought 30% more.", "Impact_Percentage: 0.30"),
        ("The share rose to 20.3%.", "Share: 0.203"),
        ("The share is 0.3.", "The share is 30 %."),
        ("It is used twice a year.", "It is a bi-annual event."),
        ("1. It was built in 1887.", "Built in 1887."),
        ("It was opened on 4 March 2021.", "Opened: 2021-03-04."),
        ("It was built in the 1980s.", "It was built in 1987."),
        ("It was built in the 19th century.", "It was built in 1887."),
        ("It has two towers.", "It has 2 towers."),
        ("It has 2 towers.", "Two towers stand there."),
        ("It is the 3rd largest.", "It is number 3 of the list."),
        ("Since 3.12.1 it is faster.", "3.12.1: it is faster."),
        ("V2X and COVID-19 matter.", "They matter."),
        ("See argument x1 of f_2.", "See there."),
        ("One can see it.", "It can be seen."),
        ("It runs from 1990 to 1995.", "It ran 1990–1995."),
        ("In May 2021 it may rain.", "In May 2021 it rained."),
        ("A question has at most 4,000 characters.", "MAX_CHARS = 4_000"),
        ("Die Pumpe kostet 21.800 Euro.", "The pump costs 21,800 EUR."),
        ("Die Pumpe kostet 1.234,50 Euro.", "The pump costs 1,234.50 EUR."),
        ("The pump costs 21,800 EUR.", "Die Pumpe kostet 21.800 Euro."),
        ("Das sind 3,9 Millionen Kronen.", "That is 3.9 million kroner."),
        ("The rents are 46.40 and 34.32 million NOK.", "Moss: 46.40 million NOK.\nRygge: 34.32 million NOK."),
        ("Rent | 46.40 | 34.32", "Moss: 46.40 million NOK.\nRygge: 34.32 million NOK."),
        ("It was estimated at 2.2 million NOK.", "The quote is 3.9 million NOK, not 2.2."),
        ("Rent was 46 million NOK.", "| million NOK | Moss |\n|---|---|\n| Rent | 46 |"),
    ],
)
def test_figures_that_the_source_has(claim: str, source: str) -> None:
    assert find_missing_figure(claim, [source]) is None


@pytest.mark.parametrize(
    ("claim", "source", "claim_value", "source_value"),
    [
        ("It was built in 1887.", "It was built in 1889.", "1887", "1889"),
        ("It grew by 60 %.", "It grew by 40 % in 2021.", "60 %", "40 %"),
        ("It grew by 30%.", "Growth: 0.35", "30%", ""),
        ("It grew by 300%.", "Factor: 3", "300%", ""),
        ("It takes 25 s.", "It takes 25 ms.", "25 s", "25 ms"),
        ("It is 5 miles long.", "It is 5 km long.", "5 miles", "5 km"),
        ("It costs €5.", "It costs $5.", "€5", ""),
        ("It has three towers.", "It has two towers.", "three", "two"),
        ("It costs 2 billion euros.", "It costs 2 million euros.", "2 billion euros", "2 million euros"),
        ("It froze at -5 °C.", "It froze at 5 °C.", "-5 °C", "5 °C"),
        ("Since 3.12.4 it is faster.", "Since 3.12.1 it is faster.", "3.12.4", "3.12.1"),
        ("It was opened in April 2021.", "It was opened in March 2021.", "April", "March"),
        ("A dose of 5 M NaCl.", "A dose of 3 M NaCl.", "5", "3"),
        ("It is planned for 2025.", "It is planned in 6 steps.", "2025", ""),
        ("Costs fell by 12 %.", "Costs fell by 9 %, transit times by 20 %.", "12 %", ""),
        ("It costs 21.8 euros.", "It costs 21,800 euros.", "21.8 euros", "21,800 euros"),
        ("It costs 21,800 euros.", "It costs 21.8 euros.", "21,800 euros", "21.8 euros"),
        ("It costs 5 million.", "It has 5 rooms.", "5 million", ""),
        ("It costs 5 thousand.", "It costs 5 million.", "5 thousand", ""),
    ],
)
def test_a_figure_that_no_source_has_is_named_with_the_one_that_stands_for_the_same(
    claim: str, source: str, claim_value: str, source_value: str
) -> None:
    missing = find_missing_figure(claim, [source], near=source)
    assert missing is not None
    assert (missing.claim_value, missing.source_value) == (claim_value, source_value)


def test_each_figure_may_be_in_another_source() -> None:
    assert find_missing_figure("It grew from 5 to 7 %.", ["It was 5 %.", "It is 7 %."]) is None


def test_names_and_words_are_not_figures() -> None:
    assert not list_claim_figures("1. The V2X unit of SARS-CoV-2 is tested twice.")
    assert list_claim_figures("It has two towers.")


@pytest.mark.parametrize(
    "text", ["1" * 100_000, "1," * 50_000, "1.1" * 40_000, "5 " * 50_000, "-" * 100_000, "a1" * 50_000]
)
def test_long_input_takes_no_longer_than_its_length(text: str) -> None:
    began = time.process_time()
    find_missing_figure(text, [text[::-1]])
    assert time.process_time() - began < 20, "it takes a second where it is linear, many minutes where it is not"


def test_a_number_word_may_count_what_the_sentence_lists():
    claim, source = (
        "Two other costs press: 8 % for rent and $2 million for servers.",
        "Rent rose by 8 %. Servers: $2 million.",
    )
    assert find_missing_figure(claim, [source]) is not None
    assert find_missing_figure(claim, [source], may_count=True) is None
    assert find_missing_figure("It takes two years.", ["It takes a year."], may_count=True) is not None


def test_a_chain_of_thousands_of_numbers_takes_little_memory():
    tracemalloc.start()
    try:
        assert len(find_figures(f"It is {'1.1' * 20_000} long.")) == 20_001
        assert tracemalloc.get_traced_memory()[1] < 50_000_000, "more than a gigabyte when each figure has its own copy"
    finally:
        tracemalloc.stop()


def test_of_very_many_figures_none_is_computed():
    """Some two of them give every value, and to try all pairs takes minutes."""
    few, many = ("It costs " + ", ".join(map(str, range(1, count))) for count in (9, 900))
    assert find_missing_figure("Both cost 15.", ["nothing"], few, may_compute=True) is None
    began = time.process_time()
    assert find_missing_figure("Both cost 1500.", ["nothing"], many, may_compute=True) is not None
    assert time.process_time() - began < 1
