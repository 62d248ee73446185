"""A model whose answers are kept on disk: the same ask to the same model is paid for once.

The key is the ask (role and inputs), its limits, the prompt's version and the model. A stored answer keeps its bill in the
file, but is not billed again: its usage is one ``stored`` answer, no call and no token. What was sampled (temperature above
0) is asked for anew each time, unless ``sampled`` says that a whole run is to be repeated as it was.
"""

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from suffice.models.base import Model, ModelWrapper, Reply
from suffice.prompts.base import Prompt
from suffice.storage.sqlite_cache import SqliteCache
from suffice.types import Usage

A = TypeVar("A")


class CachedModel(ModelWrapper):
    """Wraps any model. ``identity`` tells models of one name apart, such as those of two servers. A cache that cannot be used
    or is damaged is a miss, said once. ``billed``: a stored answer comes with the bill it had, for whoever measures what a run
    costs without paying for it again."""

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
        self._cache = SqliteCache(cache_dir / "answers.sqlite", "answer cache", notify)

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        if prompt.temperature > 0 and not self._cache_sampled:
            return await self._model(prompt)
        key = _cache_key(prompt, self._identity)
        kept: Reply[A] | None = await asyncio.to_thread(self._load, prompt, key)
        if kept is not None:
            return kept if self._replay_usage else Reply(kept.answer, Usage(stored=1))
        reply = await self._model(prompt)
        await asyncio.to_thread(self._store, key, reply)
        return reply

    def _load(self, prompt: Prompt[A], key: bytes) -> Reply[A] | None:
        import msgspec

        found = self._cache.get([key]).get(key)
        try:
            return None if found is None else msgspec.json.decode(found, type=_reply_type(prompt))
        except msgspec.MsgspecError:  # Of another version of this program, or damaged: asked for again, and replaced.
            return None

    def _store(self, key: bytes, reply: Reply[A]) -> None:
        import msgspec

        with suppress(UnicodeEncodeError):  # Half a character cannot be written down: a good answer, only not kept.
            self._cache.put({key: msgspec.json.encode(reply)})


def _cache_key(prompt: Prompt[Any], model: str) -> bytes:
    parts = (
        model,
        prompt.role,
        prompt.version(),
        prompt.temperature,
        prompt.max_tokens,
        prompt.response_type.__name__,
        prompt,
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


def _reply_type(prompt: Prompt[A]) -> Any:
    """How a stored reply reads: with the answer this ask wants."""
    return Reply[prompt.response_type]  # type: ignore[name-defined]
