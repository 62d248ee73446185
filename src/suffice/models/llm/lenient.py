"""JSON as language models write it: single quotes, trailing commas, Python's words, comments, and an end that is missing.

``parse`` reads one value and says whether it was cut off. Of a cut value only what is complete is kept: whole items of a
list, whole members of the outermost object. Half a sentence or half a fact is never passed on.
"""

import re
from dataclasses import dataclass
from typing import Any

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST = 50  # Levels. An answer has three or four; a text of a thousand brackets is no answer.


class NotJson(ValueError):
    """What stands here is no value, however kindly it is read."""


@dataclass(frozen=True, slots=True)
class Parsed:
    value: Any
    end: int
    cut: bool


def parse(text: str, start: int = 0) -> Parsed:
    """The value that begins at ``start``. Raises ``NotJson``."""
    reader = _Reader(text, start)
    value = reader.value(0)
    if value is _INCOMPLETE:
        raise NotJson("it ends before anything is complete")
    return Parsed(value, reader.at, reader.cut)


_INCOMPLETE = object()


class _Reader:
    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.cut = False

    def value(self, depth: int) -> Any:
        """One value, or ``_INCOMPLETE`` where the text ends inside it and nothing of it can be kept."""
        mark = self._next()
        if depth > _DEEPEST:
            raise NotJson("it is nested too deeply")
        if mark == "{":
            return self._object(depth)
        if mark == "[":
            return self._list(depth)
        if mark in "\"'":
            return self._string(mark)
        if mark == "":
            return self._ended()
        return self._bare()

    def _object(self, depth: int) -> Any:
        members: dict[str, Any] = {}
        self.at += 1
        while True:
            mark = self._next()
            if mark == "}":
                self.at += 1
                return members
            if mark == ",":
                self.at += 1
                continue
            name = self._name(mark)
            if name is not _INCOMPLETE and self._next() == ":":
                self.at += 1
                value = self.value(depth + 1)
                if value is not _INCOMPLETE:
                    members[name] = value
            elif not self.cut and self._next():
                raise NotJson(f"a colon is missing after {name!r}")
            if self.cut or not self._next():
                self._ended()
                # A fact without its source is none: below the top, an object is whole or it is not there.
                return members if depth == 0 and members else _INCOMPLETE

    def _list(self, depth: int) -> Any:
        items: list[Any] = []
        self.at += 1
        while True:
            mark = self._next()
            if mark == "]":
                self.at += 1
                return items
            if mark == ",":
                self.at += 1
                continue
            item = self.value(depth + 1)
            if item is not _INCOMPLETE:
                items.append(item)
            if self.cut or not self._next():
                self._ended()
                return items

    def _name(self, mark: str) -> Any:
        if mark and mark in "\"'":
            return self._string(mark)
        word = _WORD.match(self.text, self.at)
        if word is None:
            if not mark:
                return self._ended()
            raise NotJson(f"a name is missing before {self.text[self.at : self.at + 20]!r}")
        self.at = word.end()
        return word.group()

    def _string(self, quote: str) -> Any:
        """A string; line breaks inside it are taken as meant."""
        pieces: list[str] = []
        at = self.at + 1
        while True:
            stop = _until(self.text, at, quote)
            pieces.append(self.text[at:stop])
            if stop == len(self.text):
                self.at = stop
                return self._ended()
            if self.text[stop] == quote:
                self.at = stop + 1
                return "".join(pieces)
            piece, at = _escaped(self.text, stop)
            pieces.append(piece)

    def _bare(self) -> Any:
        number = _NUMBER.match(self.text, self.at)
        if number is not None:
            self.at = number.end()
            if self.at == len(self.text):
                return self._ended()  # More digits may have been meant.
            digits = number.group()
            return float(digits) if re.search(r"[.eE]", digits) else int(digits)
        word = _WORD.match(self.text, self.at)
        if word is None or word.group().lower() not in _WORDS:
            if word is not None and word.end() == len(self.text):
                self.at = word.end()
                return self._ended()
            raise NotJson(f"no value begins with {self.text[self.at : self.at + 20]!r}")
        self.at = word.end()
        return _WORDS[word.group().lower()]

    def _next(self) -> str:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.text[self.at : self.at + 1]

    def _ended(self) -> Any:
        self.cut = True
        return _INCOMPLETE


def _until(text: str, at: int, quote: str) -> int:
    """Where the next quote or escape stands; the text's end if there is none."""
    ends = [found for mark in (quote, "\\") if (found := text.find(mark, at)) >= 0]
    return min(ends, default=len(text))


def _escaped(text: str, at: int) -> tuple[str, int]:
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
