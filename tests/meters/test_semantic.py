"""Readings that compare meanings, with an embedding model small enough to compute by hand."""

import numpy
import pytest
from round_views import AllNew, Hit

from suffice.meters import build_meters
from suffice.meters.base import MeterContext, list_topic_coverage
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
    meters = build_meters(frozenset({name} if name.startswith("novelty") else ()), question, model)
    return [meters.read(moment, round)[name] for round in rounds]


COPPER, SILVER, BOTH, OTHER = (
    AllNew((Hit(text, text),)) for text in ("copper is red", "silver is white", "copper and silver", "tin")
)


def test_embedding_novelty_is_the_distance_to_the_nearest_known_sentence():
    novelty = read([COPPER, COPPER, SILVER, BOTH], "before", "novelty.embedding")
    assert novelty == [10.0, 0.0, 10.0, pytest.approx(10 * (1 - 2**-0.5), abs=0.01)]


def test_embedding_novelty_compares_sentence_by_sentence():
    """A passage about two things that are both known brings nothing new, although no known passage has both."""
    both = AllNew((Hit("b", "Copper is red. Silver is white. Tin melts."),))
    novelty = read([AllNew((Hit("a", "Copper is red. Silver is white."),)), both], "before", "novelty.embedding")
    assert novelty == [10.0, pytest.approx(10 / 3, abs=0.01)]


def test_embedding_novelty_is_read_only_if_a_gate_needs_it():
    assert "novelty.embedding" not in build_meters(question="Copper", embed=embed).read("before", COPPER)


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
        assert read([COPPER], "after", name, model=None) == [None]  # No gate needs it.
        assert read([COPPER], "after", name, question=None) == [None]
        assert read([AllNew((Hit("x", None),))], "after", name) == [None]


def test_without_embeddings_the_gain_compares_words_if_a_gate_needs_it():
    meters = build_meters(frozenset({"coverage.gain"}), "Compare Copper with Silver")
    gains = [meters.read("after", round)["coverage.gain"] for round in (OTHER, COPPER, COPPER, SILVER)]
    assert gains[0] == 1.0
    assert gains[1] > 0.1
    assert gains[2] == 0.0
    assert gains[3] > 0.1


def test_each_named_topic_has_a_reading_of_its_own():
    meter = CoverageMeter(MeterContext("Compare Copper with Silver", embed=embed))
    meter.set_topics(["Copper is used for wires.", "Silver is dear."])
    meter.name_topics(["copper", "price of silver"])
    assert list_topic_coverage(meter.read(COPPER)) == {"copper": 1.0, "price of silver": 0.0}
    assert list_topic_coverage(meter.read(BOTH)) == {"copper": 1.0, "price of silver": 0.707}


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


def test_an_outline_of_the_first_round_lets_the_second_round_count():
    readings = read_with_topics([COPPER, COPPER, COPPER], 1, ["copper"])
    assert [reading["coverage.gain"] for reading in readings] == [1.0, 0.0, 0.0], "gain may stop in round 3 of 5"


def test_the_same_topics_again_reset_nothing():
    readings = read_with_topics([COPPER] * 4, 2, ["copper"])
    assert [reading["coverage.gain"] for reading in readings] == [1.0, 0.0, 1.0, 0.0]
