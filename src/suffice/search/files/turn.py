"""One message of a conversation in JSON: who says what, and when, under whatever names a program stored it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

_WORDS = ("text", "content", "message", "body", "value")
_SPEAKERS = ("speaker", "role", "from", "author", "sender", "user", "username", "name")
_PERSON = ("name", "display_name", "nickname", "username", "role", "id")
_TURN_IDS = ("dia_id", "message_id", "msg_id", "turn_id", "client_msg_id", "id", "uuid")
_DATES = (
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
_CAPTIONS = ("blip_caption", "image_caption", "caption")
_UNIX = re.compile(r"\d{9,13}(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Turn:
    """``weak`` says that the keys are common outside of conversations (``name`` and ``value``)."""

    speaker: str
    words: str
    date: str
    id: str
    weak: bool


def turn_of(item: object) -> Turn | None:
    """The message that an object stands for; ``None`` if it has no speaker or no place for words."""
    if not isinstance(item, Mapping) or item.keys().isdisjoint(_WORDS):
        return None
    wrapped = item.get("message")
    fields: Mapping[str, Any] = {**item, **wrapped} if isinstance(wrapped, Mapping) else item
    who = next((key for key in _SPEAKERS if _speaker(fields.get(key))), None)
    what = next((key for key in _WORDS if (_words(fields.get(key)) or "").strip()), None)
    what = what or next((key for key in _WORDS if _words(fields.get(key)) is not None), None)
    if who is None or what is None:
        return None
    words = (_words(fields[what]) or "").strip()
    caption = next((fields[key] for key in _CAPTIONS if isinstance(fields.get(key), str)), "")
    if caption:
        words = f"{words} [image: {caption}]".strip()
    weak = who == "name" or (what in ("value", "body", "message") and who in ("user", "username", "author"))
    return Turn(_speaker(fields[who]), words, date_of(fields), identity(fields, _TURN_IDS), weak)


def identity(fields: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first of the keys that holds a usable id, else nothing."""
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def date_of(fields: Mapping[str, Any]) -> str:
    if fields.keys().isdisjoint(_DATES):
        return ""
    date, time = fields.get("date"), fields.get("time")
    if isinstance(date, str) and isinstance(time, str):
        return f"{date} {time}".strip()
    return next((found for key in _DATES if (found := _moment(fields.get(key)))), "")


def sibling_date(fields: Mapping[str, Any], key: str) -> str:
    """The date beside a list: ``session_1_date_time`` for ``session_1``."""
    return next((found for suffix in _DATES if (found := _moment(fields.get(f"{key}_{suffix}")))), "")


def _moment(value: object) -> str:
    """A date as it is written; Unix seconds or milliseconds as a date in UTC; other numbers are no dates."""
    if isinstance(value, str) and not _UNIX.fullmatch(value.strip()):
        return " ".join(value.split())
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    seconds = float(value)
    if seconds > 1e11:
        seconds /= 1000
    if not 1e8 < seconds < 1e11:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _speaker(value: object) -> str:
    if isinstance(value, Mapping):
        return identity(value, _PERSON)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _words(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _words(value.get("parts", value.get("text")))
    if isinstance(value, list):
        parts = [words for part in value if (words := _words(part)) is not None]
        # Telegram stores one sentence as parts with its own spaces; others store paragraphs without any.
        spaced = any(part[:1].isspace() or part[-1:].isspace() for part in parts)
        return ("" if spaced else "\n").join(parts) if parts or not value else None
    return None
