"""Editing JSON as text: what is not changed stays byte for byte."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.text.jsonc import insert_entry, parse_jsonc, remove_entry

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def is_ours(key: str | int, value: Any) -> bool:
    return key == "suffice"


@given(JSON, st.sampled_from([None, 2, "\t"]), st.booleans())
def test_parsing_agrees_with_json(value: Any, indent: Any, ascii: bool) -> None:
    assert parse_jsonc(json.dumps(value, indent=indent, ensure_ascii=ascii)).value == value


@given(st.dictionaries(st.text(), JSON, max_size=4), st.sampled_from([None, 2, "\t"]), JSON)
def test_an_entry_is_added_to_any_object_and_removed_again(values: dict[str, Any], indent: Any, entry: Any) -> None:
    values.pop("servers", None)
    text = json.dumps(values, indent=indent)
    new, inserted = insert_entry(text, ["servers", "suffice"], entry)
    assert json.loads(new) == {**values, "servers": {"suffice": entry}}
    assert new.replace(inserted, "", 1) == text
    removed = remove_entry(new, ["servers"], is_ours)
    assert removed is not None
    assert json.loads(removed[0]) == {**values, "servers": {}}


COMMENTED = """\ufeff// settings
{
    /* the { look } */ "theme": "One, \\"Dark\\" // no comment", // why
    "servers": {
        // mine
        "other": {"url": "http://example.org"}, // keep
    },
}
"""


def test_comments_trailing_commas_and_indents_stay() -> None:
    new, _ = insert_entry(COMMENTED, ["servers", "suffice"], {"command": "x"})
    assert new == COMMENTED.replace(
        '"servers": {', '"servers": {\n        "suffice": {\n            "command": "x"\n        },'
    )
    assert remove_entry(new, ["servers"], is_ours) == (
        COMMENTED,
        '\n        "suffice": {\n            "command": "x"\n        },',
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"s": {"suffice": 1}}', '{"s": {}}'),
        ('{"s": {"suffice": 1, "b": 2}}', '{"s": { "b": 2}}'),
        ('{"s": {"a": 1, "suffice": 2}}', '{"s": {"a": 1}}'),
        ('{"s": {"a": 1, /* c */ "suffice": 2,}}', '{"s": {"a": 1, /* c */}}'),
        ('{"s": {"a": 1 /* c */ , "suffice": 2}}', '{"s": {"a": 1 /* c */ }}'),
    ],
)
def test_an_entry_takes_its_comma_with_it(before: str, after: str) -> None:
    removed = remove_entry(before, ["s"], is_ours)
    assert removed is not None
    assert removed[0] == after
    parse_jsonc(after)


def test_lines_end_as_they_did() -> None:
    new, _ = insert_entry('{\r\n  "a": 1\r\n}\r\n', ["b"], {"c": 2})
    assert new.replace("\r\n", "").count("\n") == 0


def test_an_item_is_added_to_a_list() -> None:
    assert json.loads(insert_entry('{"h": {"P": [1]}}', ["h", "P"], 0, item=True)[0]) == {"h": {"P": [0, 1]}}
    assert json.loads(insert_entry("{}", ["h", "P"], 0, item=True)[0]) == {"h": {"P": [0]}}


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a" 1}', '{"a": 1 "b": 2}', "{} {}", "{'a': 1}", '{"a": }', "/* open", '{"servers": [1]}', "[]", "1"],
)
def test_what_cannot_be_edited_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        insert_entry(text, ["servers", "suffice"], 1)
