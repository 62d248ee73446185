"""Blocks of a passage and the kind of a question."""

import pytest

from suffice.text.answer_spans import find_spans
from suffice.text.blocks import split_blocks
from suffice.text.question import analyze_question

MANUAL = """Options
=======

It has modes. The modes are:

- fast: it runs
  on two lines
- slow

| name | value |
|---|---|
| port | 5000 |

Start it so:

    $ serve --port 5000

Done.
"""


def test_a_passage_is_split_into_blocks_without_its_heading():
    blocks = split_blocks(MANUAL)
    assert [block.format for block in blocks] == ["prose", "list", "table", "prose", "code", "prose"]
    lead = blocks[1].lead
    assert lead is not None
    assert MANUAL[slice(*lead)] == "The modes are:"
    assert [MANUAL[start:end].split()[1] for start, end in blocks[1].units] == ["fast:", "slow"]
    assert len(blocks[2].units) == 1
    assert all("====" not in MANUAL[block.start : block.end] for block in blocks)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When was the bridge built?", "when"),
        ("What is the default timeout?", "default"),
        ("How many moons are there?", "count"),
        ("Is it suitable for production?", "yes_no"),
        ("Which is older, Graz or Linz?", "compare"),
        ("Ist das erlaubt?", "yes_no"),
        ("Wann wurde die Brücke gebaut?", "when"),
        ("Quelle est la valeur par défaut ?", "default"),
        ("¿Cuándo fue fundada la ciudad?", "when"),
    ],
)
def test_the_wording_tells_the_kind_of_a_question(question, kind):
    assert analyze_question(question).kind == kind


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("Born on 3. März 1912.", "date", ["3. März 1912"]),
        ("The default timeout is 5.0 seconds.", "value", ["5.0 seconds"]),
        ("It is 3,400 km long.", "number", ["3,400 km"]),
        ("Added in version 3.11.", "version", ["3.11"]),
    ],
)
def test_spans_of_the_wanted_type_are_found(text, kind, found):
    assert [text[start:end] for start, end in find_spans(text, kind)] == found
