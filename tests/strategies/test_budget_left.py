"""Prompts of strategies that ask a model say how much may still be searched, if a bound is set."""

import pytest

from suffice.prompts.agents import MemGPTStepResponse, ReActStepResponse
from suffice.prompts.base import TextResponse
from suffice.prompts.planning import PlannedQuery, PlanResponse, ProposeQueryResponse, ReflectionResponse
from suffice.strategies.ircot import IRCoTStrategy
from suffice.strategies.memgpt import MemGPTStrategy
from suffice.strategies.react import ReActStrategy
from suffice.strategies.reflect import ReflectStrategy
from suffice.strategies.saturate import SaturateStrategy
from suffice.types import Bounds

PLAN = [PlanResponse((PlannedQuery("Meridian bridge"),))]
AGENTS = {
    "thought": (IRCoTStrategy, {"thought": [TextResponse("Halloran Works was founded by Ida Halloran.")]}),
    "act": (ReActStrategy, {"act": [ReActStepResponse("Look on.", "Search", "Halloran Works")]}),
    "step": (MemGPTStrategy, {"step": [MemGPTStepResponse("Look on.", "archival_search", {"query": "Halloran"})]}),
    "reflect": (
        ReflectStrategy,
        {"plan": PLAN, "reflect": [ReflectionResponse(False, 0.5, (), (PlannedQuery("Halloran Works"),))]},
    ),
    "gap": (SaturateStrategy, {"plan": PLAN, "gap": [ProposeQueryResponse("Halloran Works")]}),
}


@pytest.mark.parametrize("role", AGENTS)
def test_an_agent_knows_how_many_rounds_are_left(play, role):
    make, script = AGENTS[role]
    for bounds, expected in ((Bounds(rounds=4), "You have 1 round of search left."), (Bounds(), "")):
        played = play(make(), script, rounds=4, bounds=bounds)
        texts = [prompt.render() for prompt in played.prompts if prompt.role == role]
        assert expected in texts[-1]
        assert all(("of search left" in text) is bool(expected) for text in texts)
