"""Evidence: each passage once, under a handle that does not change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.memory.evidence import Evidence
from suffice.testing import make_passage


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from("abcdefg"), max_size=20))
def test_a_passage_is_stored_once_under_its_first_handle(ids):
    evidence = Evidence()
    handles = [evidence.add(make_passage(id, f"text of {id}")) for id in ids]
    order = list(dict.fromkeys(ids))
    assert [found.id for found in evidence] == order
    assert len(evidence) == len(order)
    assert handles == [f"[{order.index(id) + 1}]" for id in ids]
    for handle, id in zip(handles, ids, strict=True):
        assert evidence.find_passage(handle).id == id
        assert id in evidence


@pytest.mark.parametrize("handle", ["[0]", "[3]", "[99]", "[-1]", "[]", "[x]", "", "[1.5]", "[1e0]"])
def test_an_unknown_handle_finds_nothing(handle):
    evidence = Evidence()
    evidence.add(make_passage("a", "one"))
    evidence.add(make_passage("b", "two"))
    assert evidence.find_passage(handle) is None
