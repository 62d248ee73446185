"""Conversations in JSON, as chat programs export them: one chunk for each message.

Programs use different names for speaker, text and date; the tables below list those that are understood. Conversations in plain
text are read by ``transcript``.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import msgspec

from suffice.search.files.chunk import DocumentChunk
from suffice.text.chunks import split_text
from suffice.text.plain import to_one_line

_TEXT_KEYS = "text content message body value".split()
# The role is last: a message that has it may also say who speaks.
_SPEAKER_KEYS = "speaker from author sender user username name role".split()
_MESSAGE_KEYS = "speaker from sender role user username".split()
_PERSON_KEYS = "name display_name nickname username role id".split()
_TURN_ID_KEYS = "dia_id message_id msg_id turn_id client_msg_id id uuid".split()
_DATE_KEYS = """date_time datetime date timestamp created_at createdAt create_at create_time created sent_at ts
    time""".split()
_CAPTION_KEYS = "blip_caption image_caption caption".split()
_CONVERSATION_ID_KEYS = "sample_id conversation_id session_id chat_id thread_id dialogue_id dialog_id id uuid".split()
_UNIX_TIMESTAMP = re.compile(r"\d{9,13}(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class _Turn:
    """One message, and the ids of the objects around it.

    ``is_ambiguous`` means that its keys are common outside of conversations (``name`` and ``value``).
    """

    speaker: str
    text: str
    date: str
    id: str
    is_ambiguous: bool
    subject: str
    path: tuple[str, ...] = ()


def parse(text: str) -> list[DocumentChunk] | None:
    """Return the chunks of the conversations in a JSON text; ``None`` if it is not JSON or has no conversation."""
    try:
        turns = list(_find_turns(msgspec.json.decode(text), (), ""))
    except (msgspec.DecodeError, RecursionError):
        return None
    return list(_make_chunks(turns)) if len(turns) > 1 else None


def is_message(record: Mapping[str, Any]) -> bool:
    """Return whether a record says who speaks. A document may have an author, but then it has a title as well."""
    turn = None if isinstance(record.get("title"), str) else _parse_turn(record)
    return turn is not None and not turn.is_ambiguous and not record.keys().isdisjoint(_MESSAGE_KEYS)


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
                turns.append(turn)
    return list(_make_chunks(turns))


def _find_turns(node: Any, path: tuple[str, ...], date: str) -> Iterator[_Turn]:
    """Yield the turns of all conversations in a JSON value; ``path`` and ``date`` are those of the objects around it."""
    if isinstance(node, Mapping):
        key = _find_id(node, _CONVERSATION_ID_KEYS)
        path, date = (*path, key) if key else path, _find_date(node) or date
    elif not isinstance(node, list):
        return
    if turns := _parse_conversation(list(node.values() if isinstance(node, Mapping) else node)):
        yield from (replace(turn, path=path, date=_complete_date(turn.date, date)) for turn in turns if turn.text)
    elif isinstance(node, Mapping):
        for name, value in node.items():
            beside = (_format_date(node.get(f"{name}_{suffix}")) for suffix in _DATE_KEYS)  # session_1_date_time
            yield from _find_turns(value, path, next(filter(None, beside), date))
    else:
        for number, item in enumerate(node, start=1):
            is_named = len(node) == 1 or (isinstance(item, Mapping) and _find_id(item, _CONVERSATION_ID_KEYS))
            yield from _find_turns(item, path if is_named else (*path, str(number)), date)


def _parse_conversation(items: Sequence[Any]) -> list[_Turn]:
    """Return the turns if most items are messages. Objects by id, as ChatGPT exports them, count as a list."""
    turns = [turn for item in items if (turn := _parse_turn(item)) is not None]
    is_list_of_pairs = all(turn.is_ambiguous for turn in turns) and len({turn.speaker for turn in turns}) == len(turns)
    return [] if 2 * len(turns) <= len(items) or is_list_of_pairs else turns


def _complete_date(own: str, around: str) -> str:
    """Add the day of the enclosing object to a turn that has only a time of day."""
    has_only_time = own and len(own) <= 11 and ":" in own and "-" not in own and "/" not in own
    return f"{around} {own}".strip() if has_only_time else own or around


def _make_chunks(turns: Sequence[_Turn]) -> Iterator[DocumentChunk]:
    has_several = len({turn.path for turn in turns}) > 1
    numbers: Counter[tuple[str, ...]] = Counter()
    used: Counter[str] = Counter()
    for turn in turns:
        numbers[turn.path] += 1
        name = turn.id or str(numbers[turn.path])
        record = "/".join([*turn.path, name]) if has_several else name
        used[record] += 1
        if used[record] > 1:
            record = f"{record}~{used[record]}"
        prefix = f"[{turn.date}] {turn.speaker}: " if turn.date else f"{turn.speaker}: "
        title = to_one_line(f"{turn.speaker}, {turn.date}" if turn.date else turn.speaker)
        title = f"{turn.subject} ({title})" if turn.subject else title
        yield from (DocumentChunk(prefix + part, title, "chat", record=record) for part in split_text(turn.text))


def _parse_turn(item: object) -> _Turn | None:
    """Return the message of a JSON object; ``None`` if it has no speaker or no text field."""
    if not isinstance(item, Mapping) or item.keys().isdisjoint(_TEXT_KEYS):
        return None
    wrapped = item.get("message")
    fields: Mapping[str, Any] = {**item, **wrapped} if isinstance(wrapped, Mapping) else item
    speakers = {key: name for key in _SPEAKER_KEYS if (name := _parse_speaker(fields.get(key)))}
    texts = {key: text.strip() for key in _TEXT_KEYS if (text := _extract_text(fields.get(key))) is not None}
    if not speakers or not texts:
        return None
    speaker_key = next(iter(speakers))
    text_key = next((key for key, text in texts.items() if text), next(iter(texts)))
    caption = next((fields[key] for key in _CAPTION_KEYS if isinstance(fields.get(key), str)), "")
    is_ambiguous = "role" not in speakers and (
        speaker_key == "name"
        or (text_key in ("value", "body", "message") and speaker_key in ("user", "username", "author"))
    )
    subject = fields.get("subject")
    return _Turn(
        speakers[speaker_key],
        f"{texts[text_key]} [image: {caption}]".strip() if caption else texts[text_key],
        _find_date(fields),
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
    date, time = fields.get("date"), fields.get("time")
    if isinstance(date, str) and isinstance(time, str):
        return f"{date} {time}".strip()
    return next((found for key in _DATE_KEYS if (found := _format_date(fields.get(key)))), "")


def _format_date(value: object) -> str:
    """Return a date as it is written, to the minute; Unix seconds or milliseconds in UTC; other numbers are not dates."""
    if isinstance(value, str) and not _UNIX_TIMESTAMP.fullmatch(value.strip()):
        with suppress(ValueError):
            return datetime.fromisoformat(value).strftime("%Y-%m-%d %H:%M") if "T" in value else to_one_line(value)
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
