"""Readers of markup on text that is broken, hostile or just unusual."""

from suffice.search.files import asciidoc, org, wiki


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
