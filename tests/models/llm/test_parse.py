"""From the text of a model to the typed response."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.models.llm.messages import response_schema
from suffice.models.llm.parse import (
    UnreadableAnswer,
    parse_answer,
    salvage_answer,
    strip_thinking,
    trim_to_sentence,
)
from suffice.prompts.belief import Curate, Extract
from suffice.prompts.judging import JudgeProgress, RateNovelty
from suffice.prompts.planning import Plan, ProposeQuery, Reflect
from suffice.prompts.writing import DraftAnswer, SynthesisResponse

EXTRACT = Extract("task", (), (), ())
PLAN = Plan("task", 3)


@given(st.text())
def test_any_text_is_a_response_or_unreadable(text: str) -> None:
    for prompt in (
        PLAN,
        EXTRACT,
        ProposeQuery("task", "", (), (), ()),
        JudgeProgress("task", "", (), ()),
        DraftAnswer("task", ()),
    ):
        for read in (parse_answer, salvage_answer):
            with suppress(UnreadableAnswer):
                assert isinstance(read(prompt, text), prompt.response_type)


def test_whole_items_of_a_truncated_response_are_saved() -> None:
    cut = '{"facts": [{"text": "A.", "handles": ["[1]"]}, {"text": "B.", "handles": ["[2'
    with pytest.raises(UnreadableAnswer, match="complete"):
        parse_answer(EXTRACT, cut)
    assert [fact.text for fact in salvage_answer(EXTRACT, cut).facts] == ["A."]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ('{"queries": ["a", "b"]}', ["a", "b"]),
        ('["a", "b"]', ["a", "b"]),
        ('{"queries": {"query": "a"}}', ["a"]),
        ('{"queries": "a", "notes": null}', ["a"]),
        ('{"queries": [{"query": 1890}]}', ["1890"]),
        ('{"queries": [{"query": "a\nb"}]}', ["a\nb"]),
        ('{"example": 1} and so: {"queries": [{"query": "the longer one"}]}', ["the longer one"]),
    ],
)
def test_an_almost_right_response_is_read_as_meant(text: str, queries: list[str]) -> None:
    assert [planned.query for planned in parse_answer(PLAN, text).queries] == queries


@pytest.mark.parametrize("text", ["{}", '{"queries": 5}', '{"queries": [[1]]}', '{"plan": []}', "no", "[" * 5000])
def test_a_wrong_response_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableAnswer):
        parse_answer(PLAN, text)


def test_an_unescaped_quotation_mark_is_repaired_only_as_the_last_resort() -> None:
    text = '{"queries": [{"query": "who said "never again" first"}]}'
    with pytest.raises(UnreadableAnswer, match="not escaped"):
        parse_answer(PLAN, text)
    assert salvage_answer(PLAN, text).queries[0].query == 'who said "never again" first'
    with pytest.raises(UnreadableAnswer):
        salvage_answer(PLAN, text, was_cut=True)


def test_prose_in_brackets_is_not_a_response() -> None:
    for read in (parse_answer, salvage_answer):
        with pytest.raises(UnreadableAnswer):
            read(PLAN, "I would look [citation needed] for the set {a, b} of [some things].")


def test_lone_surrogates_are_replaced() -> None:
    assert parse_answer(PLAN, '{"queries": ["\\ud83d x"]}').queries[0].query == "\ufffd x"


def test_quoted_numbers_and_booleans_are_converted() -> None:
    reflection = parse_answer(Reflect("task", (), (), (), (), 3), '{"sufficient": "true", "confidence": "0.8"}')
    assert (reflection.sufficient, reflection.confidence) == (True, 0.8)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("who designed it", "who designed it"),
        ('\n"who designed it"\nbecause it is open', "who designed it"),
        ("- who designed it", "who designed it"),
        ("```\nwho designed it\n```", "who designed it"),
        ('{"query": "who designed it"}', "who designed it"),
        ("NONE", ""),
        ("None.", ""),
    ],
)
def test_a_line_without_its_decoration(text: str, query: str) -> None:
    assert parse_answer(ProposeQuery("task", "", (), (), ()), text).query == query


@pytest.mark.parametrize(
    ("text", "score"), [("7", 7), ("Score: 10", 10), ("8/10", 8), ("11", None), ("half", None), ("7.5", None)]
)
def test_a_whole_number_from_0_to_10(text: str, score: int | None) -> None:
    prompt = RateNovelty("task", (), ())
    if score is None:
        with pytest.raises(UnreadableAnswer):
            parse_answer(prompt, text)
    else:
        assert parse_answer(prompt, text).score == score


def test_a_verdict_is_one_of_the_words() -> None:
    prompt = JudgeProgress("task", "", (), ())
    assert parse_answer(prompt, "The search is **productive**.").verdict == "PRODUCTIVE"
    for text in ("PRODUCTIVE or EXHAUSTED", "maybe"):
        with pytest.raises(UnreadableAnswer):
            parse_answer(prompt, text)


def test_a_draft_is_markdown_with_lists_at_its_end() -> None:
    text = """## Answer

Baker was born in Frome [2]. He built a bridge [1].

### Details
- a list of its own [1]

**Key Findings:**
1. Frome [2].
2. A bridge [1].

## Risks
None known.

## Open questions
When did he leave?"""
    assert parse_answer(DraftAnswer("task", ()), text) == SynthesisResponse(
        "Baker was born in Frome [2]. He built a bridge [1].\n\n### Details\n- a list of its own [1]",
        "Baker was born in Frome [2].",
        ("Frome [2].", "A bridge [1]."),
        open_questions=("When did he leave?",),
        raw=text,
    )


def test_a_draft_in_json_is_read_too() -> None:
    answer = parse_answer(DraftAnswer("task", ()), '{"answer": "Frome [2].", "key_findings": ["Frome [2]."]}')
    assert answer == SynthesisResponse("Frome [2].", key_findings=("Frome [2].",))


def test_thoughts_are_stripped() -> None:
    assert strip_thinking("<think>a</think>b") == strip_thinking("a</think>b") == "b"
    assert strip_thinking("<think>never ends") == ""


def test_a_truncated_text_ends_with_a_whole_sentence() -> None:
    assert trim_to_sentence("One [1]. Two [2]. Thr") == "One [1]. Two [2]."
    assert trim_to_sentence("no end") == "no end"


def test_a_schema_has_limits_and_no_references() -> None:
    shape = response_schema(Curate("task", (), (), 6))
    assert shape["properties"]["kept"]["maxItems"] == 6
    assert shape["properties"]["kept"]["items"]["properties"]["of"]["items"] == {"type": "integer"}
    assert "maxItems" not in response_schema(EXTRACT)["properties"]["facts"]
