"""Headings and sections as offsets; code blocks hold none."""

from hypothesis import given
from hypothesis import strategies as st

from suffice.text.markdown import find_headings, find_open_fence, find_sections

TEXT = "intro\n# Title\n\na\n## One ##\nb\n### Deep\nc\n```\n## not this\n```\n## Two *so* [3]\nd"


def test_headings_in_order():
    assert [(part.title, part.level) for part in find_headings(TEXT)] == [
        ("Title", 1),
        ("One", 2),
        ("Deep", 3),
        ("Two so", 2),
    ]


def test_a_section_holds_what_lies_below_it():
    one, two = find_sections(TEXT, 2)
    assert TEXT[one.start : one.end] == "## One ##\nb\n### Deep\nc\n```\n## not this\n```\n"
    assert TEXT[two.body_start : two.end] == "d"


def test_a_fence_that_is_never_closed():
    assert find_open_fence("```python\nx") == "```"
    assert find_open_fence("~~~~\n```\n~~~\n") == "~~~~"
    assert find_open_fence("```\nx\n```") == ""
    assert find_open_fence("``` not `code` ```") == ""


@given(st.text(alphabet="# a`~\n\r", max_size=60))
def test_offsets_lie_in_the_text_one_after_another(text):
    position = 0
    for part in find_headings(text):
        assert position <= part.start < part.body_start <= part.end <= len(text)
        assert text[part.start : part.body_start].lstrip(" ").startswith("#")
        position = part.end
