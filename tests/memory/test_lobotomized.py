"""No memory: the current round and nothing else."""

from suffice.memory.trajectory import LobotomizedMemory
from suffice.testing import make_passage
from suffice.text.tokens import estimate_tokens

A, B = make_passage("a", "Ada was first.", "A"), make_passage("b", "Bo was second.", "B")


def test_only_the_current_round_is_known(fed):
    memory = fed(LobotomizedMemory).round(A)
    assert memory.hypothetical_answers() == ["Ada was first."]
    assert memory.round(B).hypothetical_answers() == ["Bo was second."]
    assert memory.round().hypothetical_answers() == []


def test_what_comes_back_again_is_seen_again(fed):
    assert fed(LobotomizedMemory).round(A).round(B).round(A).hypothetical_answers() == ["Ada was first."]


def test_it_fits_its_budget(fed):
    memory = fed(LobotomizedMemory).round(make_passage("long", "The lamp is old. " * 500, "L"))
    assert sum(estimate_tokens(note.text) for note in memory.memory.render(100)) <= 100
