"""The journal of a grid: every model call of an unfinished grid, so that a killed one pays for no call twice.

A call is found by its question and cell, by its prompt, and by how often the same was asked before.
"""

from collections import Counter
from typing import Any, TypeVar

from suffice.models.base import Model, ModelWrapper, Reply
from suffice.prompts.base import Prompt
from suffice.storage.sqlite_cache import JsonCache, make_key

A = TypeVar("A")


class JournaledModel(ModelWrapper):
    """Wraps the model of one question. A call that was answered before the grid was killed is not made again."""

    def __init__(self, model: Model, journal: JsonCache, episode: str) -> None:
        super().__init__(model)
        self._journal = journal
        self._episode = episode
        self._occurrences: Counter[bytes] = Counter()

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        call = make_key(self._episode, self.name, prompt.role, prompt.version(), prompt)
        self._occurrences[call] += 1
        key = make_key(call, self._occurrences[call])
        kind: Any = prompt.response_type
        reply: Reply[A] | None = await self._journal.load(key, Reply[kind | None])
        if reply is None:
            reply = await self.wrapped(prompt)
            await self._journal.save(key, reply)
        return reply
