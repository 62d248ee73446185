"""Scores against references: hand-computed values, and the packages' own where they exist."""

import asyncio

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, ttest_rel

from suffice.lab.scores import compute_rubric, cosine, judge_answer, meteor, rouge1, score_lexically
from suffice.lab.statistics import adjust_holm, bootstrap_interval, paired_test
from suffice.measure.answers import is_abstention
from suffice.prompts.lab import GradeResponse


def test_scores_of_short_answers():
    assert score_lexically("The Trieste.", ["Trieste"]) == {"em": 1.0, "f1": 1.0, "rouge1": 2 / 3, "meteor": 0.5}
    scores = score_lexically("Ida Halloran of Graz", ["Karl", "Ida Halloran"])
    assert scores["em"] == 0
    assert scores["f1"] == pytest.approx(2 / 3)
    assert scores["rouge1"] == pytest.approx(2 / 3)


def test_rouge_and_meteor_stem():
    assert rouge1("the bridges", "the bridge") == 1.0
    # METEOR: all 2 words match in one chunk: F = 1, penalty 0.5 · (1/2)³.
    assert meteor("bridges build", "bridge builds") == pytest.approx(1 - 0.5 * (1 / 2) ** 3)
    assert meteor("river", "mountain") == 0.0
    # Both words match, in two chunks: penalty 0.5 · (2/2)³.
    assert meteor("mur the on", "on mur") == pytest.approx(1 - 0.5 * (2 / 2) ** 3)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "no answer",
        "No answer.",
        "Unknown",
        "The notes do not mention it.",
        "There is no information about it",
        "N/A",
    ],
)
def test_abstentions(answer):
    assert is_abstention(answer)
    assert score_lexically(answer, ["x"])["f1"] == 0
    assert score_lexically(answer, [])["f1"] == 1


@pytest.mark.parametrize("answer", ["Norway", "Nonesuch Palace", "No. 5", "Notting Hill"])
def test_answers_that_only_look_like_abstentions(answer):
    assert not is_abstention(answer)


def test_an_unanswerable_question_is_right_only_without_an_answer():
    assert score_lexically("Trieste", []) == {"em": 0, "f1": 0, "rouge1": 0, "meteor": 0}


def judged(answer, truths, grade):
    asked = []

    async def ask(prompt):
        asked.append(prompt)
        return grade

    return asyncio.run(judge_answer("Where?", answer, truths, ask)), asked


def test_the_rubric_score():
    score, (prompt,) = judged("Trieste", ["Trieste", "Triest"], GradeResponse(100, 80, 40))
    assert score == 80
    assert "Trieste / Triest" in prompt.render()
    assert judged("no answer", ["Trieste"], None) == (0.0, [])
    assert judged("no answer", [], None) == (100.0, [])
    assert judged("Trieste", ["x"], None)[0] is None


@pytest.mark.parametrize("grade", [None, GradeResponse(100, 100), GradeResponse(100, 101, 0), GradeResponse(-1, 0, 0)])
def test_an_unreadable_grade_is_unknown(grade):
    assert compute_rubric(grade) is None


def test_the_rubric_does_not_go_below_zero():
    assert compute_rubric(GradeResponse(0, 0, 100)) == 0.0


def test_cosine_uses_the_first_true_answer():
    vectors = {"Trieste": [1.0, 0.0], "Graz": [0.6, 0.8]}

    def embed(texts):
        return numpy.array([vectors[text] for text in texts])

    assert cosine("Graz", ["Trieste"], embed) == pytest.approx(0.6)
    assert cosine("Graz", [], embed) is None
    assert cosine("Graz", ["Trieste"], None) is None


# -- statistics ----------------------------------------------------------------------------------------------------------


def test_holm_by_hand():
    assert adjust_holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert adjust_holm([0.5, None, 0.9]) == [1.0, None, 1.0]
    assert adjust_holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_lies_between_the_plain_and_the_bonferroni_value(values):
    adjusted = adjust_holm(values)
    for p, a, fdr in zip(values, adjusted, false_discovery_control(values), strict=True):
        assert p <= a <= min(1.0, p * len(values)) + 1e-12
        assert a >= fdr - 1e-12, "Holm controls more strictly than Benjamini-Hochberg"
    order = sorted(range(len(values)), key=values.__getitem__)
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_a_paired_test_is_that_of_scipy():
    left, right = [0.1, 0.5, 0.9, 0.4, 0.7], [0.0, 0.6, 0.5, 0.1, 0.6]
    test = paired_test(left, right)
    assert test.p == pytest.approx(ttest_rel(left, right).pvalue)
    assert test.difference == pytest.approx(0.16)
    assert test.interval[0] < 0.16 < test.interval[1]
    assert paired_test([1, 1, 1], [1, 1, 1]).p == 1.0
    assert paired_test([1, 2], [0, 0]).p is None
    assert paired_test([], []).pairs == 0


def test_a_bootstrap_interval_covers_the_mean_and_is_reproducible():
    values = list(numpy.random.default_rng(1).normal(3, 1, 200))
    low, high = bootstrap_interval(values)
    assert low < 3 < high
    assert high - low == pytest.approx(2 * 1.96 / 200**0.5, rel=0.2)
    assert bootstrap_interval(values) == (low, high)
    assert bootstrap_interval([1.0]) is None
