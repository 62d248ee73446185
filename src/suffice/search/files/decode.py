"""Load the bytes of a file and decode them.

A byte-order mark decides first, then UTF-8 is tried, then a declared encoding; otherwise the encoding is guessed. A guess never
fails, but binary data raises ``UnreadableFile``.
"""

import codecs
import re
from collections.abc import Callable
from pathlib import Path

from suffice.search.files.chunk import MAX_BYTES, UnreadableFile, make_size_error

_SAMPLE_SIZE = 64 * 1024
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # Before UTF-16, whose mark is the beginning of this one.
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# HTML's charset=, XML's encoding=, and coding: of Python and Emacs.
_DECLARED_ENCODING = re.compile(rb"(?:charset|encoding|coding)\s*[=:]\s*[\"']?([A-Za-z0-9_.:-]+)")
# Encodings whose bytes look like ASCII or like a binary file, so that only a declaration can identify them.
_NON_ASCII_COMPATIBLE = re.compile(r"utf-?(?:16|32)|iso-2022|hz\b|hz-gb", re.IGNORECASE)
_CONTROL_CHARS = re.compile(r"[\x00-\x06\x0e-\x1a\x7f]")
_REPLACEMENT_CHAR = "\ufffd"


def read_limited(read: Callable[[int], bytes], name: object, beyond: str = "is larger than") -> bytes:
    """Return what ``read`` yields. The size is checked by reading, as that of a pipe or an archive is not known before."""
    data = read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise make_size_error(name, beyond)
    return data


def load_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = read_limited(file.read, path)
    except PermissionError as error:
        raise UnreadableFile(f"{path} cannot be read; check its permissions.") from error
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be opened ({error.strerror or error}); check the path.") from error
    if not data.strip():
        raise UnreadableFile(f"{path} is empty; give a file that contains text.")
    return data


def decode(data: bytes, name: str, declared: str = "") -> str:
    """Decode the bytes, keeping line ends. ``declared`` is the encoding that a server names; it is often wrong."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace").replace("\x00", _REPLACEMENT_CHAR)
    if _NON_ASCII_COMPATIBLE.match(declared) and (text := _try_decode(data, declared)) is not None:
        return text
    if b"\x00" in data:
        raise _make_binary_error(name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_legacy(data, name, declared)


def _try_decode(data: bytes, encoding: str) -> str | None:
    """Return the text, or ``None`` if it is not in this encoding."""
    try:
        return data.decode(codecs.lookup(encoding).name)
    except (LookupError, UnicodeError, ValueError):
        return None


def _decode_legacy(data: bytes, name: str, declared: str) -> str:
    match = _DECLARED_ENCODING.search(data[:1024])
    for encoding in (declared, match.group(1).decode("ascii") if match is not None else ""):
        if encoding and (decoded := _try_decode(data, encoding)) is not None:
            return decoded
    text = data.decode("utf-8", errors="replace")
    broken = text.count(_REPLACEMENT_CHAR)
    if len(_CONTROL_CHARS.findall(text[:_SAMPLE_SIZE])) > len(text[:_SAMPLE_SIZE]) / 20:
        raise _make_binary_error(name)
    # Damaged UTF-8 still has more whole characters beyond ASCII than broken ones; text in an 8-bit encoding has almost none.
    whole = sum(character > "\x7f" for character in text) - broken
    if whole > broken:
        return text
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE_SIZE], cp_exclusion=["utf_7"]).best()
    # Short samples fit dozens of code pages equally well; the Western European one is by far the most likely.
    encoding = best.encoding if best is not None and len(data) >= 256 else "cp1252"
    return data.decode(encoding, errors="replace")


def _make_binary_error(name: str) -> UnreadableFile:
    return UnreadableFile(f"{name} is a binary file, not text; convert it to text or PDF first.")
