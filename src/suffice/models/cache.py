"""A model whose responses are stored on disk: the same prompt to the same model is paid for once.

The key is the prompt (role and inputs), its limits, its wording, and the model. A stored response keeps what
it cost, but is not billed again: its usage is one ``stored`` response, no call and no tokens. Sampled responses (temperature
above 0) are requested each time, unless ``cache_sampled`` is set to repeat a whole run.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from suffice.models.base import Model, ModelWrapper, Reply
from suffice.prompts.base import Prompt
from suffice.storage.sqlite_cache import JsonCache, SqliteCache, make_key
from suffice.types import Usage

A = TypeVar("A")


class CachedModel(ModelWrapper):
    """Wraps any model. ``identity`` distinguishes models of one name, such as those of two servers.

    An unusable cache counts as empty, and ``notify`` receives one message about it. With ``replay_usage`` a stored response
    comes with what it cost originally, to measure the cost of a run without paying again.
    """

    def __init__(
        self,
        model: Model,
        cache_dir: Path,
        *,
        identity: str | None = None,
        cache_sampled: bool = False,
        replay_usage: bool = False,
        notify: Callable[[str], None] = lambda message: None,
    ) -> None:
        super().__init__(model)
        self._identity = identity or model.name
        self._cache_sampled = cache_sampled
        self._replay_usage = replay_usage
        self._cache = JsonCache(SqliteCache(cache_dir / "answers.sqlite", "answer cache", notify))

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        if prompt.temperature > 0 and not self._cache_sampled:
            return await self._model(prompt)
        key = _cache_key(prompt, self._identity)
        stored: Reply[A] | None = await self._cache.load(key, _reply_type(prompt))
        if stored is not None:
            return stored if self._replay_usage else Reply(stored.answer, Usage(stored=1))
        reply = await self._model(prompt)
        await self._cache.save(key, reply)
        return reply


def _cache_key(prompt: Prompt[Any], model: str) -> bytes:
    return make_key(
        model,
        prompt.role,
        prompt.wording(),  # Not its version: a replaced prompt may keep that of the built-in one.
        prompt.temperature,
        prompt.max_tokens,
        prompt.response_type.__name__,
        prompt,
    )


def _reply_type(prompt: Prompt[A]) -> Any:
    """Return the type to decode a stored reply with."""
    return Reply[prompt.response_type]  # type: ignore[name-defined]
