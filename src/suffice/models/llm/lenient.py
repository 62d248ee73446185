"""JSON as language models write it: single quotes, trailing commas, Python's words, comments, and an end that is missing.

``parse`` reads one value and says whether it was cut off. Of a cut value only what is complete is kept: whole items of a
list, whole members of the outermost object. Half a sentence or half a fact is never passed on.
"""

import re
from dataclasses import dataclass
from typing import Any

_WHITESPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LITERALS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_MAX_DEPTH = 50  # Levels. An answer has three or four; a text of a thousand brackets is no answer.


class InvalidJson(ValueError):
    """What stands here is no value, however kindly it is read."""


@dataclass(frozen=True, slots=True)
class ParsedJson:
    value: Any
    end: int
    is_truncated: bool


def parse_lenient_json(text: str, start: int = 0) -> ParsedJson:
    """The value that begins at ``start``. Raises ``NotJson``."""
    reader = _JsonReader(text, start)
    value = reader.read_value(0)
    if value is _INCOMPLETE:
        raise InvalidJson("it ends before anything is complete")
    return ParsedJson(value, reader.position, reader.is_truncated)


_INCOMPLETE = object()


class _JsonReader:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.position = at
        self.is_truncated = False

    def read_value(self, depth: int) -> Any:
        """One value, or ``_INCOMPLETE`` where the text ends inside it and nothing of it can be kept."""
        mark = self._peek()
        if depth > _MAX_DEPTH:
            raise InvalidJson("it is nested too deeply")
        if mark == "{":
            return self._read_object(depth)
        if mark == "[":
            return self._read_list(depth)
        if mark in "\"'":
            return self._read_string(mark)
        if mark == "":
            return self._mark_truncated()
        return self._read_literal()

    def _read_object(self, depth: int) -> Any:
        members: dict[str, Any] = {}
        self.position += 1
        while True:
            mark = self._peek()
            if mark == "}":
                self.position += 1
                return members
            if mark == ",":
                self.position += 1
                continue
            name = self._read_name(mark)
            if name is not _INCOMPLETE and self._peek() == ":":
                self.position += 1
                value = self.read_value(depth + 1)
                if value is not _INCOMPLETE:
                    members[name] = value
            elif not self.is_truncated and self._peek():
                raise InvalidJson(f"a colon is missing after {name!r}")
            if self.is_truncated or not self._peek():
                self._mark_truncated()
                # A fact without its source is none: below the top, an object is whole or it is not there.
                return members if depth == 0 and members else _INCOMPLETE

    def _read_list(self, depth: int) -> Any:
        items: list[Any] = []
        self.position += 1
        while True:
            mark = self._peek()
            if mark == "]":
                self.position += 1
                return items
            if mark == ",":
                self.position += 1
                continue
            item = self.read_value(depth + 1)
            if item is not _INCOMPLETE:
                items.append(item)
            if self.is_truncated or not self._peek():
                self._mark_truncated()
                return items

    def _read_name(self, mark: str) -> Any:
        if mark and mark in "\"'":
            return self._read_string(mark)
        word = _WORD.match(self.text, self.position)
        if word is None:
            if not mark:
                return self._mark_truncated()
            raise InvalidJson(f"a name is missing before {self.text[self.position : self.position + 20]!r}")
        self.position = word.end()
        return word.group()

    def _read_string(self, quote: str) -> Any:
        """A string; line breaks inside it are taken as meant."""
        pieces: list[str] = []
        at = self.position + 1
        while True:
            stop = _find_string_end(self.text, at, quote)
            pieces.append(self.text[at:stop])
            if stop == len(self.text):
                self.position = stop
                return self._mark_truncated()
            if self.text[stop] == quote:
                self.position = stop + 1
                return "".join(pieces)
            piece, at = _read_escape(self.text, stop)
            pieces.append(piece)

    def _read_literal(self) -> Any:
        number = _NUMBER.match(self.text, self.position)
        if number is not None:
            self.position = number.end()
            if self.position == len(self.text):
                return self._mark_truncated()  # More digits may have been meant.
            digits = number.group()
            return float(digits) if re.search(r"[.eE]", digits) else int(digits)
        word = _WORD.match(self.text, self.position)
        if word is None or word.group().lower() not in _LITERALS:
            if word is not None and word.end() == len(self.text):
                self.position = word.end()
                return self._mark_truncated()
            raise InvalidJson(f"no value begins with {self.text[self.position : self.position + 20]!r}")
        self.position = word.end()
        return _LITERALS[word.group().lower()]

    def _peek(self) -> str:
        space = _WHITESPACE.match(self.text, self.position)
        self.position = space.end() if space else self.position
        return self.text[self.position : self.position + 1]

    def _mark_truncated(self) -> Any:
        self.is_truncated = True
        return _INCOMPLETE


def _find_string_end(text: str, at: int, quote: str) -> int:
    """Where the next quote or escape stands; the text's end if there is none."""
    ends = [found for mark in (quote, "\\") if (found := text.find(mark, at)) >= 0]
    return min(ends, default=len(text))


def _read_escape(text: str, at: int) -> tuple[str, int]:
    """What the escape at ``at`` means, and where the text goes on."""
    mark = text[at + 1 : at + 2]
    if mark == "u":
        digits = text[at + 2 : at + 6]
        if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            code = int(digits, 16)
            low = re.match(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})", text[at + 6 : at + 12])
            if 0xD800 <= code < 0xDC00 and low is not None:
                return chr(0x10000 + ((code - 0xD800) << 10) + int(low.group(1), 16) - 0xDC00), at + 12
            return ("\ufffd" if 0xD800 <= code < 0xE000 else chr(code)), at + 6
    return _ESCAPES.get(mark, mark), at + 2
