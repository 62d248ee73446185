"""Conversations in JSON, as chat programs export them: one chunk for each message.

Programs use different names for speaker, text and date; the tables below list those that are understood. Conversations in plain
text are read by ``transcript``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import msgspec

from suffice.search.files.chunk import DocumentChunk
from suffice.text.chunks import split_text
from suffice.text.plain import to_one_line

_TEXT_KEYS = ("text", "content", "message", "body", "value")
# The role is last: a message that has it may also say who speaks.
_SPEAKER_KEYS = ("speaker", "from", "author", "sender", "user", "username", "name", "role")
_MESSAGE_KEYS = (
    "speaker",
    "from",
    "sender",
    "role",
    "user",
    "username",
)  # A document may have an author, but none of these.
_PERSON_KEYS = ("name", "display_name", "nickname", "username", "role", "id")
_TURN_ID_KEYS = ("dia_id", "message_id", "msg_id", "turn_id", "client_msg_id", "id", "uuid")
_DATE_KEYS = (
    "date_time",
    "datetime",
    "date",
    "timestamp",
    "created_at",
    "createdAt",
    "create_at",
    "create_time",
    "created",
    "sent_at",
    "ts",
    "time",
)
_CAPTION_KEYS = ("blip_caption", "image_caption", "caption")
_CONVERSATION_ID_KEYS = (
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
_UNIX_TIMESTAMP = re.compile(r"\d{9,13}(?:\.\d+)?")


def parse(text: str) -> list[DocumentChunk] | None:
    """Return the chunks of the conversations in a JSON text; ``None`` if it is not JSON or has no conversation."""
    try:
        found = _Conversations()
        found.walk(msgspec.json.decode(text), (), "")
    except (msgspec.DecodeError, RecursionError):
        return None
    return list(_make_chunks(found.turns)) if len(found.turns) > 1 else None


def parse_message(record: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the title and the text of a record that is one message; ``None`` for a document, which may have an author."""
    turn = None if isinstance(record.get("title"), str) else _parse_turn(record)
    if turn is None or turn.is_ambiguous or record.keys().isdisjoint(_MESSAGE_KEYS):
        return None
    return _make_title(turn, turn.date), _make_prefix(turn.speaker, turn.date) + turn.text


def parse_messages(records: Iterable[Mapping[str, Any]]) -> list[DocumentChunk]:
    """Return the chunks of the messages among the records of an export, with their replies; other records are skipped.

    A record may wrap its message: ``{"type": "post", "post": {…}}``.
    """
    turns = []
    for record in records:
        wrapped = record.get(str(record.get("type")))
        message = wrapped if isinstance(wrapped, Mapping) else record
        replies = message.get("replies")
        for item in (message, *(replies if isinstance(replies, list) else ())):
            if (turn := _parse_turn(item)) is not None and turn.text:
                turns.append(_LocatedTurn(turn, (), turn.date))
    return list(_make_chunks(turns))


@dataclass(frozen=True, slots=True)
class _ChatTurn:
    """One message. ``is_ambiguous`` means that its keys are common outside of conversations (``name`` and ``value``)."""

    speaker: str
    text: str
    date: str
    id: str
    is_ambiguous: bool
    subject: str = ""


@dataclass(frozen=True, slots=True)
class _LocatedTurn:
    """A turn, the ids of the objects around it, and its date, which may come from an enclosing object."""

    turn: _ChatTurn
    path: tuple[str, ...]
    date: str


@dataclass(slots=True)
class _Conversations:
    """Collects the turns of all conversations in a JSON document."""

    turns: list[_LocatedTurn] = field(default_factory=list)

    def walk(self, node: Any, path: tuple[str, ...], date: str) -> None:
        if isinstance(node, Mapping):
            key = _find_id(node, _CONVERSATION_ID_KEYS)
            path = (*path, key) if key else path
            date = _find_date(node) or date
            if self._add_if_conversation(node.values(), path, date):
                return
            for name, value in node.items():
                if isinstance(value, Mapping | list):
                    self.walk(value, path, _find_sibling_date(node, name) or date)
        elif isinstance(node, list) and not self._add_if_conversation(node, path, date):
            for number, item in enumerate(node, start=1):
                named = isinstance(item, Mapping) and _find_id(item, _CONVERSATION_ID_KEYS)
                self.walk(item, path if named or len(node) == 1 else (*path, str(number)), date)

    def _add_if_conversation(self, items: Iterable[Any], path: tuple[str, ...], date: str) -> bool:
        """Add the turns and return true if these items are a conversation.

        Objects by id, as ChatGPT exports them, count as a list.
        """
        items = list(items)
        turns = [turn for item in items if (turn := _parse_turn(item)) is not None]
        if not turns or 2 * len(turns) <= len(items):
            return False
        if all(turn.is_ambiguous for turn in turns) and len({turn.speaker for turn in turns}) == len(turns):
            return False
        for turn in turns:
            if turn.text:
                self.turns.append(_LocatedTurn(turn, path, _complete_date(turn.date, date)))
        return True


def _complete_date(own: str, around: str) -> str:
    """Add the day of the enclosing object to a turn that has only a time of day."""
    has_only_time = own and len(own) <= 11 and ":" in own and "-" not in own and "/" not in own
    return f"{around} {own}".strip() if has_only_time else own or around


def _make_chunks(turns: list[_LocatedTurn]) -> Iterator[DocumentChunk]:
    has_several = len({located.path for located in turns}) > 1
    numbers: Counter[tuple[str, ...]] = Counter()
    used: Counter[str] = Counter()
    for located in turns:
        turn = located.turn
        numbers[located.path] += 1
        name = turn.id or str(numbers[located.path])
        record = "/".join([*located.path, name]) if has_several else name
        used[record] += 1
        if used[record] > 1:
            record = f"{record}~{used[record]}"
        prefix = _make_prefix(turn.speaker, located.date)
        for part in split_text(turn.text):
            yield DocumentChunk(prefix + part, _make_title(turn, located.date), "chat", record=record)


def _make_prefix(speaker: str, date: str) -> str:
    return f"[{date}] {speaker}: " if date else f"{speaker}: "


def _make_title(turn: _ChatTurn, date: str) -> str:
    title = to_one_line(f"{turn.speaker}, {date}" if date else turn.speaker)
    return f"{turn.subject} ({title})" if turn.subject else title


def _parse_turn(item: object) -> _ChatTurn | None:
    """Return the message of a JSON object; ``None`` if it has no speaker or no text field."""
    if not isinstance(item, Mapping) or item.keys().isdisjoint(_TEXT_KEYS):
        return None
    wrapped = item.get("message")
    fields: Mapping[str, Any] = {**item, **wrapped} if isinstance(wrapped, Mapping) else item
    speaker_key = next((key for key in _SPEAKER_KEYS if _parse_speaker(fields.get(key))), None)
    text_key = next((key for key in _TEXT_KEYS if (_extract_text(fields.get(key)) or "").strip()), None)
    text_key = text_key or next((key for key in _TEXT_KEYS if _extract_text(fields.get(key)) is not None), None)
    if speaker_key is None or text_key is None:
        return None
    text = (_extract_text(fields[text_key]) or "").strip()
    caption = next((fields[key] for key in _CAPTION_KEYS if isinstance(fields.get(key), str)), "")
    if caption:
        text = f"{text} [image: {caption}]".strip()
    is_ambiguous = not _parse_speaker(fields.get("role")) and (
        speaker_key == "name"
        or (text_key in ("value", "body", "message") and speaker_key in ("user", "username", "author"))
    )
    speaker, date = _parse_speaker(fields[speaker_key]), _find_date(fields)
    subject = fields.get("subject")
    return _ChatTurn(
        speaker,
        text,
        date,
        _find_id(fields, _TURN_ID_KEYS),
        is_ambiguous,
        to_one_line(subject) if isinstance(subject, str) else "",
    )


def _find_id(fields: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the first usable id under these keys, or an empty string."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def _find_date(fields: Mapping[str, Any]) -> str:
    if fields.keys().isdisjoint(_DATE_KEYS):
        return ""
    date, time = fields.get("date"), fields.get("time")
    if isinstance(date, str) and isinstance(time, str):
        return f"{date} {time}".strip()
    return next((found for key in _DATE_KEYS if (found := _format_date(fields.get(key)))), "")


def _find_sibling_date(fields: Mapping[str, Any], key: str) -> str:
    """Return the date stored beside a list, such as ``session_1_date_time`` for ``session_1``."""
    return next((found for suffix in _DATE_KEYS if (found := _format_date(fields.get(f"{key}_{suffix}")))), "")


def _format_date(value: object) -> str:
    """Return a date as it is written; Unix seconds or milliseconds as a date in UTC; other numbers are not dates."""
    if isinstance(value, str) and not _UNIX_TIMESTAMP.fullmatch(value.strip()):
        return to_one_line(value)
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
        return _find_id(value, _PERSON_KEYS)
    return to_one_line(value) if isinstance(value, str) else ""


def _extract_text(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _extract_text(value.get("parts", value.get("text")))
    if isinstance(value, list):
        parts = [text for part in value if (text := _extract_text(part)) is not None]
        # Telegram stores one sentence as parts with its own spaces; others store paragraphs without any.
        has_spaces = any(part[:1].isspace() or part[-1:].isspace() for part in parts)
        return ("" if has_spaces else "\n").join(parts) if parts or not value else None
    return None
