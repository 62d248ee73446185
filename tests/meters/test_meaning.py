"""Readings that compare meanings, with an embedding small enough to work out by hand."""

import numpy
import pytest
from round_views import AllNew as Sight
from round_views import Hit

from suffice.meters import build_meters


def embed(texts):
    """Three directions: copper, silver, anything else; a text about both lies between them."""
    rows = []
    for text in texts:
        row = numpy.array([float("copper" in text.lower()), float("silver" in text.lower()), 0.0])
        row = row if row.any() else numpy.array([0.0, 0.0, 1.0])
        rows.append(row / numpy.linalg.norm(row))
    return numpy.array(rows)


def read(sights, moment, name, question="Compare Copper with Silver", model=embed):
    meters = build_meters(question=question, embed=model)
    return [meters.read(moment, sight)[name] for sight in sights]


COPPER, SILVER, BOTH, OTHER = (
    Sight((Hit(text, text),)) for text in ("copper is red", "silver is white", "copper and silver", "tin")
)


def test_embedding_novelty_is_the_distance_to_the_nearest_known_passage():
    novelty = read([COPPER, COPPER, SILVER, BOTH], "before", "novelty.embedding")
    assert novelty == [10.0, 0.0, 10.0, pytest.approx(10 * (1 - 2**-0.5), abs=0.01)]


def test_embedding_novelty_of_nothing_and_of_the_unknown():
    assert read([Sight()], "before", "novelty.embedding") == [0.0]
    assert read([Sight(failed=True)], "before", "novelty.embedding") == [None]
    assert read([Sight((Hit("x", None),))], "before", "novelty.embedding") == [None]
    assert read([COPPER], "before", "novelty.embedding", model=None) == [None]


def test_coverage_grows_with_the_best_passage_for_each_topic():
    sights = [OTHER, COPPER, SILVER, SILVER]
    means = read(sights, "after", "coverage.mean")
    gains = read(sights, "after", "coverage.gain")
    assert means == sorted(means)
    assert means[-1] == read([COPPER, SILVER], "after", "coverage.mean")[-1]
    assert gains[0] == 1.0
    assert gains[1] > 0.1
    assert gains[3] == 0.0


def test_coverage_is_unknown_without_a_model_a_question_or_text():
    names = ("coverage.mean", "coverage.min", "coverage.gain")
    for name in names:
        assert read([COPPER], "after", name, model=None) == [None]
        assert read([COPPER], "after", name, question=None) == [None]
        assert read([Sight((Hit("x", None),))], "after", name) == [None]


def test_failed_searches_are_no_sign_that_returns_diminish():
    gains = read([COPPER, Sight(failed=True), Sight(failed=True)], "after", "coverage.gain")
    assert gains[1:] == [None, None]


def with_outline(sights, change_before, topics):
    """Readings of a run whose outline becomes ``topics`` before one of its rounds."""
    meters = build_meters(question="Compare Copper with Silver", embed=embed)
    readings = []
    for number, sight in enumerate(sights):
        if number >= change_before:
            meters.set_topics(topics)
        readings.append(meters.read("after", sight))
    return readings


def test_a_changed_outline_resets_the_gain_and_keeps_what_was_gathered():
    readings = with_outline([COPPER, SILVER, OTHER, OTHER], 2, ["copper", "silver", "tin"])
    assert [reading["coverage.gain"] for reading in readings] == [1.0, pytest.approx(1.0), 1.0, 0.0]
    # Copper and silver were found before the outline changed; tin came with it.
    assert readings[2]["coverage.min"] == 1.0


def test_the_same_outline_again_resets_nothing():
    readings = with_outline([COPPER, COPPER, COPPER], 1, ["copper"])
    assert [reading["coverage.gain"] for reading in readings] == [1.0, 1.0, 0.0]
