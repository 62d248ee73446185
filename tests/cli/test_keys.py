"""``suffice keys``: create, list and revoke the keys of the service."""

import re

import pytest

pytest.importorskip("sqlalchemy")


def test_without_keys(suffice):
    result = suffice("keys", "list")
    assert (result.status, result.out) == (0, "No keys.\n")


def test_keys_are_listed_under_a_header(suffice):
    suffice("keys", "create", "ann")
    suffice("keys", "create", "a program", "--active", 5, "--max-cost", 0.5)
    header, first, second = suffice("keys", "list").out.splitlines()
    assert header.split() == ["id", "created", "allowed", "name"]
    assert first.index("ann") == second.index("a program") == header.index("name")
    assert "5 at once, 60 a minute, $0.5 a run" in second


def test_revoke_takes_the_id_and_says_so_when_it_gets_the_name(suffice):
    created = suffice("keys", "create", "ann")
    id = re.search(r"Key (\w+) for ann", created.err)[1]
    result = suffice("keys", "revoke", "ann")
    assert result.status == 2
    assert "takes the id" in result.err
    assert f"suffice keys revoke {id}" in result.err
    assert "revoked" not in suffice("keys", "list").out
    assert suffice("keys", "revoke", id).status == 0
    assert "revoked" in suffice("keys", "list").out


def test_revoke_of_an_unknown_key(suffice):
    result = suffice("keys", "revoke", "nobody")
    assert (result.status, "nobody" in result.err) == (2, True)
