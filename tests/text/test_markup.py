"""Verbatim text through Markdown and back."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from suffice.text.markdown import CITATION, escape_markdown, strip_markdown, to_inline_code

PIECES = st.sampled_from(
    ["*", "**", "_", "__", "`", "``", "[1]", "[", "]", "(", ")", "<b>", "</b>", "&amp;", "&#35;", "&", "\\", "\\*", "|", "~~",
     "# ", "- ", "+ ", "1. ", "2) ", "> ", "!", "![x](y)", "[x](y)", "<http://a.b>", "http://a.b", "word", "lru_cache", "a*b",
     " ", ".", "é", "東京", "=", "---", "$x$", "{", "'", '"', ":"]
)  # fmt: skip
LINES = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=60)).map(
    lambda text: " ".join(text.split())
)


def shown(markdown: str) -> str:
    """What a reader sees: the text of the rendered page, white space collapsed."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    texts = [
        "\n" if child.type in ("softbreak", "hardbreak") else child.content
        for token in tokens
        for child in token.children or ([token] if token.content else [])
    ]
    return " ".join("".join(texts).split())


def clean(text: str) -> str:
    """Without what CommonMark replaces in any text."""
    return " ".join("".join(character for character in text if character.isprintable() or character == " ").split())


@given(LINES.map(clean))
@example("The `x_y` is *not* kept [1]")
@example("__init__ and _private_ names")
@example("---")
@example("===")
@example("# not a heading")
@example("1. not a list")
def test_a_reader_sees_what_the_source_says(text: str) -> None:
    assert shown(f"- {escape_markdown(text)} [7]") == f"{text} [7]".strip()


@given(LINES.map(clean))
@example("See `beat_count` in [1].")
@example("a \\` b")
@example("Both **bold** and _thin_ ones")
def test_plain_undoes_escape(text: str) -> None:
    assert strip_markdown(f"{escape_markdown(text)} [7]") == text


@given(LINES)
def test_an_escaped_text_cites_nothing(text: str) -> None:
    assert CITATION.findall(escape_markdown(text)) == []


@given(LINES.map(clean).filter(lambda text: text.strip("` ")))
@example("a = b[1] * c # `x`")
def test_code_is_shown_as_it_is(text: str) -> None:
    assert shown(f"- {to_inline_code(text)} [7]") == f"{text} [7]"
    assert strip_markdown(f"{to_inline_code(text)} [7]") == text


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("The `x_y` is **not** \\*kept\\* [2].", "The x_y is not *kept*."),
        ("It is so [1][2].", "It is so."),
        ("Plain", "Plain"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("*one* and _two_", "one and two"),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
    ],
)
def test_plain(markdown: str, expected: str) -> None:
    assert strip_markdown(markdown) == expected
