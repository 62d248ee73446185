"""Readers of markup on text that is broken, hostile or just unusual."""

from random import Random

import pytest

from suffice.search.files import markup
from suffice.search.files.prose import Prose
from suffice.search.files.read import read_text
from suffice.text.chunks import split_lines


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        (
            "latex",
            "\\title{Storage}\n\\subsection*{Backups}\nAt {night}.",
            ["# Storage", "#### Backups", "At {night}."],
        ),
        ("org", "* Storage\nIn =/var=.\n** Backups", ["# Storage", "In =/var=.", "## Backups"]),
        ("pod", "=head1 NAME\n\nstorage", ["# NAME", "", "storage"]),
        ("wiki", "== Backups ==\nAt night.", ["## Backups", "At night."]),
        ("man", '.TH TAR 1\n.SH "SEE ALSO"\n.B gzip', ["# TAR 1", "## SEE ALSO", ".B gzip"]),
    ],
)
def test_markup_ends_where_it_ends_and_moves_no_line(name: str, source: str, expected: list[str]) -> None:
    assert [" ".join(line.split()) for line in markup.READERS[name](source).lines] == [
        " ".join(line.split()) for line in expected
    ]


def test_no_line_of_a_document_can_hold_a_line_end() -> None:
    (chunk,) = Prose(["a\nb\r\ud800c", "d"]).chunk()
    assert (chunk.first, chunk.last, chunk.text) == (1, 2, "a b c\nd")


def test_keys_of_a_configuration_file_may_be_indented_by_tabs() -> None:
    below = "".join(f'\t\t"option{number}": "{"words " * 20}",\n' for number in range(40))
    chunks = read_text(f'{{\n\t"server": {{\n{below}\t}},\n\t"client": {{\n{below}\t}}\n}}\n', "settings.json")
    assert chunks[-1].title.endswith("client")


PIECES = {
    "asciidoc": (
        '= A¦== B¦----¦====¦|===¦| a | b¦¦* a¦. b¦term::¦+¦[source,"a"]¦[verse]¦  code¦//// ¦{x}¦:x: y¦`a¦+++¦<<a,b>>¦'
        'NOTE: a¦link:a[b¦"`a¦&#10;¦__a¦((a¦include::a[]¦.Title¦````¦--¦[[a]]¦#a'
    ),
}


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.parametrize("separators", ["\n", "\n ", "\n\r"])
def test_any_mixture_of_markup_is_read_with_its_lines(name: str, separators: str) -> None:
    pieces = PIECES[name].split("¦")
    for seed in range(60):
        random = Random(seed)
        chosen = random.sample(pieces, min(len(pieces), random.choice([2, 4, 40])))
        source = "".join(random.choice(chosen) + random.choice(separators) for _ in range(random.choice([5, 30, 150])))
        prose = markup.READERS[name](source)
        assert len(prose.lines) == len(split_lines(source)), source
        assert not any(end in line for line in prose.lines for end in "\r\n"), source
        assert all(chunk.text.encode() for chunk in prose.chunk()), source


@pytest.mark.parametrize("name", PIECES)
def test_thousands_of_marks_without_an_end_are_read_at_once(name: str) -> None:
    for piece in PIECES[name].split("¦"):
        for separator in ("\n", "\n\n", " ", "\n\ntext\n\n"):
            source = (piece + separator) * 2000
            assert len(markup.READERS[name](source).lines) == len(split_lines(source))
