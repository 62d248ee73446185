"""Notes that fit a budget: the most important first, what is too long for the rest of it left out."""

from collections.abc import Iterable

from suffice.text.tokens import estimate_tokens
from suffice.types import Note

_NOTE_OVERHEAD_TOKENS = 4  # Tokens around a note: its handle and its fence.


def select_within_budget(notes: Iterable[Note], budget: int) -> tuple[Note, ...]:
    chosen: list[Note] = []
    for note in notes:
        cost = estimate_tokens(note.text) + estimate_tokens(note.title) + _NOTE_OVERHEAD_TOKENS
        if cost <= budget:
            chosen.append(note)
            budget -= cost
    return tuple(chosen)
