"""The bound on passages that can answer a question that none of those read answers."""

from random import Random

import pytest

from suffice.measure.absence import bound_share, find_least_rate


def test_the_bound_follows_the_rule_of_three_for_a_reader_that_misses_nothing() -> None:
    bound = bound_share(300, 0, 100_000, found=100_000, shown=100_000)
    assert bound == pytest.approx(3.69 / 300, rel=0.02)  # -ln(0.025) = 3.69


def test_more_reading_lowers_the_bound_and_misses_raise_it() -> None:
    usual = bound_share(160, 0, 4_800, found=40, shown=50)
    assert bound_share(320, 0, 4_800, found=40, shown=50) < usual
    assert bound_share(160, 1, 4_800, found=40, shown=50) > usual
    assert bound_share(160, 0, 4_800, found=20, shown=50) > usual


def test_a_reader_that_recognises_nothing_bounds_nothing() -> None:
    assert bound_share(160, 0, 4_800, found=0, shown=50) == 1
    assert bound_share(160, 160, 4_800, found=40, shown=50) == 1
    assert bound_share(0, 0, 0, found=40, shown=50) == 0


def test_the_least_rate_is_that_of_clopper_and_pearson() -> None:
    assert find_least_rate(12, 51) == pytest.approx(0.128, abs=0.0015)
    assert find_least_rate(50, 50) == pytest.approx(0.929, abs=0.0015)


def test_the_bound_holds_as_often_as_it_says() -> None:
    random, held = Random(0), 0
    for _ in range(400):
        found = sum(random.random() < 0.4 for _ in range(50))
        answers = 60
        drawn = random.sample(range(1_000), 100)
        positive = sum(row < answers and random.random() < 0.4 for row in drawn)
        held += bound_share(100, positive, 1_000, found=found, shown=50) >= answers / 1_000
    assert held >= 0.95 * 400
