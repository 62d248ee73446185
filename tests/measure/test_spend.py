"""The ``spend.*`` readings."""

from suffice.measure.spend import spend_readings


def test_known_amounts_are_numbers_and_unknown_ones_are_none():
    assert spend_readings(rounds=2, queries=3, sources=4, tokens=None, seconds=1.23456) == {
        "spend.rounds": 2.0,
        "spend.queries": 3.0,
        "spend.sources": 4.0,
        "spend.tokens": None,
        "spend.seconds": 1.235,
        "spend.usd": None,
    }
    known = spend_readings(rounds=1, queries=1, sources=0, tokens=10, usd=0.5)
    assert (known["spend.tokens"], known["spend.seconds"], known["spend.usd"]) == (10.0, None, 0.5)
