"""The extractive draft on documentation: defaults, comparisons, counts, releases, authors."""

import asyncio

import pytest
from suffice.models.extractive.form import find_code_names
from suffice.text.answer_spans import find_spans

from suffice.models.extractive import ExtractiveModel
from suffice.prompts import Draft, SynthesisResponse
from suffice.search.files.read import read_text
from suffice.types import Note, Place


def drafted(task: str, *notes: Note) -> SynthesisResponse:
    answer: SynthesisResponse = asyncio.run(ExtractiveModel()(Draft(task, notes, (), ()))).answer
    return answer


def note(text: str, title: str = "", kind: str = "text", handle: int = 1) -> Note:
    return Note(text, (f"[{handle}]",), title, kind)


def read_notes(text: str, name: str) -> list[Note]:
    return [
        Note(chunk.text, (f"[{n}]",), chunk.title, chunk.kind, place=Place(name, chunk.lines, section=chunk.section))
        for n, chunk in enumerate(read_text(text, name), 1)
    ]


MIXINS = '''class Threading:
    """Handle each request in a new thread."""

    daemon = False


class Forking:
    """Handle each request in a new process."""

    timeout = 300
'''


def test_names_written_as_in_code_are_found() -> None:
    assert find_code_names("Is `pool` of HTTPServer set by --max-size, MAX_SIZE or os.path?") == [
        "pool",
        "httpserver",
        "--max-size",
        "max_size",
        "os.path",
    ]


def test_the_default_of_a_setting_stands_below_its_name() -> None:
    setting = note("Default: 4.\n\nHow many messages to prefetch at a time.", "Settings > worker_prefetch", handle=2)
    example = note("Reserve one task at a time:\n\n    worker_prefetch = 1\n", "Optimizing > Prefetch")
    answer = drafted("What is the default of worker_prefetch?", example, setting)
    assert answer.excerpts[0].text.startswith("Default: 4.")


def test_a_default_is_read_from_a_signature() -> None:
    loader = note("def load(path, mode='r'):\n    return open(path, mode)\n", "loaders > load", "code", 2)
    cache = note(
        'def make_cache(cache_size: int = 400):\n    """Return a cache that keeps templates."""\n', "env > make", "code"
    )
    answer = drafted("How many templates does the cache keep by default?", loader, cache)
    assert "cache_size: int = 400" in answer.excerpts[0].text


def test_both_sides_of_a_comparison_are_shown_together() -> None:
    answer = drafted("What is the difference between Threading and Forking?", *read_notes(MIXINS, "server.py"))
    shown = "\n".join(excerpt.text for excerpt in answer.excerpts[:2])
    assert "in a new thread" in shown[:600]
    assert "in a new process" in shown[:600]
    assert not answer.short_answer


def test_a_sentence_that_contrasts_both_sides_is_enough() -> None:
    text = "Use a list for few items. A queue keeps the order, whereas a heap returns the smallest entry first."
    answer = drafted("What is the difference between a queue and a heap?", note(text, "Containers"))
    assert "whereas a heap" in answer.excerpts[0].text
    assert len(answer.excerpts) == 1


def make_table() -> str:
    return "city,state\n" + "".join(f"Town {n},{'AK' if n % 3 else 'NY'}\n" for n in range(30))


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many airports are in AK?", "20 (rows with state: AK)"),
        ("How many airports are in airports.csv?", "30 (rows of the table)"),
    ],
)
def test_rows_of_a_table_are_counted(question: str, short: str) -> None:
    notes = read_notes(make_table(), "airports.csv")
    assert drafted(question, *notes).short_answer == short


def test_the_values_of_a_column_are_listed() -> None:
    answer = drafted("Which states are in airports.csv?", *read_notes(make_table(), "airports.csv"))
    assert "state, 2 values: AK, NY" in answer.excerpts[0].text


CHANGES = """# Changelog

## 0.25.0 (11th Sep, 2023)

### Removed

* Drop support for Python 3.7. (#2813)

## 0.24.0 (6th April, 2023)

### Changed

* Drop support for Python 3.6. (#2814)
"""


def test_a_change_is_shown_below_its_release() -> None:
    answer = drafted("In which version was support for Python 3.7 dropped?", note(CHANGES, "Changelog", "markdown"))
    assert answer.excerpts[0].text.startswith("0.25.0 (11th Sep, 2023)")
    assert answer.short_answer == "0.25.0"


def test_the_author_of_a_module_is_named_in_its_header() -> None:
    header = note('"""Read and write records."""\n\n__author__ = "Ann Berg <ann@example.org>"\n', "records", "code", 2)
    other = note(
        "def write_records(path):\n    # Contributed by Max Holm, writes records.\n", "records > write", "code"
    )
    answer = drafted("Who is the author of records?", other, header)
    assert "Ann Berg" in answer.excerpts[0].text


def test_a_table_of_contents_answers_nothing() -> None:
    contents = note("- 14.1. May I sell CDs?\n- 14.2. May I change it?\n- 14.3. What else?\n", "FAQ")
    section = note("Yes, you may sell CDs. You need not pay us.", "FAQ > 14.1. May I sell CDs?", handle=2)
    assert "Yes, you may" in drafted("May I sell CDs?", contents, section).excerpts[0].text


def test_an_address_is_shown_as_code() -> None:
    answer = drafted("Who climbed Mount Arno?", note("Ida Holm <ida@holm.example> climbed Mount Arno.", "Mount Arno"))
    assert "`<ida@holm.example>`" in answer.answer
    assert "\\<" not in answer.answer + answer.summary


def test_footnote_marks_in_a_table_cite_nothing() -> None:
    table = "| Year | Level |\n| --- | --- |\n| 1990[5] | 40 m |\n| 1991 | 41 m |\n"
    answer = drafted("What was the level of the lake in 1990?", note(table, "Lake level", "markdown"))
    assert "1990\\[5]" in answer.answer


def test_a_version_of_a_protocol_is_a_name_of_its_own() -> None:
    served = note("The server speaks HTTP. Serve the application over HTTP with 3 workers.", "Serving an application")
    assert drafted("How do I serve the application over HTTP/3?", served).sufficiency != "yes"
    assert drafted("How do I serve the application over HTTP?", served).sufficiency == "yes"


CONTRACTS = {
    "cleaning.md": "# Cleaning contract\n\nBetween Alder Ltd and Bright Services, signed on 14 January 2025.\n\n"
    "## Term\n\nEither party may end it with a notice period of four weeks.\n",
    "hosting.md": "# Hosting agreement\n\nBetween Alder Ltd and Nord Hosting, signed on 3 March 2024.\n\n"
    "## Term\n\nEither party may end it with a notice period of three months.\n",
}


def test_a_comparison_of_one_thing_shows_that_thing_of_both_sides() -> None:
    notes = [found for name, text in CONTRACTS.items() for found in read_notes(text, name)]
    answer = drafted("Compare the notice periods of the cleaning contract and the hosting agreement", *notes)
    assert ["four weeks" in answer.excerpts[0].text, "three months" in answer.excerpts[1].text] == [True, True]


def test_the_heading_above_an_excerpt_becomes_part_of_its_title() -> None:
    text = "Delivery takes ten days.\n\n# 2. Term\n\nThe supply contract of Alder Ltd ends on 31 May 2027.\n"
    answer = drafted("When does the supply contract of Alder Ltd end?", note(text, "Supply contract", "markdown"))
    assert answer.excerpts[0].title == "Supply contract > 2. Term"
    assert answer.excerpts[0].text.startswith("The supply contract")
    assert "2\\." not in answer.answer


TABLE = """Options of the server:

| option | meaning |
|---|---|
| `--port` | the port, 8080 unless told |
| `--host` | the address \\| a name |
""" + "".join(f"| `--o{n}` | sets the value number {n} of the long list of values |\n" for n in range(30))


def test_a_row_stays_in_one_table_with_its_header() -> None:
    answer = drafted("What is the meaning of the option --o17?", note(TABLE, "Server", "markdown"))
    assert "|---|---|\n> | `--o" in answer.answer


def test_a_closest_row_comes_with_its_header() -> None:
    answer = drafted("Which colour has the zebra option of the port in Nairobi?", note(TABLE, "Server", "markdown"))
    assert answer.closest[0].text.startswith("| option | meaning |\n|---|---|\n| `--")


def test_emphasis_in_a_source_is_no_text() -> None:
    answer = drafted(
        "What does the queue keep?", note("*Changed*: the queue keeps the order of 2 * 3 * 4 items.", "Queue")
    )
    assert "Changed: the queue keeps the order of 2 * 3 * 4 items." in answer.answer.replace("**", "")


def test_an_acronym_that_is_nowhere_leaves_a_how_to_partly_answered() -> None:
    found = note(
        "To check a text against your documents, run `suffice check`. Checking a text takes seconds.", "Checks"
    )
    assert drafted("How do I check a text against my documents in CI?", found).sufficiency == "partly"
    assert drafted("What is the price of checking a text for IBM documents?", found).sufficiency == "no"


def test_the_first_person_is_no_name() -> None:
    assert find_spans("I'll ask Carla.", "name") == [(9, 14)]


def test_the_item_about_an_option_is_shown_without_its_neighbours() -> None:
    text = "- `-a`: Adds all files to it.\n- `-s <n>`, `--strip=<n>`: Removes folders from names.\n- `--to`: Names the target."
    answer = drafted("What does tar --strip do?", note(text, "tar(1) > OPTIONS"))
    assert answer.excerpts[0].text == "- `-s <n>`, `--strip=<n>`: Removes folders from names."


def test_the_summary_of_an_item_has_no_code() -> None:
    text = "- `--zip`: Packs all files of the folder into one.\n\n  ```\n  tar --zip a b\n  ```\n\n  See also `--gzip`."
    answer = drafted("What does tar --zip do?", note(text, "tar(1) > OPTIONS"))
    assert answer.summary == "`--zip`: Packs all files of the folder into one. [1]"
    assert "tar --zip a b\n>   ```" in answer.answer
