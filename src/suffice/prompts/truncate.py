"""Cut a prompt to a token budget: old and less useful material first, never the question or the belief.

A long note is first replaced by its sentence nearest to the task. If that is not enough, only its handle stays, so that the
model knows that it exists and the record, which holds everything, can still be cited. Tokens are estimated offline and never
too low: the parts of a prompt, counted one by one, cost at least as much as the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

from suffice.prompts.base import OMITTED_MARKER, Prompt, render_value
from suffice.text.entities import SUMMARY_CHARS, content_stems, one_line_summary
from suffice.text.tokens import estimate_tokens
from suffice.types import BELIEF_KIND, Note

A = TypeVar("A")

_SHORT_NOTE_CHARS = 2 * SUMMARY_CHARS  # A shorter note is not summarised: it may be the very sentence a fact rests on.


@dataclass(frozen=True, slots=True)
class FittedPrompt(Generic[A]):
    """A prompt with an upper bound of its tokens, and how many items of its lists are whole and shortened."""

    prompt: Prompt[A]
    tokens: int
    whole_count: int = 0
    shortened_count: int = 0


def fit_to_budget(prompt: Prompt[A], budget: int) -> FittedPrompt[A]:
    """Return the prompt unchanged if it fits; else with its lists shortened, in its ``truncation_order``, until it does.

    If what must stay exceeds the budget, the result is as short as possible and its ``tokens`` exceed the budget.
    """
    lists: dict[str, list[Any]] = {name: list(getattr(prompt, name)) for name, _ in prompt.truncation_order}
    tokens = _count_fixed_tokens(prompt) + sum(_count_item_tokens(item) for items in lists.values() for item in items)
    if tokens <= budget:
        return FittedPrompt(prompt, tokens)
    task_stems = content_stems(getattr(prompt, "task", ""))
    shortened: set[tuple[str, int]] = set()
    for shorten in (_shorten_to_line, _shorten_to_handles):
        for name, end in prompt.truncation_order:
            items = lists[name]
            for i in range(len(items)) if end == "first" else reversed(range(len(items))):
                if tokens <= budget:
                    break
                before, items[i] = items[i], shorten(items[i], task_stems)
                if items[i] != before:
                    tokens -= _count_item_tokens(before) - _count_item_tokens(items[i])
                    shortened.add((name, i))
    total = sum(map(len, lists.values()))
    fitted: dict[str, Any] = {name: _merge_handle_notes(items) for name, items in lists.items()}
    return FittedPrompt(replace(prompt, **fitted), tokens, total - len(shortened), len(shortened))  # type: ignore[type-var]


def _count_fixed_tokens(prompt: Prompt[Any]) -> int:
    """Count the template, the inputs that stay, and a marker for each list from which something may be left out."""
    fixed = [
        render_value(getattr(prompt, item.name))
        for item in fields(prompt)  # type: ignore[arg-type]
        if item.name not in dict(prompt.truncation_order)
    ]
    markers = len(prompt.truncation_order) * (estimate_tokens(OMITTED_MARKER) + 2)
    return sum(map(estimate_tokens, (prompt.load_template().body.template, *fixed))) + markers


def _count_item_tokens(item: object) -> int:
    if item is None:
        return 0
    if isinstance(item, Note) and not item.text:
        return estimate_tokens(" ".join(item.handles) + " ")
    return estimate_tokens(render_value(item)) + 1


def _shorten_to_line(item: object, task_stems: frozenset[str]) -> object:
    """Replace a long note by its sentence nearest to the task; the belief stays."""
    if isinstance(item, Note) and item.kind != BELIEF_KIND and len(item.text) > _SHORT_NOTE_CHARS:
        summary = one_line_summary(item.text, item.kind, task_stems)
        return replace(item, text=summary, title=item.title[:SUMMARY_CHARS], whole=False)
    return item


def _shorten_to_handles(item: object, task_stems: frozenset[str]) -> object:
    """Replace a note by its handles, and drop any other item; the belief stays."""
    if isinstance(item, Note):
        return item if item.kind == BELIEF_KIND else Note("", item.handles, kind=item.kind, whole=False)
    return None


def _merge_handle_notes(items: Sequence[object]) -> tuple[object, ...]:
    """Drop removed items, and merge the notes of which only handles are left, at the place of the first of them."""
    remaining: list[object] = []
    handles: list[str] = []
    position = -1
    for item in items:
        if isinstance(item, Note) and not item.text:
            position = len(remaining) if position < 0 else position
            handles.extend(item.handles)
        elif item is not None:
            remaining.append(item)
    if handles:
        remaining.insert(position, Note("", tuple(handles), whole=False))
    return tuple(remaining)
