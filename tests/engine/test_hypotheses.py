"""Rival hypotheses: weighed by what speaks for them, incrementally, and never mistaken for facts."""

from hypothesis import given
from hypothesis import strategies as st

from suffice.engine.hypotheses import HYPOTHESIS_KIND, HypothesisTracker
from suffice.testing import make_passage

QUESTION = "Where was the director of The Silver Lamp born?"
GRAZ = make_passage("a", "The director of The Silver Lamp was born in Graz.", "Ada Lind")
AGAIN = make_passage("b", "Graz is where the director of the Lamp was born.", "A letter")
MALMO = make_passage("c", "Malmo has a harbour.", "Malmo")
WORDS = st.lists(st.sampled_from("Graz Malmo director lamp born harbour silver letter".split()), min_size=1, max_size=8)
PASSAGES = st.lists(WORDS.map(" ".join), max_size=12).map(
    lambda texts: [make_passage(f"p{n}", text) for n, text in enumerate(texts)]
)


def standing(passages, rivals=("She was born in Graz", "She was born in Malmo")):
    weighed = HypothesisTracker(QUESTION)
    weighed.set_hypotheses(rivals)
    weighed.add_passages(passages)
    return weighed.render_standings()


def test_what_speaks_about_the_question_and_the_hypothesis_counts():
    first, second = standing([MALMO, GRAZ, AGAIN])
    assert first.text.endswith("of the support: She was born in Graz")
    assert first.handles == ("[2]", "[3]")
    assert second.text.startswith("0%"), "a passage that has nothing of the question speaks for nothing"
    assert {note.kind for note in (first, second)} == {HYPOTHESIS_KIND}


def test_a_hypothesis_that_repeats_the_question_or_another_is_none():
    assert len(standing([GRAZ], [QUESTION, "Graz", "In Graz"])) == 1


def test_no_support_at_all_is_no_weight():
    assert [note.text.split("%")[0] for note in standing([])] == ["0", "0"]


@given(PASSAGES, st.integers(0, 12))
def test_in_parts_or_at_once_the_weights_are_the_same(passages, cut):
    parts = HypothesisTracker(QUESTION)
    parts.add_passages(passages[:cut])
    parts.set_hypotheses(["She was born in Graz", "She was born in Malmo"])
    parts.add_passages(passages[cut:])
    assert parts.render_standings() == standing(passages)


@given(PASSAGES)
def test_a_rival_that_stays_keeps_its_weight(passages):
    weighed = HypothesisTracker(QUESTION)
    weighed.set_hypotheses(["Graz", "Malmo"])
    weighed.add_passages(passages)
    before = weighed.render_standings()
    weighed.set_hypotheses(["Malmo", "Graz"])
    assert sorted(weighed.render_standings(), key=str) == sorted(before, key=str)


def test_the_least_asked_come_first():
    weighed = HypothesisTracker(QUESTION)
    weighed.set_hypotheses(["Graz", "Malmo"])
    weighed.add_passages([GRAZ])
    assert weighed.rank_for_testing() == ["Graz", "Malmo"]
    weighed.mark_asked("Graz")
    assert weighed.rank_for_testing() == ["Malmo", "Graz"]
