"""Conversations in JSON, whatever program exported them, as one piece a turn.

A list of objects most of which have words and a speaker is a conversation, wherever in the file it stands. JSON without
one is not read here. ``turn`` knows the names of the fields.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from suffice.search.files.piece import DocumentChunk, collapse_whitespace
from suffice.search.files.turn import ChatTurn, find_date, find_id, find_sibling_date, parse_turn
from suffice.text.chunks import split_text

_CONVERSATION_IDS = (
    "sample_id",
    "conversation_id",
    "session_id",
    "chat_id",
    "thread_id",
    "dialogue_id",
    "dialog_id",
    "id",
    "uuid",
)


def parse(text: str) -> list[DocumentChunk] | None:
    """``None`` if the text is not JSON or holds no conversation."""
    try:
        found = _Conversations()
        found.walk(msgspec.json.decode(text), (), "")
    except (msgspec.DecodeError, RecursionError):
        return None
    return list(_make_chunks(found.turns)) if len(found.turns) > 1 else None


@dataclass(frozen=True, slots=True)
class _LocatedTurn:
    """A turn, the ids of the objects around it, and its date, which may be an enclosing object's."""

    turn: ChatTurn
    path: tuple[str, ...]
    date: str


@dataclass(slots=True)
class _Conversations:
    turns: list[_LocatedTurn] = field(default_factory=list)

    def walk(self, node: Any, path: tuple[str, ...], date: str) -> None:
        if isinstance(node, Mapping):
            key = find_id(node, _CONVERSATION_IDS)
            path = (*path, key) if key else path
            date = find_date(node) or date
            if self._add_if_conversation(node.values(), path, date):
                return
            for name, value in node.items():
                if isinstance(value, Mapping | list):
                    self.walk(value, path, find_sibling_date(node, name) or date)
        elif isinstance(node, list) and not self._add_if_conversation(node, path, date):
            for number, item in enumerate(node, start=1):
                named = isinstance(item, Mapping) and find_id(item, _CONVERSATION_IDS)
                self.walk(item, path if named or len(node) == 1 else (*path, str(number)), date)

    def _add_if_conversation(self, items: Iterable[Any], path: tuple[str, ...], date: str) -> bool:
        """Takes the turns if this is a conversation. Objects keyed by id (as ChatGPT exports them) count as a list."""
        items = list(items)
        turns = [turn for item in items if (turn := parse_turn(item)) is not None]
        if not turns or 2 * len(turns) <= len(items):
            return False
        if all(turn.is_ambiguous for turn in turns) and len({turn.speaker for turn in turns}) == len(turns):
            return False
        for turn in turns:
            if turn.text:
                self.turns.append(_LocatedTurn(turn, path, _complete_date(turn.date, date)))
        return True


def _complete_date(own: str, around: str) -> str:
    """A turn that knows only its time of day takes the day from around it."""
    only_time = own and len(own) <= 11 and ":" in own and "-" not in own and "/" not in own
    return f"{around} {own}".strip() if only_time else own or around


def _make_chunks(turns: list[_LocatedTurn]) -> Iterator[DocumentChunk]:
    several = len({placed.path for placed in turns}) > 1
    numbers: Counter[tuple[str, ...]] = Counter()
    used: Counter[str] = Counter()
    for placed in turns:
        turn = placed.turn
        numbers[placed.path] += 1
        name = turn.id or str(numbers[placed.path])
        record = "/".join([*placed.path, name]) if several else name
        used[record] += 1
        if used[record] > 1:
            record = f"{record}~{used[record]}"
        lead = f"[{placed.date}] {turn.speaker}: " if placed.date else f"{turn.speaker}: "
        title = collapse_whitespace(f"{turn.speaker}, {placed.date}" if placed.date else turn.speaker)
        for part in split_text(turn.text):
            yield DocumentChunk(lead + part, title, "chat", record=record)
