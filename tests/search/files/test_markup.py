"""Readers of markup on text that is broken, hostile or just unusual."""

from collections.abc import Callable
from random import Random

import pytest

from suffice.search.files import asciidoc, latex, man, org, pod, read_text, wiki
from suffice.search.files.prose import Prose
from suffice.text.chunks import split_lines


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


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (".ie t foo\n.el bar\n", ["", "bar"]),
        (".ie n a \\(bu b\n.el bar\nText.\n", ["a • b", "", "Text."]),
        (".if t \\{ foo \\}\nText.\n.if n \\{.B x\\}\n.if n \\{\\\ny\n.\\}\n", ["", "Text.", "x", "", "y", ""]),
    ],
)
def test_the_branch_of_a_condition_for_a_terminal_is_text(source: str, expected: list[str]) -> None:
    assert man.convert(source).lines == expected


def test_keys_of_a_configuration_file_may_be_indented_by_tabs() -> None:
    below = "".join(f'\t\t"option{number}": "{"words " * 20}",\n' for number in range(40))
    chunks = read_text(f'{{\n\t"server": {{\n{below}\t}},\n\t"client": {{\n{below}\t}}\n}}\n', "settings.json")
    assert chunks[-1].title.endswith("client")


PIECES = {
    asciidoc.convert: (
        '= A¦== B¦----¦====¦|===¦| a | b¦¦* a¦. b¦term::¦+¦[source,"a"]¦[verse]¦  code¦//// ¦{x}¦:x: y¦`a¦+++¦<<a,b>>¦'
        'NOTE: a¦link:a[b¦"`a¦&#10;¦__a¦((a¦include::a[]¦.Title¦````¦--¦[[a]]¦#a'
    ),
    latex.convert: (
        "\\begin{align}¦\\end{align}¦\\begin{verbatim}¦\\end{verbatim}¦\\begin{tabular}{ll}¦\\end{tabular}¦a & b \\\\¦"
        "\\[¦\\]¦$$¦$¦\\section{a¦}¦{¦\\item a¦\\begin{itemize}¦\\end{itemize}¦\\begin{comment}¦\\begin{document}¦"
        "\\verb|a¦%¦\\title{a}¦¦\\'e¦``a"
    ),
    man.convert: (
        ".TH a 1¦.SH B¦.nf¦.fi¦.TP¦.IP a¦.RS¦.RE¦.TS¦.TE¦l l.¦.ie t a¦.el b¦.if n \\{¦.\\}¦.de x¦..¦\\fB¦\\N'10'¦"
        '\\[u000A]¦\\[uD800]¦.Bl -tag¦.It a¦.El¦.Bd¦.Ed¦.B "a¦.ds x y¦\\*(x¦¦.Op Fl a¦.UR a'
    ),
    org.convert: (
        "* A¦** TODO B¦#+begin_src sh¦#+end_src¦#+begin_quote¦#+begin_example¦#+end_example¦| a | b |¦|---+---|¦"
        "|   |  ¦| <l> |¦: a¦- a¦- a :: b¦1. a¦:PROPERTIES:¦:END:¦[[a][b¦[[a¦]]¦=a¦~a~¦/a¦[fn:1]¦{{{a(b)}}}¦#+title: a¦"
        "¦<2020-01-01>"
    ),
    pod.convert: (
        "=pod¦=head1 A¦=over¦=back¦=item a¦=item *¦=begin html¦=end¦=cut¦  code¦C<a¦E<10>¦E<55296>¦E<gt>¦L<a|b>¦"
        "C<< a >>¦X<¦>¦¦=for x"
    ),
    wiki.convert: (
        "== A ==¦=      ¦* a¦# b¦; a : b¦: c¦{|¦|}¦|-¦| a || b¦! a¦| k=v&k=v¦<pre>¦</pre>¦<ref>¦</ref>¦<gallery¦<code>¦"
        "</code>¦<nowiki>¦</nowiki>¦<!--¦-->¦{{a|¦}}¦[[a|¦]]¦ code¦&#10;¦'''¦<syntaxhighlight lang=a>¦"
        "</syntaxhighlight>¦"
    ),
}


@pytest.mark.parametrize("convert", PIECES)
@pytest.mark.parametrize("separators", ["\n", "\n ", "\n\r"])
def test_any_mixture_of_markup_is_read_with_its_lines(convert: Callable[[str], Prose], separators: str) -> None:
    pieces = PIECES[convert].split("¦")
    for seed in range(60):
        random = Random(seed)
        chosen = random.sample(pieces, min(len(pieces), random.choice([2, 4, 40])))
        source = "".join(random.choice(chosen) + random.choice(separators) for _ in range(random.choice([5, 30, 150])))
        prose = convert(source)
        assert len(prose.lines) == len(split_lines(source)), source
        assert not any(end in line for line in prose.lines for end in "\r\n"), source
        assert all(chunk.text.encode() for chunk in prose.chunk()), source


@pytest.mark.parametrize("convert", PIECES)
def test_thousands_of_marks_without_an_end_are_read_at_once(convert: Callable[[str], Prose]) -> None:
    for piece in PIECES[convert].split("¦"):
        for separator in ("\n", "\n\n", " ", "\n\ntext\n\n"):
            source = (piece + separator) * 2000
            assert len(convert(source).lines) == len(split_lines(source))
