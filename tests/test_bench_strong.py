"""The replay of a strong model's recorded answers: by role, with the handles that the passages have in this run."""

import pytest

from bench.strong import CASES, Replay

NOTE = "[7]\n<<<\nMill\nThe mill at Ostrava was built by Jan Kolbe.\n>>>\n"
DRAFT = {"messages": [{"content": f"Write the answer to a task.\n{NOTE}"}]}


def make_replay(case: str) -> Replay:
    replay = Replay(CASES[case])
    replay.recorded = {
        "passages": {"[1]": "0ec1e69642b4ba4c"},
        "computed": "[9]",
        "computed_words": "9",
        "computed_from": {"citation": "[1]", "check": ""},
    }
    replay.left = {"draft": ["Kolbe built it [1]. It has 9 wheels [9]."], "evaluate": ["bad", "good"]}
    return replay


def test_answers_cite_the_passages_of_this_run() -> None:
    replay = make_replay("program")
    assert replay.answer(DRAFT) == "Kolbe built it [7]. It has 9 wheels [9]."
    assert list(replay.tokens) == ["draft"]
    assert make_replay("plain").answer(DRAFT) == "Kolbe built it [7]. It has 9 wheels [7]."
    with pytest.raises(LookupError):
        replay.answer(DRAFT)


def test_without_a_revision_the_first_evaluation_is_good() -> None:
    evaluate = {"messages": [{"content": "You review"}], "response_format": {"json_schema": {"name": "evaluate"}}}
    assert make_replay("plain").answer(evaluate) == "good"
    assert make_replay("revision").answer(evaluate) == "bad"
