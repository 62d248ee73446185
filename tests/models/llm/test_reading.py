"""From what models write to what was asked for."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.models.llm.messages import response_schema
from suffice.models.llm.parse import (
    InvalidJson,
    UnreadableAnswer,
    parse_answer,
    parse_lenient_json,
    salvage_answer,
    strip_thinking,
    trim_to_sentence,
)
from suffice.prompts import Curate, Extract, JudgeProgress, Plan, ProposeQuery, RateNovelty, Reflect, SynthesisResponse
from suffice.prompts.writing import Draft

EXTRACT = Extract("task", (), (), ())
PLAN = Plan("task", 3)

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_json_is_read_as_json(value: dict) -> None:
    parsed = parse_lenient_json(json.dumps(value))
    assert (parsed.value, parsed.is_truncated) == (value, False)


@given(st.dictionaries(st.text(), values, min_size=1, max_size=4), st.data())
def test_a_cut_is_never_taken_for_a_whole(value: dict, data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    try:
        parsed = parse_lenient_json(cut)
    except InvalidJson:
        return
    assert parsed.is_truncated
    assert parsed.value.keys() <= value.keys()


@given(st.text())
def test_any_text_is_an_answer_or_unreadable(text: str) -> None:
    for prompt in (
        PLAN,
        EXTRACT,
        ProposeQuery("task", "", (), (), ()),
        JudgeProgress("task", "", (), ()),
        Draft("task", (), (), ()),
    ):
        for how in (parse_answer, salvage_answer):
            with suppress(UnreadableAnswer):
                assert isinstance(how(prompt, text), prompt.response_type)


def test_python_is_read_too() -> None:
    assert parse_lenient_json("{'a': True, 'b': None, 'c': ['it\\'s', 1.5,], // why\n}").value == {
        "a": True,
        "b": None,
        "c": ["it's", 1.5],
    }


def test_of_a_cut_answer_whole_items_are_kept() -> None:
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
def test_nearly_right_is_read_as_meant(text: str, queries: list[str]) -> None:
    assert [planned.query for planned in parse_answer(PLAN, text).queries] == queries


@pytest.mark.parametrize("text", ["{}", '{"queries": 5}', '{"queries": [[1]]}', '{"plan": []}', "no", "[" * 5000])
def test_wrong_is_not_read(text: str) -> None:
    with pytest.raises(UnreadableAnswer):
        parse_answer(PLAN, text)


def test_words_stand_for_numbers_where_they_are_numbers() -> None:
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
def test_a_line(text: str, query: str) -> None:
    assert parse_answer(ProposeQuery("task", "", (), (), ()), text).query == query


@pytest.mark.parametrize(
    ("text", "score"), [("7", 7), ("Score: 10", 10), ("8/10", 8), ("11", None), ("half", None), ("7.5", None)]
)
def test_a_number(text: str, score: int | None) -> None:
    prompt = RateNovelty("task", (), ())
    if score is None:
        with pytest.raises(UnreadableAnswer):
            parse_answer(prompt, text)
    else:
        assert parse_answer(prompt, text).score == score


def test_a_verdict() -> None:
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
    assert parse_answer(Draft("task", (), (), ()), text) == SynthesisResponse(
        "Baker was born in Frome [2]. He built a bridge [1].\n\n### Details\n- a list of its own [1]",
        "Baker was born in Frome [2].",
        ("Frome [2].", "A bridge [1]."),
        open_questions=("When did he leave?",),
    )


def test_a_draft_in_json_is_read_all_the_same() -> None:
    answer = parse_answer(Draft("task", (), (), ()), '{"answer": "Frome [2].", "key_findings": ["Frome [2]."]}')
    assert answer == SynthesisResponse("Frome [2].", key_findings=("Frome [2].",))


def test_thinking_is_put_aside() -> None:
    assert strip_thinking("<think>a</think>b") == strip_thinking("a</think>b") == "b"
    assert strip_thinking("<think>never ends") == ""


def test_a_cut_text_ends_with_a_whole_sentence() -> None:
    assert trim_to_sentence("One [1]. Two [2]. Thr") == "One [1]. Two [2]."
    assert trim_to_sentence("no end") == "no end"


def test_a_schema_is_whole_in_itself() -> None:
    shape = response_schema(Curate("task", (), (), 6))
    assert shape["properties"]["kept"]["maxItems"] == 6
    assert shape["properties"]["kept"]["items"]["properties"]["of"]["items"] == {"type": "integer"}
    assert "maxItems" not in response_schema(EXTRACT)["properties"]["facts"]
