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

from suffice.asks.base import Ask
from suffice.models.base import Model, Reply, Wrapping
from suffice.shelf import Shelf
from suffice.types import Usage

A = TypeVar("A")


class Cached(Wrapping):
    """Wraps any model. ``identity`` tells models of one name apart, such as those of two servers. A cache that cannot be used
    or is damaged is a miss, said once. ``billed``: a stored answer comes with the bill it had, for whoever measures what a run
    costs without paying for it again."""

    def __init__(
        self,
        model: Model,
        cache_dir: Path,
        *,
        identity: str | None = None,
        sampled: bool = False,
        billed: bool = False,
        say: Callable[[str], None] = lambda message: None,
    ) -> None:
        super().__init__(model)
        self._identity = identity or model.name
        self._sampled = sampled
        self._billed = billed
        self._shelf = Shelf(cache_dir / "answers.sqlite", "answer cache", say)

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        if ask.temperature > 0 and not self._sampled:
            return await self._model(ask)
        key = _key(ask, self._identity)
        kept: Reply[A] | None = await asyncio.to_thread(self._find, ask, key)
        if kept is not None:
            return kept if self._billed else Reply(kept.answer, Usage(stored=1))
        reply = await self._model(ask)
        await asyncio.to_thread(self._keep, key, reply)
        return reply

    def _find(self, ask: Ask[A], key: bytes) -> Reply[A] | None:
        import msgspec

        found = self._shelf.get([key]).get(key)
        try:
            return None if found is None else msgspec.json.decode(found, type=_shape(ask))
        except msgspec.MsgspecError:  # Of another version of this program, or damaged: asked for again, and replaced.
            return None

    def _keep(self, key: bytes, reply: Reply[A]) -> None:
        import msgspec

        with suppress(UnicodeEncodeError):  # Half a character cannot be written down: a good answer, only not kept.
            self._shelf.put({key: msgspec.json.encode(reply)})


def _key(ask: Ask[Any], model: str) -> bytes:
    parts = (model, ask.role, ask.version(), ask.temperature, ask.max_tokens, ask.answer.__name__, ask)
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


def _shape(ask: Ask[A]) -> Any:
    """How a stored reply reads: with the answer this ask wants."""
    return Reply[ask.answer]  # type: ignore[name-defined]
