"""The composite score, and the issues with their sections."""

from hypothesis import given
from hypothesis import strategies as st
from review.conftest import scored

from suffice.prompts.judging import EvaluationIssue
from suffice.review.rubric import WEIGHTS, composite_score, list_issues, median_scores


def score_alone(evaluation):
    return median_scores([evaluation])


scores = st.fixed_dictionaries({name: st.integers(0, 10) for name in WEIGHTS})


def test_the_weights_are_the_source_values():
    assert WEIGHTS == {
        "relevance": 20,
        "completeness": 20,
        "depth": 25,
        "grounded": 15,
        "specificity": 10,
        "structure": 10,
    }
    assert sum(WEIGHTS.values()) == 100


@given(scores)
def test_the_composite_is_a_rounded_weighted_mean(found):
    value = composite_score(found)
    assert min(found.values()) <= value <= max(found.values())
    assert value == round(value, 1)
    assert abs(value - sum(WEIGHTS[name] * found[name] for name in WEIGHTS) / 100) <= 0.05 + 1e-9


def test_half_a_tenth_is_rounded_up():
    assert composite_score(score_alone(scored(8, depth=7, specificity=9))) == 7.9  # 7.85
    assert composite_score(score_alone(scored(8, depth=7, relevance=9))) == 8.0  # 7.95


@given(st.lists(scores, min_size=3, max_size=3))
def test_one_reader_of_three_cannot_decide_alone(readers):
    combined = median_scores([scored(**reader) for reader in readers])
    for name in WEIGHTS:
        assert combined[name] == sorted(reader[name] for reader in readers)[1]


def test_every_weak_dimension_gives_an_issue_with_its_section():
    found = score_alone(scored(9, depth=5, structure=7))
    named = [
        EvaluationIssue("Depth", "## builders", "say when"),
        EvaluationIssue("looks", "", "nice"),
        EvaluationIssue("relevance", "gone", "drifts"),
    ]
    lines = list_issues(named, found, ("Builders",), 8.0)
    assert lines == (
        "depth, “Builders”: “say when”",
        "structure, the whole text: scored 7 of 10",
        "relevance, the whole text: “drifts”",
    )


def test_what_several_readers_name_is_listed_once():
    problems = [
        "It does not say which checks of a gasoline programme must be added.",
        "A reader is not told which checks of a gasoline programme stay and which must be added.",
        "The figures of the table are not explained.",
    ]
    named = [EvaluationIssue("depth", "Builders", problem) for problem in problems]
    lines = list_issues(named, score_alone(scored(9, depth=7)), ("Builders",), 8.0)
    assert lines == tuple(f"depth, “Builders”: “{problem}”" for problem in (problems[0], problems[2]))
