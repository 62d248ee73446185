"""The examples run offline and explain why they stopped."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["langgraph", "pydantic_ai", "openai_agents"])
def test_an_example_stops_and_explains_why(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("agents" if name == "openai_agents" else name)
    runpy.run_path(str(EXAMPLES / f"{name}_agent.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert "\nexhausted\nStopped after 4 rounds" in out


@pytest.mark.parametrize("name", ["langgraph", "pydantic_ai", "openai_agents"])
def test_an_example_of_a_belief_prints_facts_with_sources(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("agents" if name == "openai_agents" else name)
    runpy.run_path(str(EXAMPLES / f"{name}_belief.py"), run_name="__main__")
    out = capsys.readouterr().out
    assert '{"fact": "Tides are caused by the pull of the moon and, less, of the sun.", "sources": ["[1]"]}' in out
