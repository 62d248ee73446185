"""The searching strategies through the command line, without a language model."""

import json

import pytest

TOWN = """The Halm Bridge spans the river Mur. It was designed by Ida Voss and opened in 1902.

Ida Voss was an engineer born in Graz. She studied in Zurich and later taught there.
"""
FARM = "Apple trees are grafted in spring. A graft is a twig joined to another tree's root.\n"


@pytest.fixture
def town(tmp_path):
    folder = tmp_path / "town"
    folder.mkdir()
    (folder / "bridge.md").write_text(TOWN.split("\n\n")[0], encoding="utf-8")
    (folder / "voss.md").write_text(TOWN.split("\n\n")[1], encoding="utf-8")
    (folder / "farm.txt").write_text(FARM, encoding="utf-8")
    return folder


@pytest.mark.parametrize("alpha", ["0.5", "1"])
@pytest.mark.parametrize("strategy", ["saturate", "outline"])
def test_a_strategy_answers_and_says_why_it_stopped(suffice, town, strategy, alpha):
    question = "Where was the designer of the Halm Bridge born?"
    ended = suffice(
        "ask", question, "--docs", town, "--strategy", strategy, "--alpha", alpha, "--model", "extractive", "--json"
    )
    assert ended.status == 0, ended.err
    report = json.loads(ended.out)
    assert "Ida Voss" in report["final_answer"]
    assert report["metadata"]["preset"]["strategy"] == strategy
    assert report["stop"]["explanation"]
    assert all(claim["support"] == "supported" for claim in report["claims"])
    assert all(record["readings"]["evidence.chars"] is not None for record in report["stop"]["rounds"])


def test_the_sections_of_an_outline_are_headings(suffice, town):
    ended = suffice(
        "ask", "Compare the Halm Bridge with Ida Voss", "--docs", town, "--strategy", "outline", "--model", "extractive"
    )
    assert ended.status == 0, ended.err
    assert "Halm Bridge" in ended.out
    assert "Ida Voss" in ended.out
