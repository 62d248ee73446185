"""An ask cut to a token budget: old and less useful material goes first, the question and what is believed never.

A long note becomes the one line of it that says most about the task; when that is not enough, its handle alone stays, so that
the model knows what it does not see and the record, which keeps everything, can still be cited from. Tokens are counted
offline and never too low: the parts of a prompt, counted one by one, cost at least as much as the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

from suffice.prompts.base import OMITTED_MARKER, Prompt, load_template, render_value
from suffice.text.entities import SUMMARY_CHARS, content_stems, one_line_summary
from suffice.text.tokens import estimate_tokens
from suffice.types import BELIEF_KIND, Note

A = TypeVar("A")

_SHORT_NOTE_CHARS = (
    2 * SUMMARY_CHARS
)  # A note this short is left as it is: it may be the very sentence that a fact rests on.


@dataclass(frozen=True, slots=True)
class FittedPrompt(Generic[A]):
    """``tokens`` is what its prompt costs at most; ``whole`` and ``shortened`` count the items of its lists."""

    prompt: Prompt[A]
    tokens: int
    whole_count: int = 0
    shortened_count: int = 0


def fit_to_budget(prompt: Prompt[A], budget: int) -> FittedPrompt[A]:
    """The ask itself when its prompt fits; else with its lists shortened, as ``ask.shrinks`` says, until it does.

    Below what has to stay it is as short as it can be; ``tokens`` tells.
    """
    lists: dict[str, list[Any]] = {name: list(getattr(prompt, name)) for name, _ in prompt.truncation_order}
    tokens = _count_fixed_tokens(prompt) + sum(_count_item_tokens(item) for items in lists.values() for item in items)
    if tokens <= budget:
        return FittedPrompt(prompt, tokens)
    aim = content_stems(getattr(prompt, "task", ""))
    touched: set[tuple[str, int]] = set()
    for shorter in (_shorten_to_line, _shorten_to_handles):
        for name, end in prompt.truncation_order:
            items = lists[name]
            for i in range(len(items)) if end == "first" else reversed(range(len(items))):
                if tokens <= budget:
                    break
                before, items[i] = items[i], shorter(items[i], aim)
                if items[i] != before:
                    tokens -= _count_item_tokens(before) - _count_item_tokens(items[i])
                    touched.add((name, i))
    every = sum(map(len, lists.values()))
    cut: dict[str, Any] = {name: _merge_handle_notes(items) for name, items in lists.items()}
    return FittedPrompt(replace(prompt, **cut), tokens, every - len(touched), len(touched))  # type: ignore[type-var]


def _count_fixed_tokens(prompt: Prompt[Any]) -> int:
    """The template, what may not shrink, and a mark for each list that something is left out of."""
    kept = [
        render_value(getattr(prompt, item.name))
        for item in fields(prompt)  # type: ignore[arg-type]
        if item.name not in dict(prompt.truncation_order)
    ]
    marks = len(prompt.truncation_order) * (estimate_tokens(OMITTED_MARKER) + 2)
    return sum(map(estimate_tokens, (load_template(prompt.role).body.template, *kept))) + marks


def _count_item_tokens(item: object) -> int:
    if item is None:
        return 0
    if isinstance(item, Note) and not item.text:
        return estimate_tokens(" ".join(item.handles) + " ")
    return estimate_tokens(render_value(item)) + 1


def _shorten_to_line(item: object, aim: frozenset[str]) -> object:
    if isinstance(item, Note) and item.kind != BELIEF_KIND and len(item.text) > _SHORT_NOTE_CHARS:
        return replace(
            item, text=one_line_summary(item.text, item.kind, aim), title=item.title[:SUMMARY_CHARS], whole=False
        )
    return item


def _shorten_to_handles(item: object, aim: frozenset[str]) -> object:
    """Of a note its handles; of a line nothing."""
    if isinstance(item, Note):
        return item if item.kind == BELIEF_KIND else Note("", item.handles, kind=item.kind, whole=False)
    return None


def _merge_handle_notes(items: Sequence[object]) -> tuple[object, ...]:
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
