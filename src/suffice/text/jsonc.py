"""Add and remove one entry of a JSON text, with or without comments, and keep everything else byte for byte."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(r'[\s\ufeff]+|//[^\n]*|/\*.*?\*/|("(?:[^"\\\n]|\\.)*"|[][{}:,]|[^][{}:,"/\s]+)', re.DOTALL)


@dataclass
class JsonNode:
    """A value with its position. ``entries`` are the members of an object (by key) or the items of a list (by index)."""

    start: int
    end: int = 0
    value: Any = None
    entries: "list[tuple[str | int, int, JsonNode]]" = field(default_factory=list)  # Key, where it begins, value.

    def find(self, key: str | int) -> "JsonNode | None":
        return next((node for name, _, node in self.entries if name == key), None)


def parse_jsonc(text: str) -> JsonNode:
    """Parse JSON in which comments and trailing commas are allowed; raise ``ValueError`` if that fails."""
    tokens: list[tuple[str, int]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"line {text.count(chr(10), 0, position) + 1} cannot be read")
        if match[1]:
            tokens.append((match[1], position))
        position = match.end()
    tokens.append(("", position))
    node, used = _parse_value(tokens, 0)
    if used != len(tokens) - 1:
        raise ValueError("there is something after its end")
    return node


def _parse_value(tokens: Sequence[tuple[str, int]], i: int) -> tuple[JsonNode, int]:
    token, start = tokens[i]
    node = JsonNode(start)
    if token not in ("{", "["):
        node.value, node.end = json.loads(token), start + len(token)
        return node, i + 1
    close = "}" if token == "{" else "]"
    i += 1
    while tokens[i][0] != close:
        key: str | int = len(node.entries)
        begin = tokens[i][1]
        if token == "{":
            key = json.loads(tokens[i][0])
            if tokens[i + 1][0] != ":":
                raise ValueError(f"{key!r} has no value")
            i += 2
        child, i = _parse_value(tokens, i)
        node.entries.append((key, begin, child))
        if tokens[i][0] == ",":
            i += 1
        elif tokens[i][0] != close:
            raise ValueError(f"a comma is missing after {key!r}")
    values = [child.value for _, _, child in node.entries]
    node.value = dict(zip((key for key, _, _ in node.entries), values, strict=True)) if token == "{" else values
    node.end = tokens[i][1] + 1
    return node, i + 1


def insert_entry(text: str, path: Sequence[str], value: Any, *, item: bool = False) -> tuple[str, str]:
    """Add a value at a path of keys, or as an item of the list there; return the new text and what was inserted.

    >>> insert_entry('{"a": 1}', ["b", "c"], True)[0]
    '{\\n  "b": {\\n    "c": true\\n  },"a": 1}'
    """
    node = parse_jsonc(text)
    depth = 0
    while depth < len(path) - (not item) and (child := node.find(path[depth])) is not None:
        node, depth = child, depth + 1
    missing = list(path[depth:])
    key = missing.pop(0) if missing else None
    value = [value] if item and key is not None else value
    for name in reversed(missing):
        value = {name: value}
    if not isinstance(node.value, list if key is None else dict):
        raise ValueError(f"{'.'.join(path[:depth]) or 'it'} is not what was expected there")
    newline = "\r\n" if "\r\n" in text else "\n"
    indents = (line[: -len(line.lstrip())] for line in text.splitlines() if line.strip())
    unit = next(filter(None, indents), "  ")
    outer, inner = unit * depth, unit * (depth + 1)
    body = json.dumps(value, indent=unit, ensure_ascii=False)
    body = newline + inner + ("" if key is None else json.dumps(key) + ": ") + body.replace("\n", newline + inner)
    if node.entries:
        body += ","
    elif "\n" not in text[node.start : node.end]:
        body += newline + outer
    new = text[: node.start + 1] + body + text[node.start + 1 :]
    parse_jsonc(new)
    return new, body


def remove_entry(text: str, path: Sequence[str], is_ours: Callable[[str | int, Any], bool]) -> tuple[str, str] | None:
    """Remove the first entry below a path that is ours; return the new text and what was removed, or ``None``."""
    node: JsonNode | None = parse_jsonc(text)
    for name in path:
        node = node.find(name) if node is not None else None
    entries = node.entries if node is not None else []
    for i, (key, start, child) in enumerate(entries):
        if not is_ours(key, child.value):
            continue
        start = len(text[:start].rstrip())
        end = _skip_comma(text, child.end)
        head = text[:start]
        if end == child.end and i:  # The comma before the last entry goes with it.
            comma = _skip_comma(text, entries[i - 1][2].end) - 1
            head = text[:comma] + text[comma + 1 : start]
        return head + text[end:], text[start:end]
    return None


def _skip_comma(text: str, end: int) -> int:
    """Return the position after the comma that follows a value; the end of the value if none does."""
    position = end
    while (match := _TOKEN.match(text, position)) is not None and not match[1]:
        position = match.end()
    return match.end() if match is not None and match[1] == "," else end
