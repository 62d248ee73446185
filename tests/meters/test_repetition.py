"""Readings of repetition against values computed by hand and against a recomputation from scratch."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from round_views import Hit, RoundView

from suffice.meters import BEFORE_READINGS, build_meters
from suffice.meters.repetition import QueryOverlapMeter, UniqueRateMeter, WordNoveltyMeter
from suffice.types import Note


def found(*hits: Hit) -> RoundView:
    return RoundView(raw=hits, new=hits)


def readings(meter, views, name):
    return [meter.read(view)[name] for view in views]


def asked(*rounds: tuple[str, ...]) -> list[RoundView]:
    return [RoundView(queries=queries) for queries in rounds]


def test_overlap_is_the_jaccard_similarity_of_words():
    views = asked(("the lru cache",), ("The LRU cache?",), ("cache size of the disk",), ("unrelated",))
    assert readings(QueryOverlapMeter(), views, "overlap.jaccard") == [0.0, 1.0, pytest.approx(2 / 6), 0.0]


def test_the_queries_of_a_round_are_joined():
    views = asked(("red fox", "brown dog"), ("red dog",))
    assert readings(QueryOverlapMeter(), views, "overlap.jaccard") == [0.0, pytest.approx(2 / 4)]


def test_overlap_looks_back_five_rounds_and_consecutive_one():
    others = [(f"other{n}",) for n in range(4)]
    within = asked(("same words",), *others, ("same words",))
    beyond = asked(("same words",), *others, ("yet another",), ("same words",))
    assert readings(QueryOverlapMeter(), within, "overlap.jaccard")[-1] == 1.0
    assert readings(QueryOverlapMeter(), beyond, "overlap.jaccard")[-1] == 0.0
    assert readings(QueryOverlapMeter(), within, "overlap.consecutive")[-1] == 0.0
    assert readings(QueryOverlapMeter(), asked(("a b",), ("a c",)), "overlap.consecutive") == [
        0.0,
        pytest.approx(1 / 3),
    ]


def test_overlap_is_that_of_the_most_similar_round():
    views = asked(("alpha beta",), ("gamma",), ("alpha beta delta",))
    assert readings(QueryOverlapMeter(), views, "overlap.jaccard")[-1] == pytest.approx(2 / 3)


def test_a_gate_may_ask_for_another_window():
    meters = build_meters(frozenset({"overlap.jaccard@2", "overlap.jaccard@8", "overlap.upr"}))
    seen = [meters.read("after", view) for view in asked(("same",), *[(f"x{n}",) for n in range(6)], ("same",))]
    assert seen[-1]["overlap.jaccard@2"] == 0.0
    assert seen[-1]["overlap.jaccard"] == 0.0
    assert seen[-1]["overlap.jaccard@8"] == 1.0


words = st.lists(st.sampled_from("red fox brown dog lazy the cat".split()), min_size=1, max_size=4).map(" ".join)


@given(st.lists(st.lists(words, min_size=1, max_size=3).map(tuple), min_size=1, max_size=12), st.integers(1, 9))
def test_overlap_equals_a_recomputation_from_scratch(rounds, window):
    tokens = [set(re.findall(r"\w+", " ".join(queries).lower())) for queries in rounds]
    batch = {}
    for name, span in (("overlap.jaccard", 5), ("overlap.consecutive", 1), (f"overlap.jaccard@{window}", window)):
        batch[name] = [
            max((len(now & then) / len(now | then) for then in tokens[max(0, n - span) : n]), default=0.0)
            for n, now in enumerate(tokens)
        ]
    meters = build_meters(frozenset({f"overlap.jaccard@{window}"}))
    one_by_one = [meters.read("after", view) for view in asked(*rounds)]
    for name, values in batch.items():
        assert [reading[name] for reading in one_by_one] == pytest.approx(values)


def test_the_unique_rate_counts_hits_not_seen_before():
    a, b, c = (Hit(name) for name in "abc")
    views = [found(a, b), RoundView(raw=(a, c), new=(c,)), RoundView(raw=(a, b, c))]
    assert readings(UniqueRateMeter(), views, "overlap.upr") == [1.0, 0.5, 0.0]


def test_the_unique_rate_is_zero_without_hits_and_unknown_after_a_failure():
    views = [found(Hit("a")), RoundView(), RoundView(failed=True), found(Hit("a")), found(Hit("b"))]
    assert readings(UniqueRateMeter(), views, "overlap.upr") == [1.0, 0.0, None, 0.0, 1.0]


hits = st.lists(st.sampled_from("abcdefgh"), max_size=5).map(lambda ids: tuple(Hit(id, f"{id} text") for id in ids))
views = st.builds(
    lambda raw, deeper, failed: RoundView(raw=() if failed else raw, new=() if failed else deeper, failed=failed),
    hits,
    hits,
    st.sampled_from([False, False, False, True]),
)


@given(st.lists(views, min_size=1, max_size=10))
def test_the_unique_rate_equals_a_recomputation_from_scratch(rounds):
    batch = []
    for n, view in enumerate(rounds):
        seen = {hit.id for earlier in rounds[:n] for hit in (*earlier.raw, *earlier.new)}
        ids = {hit.id for hit in view.raw}
        batch.append(None if view.failed else len(ids - seen) / len(ids) if ids else 0.0)
    assert readings(UniqueRateMeter(), rounds, "overlap.upr") == batch


def test_word_novelty_by_hand():
    views = [
        found(Hit("1", "alpha beta gamma delta")),
        found(Hit("2", "Alpha, beta; epsilon zeta!")),
        found(Hit("3", "alpha beta gamma")),
        found(Hit("4", "one two three")),
    ]
    assert readings(WordNoveltyMeter(), views, "novelty.words") == [10.0, 5.0, 0.0, 10.0]


def test_word_novelty_rounds_to_whole_points():
    views = [found(Hit("1", "a b c d e f")), found(Hit("2", "a b new"))]
    assert readings(WordNoveltyMeter(), views, "novelty.words")[1] == 3.0


def test_word_novelty_without_earlier_rounds_results_or_texts():
    assert WordNoveltyMeter().read(found(Hit("1", "word")))["novelty.words"] == 10.0
    assert WordNoveltyMeter().read(RoundView())["novelty.words"] == 0.0
    assert WordNoveltyMeter().read(found(Hit("1", " … ")))["novelty.words"] == 0.0
    assert WordNoveltyMeter().read(RoundView(failed=True))["novelty.words"] is None
    assert WordNoveltyMeter().read(found(Hit("1", "word"), Hit("2", None)))["novelty.words"] is None


def test_word_novelty_compares_with_what_the_memory_holds():
    meter = WordNoveltyMeter()
    meter.set_known(())
    assert meter.read(found(Hit("1", "alpha beta")))["novelty.words"] == 10.0
    meter.set_known((Note("gamma", ("[1]",), "Alpha"),))  # It has forgotten beta.
    assert meter.read(found(Hit("2", "alpha beta")))["novelty.words"] == 5.0


def test_word_novelty_is_full_after_an_empty_first_round():
    assert readings(WordNoveltyMeter(), [RoundView(), found(Hit("1", "word"))], "novelty.words") == [0.0, 10.0]


texts = st.lists(st.sampled_from("ant bee cat dog elk fox gnu hen".split()), max_size=6).map(" ".join)
worded = st.lists(st.tuples(st.sampled_from("abcdef"), texts), max_size=4).map(
    lambda pairs: found(*(Hit(id, text) for id, text in pairs))
)


@given(st.lists(worded, min_size=1, max_size=8))
def test_word_novelty_equals_a_recomputation_from_scratch(rounds):
    batch = []
    for n, view in enumerate(rounds):
        known = {word for earlier in rounds[:n] for hit in earlier.raw for word in hit.text.split()}
        now = {word for hit in view.raw for word in hit.text.split()}
        batch.append(0.0 if not now else 10.0 if not known else float(round(10 * len(now - known) / len(now))))
    assert readings(WordNoveltyMeter(), rounds, "novelty.words") == batch


@given(st.lists(worded, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_no_reading_depends_on_the_order_of_passages(rounds, random):
    def shuffled(view):
        order = random.sample(view.raw, len(view.raw))
        return found(*order)

    straight, mixed = build_meters(), build_meters()
    for view in rounds:
        other = shuffled(view)
        for moment in ("before", "after"):
            assert straight.read(moment, view) == mixed.read(moment, other)


def test_readings_that_may_reject_a_round_are_taken_before_it_is_accepted():
    view = found(Hit("1", "word"))
    before, after = build_meters().read("before", view), build_meters().read("after", view)
    assert "novelty.words" in before
    assert set(before) <= BEFORE_READINGS
    assert {"overlap.jaccard", "overlap.consecutive", "overlap.upr"} <= set(after)
    assert BEFORE_READINGS.isdisjoint(after)
