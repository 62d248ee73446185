"""Readers of markup on text that is broken, hostile or just unusual."""

from collections.abc import Callable

import pytest

from suffice.search.files import asciidoc, latex, man, org, pod, wiki
from suffice.search.files.prose import Prose


def test_a_table_row_with_many_empty_cells_is_read_at_once() -> None:
    row = "|" + "          |" * 40 + " x |"
    assert org.convert(f"| a | b |\n{row}\n").lines[1].endswith("| x |")
    assert org.convert("| a |\n| <l10> |\n|  |\n| b |\n").lines == ["| a |", "", "", "| b |"]


def test_a_list_of_many_quoted_words_is_read_at_once() -> None:
    words = '["' + '", "'.join(f"item{number}" for number in range(60)) + '"'
    assert asciidoc.convert(f"{words}],\n").lines == [f"{words}],"]
    assert asciidoc.convert('[source,"a, b"]\nx = 1\n').lines == ["```", "x = 1"]


def test_a_cell_with_many_equal_signs_is_read_at_once() -> None:
    query = "&".join(f"k{number}=v" for number in range(60))
    assert wiki.convert(f"{{|\n|-\n| {query}\n|}}\n").lines[2] == f"- {query}"
    assert wiki.convert('{|\n|-\n| style="a: b" width=3| text\n|}\n').lines[2] == "- text"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "A \\begin{align} a=b \\end{align} c\nText.\n\\begin{align}\nx\n\\end{align}",
            ["A `a=b` c", "Text.", "```math", "x", "```"],
        ),
        ("\\begin{verbatim}50% {x}\\end{verbatim} % no\nText.", ["`50% {x}`", "Text."]),
        ("\\begin{verbatim}\na\nb", ["```", "a", "b"]),
        ("\\begin{comment}\na\nb", ["", "a", "b"]),
        ("\\begin{comment}a\\end{comment}b\nc", ["b", "c"]),
        ("\\begin{tabular}{ll} a & b \\\\ c & d \\end{tabular}\nText.", ["a · b · c · d", "Text."]),
        ("\\begin{foo}x\\end{foo} y", ["x y"]),
        ("\\documentclass{article}\n\\begin{document} Hello.\nText.\n\\end{document}", ["", "Hello.", "Text.", ""]),
        ("It costs $5 and $6.", ["It costs $5 and $6."]),
        ("With $x$, $ y $, $$ z $$ and \\[ u \\].", ["With `x`, `y`, `z` and `u`."]),
    ],
)
def test_environments_and_formulas_of_latex_end_where_they_end(source: str, expected: list[str]) -> None:
    assert latex.convert(source).lines == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<pre>\nd = {{'a': 1}}\n<!-- [[b]] -->\n</pre>", ["```", "d = {{'a': 1}}", "<!-- [[b]] -->", "```"]),
        ("<syntaxhighlight lang=sh>\n[[ -f x ]]\n</syntaxhighlight>", ["```sh", "[[ -f x ]]", "```"]),
        ("Write <nowiki>[[a]] {{b}}</nowiki> {{c}}here.", ["Write [[a]] {{b}} here."]),
        ("<code><nowiki>{{x}}</nowiki></code> and <source inline>''{{y}}</source>", ["`{{x}}` and `''{{y}}`"]),
        ("{{a|\n<pre>\nx\n</pre>\n}}\nText.", ["", "", "", "", "", "Text."]),
        ("<!-- <pre> -->\n[[a|b]] </pre>", ["", "b"]),
        ("A<ref>x\n</ref><ref name=y /> b <ref>c", ["A", "b c"]),
        ("== A ==  \n=== B ==", ["## A", "## = B"]),
        ("<pre>abc", ["    abc"]),
    ],
)
def test_code_of_a_wiki_stays_as_it_is(source: str, expected: list[str]) -> None:
    assert [line.strip(" ") if "abc" not in line else line for line in wiki.convert(source).lines] == expected


def test_brackets_in_code_of_org_are_no_link() -> None:
    code = "#+begin_src sh\nif [[ -f a &&\n-f b ]]; then\n#+end_src\n"
    assert org.convert(f"{code}A [[x][long\nlink]].\n").lines == [
        *("```sh", "if [[ -f a &&", "-f b ]]; then", "```"),
        *("A long", "link."),
    ]


@pytest.mark.parametrize(
    ("convert", "source", "expected"),
    [
        (asciidoc.convert, "a &#10; b\n&NewLine;c\n", ["a   b", "c"]),
        (pod.convert, "=pod\n\na E<99999999999>E<10>E<55296>E<NewLine>E<233> b\nc\n", ["", "", "a  é b", "c"]),
        (wiki.convert, "a &#10;&#xD; b\n<pre>\nx&#10;y\n</pre>\n", ["a    b", "```", "x y", "```"]),
        (man.convert, ".nf\n\\N'10'a\\[u000A]b\\[uD800]c\\N'99999999'\nd\n.fi\n", ["```", " a bc", "d", "```"]),
    ],
)
def test_an_escape_for_a_line_end_or_for_no_character_moves_no_line(
    convert: Callable[[str], Prose], source: str, expected: list[str]
) -> None:
    assert convert(source).lines == expected


def test_no_line_of_a_document_can_hold_a_line_end() -> None:
    (chunk,) = Prose(["a\nb\r\ud800c", "d"]).chunk()
    assert (chunk.first, chunk.last, chunk.text) == (1, 2, "a b c\nd")
