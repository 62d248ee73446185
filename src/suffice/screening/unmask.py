"""Undo the ways to hide a wording: invisible characters, look-alike letters, spaced-out words, encodings.

The result is lower-case text for matching only: the offsets and the spelling of the original are lost.
"""

import binascii
import re
import unicodedata
from base64 import b64decode
from collections.abc import Iterator
from html import unescape
from urllib.parse import unquote

# Zero-width and bidi characters, soft hyphen, variation selectors, fillers, the grapheme joiner: none of them is visible.
_INVISIBLE_CHARS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
# Letters of other alphabets that look like a Latin one.
_HOMOGLYPHS = str.maketrans(
    {
        **dict(zip("авекмнорстухѕіјԁԛԝһӏьёғɡӧ", "abekmhopctyxsijdqwhlbefgo", strict=True)),
        **dict(zip("αβγεηικνορτυχωϲϳκ", "abyenikvoptuxwcjk", strict=True)),
        **dict(zip("ıօսոհցքʟɪɴʀᴇᴏᴀꜱᴛᴜ", "iounhgqlinreoastu", strict=True)),
    }
)
_LEETSPEAK_DIGITS = str.maketrans("013457$@!", "oieastsai")
_LEETSPEAK_HINT = re.compile(r"[a-z][013457$@!][a-z]")
_LEETSPEAK_WORD = re.compile(r"[a-z013457$@!]{4,}")
_EMPHASIS = ("*", "_", "~", "<!--", "-->")
_SPACED_LETTERS = re.compile(r"(?<!\w)(?:\w([ ._\-*]{1,2}))(?:\w\1){3,}\w(?!\w)")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_ESCAPES = re.compile(r"&(?:#\w+|\w+);|%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}")
_MAX_BASE64_RUNS = 8  # Runs decoded in one text; a page of hashes has thousands.


def iter_deobfuscated(text: str) -> Iterator[str]:
    """Yield the normalised text, then one view for each kind of obfuscation that it seems to use; most texts use none."""
    plain = normalize_visible_text(text)
    yield plain
    if not plain.isascii():
        yield plain.translate(_HOMOGLYPHS)
    unmarked = plain
    for mark in _EMPHASIS:
        unmarked = unmarked.replace(mark, "")
    if unmarked != plain:
        yield unmarked
    if _SPACED_LETTERS.search(plain):
        yield _SPACED_LETTERS.sub(
            lambda run: re.sub(r"[ ._\-*]", "", run.group()), re.sub(r"\s{2,}", "\u2003", plain)
        ).replace("\u2003", " ")
    if _LEETSPEAK_HINT.search(plain):
        yield _LEETSPEAK_WORD.sub(lambda word: word.group().translate(_LEETSPEAK_DIGITS), plain)
    if _ESCAPES.search(text):
        yield normalize_visible_text(
            re.sub(r"\\[ux]([0-9A-Fa-f]{2,4})", lambda code: chr(int(code[1], 16)), unquote(unescape(text)))
        )
    yield from _decode_base64_runs(text)


def normalize_visible_text(text: str) -> str:
    """Return the text in lower case and NFKC, without invisible characters; letters hidden as Unicode tags become visible."""
    if text.isascii():
        return text.lower()
    shown = "".join(chr(ord(c) - 0xE0000) if "\U000e0020" <= c <= "\U000e007e" else c for c in text)
    shown = _INVISIBLE_CHARS.sub("", unicodedata.normalize("NFKC", _INVISIBLE_CHARS.sub("", shown)))
    return unicodedata.normalize("NFC", shown).lower()


def _decode_base64_runs(text: str) -> Iterator[str]:
    for run in list(_BASE64.finditer(text))[:_MAX_BASE64_RUNS]:
        code = run.group().rstrip("=").replace("-", "+").replace("_", "/")
        if len(code) % 4 == 1:
            continue
        try:
            inner = b64decode(code + "=" * (-len(code) % 4), validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if inner.isprintable() or inner.replace("\n", "").isprintable():
            yield normalize_visible_text(inner)
