"""Rival hypotheses are weighed by the evidence and are not treated as facts."""

from hypothesis import given
from hypothesis import strategies as st

from suffice.engine.hypotheses import HYPOTHESIS_KIND, render_standings, weigh_hypotheses
from suffice.testing import make_passage

QUESTION = "Where was the director of The Silver Lamp born?"
GRAZ = make_passage("a", "The director of The Silver Lamp was born in Graz.", "Ada Lind")
AGAIN = make_passage("b", "Graz is where the director of the Lamp was born.", "A letter")
MALMO = make_passage("c", "Malmo has a harbour.", "Malmo")
WORDS = st.lists(st.sampled_from("Graz Malmo director lamp born harbour silver letter".split()), min_size=1, max_size=8)
PASSAGES = st.lists(WORDS.map(" ".join), max_size=12).map(
    lambda texts: [make_passage(f"p{n}", text) for n, text in enumerate(texts)]
)


def weigh(passages, hypotheses=("She was born in Graz", "She was born in Malmo")):
    return render_standings(weigh_hypotheses(QUESTION, hypotheses, passages))


def test_support_needs_words_of_the_question_and_of_the_hypothesis():
    first, second = weigh([MALMO, GRAZ, AGAIN])
    assert first.text.endswith("of the support: She was born in Graz")
    assert first.handles == ("[2]", "[3]")
    assert second.text.startswith("0%"), "a passage without words of the question supports nothing"
    assert {note.kind for note in (first, second)} == {HYPOTHESIS_KIND}


def test_a_hypothesis_that_repeats_the_question_or_another_is_dropped():
    assert len(weigh([GRAZ], [QUESTION, "Graz", "In Graz"])) == 1


def test_without_support_the_weights_are_zero():
    assert [note.text.split("%")[0] for note in weigh([])] == ["0", "0"]


@given(PASSAGES)
def test_weights_do_not_depend_on_the_order_of_the_hypotheses(passages):
    assert sorted(weigh(passages, ["Graz", "Malmo"]), key=str) == sorted(weigh(passages, ["Malmo", "Graz"]), key=str)
