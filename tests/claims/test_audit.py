"""Checking a text against a search: which passages are read."""

import asyncio

import pytest

from suffice.claims.audit import PASSAGES_PER_CLAIM, TextAudit
from suffice.claims.checkers import EvidenceSpan
from suffice.testing import make_passage


class CountingChecker:
    """Finds support in one passage and notes which passages it was given."""

    name = "counting"

    def __init__(self, supporting: str) -> None:
        self.supporting = supporting
        self.given: list[list[str]] = []

    async def __call__(self, claim, passages):
        self.given.append([passage.id for passage in passages])
        return [
            EvidenceSpan(0, 5, "supports" if passage.id == self.supporting else None, 0.9, 0.9) for passage in passages
        ]


async def find_ten(query, k):
    return [make_passage(f"p{i}", f"Passage {i} is about the bridge.", "Notes") for i in range(10)][:k]


@pytest.mark.parametrize(("supporting", "read"), [("p0", 3), ("p2", 3), ("p7", 8), ("p9", 8)])
def test_more_passages_are_read_only_where_the_first_do_not_support_the_claim(supporting, read):
    checker = CountingChecker(supporting)

    async def check():
        audit = TextAudit("The Meridian bridge was built in 1887.", find_ten, checker)
        return [claim async for claim, _ in audit.check_claims()]

    [claim] = asyncio.run(check())
    assert max(len({*given}) for given in checker.given) == read <= PASSAGES_PER_CLAIM
    assert (claim.support == "supported") == (supporting != "p9")
