"""The signals of the default gate, computed by hand and by brute force."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from round_views import Hit, RoundView

from suffice.meters import build_meters


def read(question, *rounds):
    """Return the readings after each round, by name without prefix."""
    meters = build_meters(question=question)
    found = []
    for hits in rounds:
        readings = meters.read("after", RoundView(tuple(hits), tuple(hits)))
        found.append({name[6:]: value for name, value in readings.items() if name.startswith("worth.")})
    return found


QUESTION = (
    "Who founded the works that built the Meridian bridge in Trieste?"  # found works built meridian bridge triest
)


def test_missing_names_and_words():
    first, second = read(QUESTION, [Hit("1", "A bridge in Trieste.")], [Hit("2", "Built by works", "Meridian")])
    assert (first["missing_names"], first["missing_words"]) == (1.0, 4.0)
    assert (second["missing_names"], second["missing_words"]) == (0.0, 1.0)


def test_a_question_without_names_leaves_them_unknown():
    [now] = read("who founded the works?", [Hit("1", "The works.")])
    assert now["missing_names"] is None
    assert now["missing_words"] == 1.0


def test_words_are_compared_without_accents_plurals_and_possessives():
    [now] = read("Where do Müller's bridges stand?", [Hit("1", "Bridge of Muller, standing.")])
    assert (now["missing_names"], now["missing_words"]) == (0.0, 1.0)  # "standi" is not "stand"


def test_numbers_count_as_names():
    [now] = read("what opened in 1887?", [Hit("1", "It opened.")])
    assert now["missing_names"] == 1.0


def test_the_second_passage_adds_what_the_first_lacks():
    one, two = Hit("1", "founded works built"), Hit("2", "Meridian bridge")
    first, second = read(QUESTION, [one], [two])
    assert first["second_adds"] == 0.0
    assert second["second_adds"] == pytest.approx(2 / 6)


def test_only_linked_passages_cover_together():
    bridge = Hit("1", "The Meridian bridge in Trieste was built by Halloran Works.", "Meridian bridge")
    works = Hit("2", "It was founded by Ida.", "Halloran Works (company)")
    other = Hit("3", "It was founded by Otto.", "Renner Works")
    assert read(QUESTION, [bridge, other])[0]["pair_cover"] == 0.0
    assert read(QUESTION, [bridge, works])[0]["pair_cover"] == 1.0
    # The link holds in either order and over rounds.
    assert read(QUESTION, [works], [bridge])[1]["pair_cover"] == 1.0
    # Two chunks of one document, or a title of two letters, are not linked.
    assert read(QUESTION, [bridge, Hit("4", "founded Meridian bridge", "Meridian bridge")])[0]["pair_cover"] == 0.0
    assert read(QUESTION, [bridge, Hit("5", "founded", "in")])[0]["pair_cover"] == 0.0


def test_standout_is_measured_in_round_1_only():
    hits = [Hit("1", "a", score=0.5), Hit("2", "b", score=0.8), Hit("3", "c", score=0.2)]
    assert [now["standout"] for now in read(QUESTION, hits, hits)] == [pytest.approx(3 / 8), 0.0]


@pytest.mark.parametrize(
    "hits",
    [
        [],
        [Hit("1", "a", score=0.5)],
        [Hit("1", "a"), Hit("2", "b")],
        [Hit("1", "a", score=0.0), Hit("2", "b", score=0.0)],
    ],
)
def test_standout_is_unknown_without_two_scores(hits):
    assert read(QUESTION, hits)[0]["standout"] is None


def test_unknown_without_a_question_or_when_most_texts_are_missing():
    signals = ("missing_names", "missing_words", "pair_cover", "second_adds")
    dark, bright = Hit("1", None), Hit("2", "Meridian bridge")
    for question, hits in (
        (None, [bright]),
        ("", [bright]),
        (QUESTION, [dark]),
        (QUESTION, [dark, bright]),
        (QUESTION, []),
    ):
        assert [read(question, hits)[0][name] for name in signals] == [None] * 4, (question, hits)
    [now] = read(QUESTION, [dark, bright, Hit("3", "Trieste")])
    assert None not in [now[name] for name in signals]


def test_a_passage_counts_once_however_often_it_comes_back():
    bright, dark = Hit("2", "Meridian bridge"), [Hit("1", None), Hit("3", None)]
    assert read(QUESTION, [bright], [bright], [bright, *dark])[-1]["pair_cover"] is None


WORDS = ("founded", "works", "built", "Meridian", "bridge", "Trieste", "Halloran", "Renner", "Graz")
hit_parts = st.tuples(
    st.lists(st.sampled_from(WORDS), max_size=5), st.sampled_from(["Halloran", "Renner", "Graz", None])
)


@given(st.lists(st.lists(hit_parts, max_size=4), min_size=1, max_size=4))
def test_incremental_readings_equal_a_recomputation_from_scratch(rounds):
    wanted = {"founded", "works", "built", "meridian", "bridge", "trieste"}
    made, seen = [], []
    for number, parts in enumerate(rounds):
        made.append([Hit(f"{number}.{i}", " ".join(text) or "-", title) for i, (text, title) in enumerate(parts)])
    for hits, now in zip(made, read(QUESTION, *made), strict=True):
        seen += [(hit.title, set(re.findall(r"\w+", f"{hit.title or ''} {hit.text}".lower()))) for hit in hits]
        if not seen:
            assert now["pair_cover"] is None
            continue
        covers = [words & wanted for _, words in seen]
        one = max(map(len, covers))
        two = max((len(a | b) for a, b in combinations(covers, 2)), default=0)
        linked = [
            len((a[1] | b[1]) & wanted)
            for a, b in combinations(seen, 2)
            if a[0] != b[0] and any(x[0] and x[0].lower() in y[1] for x, y in ((a, b), (b, a)))
        ]
        assert now["missing_words"] == len(wanted - set().union(*covers))
        assert now["second_adds"] == pytest.approx(max(0, two - one) / 6)
        assert now["pair_cover"] == pytest.approx(max(linked, default=0) / 6)
