"""What models wrap around a text, and lists of exactly N things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.report.draft import find_list_sections, trim_list_sections, unwrap_markdown


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Plain [1].", "Plain [1]."),
        ("Sure, here it is:\n\n# Title\n\nText [1].", "# Title\n\nText [1]."),
        ("It is so [1].\n\n# Title\n\nText", "It is so [1].\n\n# Title\n\nText"),
        ("```markdown\n# Title\n\nText [1].\n```", "# Title\n\nText [1]."),
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("See [1]:\n\n```python\nx = 1", "See [1]:\n\n```python\nx = 1\n```"),
        ("~~~~\n```\nx", "~~~~\n```\nx\n~~~~"),
    ],
)
def test_wrapping_is_taken_off(text, clean):
    assert unwrap_markdown(text) == clean
    assert unwrap_markdown(clean) == clean


@given(st.text(alphabet="#`~ a\n[1]", max_size=50))
def test_tidying_twice_changes_nothing_more(text):
    assert unwrap_markdown(unwrap_markdown(text)) == unwrap_markdown(text)


LIST = "## Introduction\n\nx\n\n## 1. A\n\na [1]\n\n## 2. B\n\nb [2]\n\n### more\n\n## 3. C\n\nc\n\n## Conclusion:\n\nz"


def test_structure_does_not_count():
    assert [part.title for part in find_list_sections(LIST)] == ["1. A", "2. B", "3. C"]


def test_too_many_items_are_cut_and_structure_stays():
    assert trim_list_sections(LIST, 2) == LIST.replace("## 3. C\n\nc\n\n", "")
    assert trim_list_sections(LIST, 3) == LIST
    assert trim_list_sections(LIST, 9) == LIST


@given(st.integers(0, 8), st.integers(0, 8))
def test_never_more_than_asked_for(there, most):
    text = "\n\n".join(f"## {n}. Thing\n\nfact [{n}]" for n in range(1, there + 1))
    assert len(find_list_sections(trim_list_sections(text, most))) == min(there, most)
