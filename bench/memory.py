"""Prompt tokens a round over 30 rounds, for each memory: ``python -m bench.memory``.

The reflection's prompt is measured, with the extractive model and five new passages a round from the Python documentation
strings that every installation has: ``trajectory`` grows, a belief stays flat.
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
from suffice.prompts import Prompt, Reflect
from suffice.testing import make_passage
from suffice.text.tokens import estimate_tokens
from suffice.types import Bounds, Passage, Query

A = TypeVar("A")
ROUNDS = 30
_SHOWN = (2, 5, 10, 20, 30)


class Measured(ExtractiveModel):
    """The extractive model, noting how long the reflection's prompt would be."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: list[int] = []

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        if isinstance(prompt, Reflect):
            self.tokens.append(estimate_tokens(prompt.render()))
        return await super().__call__(prompt)


class Manual:
    """Five unread pages of documentation for every query."""

    def __init__(self) -> None:
        modules = (asyncio, inspect, json, logging, string, textwrap)
        found = [
            (f"{module.__name__}.{name}", inspect.getdoc(part))
            for module in modules
            for name, part in vars(module).items()
        ]
        self._read_pages = [make_passage(name, text, name) for name, text in found if text and len(text) > 80]
        self._read = 0

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        first = self._read % len(self._read_pages)
        self._read += 5
        return self._read_pages[first : first + 5]


async def measure(memory: str) -> list[int]:
    model = Measured()
    bounds = Bounds(ROUNDS, 10 * ROUNDS, 15, None, 10**9)
    preset = Preset("reflect", memory, None)
    task = "How are log records handled when a formatter fails?"
    async for _ in run_pipeline(
        RunConfig(task, Manual(), model, preset, parse_gate(f"fixed({ROUNDS})"), bounds=bounds)
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
