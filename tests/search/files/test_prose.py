"""Markdown and reStructuredText as light Markdown: what is text, what is markup, and on which line."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.search.files.chunk import DocumentChunk
from suffice.search.files.read import read_text
from suffice.text.chunks import MAX_CHARS, split_lines

BODY = "A sentence that fills the paragraph with words. " * 8


def read_whole(text: str, name: str) -> str:
    """Return the text of a document that fits into one chunk, with a line for each of its lines."""
    (chunk,) = read_text(text, name)
    assert chunk.lines is not None
    first, last = chunk.lines
    assert chunk.text.count("\n") == last - first
    return "\n" * (first - 1) + chunk.text


RST = [
    ("See :class:`~a.b.Klass`, :func:`run` and :ref:`the guide <guide>`.", "See `Klass`, `run()` and the guide."),
    ("Set :setting:`DEBUG` as :pep:`8` says; ``x_`` is *kept*.", "Set `DEBUG` as PEP 8 says; `x_` is *kept*."),
    ("A `link <https://a.example/b_c>`_, `other`_ [1]_ and name_.\n\n.. _name: x", "A link, other and name."),
    ("A link that\n`runs over\n<https://a.example>`_ lines.", "A link that\nruns over\nlines."),
    (".. _label:\n\nTitle\n=====\n\nSee :ref:`label`.", "\n\n# Title\n\n\nSee label."),
    (
        ".. index:: a\n\n.. toctree::\n   :maxdepth: 2\n\n   a\n   b\n\n.. comment\n   more\n\nText.",
        "\n" * 11 + "Text.",
    ),
    (".. note:: Mind this\n   and that.\n\n   And more.", "Note: Mind this\nand that.\n\nAnd more."),
    (".. warning::\n\n   Mind this.", "Warning:\n\nMind this."),
    (".. versionadded:: 3.2\n\nText.", "Added in version 3.2.\n\nText."),
    (".. version-added:: 3.2\n\nText.", "Added in version 3.2.\n\nText."),
    (".. versionchanged:: 3.2\n   It moved.\n\nText.", "Changed in version 3.2:\nIt moved.\n\nText."),
    (".. deprecated:: 4.0 Use x.", "Deprecated since version 4.0: Use x."),
    ("As here::\n\n    x = 1\n\n    y\n\nText.", "As here:\n```\nx = 1\n\ny\n```\nText."),
    (
        ".. code-block:: python\n   :linenos:\n\n   if x:\n       y\n\nText.",
        "\n\n```python\nif x:\n    y\n```\nText.",
    ),
    ("So:\n\n>>> 1\n1\n\n>>> 2\n2\n\nText.", "So:\n```pycon\n>>> 1\n1\n\n>>> 2\n2\n```\nText."),
    ("term\n    Its meaning.\n\nother : int\n    Two.", "- term:\n  Its meaning.\n\n- other (int):\n  Two."),
    (":param str x: The x.\n:returns: All.", "- `x` (str): The x.\n- Returns: All."),
    ("#. one\n   two\n#. three\n\n   * inner", "1. one\n   two\n1. three\n\n   - inner"),
    (
        "Sizes:\n\n====  ===\nName  Age\n====  ===\nBob   5\nAl\n====  ===\n",
        "Sizes:\n\n\n\n\n- Name: Bob · Age: 5\n- Name: Al",
    ),
    (
        "x\n\n===  ====\nA    B\n===  ====\na    one\n     two\nb    c\n===  ====",
        "x\n\n\n\n\n- A: a\n  B: one two\n- A: b · B: c",
    ),
    ("+---+-----+\n| A | B   |\n+===+=====+\n| a | one |\n|   | two |\n+---+-----+", "\n\n\n- A: a\n  B: one two"),
    (
        ".. list-table::\n   :header-rows: 1\n\n   * - A\n     - B\n   * - a\n     - b\n       c\n",
        "\n\n\n\n\n- A: a\n  B: b c",
    ),
    ('.. csv-table:: T\n   :header: "A", "B"\n\n   1, "x, y"', "**T**\n\n\n- A: 1 · B: x, y"),
    (".. class:: special\n\nText.", "\n\nText."),
    (".. [1] The note.", "The note."),
    (".. module:: os.path\n   :synopsis: Path work.\n\nText.", "`os.path`\nSynopsis: Path work.\n\nText."),
    ("Text ends\n.. here: markup", "Text ends"),
]


@pytest.mark.parametrize(("source", "expected"), RST)
def test_rst_markup_becomes_light_markdown_line_by_line(source: str, expected: str) -> None:
    assert read_whole(source, "a.rst") == expected


MARKDOWN = [
    (
        "See [the *guide*](https://a.example/x_(y) 'T') and [it][ref].\n\n[ref]: https://a.example",
        "See the *guide* and it.",
    ),
    (
        "![A plot](p.png)![A plot of the growth](p.png) [![badge](b.svg)](ci) <https://a.example>",
        "A plot of the growth  https://a.example",
    ),
    ("A [link\nover](x) lines `[not](this)`.", "A link\nover lines `[not](this)`."),
    ("It is 120 metres tall.[12][13]", "It is 120 metres tall.[12][13]"),
    ("## Title {#anchor} ##\n\nText[^1].\n\n[^1]: A note.", "## Title\n\nText.\n\n[^1]: A note."),
    ("Title\n=====\n\nText<br>more <b>bold</b> a < b.", "# Title\n\n\nText more bold a < b."),
    ("<!-- a\ncomment -->\n\n<details>\n<summary>Sum</summary>\n\nText.\n</details>", "\n\n\n\nSum\n\nText."),
    ("Text.\n\n[a]: x\n\n[a]: y\n[b]:\n  z", "Text."),
    ("---\ntitle: T\n---\nText.", "\n\n\nText."),
    ('!!! note "Mind"\n    Inner.\n\n    ```py\n    x\n    ```\n\nOuter.', "Mind:\nInner.\n\n```py\nx\n```\n\nOuter."),
    (":::tip\nInner.\n:::\n\n::: pkg.mod\n\nText.", "Tip:\nInner.\n\n\n\n\nText."),
    ("```{note}\nInner.\n```\n\nSee {func}`~a.b`.", "Note:\nInner.\n\n\nSee `b()`."),
    ("```{toctree}\na\n```\n\nText.", "\n\n\n\nText."),
    ("```{eval-rst}\n.. note:: x\n```\n\nText.", "```\n.. note:: x\n```\n\nText."),
    ('```python title="a.py" {1,2}\n[x](y)\n```', "```python\n[x](y)\n```"),
    ("Text.\n\n***\n\n    [code](x)", "Text.\n\n\n\n    [code](x)"),
]


@pytest.mark.parametrize(("source", "expected"), MARKDOWN)
def test_markdown_keeps_words_without_targets_and_extensions(source: str, expected: str) -> None:
    assert read_whole(source, "a.md") == expected


ASCIIDOC = [
    ("= Title\n:toc: left\n\nText.", "# Title\n\n\nText."),
    ("Title\n-----\nText.", "## Title\n\nText."),
    ("Text // kept\n// dropped\nmore.\n\n////\ngone\n////", "Text // kept\n\nmore."),
    ("ifdef::a[]\ninclude::b.txt[]\nText.\nendif::a[]", "\n\nText."),
    ("[source,python]\n----\nif x:\n    [y]\n----\n\n[[id]]\nText.", "\n```python\nif x:\n    [y]\n```\n\n\nText."),
    ("[verse]\ngit add [-q]\ngit rm\n\nText.", "```\ngit add [-q]\ngit rm\n```\nText."),
    ("NOTE: Mind this.\n\n[WARNING]\n====\nHot.\n====", "NOTE: Mind this.\n\nWarning:\n\nHot."),
    (
        "* one\n  more\n** two\n* three\n\nText.\n\n. first\n. second",
        "- one\n  more\n  - two\n- three\n\nText.\n\n1. first\n1. second",
    ),
    ("-q::\n--quiet::\n\tSays\n\tless.\n\nname:: Text.", "\n- `-q`, `--quiet`:\n  Says\n  less.\n\n- name: Text."),
    (
        "See https://a.example[the site^], link:x[y], <<b,here>> and linkgit:git-add[1].",
        "See the site, y, here and git-add(1).",
    ),
    ("Use `+{x}+` and a_b_cfootnote:[Often.].\nNext.", "Use `{x}` and a_b_c (Often.).\nNext."),
    ("|===\n|Name |Age\n|Bob |5\n|===", "\n| Name | Age |\n| Bob | 5 |"),
    ("Text:\n\n  literal\n\nimage::a.png[]\n\n'''\n\nEnd.", "Text:\n```\nliteral\n```\n\n\n\n\nEnd."),
]


@pytest.mark.parametrize(("source", "expected"), ASCIIDOC)
def test_asciidoc_markup_becomes_light_markdown_line_by_line(source: str, expected: str) -> None:
    assert read_whole(source, "a.adoc") == expected


def test_a_configuration_file_is_code_below_its_keys() -> None:
    rows = "".join(f"  option_{n}: value {n}  # {BODY[:40]}\n" for n in range(30))
    yaml = read_text(f"server:\n{rows}database:\n  pool:\n{rows.replace('  option', '    option')}", "a.yaml")
    assert {chunk.kind for chunk in yaml} == {"code"}
    assert {chunk.title for chunk in yaml} == {"a.yaml > server", "a.yaml > database", "a.yaml > database > pool"}
    assert yaml[0].text.startswith("server:\n  option_0: value 0  # A")
    toml = read_text("".join(f"[tool.{name}]\n{rows.replace(': ', ' = ')}" for name in "ab"), "a.toml")
    assert {chunk.title for chunk in toml} == {"a.toml > tool > a", "a.toml > tool > b"}


def test_a_log_with_a_number_in_its_name_is_no_manual_page() -> None:
    assert read_text(".start\nText.", "app.log.1")[0].text == ".start\nText."


def test_a_long_explanation_is_titled_by_its_term_and_a_short_one_is_an_item() -> None:
    text = f"== Options\n\n--long=<n>::\n--wide::\n{BODY * 2}\n\n--short::\nText.\n\n{BODY}"
    chunks = read_text(text, "a.adoc")
    assert chunks[0].title == "Options > --long=<n>, --wide"
    assert chunks[-1].title == "Options"
    assert chunks[-1].text.startswith("- `--short`:\nText.")


def test_a_text_file_with_the_markup_of_asciidoc_is_read_as_such() -> None:
    assert read_text("git-add(1)\n==========\n\n[verse]\ngit add\n", "git-add.txt")[0].text.endswith("```\ngit add")


def test_a_described_function_is_a_section_with_its_signature_as_code() -> None:
    text = (
        f"Title\n=====\n\n{BODY}\n\n.. class:: Pool(size)\n\n   {BODY}\n\n   .. method:: run(x, *, y=1)\n"
        f"               close()\n\n      {BODY}\n\n{BODY}\n"
    )
    chunks = read_text(text, "a.rst")
    assert [c.title for c in chunks] == ["Title", "Title > Pool", "Title > Pool > run", "Title"]
    assert chunks[2].text.startswith("`run(x, *, y=1)`\n`close()`\n\nA sentence")


def test_a_description_below_a_bare_signature_belongs_to_it_and_an_anchor_is_no_text() -> None:
    objects = "".join(f".. attribute:: a.{name}\n\n{BODY}\n\n" for name in ("size", "name"))
    text = f"Title\n=====\n\n{objects}.. setting:: PORT\n\nPORT\n----\n\n{BODY}\n"
    chunks = read_text(text, "a.rst")
    assert [c.title for c in chunks] == ["Title > a.size", "Title > a.name", "Title > PORT"]
    assert chunks[2].text.startswith("## PORT")


def test_a_name_that_repeats_its_heading_is_in_the_title_once() -> None:
    text = f"Feature\n-------\n\n.. class:: gdal.Feature\n\n   {BODY}\n"
    assert [c.title for c in read_text(text, "a.rst")] == ["Feature"]


def test_entries_of_a_changelog_know_their_version() -> None:
    entry = f"   .. change::\n      :tags: orm\n      :tickets: 1\n\n      {BODY}\n\n"
    text = f".. changelog::\n   :version: 2.0.1\n   :released: May 1, 2024\n\n{entry * 5}"
    chunks = read_text(f"Changes\n=======\n\n{text}", "c.rst")
    assert {c.title for c in chunks[1:]} == {"Changes > 2.0.1"}
    assert "Version: 2.0.1\nReleased: May 1, 2024" in "".join(c.text for c in chunks)
    assert all("tickets" not in c.text for c in chunks)
    assert all(c.text.startswith(("# Changes", "Version", "Tags: orm")) for c in chunks)


def test_a_front_matter_title_is_the_title_of_a_page_without_one() -> None:
    assert read_text("---\ntitle: 'My page'\n---\n## Part\n\nText.", "a.md")[0].title == "My page > Part"


def test_the_date_of_the_front_matter_is_in_the_title() -> None:
    dated = "---\ntitle: Travel policy\ndate: 2025-01-20T10:00:00Z\n---\n"
    assert read_text(f"{dated}\nMeals: 46 euros.\n", "a.md")[0].title == "Travel policy (2025-01-20)"
    assert read_text(f"{dated}\n# Travel\n\nMeals: 46 euros.\n", "a.md")[0].title == "Travel (2025-01-20)"
    assert read_text("---\ndate: soon\n---\n# Travel\n\nMeals: 46 euros.\n", "a.md")[0].title == "Travel"


def test_text_without_a_telling_name_is_recognised() -> None:
    assert read_text("Title\n-----\n\nSee :ref:`a <b>`.", "a.txt")[0].text == "# Title\n\n\nSee a."
    assert read_text("## Title\n\nSee [a](https://b.example).", "standard input")[0].text == "## Title\n\nSee a."
    assert read_text("2.0\n===\n\nIt says [a](b) :x:`y`.", "CHANGES")[0].text == "# 2.0\n\n\nIt says [a](b) :x:`y`."


def test_a_conversation_on_standard_input_is_read_turn_by_turn() -> None:
    text = "Ann: Shall we meet on Friday?\nBob: Yes, at ten.\nAnn: Good, I will tell them.\n"
    chunks = read_text(text, "standard input")
    assert [(c.title, c.lines, c.kind) for c in chunks] == [
        ("Ann", (1, 1), "chat"),
        ("Bob", (2, 2), "chat"),
        ("Ann", (3, 3), "chat"),
    ]


def test_a_page_of_nothing_but_markup_is_read_as_it_stands() -> None:
    assert "guide/start" in read_text(".. toctree::\n\n   guide/start\n", "index.rst")[0].text


def test_a_long_code_block_stays_code_in_its_later_parts() -> None:
    code = "".join(f"value_{n} = [make](it)\n" for n in range(120))
    for text, name in (
        (f"Text.\n\n```py\n{code}```\n\nEnd.\n", "a.md"),
        (f"Text::\n\n{_indent(code)}\nEnd.\n", "a.rst"),
    ):
        first, *middle, last = read_text(text, name)
        assert "```" in first.text
        for chunk in middle:
            assert all(line.startswith("    value_") for line in chunk.text.split("\n"))
        assert re.search(r"^    value_119 = \[make\]\(it\)\n\n(?:\n)?End\.$", last.text, re.MULTILINE)


def test_rows_of_a_long_table_keep_the_names_of_their_columns() -> None:
    rows = "".join(f"| name{n} | {'words ' * 8}|\n" for n in range(60))
    first, second, *_ = read_text(f"| Name | About |\n|---|---|\n{rows}", "a.md")
    assert first.text.startswith("| Name | About |\n|---|---|\n| name0 |")
    assert second.text.startswith("- Name: name")
    assert " · About: words" in second.text


def test_a_list_and_a_code_block_stay_with_their_lead_in() -> None:
    items = "".join(f"- item {n} {'with words ' * 6}\n" for n in range(9))
    for block in (items, f"```\n{items}```\n"):
        chunks = read_text(f"# T\n\n{BODY}\n\n{BODY}\n\nThe steps are:\n\n{block}\n{BODY}\n\n{BODY}\n", "a.md")
        (chunk,) = [c for c in chunks if "The steps are:" in c.text]
        assert "item 0" in chunk.text
        assert "item 8" in chunk.text


def _indent(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.split("\n") if line)


# -- properties --------------------------------------------------------------------------------------------------------

WORDS = st.lists(st.sampled_from("alpha beta gamma delta epsilon zeta eta theta".split()), min_size=1, max_size=14).map(
    " ".join
)
PARAGRAPH = st.lists(WORDS, min_size=1, max_size=9).map(lambda lines: "\n".join(lines) + ".")
CODE = st.lists(
    st.sampled_from(["x = 1", "if x:", "    y(x)", "", "# note", "- a", "|b|"]), min_size=1, max_size=40
).map(lambda lines: ["start()", *lines, "end()"])
RST_BLOCK = st.one_of(
    PARAGRAPH,
    WORDS.map(lambda words: f"{words}\n{'-' * len(words)}"),
    WORDS.map(
        lambda words: (
            f"See :class:`~pkg.{words.split()[0]}` and :ref:`{words} <target>` or `{words} <http://t.example>`_."
        )
    ),
    CODE.map(lambda code: "Example::\n\n" + "\n".join(f"    {line}".rstrip() for line in code)),
    CODE.map(lambda code: ".. code-block:: python\n\n" + "\n".join(f"   {line}".rstrip() for line in code)),
    st.lists(WORDS, min_size=1, max_size=9).map(lambda items: "\n".join(f"* {item}" for item in items)),
    st.tuples(WORDS, PARAGRAPH).map(
        lambda both: f"{both[0]}\n" + "\n".join(f"    {line}" for line in both[1].split("\n"))
    ),
    PARAGRAPH.map(lambda text: ".. note::\n\n" + "\n".join(f"   {line}" for line in text.split("\n"))),
    PARAGRAPH.map(lambda text: ".. function:: run(x)\n\n" + "\n".join(f"   {line}" for line in text.split("\n"))),
    st.sampled_from([".. _target:", ".. index:: single: target", ".. versionadded:: 3.2", ".. a comment"]),
)
MARKDOWN_BLOCK = st.one_of(
    PARAGRAPH,
    WORDS.map(lambda words: f"## {words} {{#target}}"),
    WORDS.map(lambda words: f"See [{words}](http://t.example/target) and <b>{words}</b>."),
    CODE.map(lambda code: "```python\n" + "\n".join(code) + "\n```"),
    st.lists(WORDS, min_size=1, max_size=9).map(lambda items: "\n".join(f"- {item}" for item in items)),
    st.lists(WORDS, min_size=1, max_size=9).map(
        lambda rows: "| a | b |\n|---|---|\n" + "\n".join(f"| {r} | x |" for r in rows)
    ),
    st.sampled_from(["<!-- target -->", "[target]: http://t.example", "***", '<a name="target"></a>']),
)


def assert_exact(source: str, chunks: list[DocumentChunk]) -> None:
    """Chunks are in order, have a text line for each line, and lose no word that is text."""
    lines = split_lines(source)
    covered: set[int] = set()
    last_line = 0
    for chunk in chunks:
        assert chunk.lines is not None
        first, last = chunk.lines
        assert first > last_line
        assert chunk.text.count("\n") == last - first
        assert len(chunk.text) <= MAX_CHARS + 400
        for line, shown in zip(lines[first - 1 : last], chunk.text.split("\n"), strict=True):
            assert set(re.findall(r"\w+", shown)) <= set(re.findall(r"\w+", line)) | {
                "Note",
                "Added",
                "in",
                "version",
                "python",
            }
        covered.update(range(first, last + 1))
        last_line = last
    for number, line in enumerate(lines, start=1):
        if re.match(r"\s*(?:[-*] |## )?(?:alpha|beta|gamma|delta|epsilon|zeta|eta|theta|See|start|end)\b", line):
            assert number in covered


def assert_clean(chunks: list[DocumentChunk]) -> None:
    text = "\n".join(chunk.text for chunk in chunks)
    assert "target" not in text
    assert "t.example" not in text
    assert not re.search(r":\w+:`|^\s*\.\. |::$|`_|^[=-]{4,}$", text, re.MULTILINE)


def assert_code_is_code(source: str, chunks: list[DocumentChunk]) -> None:
    """Code that fits into a chunk is there whole, between fences."""
    for code in re.findall(
        r"start\(\)\n.*?end\(\)", "\n".join(line.strip() for line in split_lines(source)), re.DOTALL
    ):
        if len(code) < 600:
            blocks = [
                block
                for chunk in chunks
                for block in re.findall(r"```(?:python)?\n(.*?)(?:\n```|\Z)", chunk.text, re.DOTALL)
            ]
            assert code in ["\n".join(line.strip() for line in block.split("\n")) for block in blocks]


@given(st.lists(RST_BLOCK, min_size=1, max_size=25))
def test_any_rst_document_has_exact_lines_and_no_markup(blocks: list[str]) -> None:
    source = "\n\n".join(["Top text.", *blocks])
    chunks = read_text(source, "a.rst")
    assert_exact(source, chunks)
    assert_clean(chunks)
    assert_code_is_code(source, chunks)


@given(st.lists(MARKDOWN_BLOCK, min_size=1, max_size=25))
def test_any_markdown_document_has_exact_lines_and_no_markup(blocks: list[str]) -> None:
    source = "\n\n".join(["Top text.", *blocks])
    chunks = read_text(source, "a.md")
    assert_exact(source, chunks)
    assert_clean(chunks)
    assert_code_is_code(source, chunks)


@given(st.text(alphabet="ab :.`*-_|=+#>[](){}!\\\n <>\t", max_size=400))
def test_any_text_is_read_with_its_lines(text: str) -> None:
    for name in ("a.md", "a.rst", "a.txt", "a.adoc", "a.org", "a.wiki", "a.tex", "a.pod", "a.yaml", "a.csv"):
        for chunk in read_text(f"a\n{text}", name):
            if chunk.section is not None:  # What was counted over all rows of the table.
                continue
            assert chunk.lines is not None
            assert chunk.text.count("\n") == chunk.lines[1] - chunk.lines[0]
