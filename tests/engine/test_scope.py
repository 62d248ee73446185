"""Text that several files have is read once."""

from dataclasses import replace

from suffice.engine.scope import drop_copies
from suffice.testing import make_passage
from suffice.types import Place

ROW = "Quarter: Q2 2023 · Budget: $303,000.00 · Range: $5M to $10M · Approved: {}"


def make_file(name, text):
    return replace(make_passage(name, text, name), place=Place(name))


def test_a_sheet_says_yes_where_its_copy_says_true():
    table = make_file("costs.csv", ROW.format(True))
    assert drop_copies([table, make_file("costs.xlsx", ROW.format("yes").replace(" · ", "\n"))]) == [table]
    other = make_file("costs.xlsx", ROW.format("no"))
    assert drop_copies([table, other]) == [table, other]
