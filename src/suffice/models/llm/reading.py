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

from suffice.asks.base import Ask
from suffice.models.llm.fit import fit
from suffice.models.llm.lenient import NotJson, Parsed, parse

A = TypeVar("A")

_THOUGHT = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_LINE_MARKS = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_QUOTES = ('"', "'", "`", "“”", "«»")
_NONE = re.compile(r"\(?(?:none|nothing|n/a|null|empty(?: line)?)\)?\.?", re.IGNORECASE)
_STARTS = 20  # Places in a text where an answer may begin; more are not tried.


class Unreadable(ValueError):
    """The text is no answer; the message says why, in words that the model can use."""


def said(text: str) -> str:
    """The text without thinking aloud."""
    text = _UNOPENED.sub("", _THOUGHT.sub("", text))
    return text.replace("\ufeff", "").strip()


def read(ask: Ask[A], text: str) -> A:
    """The answer that the text holds, whole. Raises ``Unreadable``."""
    clean = said(text)
    if not clean:
        raise Unreadable("the answer is empty")
    if ask.form == "json":
        return _converted(ask, clean, cut=False)
    return _words(ask, clean)


def untidy(ask: Ask[Any], text: str) -> str:
    """What stood around an answer that could be read; empty when nothing did."""
    clean = said(text)
    if clean != text.replace("\ufeff", "").strip():
        return "it came with thoughts"
    if ask.form != "json":
        return "it stood in a code fence" if _FENCE.fullmatch(clean) else ""
    try:
        msgspec.json.decode(clean)
    except msgspec.DecodeError:
        return "the JSON stood among other words, or was not quite JSON"
    return ""


def salvaged(ask: Ask[A], text: str) -> A:
    """What is complete of a JSON answer that was cut off. Raises ``Unreadable``."""
    if ask.form != "json":
        raise Unreadable("the answer is empty")
    return _converted(ask, said(text), cut=True)


def too_many(ask: Ask[Any], answer: A) -> tuple[A, int]:
    """The answer with no more items than were asked for, and how many there were over."""
    if not ask.bounded:
        return answer, 0
    items = getattr(answer, ask.bounded)
    most: int = ask.most  # type: ignore[attr-defined]
    if len(items) <= most:
        return answer, 0
    changed: Any = dataclasses.replace(answer, **{ask.bounded: items[:most]})  # type: ignore[type-var]
    return changed, len(items) - most


def whole_sentences(text: str) -> str:
    """A text that was cut off, back to the end of its last sentence or line."""
    ends = [match.end() for match in re.finditer(r"[.!?](?:\s*\[\d+\])*(?=\s|\Z)|\n", text)]
    return text[: ends[-1]].rstrip() if ends else text


def _converted(ask: Ask[A], text: str, *, cut: bool) -> A:
    reason = "there is no JSON in the answer"
    for parsed in _values(text):
        if parsed.cut and not cut:
            reason = "the JSON ends before it is complete"
            continue
        try:
            return _answer(ask, parsed.value)
        except Unreadable as error:
            reason = str(error)
    raise Unreadable(reason)


def _values(text: str) -> list[Parsed]:
    """Everything in the text that reads as an object or a list, the longest first."""
    found: list[tuple[int, Parsed]] = []
    for source in _sources(text):
        after = tries = 0
        for start in (match.start() for match in re.finditer(r"[{\[]", source)):
            if start < after or tries == _STARTS:
                continue
            tries += 1
            try:
                parsed = parse(source, start)
            except (NotJson, RecursionError):
                continue
            after = parsed.end
            found.append((parsed.end - start, parsed))
    return [parsed for _, parsed in sorted(found, key=lambda item: -item[0])]


def _sources(text: str) -> Iterator[str]:
    yield text
    for fence in _FENCE.finditer(text):
        yield fence.group(1).strip()


def _answer(ask: Ask[A], value: Any) -> A:
    if isinstance(value, dict) and value and not value.keys() & _names(ask.answer):
        inner = list(value.values())
        if len(inner) == 1 and isinstance(inner[0], dict) and inner[0].keys() & _names(ask.answer):
            value = inner[0]  # The answer in a wrapper, such as {"response": {…}}.
        else:
            raise Unreadable(f"it has none of the fields {', '.join(sorted(_names(ask.answer)))}")
    if isinstance(value, list) and not value and not _names(ask.answer):
        raise Unreadable("it is empty")
    try:
        answer: A = msgspec.convert(fit(value, ask.answer), ask.answer, strict=False)
    except msgspec.ValidationError as error:
        raise Unreadable(str(error)) from error
    return answer


def _words(ask: Ask[A], text: str) -> A:
    if text.startswith("{"):  # Asked for words, it wrote JSON: the words are inside.
        try:
            return _converted(ask, text, cut=False)
        except Unreadable:
            pass
    fence = _FENCE.fullmatch(text)
    if fence is not None and fence.group(1).strip():
        text = fence.group(1).strip()
    if ask.form == "line":
        text = _line(text)
    try:
        return ask.read("" if _NONE.fullmatch(text) else text)
    except ValueError as error:
        raise Unreadable(str(error)) from error


def _line(text: str) -> str:
    """The first line that says something, without list marks and quotation marks around it."""
    line = _LINE_MARKS.sub("", next(line for line in text.splitlines() if line.strip())).strip()
    for marks in _QUOTES:
        if len(line) > 1 and line[0] == marks[0] and line[-1] == marks[-1]:
            line = line[1:-1].strip()
    return line


@cache
def _names(kind: type) -> frozenset[str]:
    return frozenset(item.name for item in dataclasses.fields(kind))
