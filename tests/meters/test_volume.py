"""How much text the accepted rounds brought, before the round at hand."""

from round_views import AllNew as Sight
from round_views import Hit

from suffice.meters import build_meters


def chars(*sights):
    meters = build_meters()
    return [meters.read("before", sight)["evidence.chars"] for sight in sights]


def test_a_round_counts_only_for_those_after_it():
    rounds = [Sight((Hit("a", "12345"), Hit("b", "678"))), Sight(), Sight((Hit("c", "9"),)), Sight(failed=True)]
    assert chars(*rounds) == [0.0, 8.0, 8.0, 9.0]


def test_missing_text_makes_it_unknown_from_then_on():
    assert chars(Sight((Hit("a", None),)), Sight((Hit("b", "x"),)), Sight()) == [0.0, None, None]
