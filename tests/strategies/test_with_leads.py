"""The intervention ``leads``: the strategy's own queries and the best open lead."""

from suffice.engine.interventions import RunParts, apply_interventions
from suffice.errors import ModelError
from suffice.memory.trajectory import TrajectoryMemory
from suffice.prompts import IRCoTStepResponse
from suffice.strategies.ircot import IRCoTStrategy

from .conftest import TASK

SCRIPT = {"thought": [IRCoTStepResponse("Halloran Works built it."), IRCoTStepResponse("The answer is: x")]}


def both():
    return apply_interventions(["leads"], RunParts(IRCoTStrategy(), TrajectoryMemory, None)).strategy


def test_a_lead_stands_beside_the_strategys_own_query(play):
    played = play(both(), SCRIPT)
    assert played.queries[0] == (TASK,), "nothing was found yet that could lead on"
    assert played.queries[1][0] == "Halloran Works built it."
    assert len(played.queries[1]) == 2


def test_the_strategys_finish_stays_its_own(play):
    played = play(both(), SCRIPT)
    assert (played.stop.reason, len(played.queries)) == ("planner_done", 2)
    assert played.run.follow_ups.propose(1), "a lead was still open"


def test_a_lead_that_is_the_strategys_query_is_asked_once(play):
    played = play(both(), {"thought": [ModelError("dizzy")]}, rounds=3)
    assert [len(queries) for queries in played.queries] == [1, 1, 1]
