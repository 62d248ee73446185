"""E-mail (.eml, .mbox) as one or more chunks for each message; each begins with From, Date and Subject.

Of a message in several formats the plain text is read, else the HTML. Attachments are named, not read.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from email import message_from_bytes, policy
from email.message import EmailMessage, Message
from email.utils import parseaddr, parsedate
from pathlib import Path

from suffice.search.files import html
from suffice.search.files.chunk import DocumentChunk, UnreadableFile, get_suffix
from suffice.text.chunks import split_text
from suffice.text.dates import MONTHS
from suffice.text.plain import to_one_line

_HEADERS = ("From", "To", "Date", "Subject")
# The line before each message of an mbox file, and the mark of a line of text that looks like one.
_MBOX_START = re.compile(rb"(?:\A|\r?\n\r?\n)From [^\n]*\d{4}[^\n]*\n")
_MBOX_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
_SIGNATURE = re.compile(r"\n-- \n.*\Z", re.DOTALL)
_MAX_HEADER_CHARS = 300


def parse(data: bytes, path: Path) -> list[DocumentChunk]:
    """Return the chunks of a message, or of all messages of a mailbox."""
    is_mailbox = get_suffix(path.name) in (".mbox", ".mbx") or _MBOX_START.match(data) is not None
    messages = [_MBOX_QUOTED.sub(rb"\1", part) for part in _MBOX_START.split(data)[1:]] if is_mailbox else [data]
    found = [chunk for number, raw in enumerate(messages, start=1) for chunk in _read_message(raw, number)]
    if not found:
        raise UnreadableFile(f"{path} contains no message with text; export it again from the mail program.")
    return found


def _read_message(raw: bytes, number: int) -> Iterator[DocumentChunk]:
    message = message_from_bytes(raw, policy=policy.default)
    assert isinstance(message, EmailMessage)
    headers = {name: _get_header(message, name) for name in _HEADERS}
    if not any(headers.values()):
        return
    body = _SIGNATURE.sub("", _extract_body(message).replace("\r\n", "\n")).strip()
    attachments = [
        to_one_line(part.get_filename() or "without a name")[:_MAX_HEADER_CHARS]
        for part in message.walk()
        if part.get_content_disposition() == "attachment"
    ]
    if attachments:
        body = f"{body}\n\nAttachments: {', '.join(attachments)}".strip()
    head = "\n".join(f"{name}: {value}" for name, value in headers.items() if value)
    sender, day = parseaddr(headers["From"]), parsedate(headers["Date"])
    sent = f"{day[2]} {MONTHS[day[1] - 1].capitalize()} {day[0]}" if day else headers["Date"]
    who = ", ".join(filter(None, (sender[0] or sender[1] or headers["From"], sent)))
    title = f"{headers['Subject'] or '(no subject)'} ({who})" if who else headers["Subject"]
    for part in split_text(body) or [""]:
        yield DocumentChunk(f"{head}\n\n{part}".strip(), title, "email", section=f"message {number}")


def _get_header(message: EmailMessage, name: str) -> str:
    try:
        value = str(message.get(name, ""))
    except (ValueError, IndexError, AttributeError, TypeError):  # The parser of the standard library on odd headers.
        value = next((str(raw) for key, raw in message.raw_items() if key.lower() == name.lower()), "")
    return to_one_line(value)[:_MAX_HEADER_CHARS]


def _extract_body(message: EmailMessage) -> str:
    """Return the plain texts of a message in order; if it has none, those in HTML."""
    texts: dict[str, list[str]] = {}
    for part in message.walk():
        if part.get_content_maintype() == "text" and part.get_content_disposition() != "attachment":
            texts.setdefault(part.get_content_subtype(), []).append(_decode_text(part))
    pages = texts.pop("html", [])
    if found := [text for kind in texts.values() for text in kind if text.strip()]:
        return "\n\n".join(found)
    with suppress(UnreadableFile):
        return "\n\n".join(chunk.text for page in pages for chunk in html.parse(page, "message"))
    return ""


def _decode_text(message: Message) -> str:
    payload = message.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    try:
        return data.decode(message.get_content_charset("utf-8"), "replace")
    except LookupError:
        return data.decode("utf-8", "replace")
