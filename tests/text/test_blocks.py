"""Blocks of a passage."""

from suffice.text.blocks import split_blocks

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


def test_a_passage_is_split_into_blocks():
    headings = [block for block in split_blocks(MANUAL) if block.is_heading]
    blocks = [block for block in split_blocks(MANUAL) if not block.is_heading]
    assert len(headings) == 1
    assert [block.format for block in blocks] == ["prose", "list", "table", "prose", "code", "prose"]
    lead = blocks[1].lead
    assert lead is not None
    assert MANUAL[slice(*lead)] == "The modes are:"
    assert [MANUAL[start:end].split()[1] for start, end in blocks[1].units] == ["fast:", "slow"]
    assert len(blocks[2].units) == 1
    assert all("====" not in MANUAL[block.start : block.end] for block in blocks)


INDENTED = """Notes on the cold room

    The compressor had lost its coolant through a
    cracked valve, and it was replaced (by Nord & Co).

    If the alarm sounds:
      - shut the door

    Then write the date down:

    rsync -a /srv/kitchen backup:/kitchen
    date > /srv/kitchen/last

    >>> Alarm.reset().
"""


def test_indented_sentences_are_prose_and_indented_code_is_code() -> None:
    blocks = split_blocks(INDENTED)
    assert [block.format for block in blocks] == ["prose", "prose", "prose", "list", "prose", "code"]
    assert INDENTED[blocks[-1].start :].startswith("    rsync")


CLAUSE = f"""   2. Grant. You may use the Work.

   3. Patents. {"The grant covers the claims of each party to this text. " * 12}If You sue,
      the grant ends.

   4. Redistribution. {"You may copy the Work in any medium and form. " * 14}You must meet
      the following conditions:

      (a) You must pass on this text; and

      (b) You must mark changed
          files.
"""


def test_a_long_numbered_clause_is_prose_with_its_own_lists() -> None:
    blocks = split_blocks(CLAUSE)
    assert [block.format for block in blocks] == ["list", "prose", "prose", "list"]
    sentences = [" ".join(CLAUSE[start:end].split()) for start, end in blocks[1].units]
    assert sentences[-1] == "If You sue, the grant ends."
    assert CLAUSE[blocks[1].start :].startswith("3. Patents.")
    lead = blocks[3].lead
    assert lead is not None
    assert CLAUSE[slice(*lead)].endswith("the following conditions:")
    assert [CLAUSE[start:end].split()[0] for start, end in blocks[3].units] == ["(a)", "(b)"]


def test_code_in_an_item_belongs_to_the_item() -> None:
    text = "1. Set this:\n\n   ```yaml\n   # a\n\n   - b\n   ```\n2. Or that.\n\nText."
    blocks = split_blocks(text)
    assert [block.format for block in blocks] == ["list", "prose"]
    assert len(blocks[0].units) == 2
