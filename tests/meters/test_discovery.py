"""Readings of what seems to be left to find, against values worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_views import Hit, Sight

from suffice.meters import build_meters


def read(sights, name, question=None):
    meters = build_meters(question=question)
    return [meters.read("after", sight)[name] for sight in sights]


def found(*hits, queries=("q",)):
    return Sight(hits, hits, queries)


def test_unseen_mass_is_the_share_of_sightings_of_things_seen_once():
    a, b, c = (Hit(id) for id in "abc")
    sights = [found(a, b), found(a), found(a, b, c)]
    assert read(sights, "unseen.mass") == [1.0, pytest.approx(1 / 3), pytest.approx(1 / 6)]


def test_richness_is_chaos_estimate():
    a, b, c = (Hit(id) for id in "abc")
    # Three seen once, none twice: 3 + 3·2/2. Then a twice: 3 + 2·1/(2·2).
    assert read([found(a, b, c), found(a)], "unseen.richness") == [6.0, pytest.approx(3.5)]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5, unique=True), min_size=1, max_size=10))
def test_unseen_readings_equal_a_recomputation_from_scratch(rounds):
    masses, richnesses, seen = [], [], []
    for ids in rounds:
        seen += ids
        times = [seen.count(id) for id in set(seen)]
        once, twice = times.count(1), times.count(2)
        masses.append(once / len(seen) if seen else None)
        richnesses.append(len(times) + once * (once - 1) / (2 * (twice + 1)) if seen else None)
    sights = [found(*map(Hit, ids)) for ids in rounds]
    assert read(sights, "unseen.mass") == pytest.approx(masses)
    assert read(sights, "unseen.richness") == pytest.approx(richnesses)


def test_bridges_are_names_that_no_query_has_used():
    sights = [
        found(Hit("1", "It was Ida Halloran who met Otto Renner."), queries=("who built it",)),
        Sight(queries=("Ida Halloran life",)),
        Sight(queries=("about Renner", "about Otto")),
    ]
    assert read(sights, "bridges.open", "Who built it?") == [2.0, 1.0, 0.0]


def test_the_residual_is_the_share_of_the_question_that_nothing_matched():
    sights = [found(Hit("1", "A bridge.")), found(Hit("2", "The bridge of stone.", "Meridian"))]
    first, second = read(sights, "question.residual", "Meridian stone bridge")
    assert 0 < first < 1
    assert second == 0.0
    assert read(sights, "question.residual") == [None, None]


def test_the_score_drop_compares_with_the_first_round():
    sights = [found(Hit("1", score=4.0), Hit("2", score=2.0)), found(Hit("3", score=3.0)), found(Hit("4"))]
    assert read(sights, "score.drop") == [0.0, pytest.approx(0.25), None]


@pytest.mark.parametrize("name", ["unseen.mass", "unseen.richness", "bridges.open", "score.drop"])
def test_a_failed_search_says_nothing(name):
    assert read([found(Hit("1", "Ada", score=1.0)), Sight(failed=True)], name, "Who?")[-1] is None


@pytest.mark.parametrize("name", ["unseen.mass.entities", "bridges.open", "question.residual"])
def test_missing_text_is_unknown_not_zero(name):
    assert read([found(Hit("1", None))], name, "Who built the bridge?") == [None]
