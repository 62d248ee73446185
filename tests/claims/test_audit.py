"""Checking a text against a search: which passages are read, and the check of all claims by a language model."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from suffice.claims.audit import PASSAGES_FOR_MODEL, PASSAGES_PER_CLAIM, TextAudit
from suffice.claims.checker import Checker
from suffice.prompts.judging import CheckDraftResponse, CheckedStatement
from suffice.testing import make_passage

TEXT = "The Meridian bridge was built by the town.\n\nWho paid for it?\n\nThe bridge is high [1].\n"


class CountingReader:
    """Finds support in the passage with this number and notes what it read."""

    def __init__(self, supporting: int) -> None:
        self.supporting = f"Passage {supporting} "
        self.read: set[str] = set()

    def judge(self, pairs):
        self.read.update(text for _, text in pairs)
        return np.array([[0.9 * (self.supporting in text), 0.0, 0.1] for _, text in pairs]).reshape(-1, 3)


async def find_ten(query, k):
    return [make_passage(f"p{i}", f"Passage {i} is about the bridge.", "Notes") for i in range(10)][:k]


def check(audit):
    async def collect():
        return [claim async for claim, _ in audit.check_claims()]

    return asyncio.run(collect())


@pytest.mark.parametrize(("supporting", "read"), [(0, 1), (2, 3), (4, 5), (9, 5)])
def test_passages_are_read_until_one_supports_the_claim(supporting, read):
    reader = CountingReader(supporting)
    [claim] = check(TextAudit("The Meridian bridge was built by the town.", find_ten, Checker(reader)))
    assert len([text for text in reader.read if text.startswith("Notes. ")]) == read <= PASSAGES_PER_CLAIM
    assert (claim.support == "supported") == (supporting != 9)


def test_a_repeated_sentence_is_judged_once():
    searched = []

    async def search(query, k):
        searched.append(query.text)
        return await find_ten(query, k)

    text = "The bridge was built by the town.\n\n- The **bridge** was built by the town.\n"
    one, two = check(TextAudit(text, search, Checker(CountingReader(0))))
    assert (one.support, two.support, one.text == two.text) == ("supported", "supported", False)
    assert searched == ["The bridge was built by the town."]


@pytest.mark.parametrize(("kinds", "support"), [(["code"], "unknown"), (["code", "markdown"], "unsupported")])
def test_what_only_code_could_say_is_unknown(kinds, support):
    async def search(query, k):
        return [replace(make_passage(kind, "def build(bridge): ..."), kind=kind) for kind in kinds]

    [claim] = check(TextAudit("The Meridian bridge was built by the town.", search, Checker(CountingReader(9))))
    assert claim.support == support
    assert ("code" in claim.note) == (support == "unknown")


def test_a_language_model_gets_all_claims_with_their_passages_in_one_call():
    prompts = []

    async def ask(prompt):
        prompts.append(prompt)
        return CheckDraftResponse((CheckedStatement(1, "contradicted", "[2]", "Passage 1 is about the bridge"),))

    audit = TextAudit(TEXT, find_ten, Checker(CountingReader(0)), ask=ask)
    built, question, high = check(audit)
    [prompt] = prompts
    assert [statement.partition(" [")[0] for statement in prompt.statements] == [
        "1. The Meridian bridge was built by the town.",
        "2. The bridge is high",
    ]
    assert len(prompt.sources) == PASSAGES_FOR_MODEL
    assert (built.support, built.checker, built.spans[0].quote) == (
        "contradicted",
        "model",
        "Passage 1 is about the bridge",
    )
    assert question.support == "unknown"
    assert (high.text, high.citations, high.support) == ("The bridge is high", ("[1]",), "supported"), "by the reader"
