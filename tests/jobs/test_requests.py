"""Job requests are stored as JSON and read back, also those of version 0.1."""

import json
from pathlib import Path

import pytest

from suffice.errors import InputError
from suffice.jobs.requests import JobRequest, parse_collections, parse_request, resolve_collections
from suffice.options import RunOptions
from suffice.testing import FixtureSearch

REQUEST = JobRequest(
    "Who?",
    RunOptions(
        docs=[Path("a"), "b"],
        providers="wikipedia",
        stop="fixed(2)",
        max_rounds=3,
        max_cost_usd=0.5,
        alpha=0.0,
        exclude=["*.log"],
        review=False,
    ),
    ("default",),
)


def test_request_is_restored():
    assert parse_request(REQUEST.to_json()) == REQUEST


def test_only_options_that_differ_from_their_default_are_stored():
    assert json.loads(JobRequest("Who?", RunOptions(k=7)).to_json())["options"] == {"k": 7}


def test_request_of_version_0_1_is_read():
    bounds = {"rounds": 3, "queries": None, "sources": None, "seconds": 9.5, "tokens": None, "usd": 0.5}
    stored = {
        "task": "Who?",
        "options": {"docs": ["a"], "bounds": bounds, "with_leads": True},
        "collections": ["default"],
        "folder": "/home",
    }
    assert parse_request(json.dumps(stored)) == JobRequest(
        "Who?",
        RunOptions(docs="a", max_rounds=3, max_seconds=9.5, max_cost_usd=0.5, interventions="leads"),
        ("default",),
        "/home",
    )


def test_objects_cannot_be_stored():
    with pytest.raises(InputError, match="FixtureSearch"):
        JobRequest("Who?", RunOptions(search=FixtureSearch())).to_json()


def test_collections_are_parsed_and_resolved(tmp_path):
    collections = parse_collections([f"law={tmp_path}", str(tmp_path)])
    assert collections == {"law": [str(tmp_path)], "default": [str(tmp_path)]}
    named = JobRequest("Who?", collections=("law",))
    assert resolve_collections(named, collections).docs == (str(tmp_path),)
    assert resolve_collections(JobRequest("Who?"), collections).docs == (str(tmp_path), str(tmp_path))
    with pytest.raises(InputError, match="secret"):
        resolve_collections(JobRequest("Who?", collections=("secret",)), collections)
    with pytest.raises(InputError, match="nowhere"):
        parse_collections([str(tmp_path / "nowhere")])
