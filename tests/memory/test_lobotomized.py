"""No memory: the current round and nothing else."""

from suffice.memory.lobotomized import Lobotomized
from suffice.testing import passage
from suffice.text.tokens import estimate_tokens

A, B = passage("a", "Ada was first.", "A"), passage("b", "Bo was second.", "B")


def test_only_the_current_round_is_known(fed):
    memory = fed(Lobotomized).round(A)
    assert memory.texts() == ["Ada was first."]
    assert memory.round(B).texts() == ["Bo was second."]
    assert memory.round().texts() == []


def test_what_comes_back_again_is_seen_again(fed):
    assert fed(Lobotomized).round(A).round(B).round(A).texts() == ["Ada was first."]


def test_it_fits_its_budget(fed):
    memory = fed(Lobotomized).round(passage("long", "The lamp is old. " * 500, "L"))
    assert sum(estimate_tokens(note.text) for note in memory.memory.render(100)) <= 100
