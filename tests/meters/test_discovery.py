"""Readings of what seems to be left to find, against values computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from round_views import AllNew, Hit, RoundView

from suffice.meters import build_meters
from suffice.meters.base import MeterContext
from suffice.meters.discovery import ResidualMeter
from suffice.text.entities import extract_facets, stem_words


def read(rounds, name, question=None):
    meters = build_meters(question=question)
    return [meters.read("after", round)[name] for round in rounds]


def found(*hits, queries=("q",)):
    return RoundView(hits, hits, queries)


def test_unseen_mass_is_the_share_of_sightings_of_things_seen_once():
    a, b, c = (Hit(id) for id in "abc")
    rounds = [found(a, b), found(a), found(a, b, c)]
    assert read(rounds, "unseen.mass") == [1.0, pytest.approx(1 / 3), pytest.approx(1 / 6)]


def test_richness_is_the_chao1_estimate():
    a, b, c = (Hit(id) for id in "abc")
    # Three seen once, none twice: 3 + 3·2/2. Then a twice: 3 + 2·1/(2·2).
    assert read([found(a, b, c), found(a)], "unseen.richness") == [6.0, pytest.approx(3.5)]


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5, unique=True), min_size=1, max_size=10))
def test_unseen_readings_equal_a_recomputation_from_scratch(ids_by_round):
    masses, richnesses, seen = [], [], []
    for ids in ids_by_round:
        seen += ids
        times = [seen.count(id) for id in set(seen)]
        once, twice = times.count(1), times.count(2)
        masses.append(once / len(seen) if seen else None)
        richnesses.append(len(times) + once * (once - 1) / (2 * (twice + 1)) if seen else None)
    rounds = [found(*map(Hit, ids)) for ids in ids_by_round]
    assert read(rounds, "unseen.mass") == pytest.approx(masses)
    assert read(rounds, "unseen.richness") == pytest.approx(richnesses)


def test_bridges_are_names_that_no_query_has_used():
    rounds = [
        found(Hit("1", "It was Ida Halloran who met Otto Renner."), queries=("who built it",)),
        RoundView(queries=("Ida Halloran life",)),
        RoundView(queries=("about Renner", "about Otto")),
    ]
    assert read(rounds, "bridges.open", "Who built it?") == [2.0, 1.0, 0.0]


def test_the_residual_is_the_share_of_the_question_that_nothing_matched():
    rounds = [found(Hit("1", "A bridge.")), found(Hit("2", "The bridge of stone.", "Meridian"))]
    first, second = read(rounds, "question.residual", "Meridian stone bridge")
    assert 0 < first < 1
    assert second == 0.0
    assert read(rounds, "question.residual") == [None, None]


@given(st.lists(st.lists(st.text("dyinge_é '(", max_size=12), min_size=1, max_size=3), min_size=1, max_size=5))
def test_the_residual_equals_a_recomputation_from_scratch(texts_by_round):
    question = "Is dying Ginny_d née Deng in Neige?"
    wanted = frozenset().union(*(part.stems for part in extract_facets(question, limit=50)))
    meter, found = ResidualMeter(MeterContext(question)), set()
    for number, texts in enumerate(texts_by_round):
        hits = tuple(Hit(f"{number}.{i}", text, "Ding 1") for i, text in enumerate(texts))
        for text in texts:
            found |= set(stem_words(f"Ding 1 {text}"))
        assert meter.read(AllNew(hits))["question.residual"] == len(wanted - found) / len(wanted)


def test_the_score_drop_compares_with_the_first_round():
    rounds = [found(Hit("1", score=4.0), Hit("2", score=2.0)), found(Hit("3", score=3.0)), found(Hit("4"))]
    assert read(rounds, "score.drop") == [0.0, pytest.approx(0.25), None]


@pytest.mark.parametrize("name", ["unseen.mass", "unseen.richness", "bridges.open", "score.drop"])
def test_readings_are_unknown_after_a_failed_search(name):
    assert read([found(Hit("1", "Ada", score=1.0)), RoundView(failed=True)], name, "Who?")[-1] is None


@pytest.mark.parametrize("name", ["bridges.open", "question.residual"])
def test_missing_text_is_unknown_not_zero(name):
    assert read([found(Hit("1", None))], name, "Who built the bridge?") == [None]


def read_chars(*rounds):
    meters = build_meters()
    return [meters.read("before", round)["evidence.chars"] for round in rounds]


def test_evidence_chars_counts_the_rounds_before():
    rounds = [AllNew((Hit("a", "12345"), Hit("b", "678"))), AllNew(), AllNew((Hit("c", "9"),)), AllNew(failed=True)]
    assert read_chars(*rounds) == [0.0, 8.0, 8.0, 9.0]


def test_evidence_chars_is_unknown_after_a_missing_text():
    assert read_chars(AllNew((Hit("a", None),)), AllNew((Hit("b", "x"),)), AllNew()) == [0.0, None, None]
