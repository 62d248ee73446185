"""Failure detectors: for each a search that has the failure, one that has not, and one that cannot tell."""

import pytest

from suffice.lab.gaps import GAPS, SearchRecord, SearchRound, detect_gaps, has_wrong_entity

QUESTION = "Who founded the Halloran steel works?"
WORKS = {"p1": "The Halloran steel works were founded by Ida Halloran."}
GRAZ = {"p2": "Graz lies on the Mur. Karl Moser lived there."}


def record(*rounds, **parts):
    rounds = tuple(SearchRound((query,), found) for query, found in rounds or [("Halloran works", WORKS)])
    values = {
        "answer": "Ida Halloran",
        "stop": "budget_rounds",
        "truths": ("Ida Halloran",),
        "gold": frozenset({"p1"}),
        "memory": "Ida Halloran founded the works.",
        **parts,
    }
    return SearchRecord(QUESTION, rounds, **values)


CASES = {
    "G1": (record(memory="Graz lies on the Mur."), record(), record(memory=None)),
    "G2": (
        record(("Halloran", WORKS), ("weather in Graz", GRAZ), ("rain tomorrow", {})),
        record(("Halloran", WORKS), ("weather in Graz", GRAZ), ("steel", {})),
        SearchRecord("?", ()),
    ),
    "G3": (record(answer="Napoleon"), record(answer="no answer"), record(("q", {"p1": None}))),
    "G4": (
        record(("Graz", GRAZ), stop="planner_done", answer="Karl Moser"),
        record(("Graz", GRAZ), ("Graz", GRAZ), ("Graz", GRAZ), stop="exhausted", answer="Karl Moser"),
        record(truths=()),
    ),
    "G5": (
        record(("who founded it", WORKS), ("who founded it", {}), ("who founded it now", {})),
        record(("who founded it", WORKS), ("who founded it", {}), ("steel works", {})),
        None,
    ),
    "G6": (
        record(("a", WORKS), ("b", WORKS), ("c", {})),
        record(("a", WORKS), ("b", WORKS), ("c", GRAZ), ("d", WORKS)),
        None,
    ),
    "G7": (
        record(("a", WORKS), ("b", GRAZ), answer="Karl Moser", truths=()),
        record(("a", WORKS), ("b", GRAZ), answer="no answer", truths=()),
        record(answer="Karl Moser"),
    ),
}


@pytest.mark.parametrize("name", GAPS)
def test_a_detector_finds_its_failure_and_nothing_else(name):
    present, absent, unknown = CASES[name]
    assert GAPS[name][1](present) is True
    assert GAPS[name][1](absent) is False
    if unknown is not None:
        assert GAPS[name][1](unknown) is None


def test_a_good_search_has_none_of_them():
    assert {name for name, found in detect_gaps(record()).items() if found is not False} == {"G7"}
    assert has_wrong_entity(record()) is None, "counted only on questions that cannot be answered"


def test_every_detector_states_its_rule():
    assert all(detect.__doc__.startswith(f"{name}: ") for name, (_, detect) in GAPS.items())
