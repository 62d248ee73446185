"""JSON as language models write it: found among other words, read as meant, and a truncated value recognised as such."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.models.llm.json_text import JsonText, find_json

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
# Texts as answers hold them, with everything that has a meaning in JSON.
PIECES = [
    "the bridge",
    "it's",
    "said: yes",
    "a, b",
    "[3]",
    "{x}",
    '"quoted"',
    "C:\\dir",
    "//cdn",
    "# five",
    "/* no */",
    "ü",
]
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map(" ".join)
facts = st.fixed_dictionaries(
    {
        "facts": st.lists(st.fixed_dictionaries({"text": texts, "handles": st.just(["[1]"])}), max_size=3),
        "resolved": st.lists(texts, max_size=2),
        "sufficient": st.sampled_from([True, False, None]),
    }
)
SPELLINGS = {
    "json": json.dumps,
    "python": repr,
    "trailing comma": lambda value: json.dumps(value)[:-1] + ",}",
    "line breaks": lambda value: json.dumps(value).replace("the bridge", "the\nbridge"),
    "comment": lambda value: json.dumps(value, indent=1).replace("{\n", "{ // as asked\n", 1),
    "missing commas": lambda value: json.dumps(value, indent=1).replace("},\n", "}\n"),
    "names without quotes": lambda value: json.dumps(value).replace('"facts"', "facts").replace('"text"', "text"),
    "prose": lambda value: f"Sure, here it is: {json.dumps(value)}\n\nI hope {{this}} helps [see above].",
    "fence": lambda value: f"```json\n{json.dumps(value, indent=2)}\n```",
}


def longest(text: str) -> JsonText:
    return find_json(text)[0]


@given(st.dictionaries(st.text(), values, max_size=4))
def test_json_is_read_as_json(value: dict) -> None:
    found = longest(json.dumps(value))
    assert (found.load(), found.is_truncated, found.is_ambiguous) == (value, False, False)


@pytest.mark.parametrize("spelling", SPELLINGS)
@given(value=facts)
def test_usual_mistakes_are_read_as_meant(spelling: str, value: dict) -> None:
    found = next(found for found in find_json(SPELLINGS[spelling](value)) if "resolved" in found.text)
    meant = json.loads(json.dumps(value).replace("the bridge", "the\\nbridge")) if spelling == "line breaks" else value
    assert (found.is_truncated, found.is_ambiguous) == (False, False)
    assert found.load() == meant


@given(st.dictionaries(st.text(), values, min_size=1, max_size=4), st.data())
def test_a_truncated_value_is_never_taken_for_a_whole_one(value: dict, data: st.DataObject) -> None:
    text = json.dumps(value)
    found = find_json(text[: data.draw(st.integers(1, len(text) - 1))])[0]
    assert found.is_truncated
    if found.complete_part:
        assert found.load().keys() <= value.keys()


@pytest.mark.parametrize("spelling", ["json", "python", "missing commas", "names without quotes", "fence"])
@given(value=facts, data=st.data())
def test_the_complete_part_of_a_truncated_value_holds_whole_facts(
    spelling: str, value: dict, data: st.DataObject
) -> None:
    text = SPELLINGS[spelling](value)
    end = data.draw(st.integers(text.index("{") + 1, text.rindex("}")))
    for found in find_json(text[:end]):
        if not found.is_truncated:
            assert found.load() in [*value["facts"], ["[1]"], []] or found.load() in [
                [part] for part in value["resolved"]
            ]
        elif found.complete_part and "facts" in found.text:
            part = found.load()
            assert all(fact in value["facts"] for fact in part.get("facts", []))
            assert all(line in value["resolved"] for line in part.get("resolved", []))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{'a': True, 'b': None, 'c': ['it\\'s', 1.5,], // why\n}", {"a": True, "b": None, "c": ["it's", 1.5]}),
        ('{"a": "lru\\_cache", "b": "it\\\'s"}', {"a": "lru_cache", "b": "it's"}),
        ('{"a": [{"b": "x"], "c": 1}', {"a": [{"b": "x"}], "c": 1}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
    ],
    ids=["python", "escapes", "missing brace", "surrogates"],
)
def test_other_spellings(text: str, value: object) -> None:
    assert longest(text).load() == value


@pytest.mark.parametrize(
    "text",
    ['{"a": "she said "yes" twice"}', "[citation needed]", "{x, y}", '{"a" = 1}', '{"a": [1, ...]}', "{“a”: 1}"],
)
def test_what_takes_guesses_is_marked(text: str) -> None:
    assert all(found.is_ambiguous for found in find_json(text) if found.text.startswith(text[:4]))


@pytest.mark.parametrize("text", ["", "no", "[" * 5000, "{" * 5000, "}]"])
def test_no_value(text: str) -> None:
    assert find_json(text) == []


def test_the_longest_value_comes_first() -> None:
    found = find_json('{"a": 1} and so: {"queries": [{"query": "the longer one"}]}')
    assert [value.load() for value in found] == [{"queries": [{"query": "the longer one"}]}, {"a": 1}]
