"""An ask cut to a token budget: old and less useful material goes first, the question and what is believed never.

A long note becomes the one line of it that says most about the task; when that is not enough, its handle alone stays, so that
the model knows what it does not see and the record, which keeps everything, can still be cited from. Tokens are counted
offline and never too low: the parts of a prompt, counted one by one, cost at least as much as the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

from suffice.asks.base import LEFT_OUT, Ask, template, words_of
from suffice.text.entities import content_stems
from suffice.text.gist import LINE, gist
from suffice.text.tokens import estimate_tokens
from suffice.types import BELIEF, Note

A = TypeVar("A")

_SHORT = 2 * LINE  # A note this short is left as it is: it may be the very sentence that a fact rests on.


@dataclass(frozen=True, slots=True)
class Fitted(Generic[A]):
    """``tokens`` is what its prompt costs at most; ``whole`` and ``shortened`` count the items of its lists."""

    ask: Ask[A]
    tokens: int
    whole: int = 0
    shortened: int = 0


def fitted(ask: Ask[A], budget: int) -> Fitted[A]:
    """The ask itself when its prompt fits; else with its lists shortened, as ``ask.shrinks`` says, until it does.

    Below what has to stay it is as short as it can be; ``tokens`` tells.
    """
    lists: dict[str, list[Any]] = {name: list(getattr(ask, name)) for name, _ in ask.shrinks}
    tokens = _fixed(ask) + sum(_cost(item) for items in lists.values() for item in items)
    if tokens <= budget:
        return Fitted(ask, tokens)
    aim = content_stems(getattr(ask, "task", ""))
    touched: set[tuple[str, int]] = set()
    for shorter in (_line, _handles):
        for name, end in ask.shrinks:
            items = lists[name]
            for i in range(len(items)) if end == "first" else reversed(range(len(items))):
                if tokens <= budget:
                    break
                before, items[i] = items[i], shorter(items[i], aim)
                if items[i] != before:
                    tokens -= _cost(before) - _cost(items[i])
                    touched.add((name, i))
    every = sum(map(len, lists.values()))
    cut: dict[str, Any] = {name: _joined(items) for name, items in lists.items()}
    return Fitted(replace(ask, **cut), tokens, every - len(touched), len(touched))  # type: ignore[type-var]


def _fixed(ask: Ask[Any]) -> int:
    """The template, what may not shrink, and a mark for each list that something is left out of."""
    kept = [words_of(getattr(ask, item.name)) for item in fields(ask) if item.name not in dict(ask.shrinks)]  # type: ignore[arg-type]
    marks = len(ask.shrinks) * (estimate_tokens(LEFT_OUT) + 2)
    return sum(map(estimate_tokens, (template(ask.role).body.template, *kept))) + marks


def _cost(item: object) -> int:
    if item is None:
        return 0
    if isinstance(item, Note) and not item.text:
        return estimate_tokens(" ".join(item.handles) + " ")
    return estimate_tokens(words_of(item)) + 1


def _line(item: object, aim: frozenset[str]) -> object:
    if isinstance(item, Note) and item.kind != BELIEF and len(item.text) > _SHORT:
        return replace(item, text=gist(item.text, item.kind, aim), title=item.title[:LINE], whole=False)
    return item


def _handles(item: object, aim: frozenset[str]) -> object:
    """Of a note its handles; of a line nothing."""
    if isinstance(item, Note):
        return item if item.kind == BELIEF else Note("", item.handles, kind=item.kind, whole=False)
    return None


def _joined(items: Sequence[object]) -> tuple[object, ...]:
    """The items that are left; notes of which only handles are left as one note, where the first of them stood."""
    kept: list[object] = []
    handles: list[str] = []
    place = -1
    for item in items:
        if isinstance(item, Note) and not item.text:
            place = len(kept) if place < 0 else place
            handles.extend(item.handles)
        elif item is not None:
            kept.append(item)
    if handles:
        kept.insert(place, Note("", tuple(handles), whole=False))
    return tuple(kept)
