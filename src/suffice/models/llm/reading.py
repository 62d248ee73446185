"""From the words of a language model to the answer of an ask.

First what loses nothing: thinking aloud, code fences and prose around the answer are put aside, and slips of writing are
read as meant. Only ``salvaged``, the last resort, takes an answer that was cut off and keeps what is complete of it.
"""

import dataclasses
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar

import msgspec

from suffice.asks.base import Prompt
from suffice.models.llm.fit import coerce
from suffice.models.llm.lenient import InvalidJson, ParsedJson, parse_lenient_json

A = TypeVar("A")

_THINK_BLOCK = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED_THINK_BLOCK = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_LIST_MARKER = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
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
        return "it stood in a code fence" if _FENCE.fullmatch(clean) else ""
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
    ends = [match.end() for match in re.finditer(r"[.!?](?:\s*\[\d+\])*(?=\s|\Z)|\n", text)]
    return text[: ends[-1]].rstrip() if ends else text


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
    for fence in _FENCE.finditer(text):
        yield fence.group(1).strip()


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
    fence = _FENCE.fullmatch(text)
    if fence is not None and fence.group(1).strip():
        text = fence.group(1).strip()
    if prompt.output_format == "line":
        text = _first_line(text)
    try:
        return prompt.parse("" if _EMPTY_ANSWER.fullmatch(text) else text)
    except ValueError as error:
        raise UnreadableAnswer(str(error)) from error


def _first_line(text: str) -> str:
    """The first line that says something, without list marks and quotation marks around it."""
    line = _LIST_MARKER.sub("", next(line for line in text.splitlines() if line.strip())).strip()
    for marks in _QUOTES:
        if len(line) > 1 and line[0] == marks[0] and line[-1] == marks[-1]:
            line = line[1:-1].strip()
    return line


@cache
def _field_names(kind: type) -> frozenset[str]:
    return frozenset(item.name for item in dataclasses.fields(kind))
