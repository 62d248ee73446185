"""Measure the prompt tokens per round over 30 rounds, for each memory: ``python -m bench.memory``.

The prompt of the reflection is measured, with the extractive model and five new passages a round. The passages are docstrings
of the standard library. With ``trajectory`` the prompt grows; with a belief it stays flat.
"""

import asyncio
import inspect
import json
import logging
import string
import textwrap
from typing import TypeVar

from suffice import plugins
from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.engine.presets import Preset
from suffice.gates.parse import parse_gate
from suffice.models.base import Reply
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.base import Prompt
from suffice.prompts.planning import Reflect
from suffice.testing import make_passage
from suffice.text.tokens import estimate_tokens
from suffice.types import Bounds, Passage, Query

A = TypeVar("A")
ROUNDS = 30
_SHOWN = (2, 5, 10, 20, 30)


class MeasuringModel(ExtractiveModel):
    """The extractive model; it records the length of each reflection prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: list[int] = []

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        if isinstance(prompt, Reflect):
            self.tokens.append(estimate_tokens(prompt.render()))
        return await super().__call__(prompt)


class DocstringSearch:
    """Returns the next five docstrings for every query."""

    def __init__(self) -> None:
        modules = (asyncio, inspect, json, logging, string, textwrap)
        docs = [
            (f"{module.__name__}.{name}", inspect.getdoc(part))
            for module in modules
            for name, part in vars(module).items()
        ]
        self._passages = [make_passage(name, text, name) for name, text in docs if text and len(text) > 80]
        self._returned = 0

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        first = self._returned % len(self._passages)
        self._returned += 5
        return self._passages[first : first + 5]


async def measure(memory: str) -> list[int]:
    """Return the tokens of each reflection prompt."""
    model = MeasuringModel()
    bounds = Bounds(ROUNDS, 10 * ROUNDS, 15, None, 10**9)
    preset = Preset("reflect", memory, None)
    task = "How are log records handled when a formatter fails?"
    async for _ in run_pipeline(
        RunConfig(task, DocstringSearch(), model, preset, parse_gate(f"fixed({ROUNDS})"), bounds=bounds)
    ):
        pass
    return model.tokens


def main() -> None:
    print("| memory | " + " | ".join(f"round {number}" for number in _SHOWN) + " |")
    print("|---|" + "--:|" * len(_SHOWN))
    for name in plugins.list_plugins("memories"):
        tokens = asyncio.run(measure(name))
        print(f"| {name} | " + " | ".join(f"{tokens[min(number, len(tokens)) - 1]:,}" for number in _SHOWN) + " |")


if __name__ == "__main__":
    main()
