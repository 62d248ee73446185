"""Find JSON in the text that a language model wrote.

``find_json`` scans a text for objects and lists and says of each whether it is complete. ``JsonText.load`` reads one: by
``json``, else by ``json-repair``, which knows what models get wrong (single quotes, trailing commas, comments, Python's
words, missing commas). Of a truncated one only what is complete is read: ``json-repair`` alone completes whatever is
missing, so half a sentence or half a citation would pass for a whole one.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z)|\#[^\n]*)
      | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<open_string>["'].*)
      | (?P<mark>[{}\[\],:])
      | (?P<word>[^\s{}\[\],:"'\#/]+|[/\\])""",
    re.VERBOSE | re.DOTALL,
)
_WORDS = ("true", "false", "null", "none")
_LITERAL = re.compile(rf"{'|'.join(_WORDS)}|[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", re.IGNORECASE)
_NAME = re.compile(r"[a-z_]\w*", re.IGNORECASE)
_COLON = re.compile(r"\s*:")
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_UNKNOWN_ESCAPE = re.compile(r"\\([^\"'\\/bfnrtu])|(\\.)", re.DOTALL)  # Markdown's ``\_`` means an underscore.
_CLOSING = {"{": "}", "[": "]"}
_MAX_DEPTH = 50  # A response has three or four levels; a text of a thousand brackets is not one.
_MAX_STARTS = 20  # How many brackets of a text are tried as the start of a value.


@dataclass(frozen=True, slots=True)
class JsonText:
    text: str
    is_truncated: bool
    """The text ends before the value does."""
    is_ambiguous: bool
    """It holds words outside quotes, such as after an unescaped quotation mark: reading it takes guesses."""
    complete_part: str
    """Of a truncated value, what is complete, with its brackets closed: whole items of lists, whole members of the outermost
    object; empty when nothing is. An object inside it is either complete or left out, because a fact without its source is
    worthless."""

    def load(self) -> Any:
        """Return the value, or what is complete of it; raise ``ValueError`` when that cannot be read."""
        if not self.complete_part:
            raise ValueError("nothing of it is complete")
        try:
            return json.loads(self.complete_part, strict=False)  # Line breaks inside a string are taken as meant.
        except ValueError:
            import json_repair  # 60 ms, and rarely needed.

            return json_repair.loads(_UNKNOWN_ESCAPE.sub(lambda escape: escape[1] or escape[2], self.complete_part))


def find_json(text: str) -> list[JsonText]:
    """Return every object and list in the text, and in each of its code fences, the longest first."""
    found = [value for source in (text, *_FENCE.findall(text)) for value in _scan_all(source)]
    return sorted(found, key=lambda value: -len(value.text))


def _scan_all(text: str) -> Iterator[JsonText]:
    end = tries = 0
    for start in (match.start() for match in re.finditer(r"[{\[]", text)):
        if start < end or tries == _MAX_STARTS:
            continue
        tries += 1
        value = _scan(text, start)
        if value is not None:
            yield value
            if not value.is_ambiguous:  # Prose in brackets may have a value inside it.
                end = start + len(value.text)


def _scan(text: str, start: int) -> JsonText | None:
    """Return the value that begins at ``start``; ``None`` when its brackets do not match."""
    closers: list[str] = []
    complete: tuple[int, str] | None = None  # Where the complete part ends, and the brackets that close it.
    is_ambiguous = False
    before = ""  # The last token: "string", "word" or the mark itself.

    def mark_complete(end: int) -> None:
        nonlocal complete
        if "}" not in closers[1:]:  # Not inside an object below the outermost one.
            complete = end, "".join(reversed(closers))

    for token in _TOKEN.finditer(text, start):
        kind, mark = str(token.lastgroup), token.group()
        if kind == "comment":
            continue
        if kind == "word":
            is_name = _NAME.fullmatch(mark) and _COLON.match(text, token.end())
            is_last = token.end() == len(text)  # Half a word.
            is_ambiguous |= before in ("string", "word") or not (is_name or is_last or _LITERAL.fullmatch(mark))
        elif mark in _CLOSING:
            if len(closers) == _MAX_DEPTH:
                return None
            closers.append(_CLOSING[mark])
            if mark == "[":
                mark_complete(token.end())
        elif mark in ("}", "]"):
            if mark not in closers:
                return None
            while closers.pop() != mark:  # An inner bracket was not closed: the outer one closes both.
                pass
            if not closers:
                whole = text[start : token.end()]
                return JsonText(whole, False, is_ambiguous, whole)
            mark_complete(token.end())
        elif mark == ",":
            mark_complete(token.start())
        if (before == ":" or closers[-1] == "]") and (kind == "string" or mark.lower() in _WORDS):
            mark_complete(token.end())
        before = mark if kind == "mark" else kind
    return JsonText(text[start:], True, is_ambiguous, text[start : complete[0]] + complete[1] if complete else "")
