"""One message of a conversation in JSON: who says what, and when, under whatever names a program stored it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from suffice.search.files.piece import DocumentChunk, collapse_whitespace
from suffice.text.chunks import split_text

_TEXT_KEYS = ("text", "content", "message", "body", "value")
_SPEAKER_KEYS = ("speaker", "role", "from", "author", "sender", "user", "username", "name")
_PERSON_KEYS = ("name", "display_name", "nickname", "username", "role", "id")
_TURN_ID_KEYS = ("dia_id", "message_id", "msg_id", "turn_id", "client_msg_id", "id", "uuid")
_DATE_KEYS = (
    "date_time",
    "datetime",
    "date",
    "timestamp",
    "created_at",
    "createdAt",
    "create_time",
    "created",
    "sent_at",
    "ts",
    "time",
)
_CAPTION_KEYS = ("blip_caption", "image_caption", "caption")
_UNIX_TIMESTAMP = re.compile(r"\d{9,13}(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """``weak`` says that the keys are common outside of conversations (``name`` and ``value``)."""

    speaker: str
    text: str
    date: str
    id: str
    is_ambiguous: bool


def parse_turn(item: object) -> ChatTurn | None:
    """The message that an object stands for; ``None`` if it has no speaker or no place for words."""
    if not isinstance(item, Mapping) or item.keys().isdisjoint(_TEXT_KEYS):
        return None
    wrapped = item.get("message")
    fields: Mapping[str, Any] = {**item, **wrapped} if isinstance(wrapped, Mapping) else item
    who = next((key for key in _SPEAKER_KEYS if _parse_speaker(fields.get(key))), None)
    what = next((key for key in _TEXT_KEYS if (_extract_text(fields.get(key)) or "").strip()), None)
    what = what or next((key for key in _TEXT_KEYS if _extract_text(fields.get(key)) is not None), None)
    if who is None or what is None:
        return None
    words = (_extract_text(fields[what]) or "").strip()
    caption = next((fields[key] for key in _CAPTION_KEYS if isinstance(fields.get(key), str)), "")
    if caption:
        words = f"{words} [image: {caption}]".strip()
    weak = who == "name" or (what in ("value", "body", "message") and who in ("user", "username", "author"))
    return ChatTurn(_parse_speaker(fields[who]), words, find_date(fields), find_id(fields, _TURN_ID_KEYS), weak)


def find_id(fields: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first of the keys that holds a usable id, else nothing."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def find_date(fields: Mapping[str, Any]) -> str:
    if fields.keys().isdisjoint(_DATE_KEYS):
        return ""
    date, time = fields.get("date"), fields.get("time")
    if isinstance(date, str) and isinstance(time, str):
        return f"{date} {time}".strip()
    return next((found for key in _DATE_KEYS if (found := _format_date(fields.get(key)))), "")


def find_sibling_date(fields: Mapping[str, Any], key: str) -> str:
    """The date beside a list: ``session_1_date_time`` for ``session_1``."""
    return next((found for suffix in _DATE_KEYS if (found := _format_date(fields.get(f"{key}_{suffix}")))), "")


def _format_date(value: object) -> str:
    """A date as it is written; Unix seconds or milliseconds as a date in UTC; other numbers are no dates."""
    if isinstance(value, str) and not _UNIX_TIMESTAMP.fullmatch(value.strip()):
        return " ".join(value.split())
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    seconds = float(value)
    if seconds > 1e11:
        seconds /= 1000
    if not 1e8 < seconds < 1e11:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _parse_speaker(value: object) -> str:
    if isinstance(value, Mapping):
        return find_id(value, _PERSON_KEYS)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _extract_text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _extract_text(value.get("parts", value.get("text")))
    if isinstance(value, list):
        parts = [words for part in value if (words := _extract_text(part)) is not None]
        # Telegram stores one sentence as parts with its own spaces; others store paragraphs without any.
        spaced = any(part[:1].isspace() or part[-1:].isspace() for part in parts)
        return ("" if spaced else "\n").join(parts) if parts or not value else None
    return None


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
