"""The extractive model as a whole: what it answers, what it refuses, and what it costs."""

import asyncio

import pytest

from suffice.errors import ModelError
from suffice.models.base import is_language_model
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.base import Prompt
from suffice.prompts.planning import Plan


def test_a_prompt_it_cannot_answer_is_named() -> None:
    class Paint(Prompt[str]):
        role = "paint"

    with pytest.raises(ModelError, match="paint"):
        asyncio.run(ExtractiveModel()(Paint()))


def test_it_costs_no_tokens() -> None:
    usage = asyncio.run(ExtractiveModel()(Plan("x", 3))).usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.usd) == (1, 0, 0, 0.0)


def test_it_is_not_a_language_model() -> None:
    assert not is_language_model(ExtractiveModel())
