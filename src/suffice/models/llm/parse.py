"""JSON as language models write it: single quotes, trailing commas, Python's words, comments, and an end that is missing.

``parse`` reads one value and says whether it was cut off. Of a cut value only what is complete is kept: whole items of a
list, whole members of the outermost object. Half a sentence or half a fact is never passed on.
"""

import dataclasses
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import exp
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from suffice.prompts.base import Prompt
from suffice.text.citations import skip_citations
from suffice.text.markdown import find_fenced_texts, strip_list_marker, unwrap_fence

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


def coerce(value: Any, kind: Any) -> Any:
    """``value`` in plain types, nearer to ``kind``."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _coerce_object(value, kind)
    origin = get_origin(kind)
    if origin is tuple:
        return _coerce_list(value, get_args(kind)[0])
    if origin is Literal:
        return next((word for word in get_args(kind) if _equals_ignoring_case(word, value)), value)
    if origin in (Union, types.UnionType):
        return _coerce_optional(value, get_args(kind))
    if kind is str and isinstance(value, int | float | str) and not isinstance(value, bool):
        return str(
            value
        ).strip()  # A small model likes to end a text with a space, and texts are compared word for word.
    return value


def _coerce_object(value: Any, kind: type) -> Any:
    hints = _type_hints(kind)
    if isinstance(value, Mapping):
        optional = {item.name for item in dataclasses.fields(kind) if not _is_required(item)}
        kept = {
            name: value[name] for name in hints if name in value and (value[name] is not None or name not in optional)
        }
        return {name: coerce(own, hints[name]) for name, own in kept.items()}
    # One thing to say: it may come without its name.
    needed = [item.name for item in dataclasses.fields(kind) if _is_required(item)]
    listed = isinstance(value, list)
    if len(needed) == 1 and listed == (get_origin(hints[needed[0]]) is tuple) and isinstance(value, str | list):
        return {needed[0]: coerce(value, hints[needed[0]])}
    return value


def _coerce_list(value: Any, kind: Any) -> Any:
    if value is None or value == "":
        return []
    if not isinstance(value, list | str | Mapping):
        return value
    items = value if isinstance(value, list) else [value]
    return [coerce(item, kind) for item in items if item is not None]


def _coerce_optional(value: Any, kinds: tuple[Any, ...]) -> Any:
    """Of a union only the one kind that is not ``None`` can guide; of several, none."""
    if value is None:
        return None
    real = [kind for kind in kinds if kind is not type(None)]
    return coerce(value, real[0]) if len(real) == 1 else value


def _equals_ignoring_case(word: Any, value: Any) -> bool:
    return isinstance(word, str) and isinstance(value, str) and word.lower() == value.strip().lower()


def _is_required(item: "dataclasses.Field[Any]") -> bool:
    return item.default is dataclasses.MISSING and item.default_factory is dataclasses.MISSING


@cache
def _type_hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


A = TypeVar("A")

_THINK_BLOCK = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED_THINK_BLOCK = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_QUOTES = ('"', "'", "`", "“”", "«»")
_EMPTY_ANSWER = re.compile(r"\(?(?:none|nothing|n/a|null|empty(?: line)?)\)?\.?", re.IGNORECASE)
_MAX_STARTS = 20  # Places in a text where an answer may begin; more are not tried.


class UnreadableAnswer(ValueError):
    """The text is no answer; the message says why, in words that the model can use."""


def strip_thinking(text: str) -> str:
    """The text without thinking aloud."""
    text = _UNOPENED_THINK_BLOCK.sub("", _THINK_BLOCK.sub("", text))
    return text.replace("\ufeff", "").strip()


def parse_answer(prompt: Prompt[A], text: str) -> A:
    """The answer that the text holds, whole. Raises ``Unreadable``."""
    clean = strip_thinking(text)
    if not clean:
        raise UnreadableAnswer("the answer is empty")
    if prompt.output_format == "json":
        return _parse_json_answer(prompt, clean, allow_truncated=False)
    return _parse_text_answer(prompt, clean)


def describe_untidiness(prompt: Prompt[Any], text: str) -> str:
    """What stood around an answer that could be read; empty when nothing did."""
    clean = strip_thinking(text)
    if clean != text.replace("\ufeff", "").strip():
        return "it came with thoughts"
    if prompt.output_format != "json":
        return "it stood in a code fence" if unwrap_fence(clean) is not None else ""
    try:
        msgspec.json.decode(clean)
    except msgspec.DecodeError:
        return "the JSON stood among other words, or was not quite JSON"
    return ""


def salvage_answer(prompt: Prompt[A], text: str) -> A:
    """What is complete of a JSON answer that was cut off. Raises ``Unreadable``."""
    if prompt.output_format != "json":
        raise UnreadableAnswer("the answer is empty")
    return _parse_json_answer(prompt, strip_thinking(text), allow_truncated=True)


def truncate_items(prompt: Prompt[Any], answer: A) -> tuple[A, int]:
    """The answer with no more items than were asked for, and how many there were over."""
    if not prompt.bounded_field:
        return answer, 0
    items = getattr(answer, prompt.bounded_field)
    most: int = prompt.most  # type: ignore[attr-defined]
    if len(items) <= most:
        return answer, 0
    changed: Any = dataclasses.replace(answer, **{prompt.bounded_field: items[:most]})  # type: ignore[type-var]
    return changed, len(items) - most


def trim_to_sentence(text: str) -> str:
    """A text that was cut off, back to the end of its last sentence or line."""
    ends = list(re.finditer(r"[.!?](?=[\s\[]|\Z)|\n", text))
    if not ends:
        return text
    end = ends[-1].end()
    return text[: end if text[end - 1] == "\n" else skip_citations(text, end)].rstrip()


def _parse_json_answer(prompt: Prompt[A], text: str, *, allow_truncated: bool) -> A:
    reason = "there is no JSON in the answer"
    for parsed in _find_json_values(text):
        if parsed.is_truncated and not allow_truncated:
            reason = "the JSON ends before it is complete"
            continue
        try:
            return _convert_value(prompt, parsed.value)
        except UnreadableAnswer as error:
            reason = str(error)
    raise UnreadableAnswer(reason)


def _find_json_values(text: str) -> list[ParsedJson]:
    """Everything in the text that reads as an object or a list, the longest first."""
    found: list[tuple[int, ParsedJson]] = []
    for source in _candidate_texts(text):
        after = tries = 0
        for start in (match.start() for match in re.finditer(r"[{\[]", source)):
            if start < after or tries == _MAX_STARTS:
                continue
            tries += 1
            try:
                parsed = parse_lenient_json(source, start)
            except (InvalidJson, RecursionError):
                continue
            after = parsed.end
            found.append((parsed.end - start, parsed))
    return [parsed for _, parsed in sorted(found, key=lambda item: -item[0])]


def _candidate_texts(text: str) -> Iterator[str]:
    yield text
    yield from find_fenced_texts(text)


def _convert_value(prompt: Prompt[A], value: Any) -> A:
    if isinstance(value, dict) and value and not value.keys() & _field_names(prompt.response_type):
        inner = list(value.values())
        if len(inner) == 1 and isinstance(inner[0], dict) and inner[0].keys() & _field_names(prompt.response_type):
            value = inner[0]  # The answer in a wrapper, such as {"response": {…}}.
        else:
            raise UnreadableAnswer(f"it has none of the fields {', '.join(sorted(_field_names(prompt.response_type)))}")
    if isinstance(value, list) and not value and not _field_names(prompt.response_type):
        raise UnreadableAnswer("it is empty")
    try:
        answer: A = msgspec.convert(coerce(value, prompt.response_type), prompt.response_type, strict=False)
    except msgspec.ValidationError as error:
        raise UnreadableAnswer(str(error)) from error
    return answer


def _parse_text_answer(prompt: Prompt[A], text: str) -> A:
    if text.startswith("{"):  # Asked for words, it wrote JSON: the words are inside.
        try:
            return _parse_json_answer(prompt, text, allow_truncated=False)
        except UnreadableAnswer:
            pass
    text = (unwrap_fence(text) or "").strip() or text
    if prompt.output_format == "line":
        text = _first_line(text)
    try:
        return prompt.parse("" if _EMPTY_ANSWER.fullmatch(text) else text)
    except ValueError as error:
        raise UnreadableAnswer(str(error)) from error


def _first_line(text: str) -> str:
    """The first line that says something, without list marks and quotation marks around it."""
    line = strip_list_marker(next(line for line in text.splitlines() if line.strip())).strip()
    for marks in _QUOTES:
        if len(line) > 1 and line[0] == marks[0] and line[-1] == marks[-1]:
            line = line[1:-1].strip()
    return line


@cache
def _field_names(kind: type) -> frozenset[str]:
    return frozenset(item.name for item in dataclasses.fields(kind))


TOP_LOGPROBS = 20  # As many as OpenAI gives; other servers give as many as they are asked for.


def choice_probabilities(text: str, tokens: Sequence[Mapping[str, Any]], choices: Sequence[str]) -> dict[str, float]:
    """The share of each choice in what could have come first; empty when the provider gave nothing that tells.

    A token is often only the beginning of a word: it counts for the one choice that it begins.

    >>> top = [{"token": " NO", "logprob": -0.1}, {"token": "Y", "logprob": -2.4}, {"token": "The", "logprob": -9.0}]
    >>> {word: round(share, 2) for word, share in shares("NO", [{"token": " NO", "top_logprobs": top}], ("YES", "NO")).items()}
    {'YES': 0.09, 'NO': 0.91}
    """
    first = next((token for token in tokens if _token_text(token)), None)
    if first is None or not text.strip().upper().startswith(tuple(choices)) or not _matching_choices(first, choices):
        return {}  # It said something else before, such as what it thought.
    found = dict.fromkeys(choices, 0.0)
    for other in first.get("top_logprobs") or ():
        if len(begun := _matching_choices(other, choices)) == 1:
            found[begun[0]] += exp(other["logprob"])
    total = sum(found.values())
    return {choice: share / total for choice, share in found.items()} if total else {}


def _matching_choices(token: Mapping[str, Any], choices: Sequence[str]) -> list[str]:
    """The choices that the token is a beginning of."""
    word = _token_text(token)
    return [choice for choice in choices if word and choice.startswith(word)]


def _token_text(token: Mapping[str, Any]) -> str:
    return str(token.get("token") or "").strip().upper()
