"""Readings that compare meanings, with an embedding model small enough to compute by hand."""

import numpy
import pytest
from round_views import AllNew, Hit

from suffice.meters import build_meters
from suffice.meters.base import MeterContext
from suffice.meters.semantic import CoverageMeter


def embed(texts):
    """Embed in three directions: copper, silver, anything else; a text about both lies between them."""
    rows = []
    for text in texts:
        row = numpy.array([float("copper" in text.lower()), float("silver" in text.lower()), 0.0])
        row = row if row.any() else numpy.array([0.0, 0.0, 1.0])
        rows.append(row / numpy.linalg.norm(row))
    return numpy.array(rows)


def read(rounds, moment, name, question="Compare Copper with Silver", model=embed):
    meters = build_meters(question=question, embed=model)
    return [meters.read(moment, round)[name] for round in rounds]


COPPER, SILVER, BOTH, OTHER = (
    AllNew((Hit(text, text),)) for text in ("copper is red", "silver is white", "copper and silver", "tin")
)


def test_embedding_novelty_is_the_distance_to_the_nearest_known_passage():
    novelty = read([COPPER, COPPER, SILVER, BOTH], "before", "novelty.embedding")
    assert novelty == [10.0, 0.0, 10.0, pytest.approx(10 * (1 - 2**-0.5), abs=0.01)]


def test_embedding_novelty_without_results_or_without_texts():
    assert read([AllNew()], "before", "novelty.embedding") == [0.0]
    assert read([AllNew(failed=True)], "before", "novelty.embedding") == [None]
    assert read([AllNew((Hit("x", None),))], "before", "novelty.embedding") == [None]
    assert read([COPPER], "before", "novelty.embedding", model=None) == [None]


def test_coverage_grows_with_the_best_passage_for_each_topic():
    rounds = [OTHER, COPPER, SILVER, SILVER]
    means = read(rounds, "after", "coverage.mean")
    gains = read(rounds, "after", "coverage.gain")
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
        assert read([AllNew((Hit("x", None),))], "after", name) == [None]


def test_the_gain_is_unknown_after_failed_searches():
    gains = read([COPPER, AllNew(failed=True), AllNew(failed=True)], "after", "coverage.gain")
    assert gains[1:] == [None, None]


def read_with_topics(rounds, change_before, topics):
    """Return the readings of a run whose topics change before one of its rounds."""
    meter = CoverageMeter(MeterContext("Compare Copper with Silver", embed=embed))
    readings = []
    for number, round in enumerate(rounds):
        if number >= change_before:
            meter.set_topics(topics)
        readings.append(meter.read(round))
    return readings


def test_changed_topics_reset_the_gain_and_keep_the_passages():
    readings = read_with_topics([COPPER, SILVER, OTHER, OTHER], 2, ["copper", "silver", "tin"])
    assert [reading["coverage.gain"] for reading in readings] == [1.0, pytest.approx(1.0), 1.0, 0.0]
    # Copper and silver were found before the topics changed; tin came with the change.
    assert readings[2]["coverage.min"] == 1.0


def test_the_same_topics_again_reset_nothing():
    readings = read_with_topics([COPPER, COPPER, COPPER], 1, ["copper"])
    assert [reading["coverage.gain"] for reading in readings] == [1.0, 1.0, 0.0]
