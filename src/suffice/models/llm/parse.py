"""Turn the text of a language model into the response that a prompt asks for.

Everything that costs no further call is tried: thoughts and code fences are dropped, JSON is found among other words
(``json_text``), and values are converted towards the types of the response. What remains unreadable raises
``UnreadableAnswer`` with a reason that can be sent back to the model.
"""

import dataclasses
import re
import types
from collections.abc import Mapping, Sequence
from functools import cache
from math import exp
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from suffice.models.llm.json_text import JsonText, find_json
from suffice.prompts.base import Prompt
from suffice.text.citations import skip_citations
from suffice.text.markdown import strip_list_marker, unwrap_fence
from suffice.text.plain import replace_surrogates

A = TypeVar("A")

_THINK_BLOCK = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_UNOPENED_THINK_BLOCK = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_QUOTES = ('"', "'", "`", "“”", "«»")
_type_hints = cache(get_type_hints)
_EMPTY_ANSWER = re.compile(r"\(?(?:none|nothing|n/a|null|empty(?: line)?)\)?\.?", re.IGNORECASE)


class UnreadableAnswer(ValueError):
    """The text is not a response; the message says why, in words that the model can act on."""


def parse_answer(prompt: Prompt[A], text: str) -> A:
    """Return the response that the text holds; raise ``UnreadableAnswer`` when it holds none or only part of one."""
    clean = strip_thinking(text)
    if not clean:
        raise UnreadableAnswer("the answer is empty")
    return _parse_json_answer(prompt, clean) if prompt.output_format == "json" else _parse_text_answer(prompt, clean)


def salvage_answer(prompt: Prompt[A], text: str, *, was_cut: bool = False) -> A:
    """Return what can be saved of an unreadable JSON response; raise ``UnreadableAnswer`` when nothing can.

    Of a truncated value the complete part is kept. A value with misplaced quotation marks is repaired by guessing, but not
    when the provider cut the response off (``was_cut``): then it may end anywhere.
    """
    if prompt.output_format == "json":
        for found in find_json(strip_thinking(text)):
            try:
                if not found.is_ambiguous:
                    return _convert(prompt, found.load())
                guess = None if found.is_truncated or was_cut else found.load()
                if isinstance(guess, dict):  # A list could be any prose in brackets.
                    return _convert(prompt, guess)
            except ValueError:
                continue
    raise UnreadableAnswer("nothing of the answer can be read")


def strip_thinking(text: str) -> str:
    text = _UNOPENED_THINK_BLOCK.sub("", _THINK_BLOCK.sub("", text))
    return text.replace("\ufeff", "").strip()


def truncate_items(prompt: Prompt[Any], answer: A) -> tuple[A, int]:
    """Return the response with at most as many items as the prompt allows, and how many were dropped."""
    if not prompt.bounded_field:
        return answer, 0
    items = getattr(answer, prompt.bounded_field)
    limit: int = prompt.most  # type: ignore[attr-defined]
    if len(items) <= limit:
        return answer, 0
    shortened: Any = dataclasses.replace(answer, **{prompt.bounded_field: items[:limit]})  # type: ignore[type-var]
    return shortened, len(items) - limit


def trim_to_sentence(text: str) -> str:
    """Return a text that was cut off up to the end of its last whole sentence or line."""
    ends = list(re.finditer(r"[.!?](?=[\s\[]|\Z)|\n", text))
    if not ends:
        return text
    end = ends[-1].end()
    return text[: end if text[end - 1] == "\n" else skip_citations(text, end)].rstrip()


def _parse_json_answer(prompt: Prompt[A], text: str) -> A:
    reasons: list[str] = []
    for found in find_json(text):
        try:
            return _convert(prompt, _load_unambiguous(found))
        except ValueError as error:
            reasons.append(str(error))
    raise UnreadableAnswer(reasons[0] if reasons else "there is no JSON in the answer")


def _load_unambiguous(found: JsonText) -> Any:
    if found.is_truncated:
        raise UnreadableAnswer("the JSON ends before it is complete")
    if found.is_ambiguous:
        raise UnreadableAnswer("there is no JSON in the answer, or a quotation mark inside it is not escaped")
    return found.load()


def _parse_text_answer(prompt: Prompt[A], text: str) -> A:
    if text.startswith("{"):  # The model was asked for plain text and wrote JSON: the text is inside.
        try:
            return _parse_json_answer(prompt, text)
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
    """Return the first line that is not blank, without a list marker and without quotation marks around it."""
    line = strip_list_marker(next(line for line in text.splitlines() if line.strip())).strip()
    for marks in _QUOTES:
        if len(line) > 1 and line[0] == marks[0] and line[-1] == marks[-1]:
            line = line[1:-1].strip()
    return line


def _convert(prompt: Prompt[A], value: Any) -> A:
    """Return the value as the response of the prompt; raise ``UnreadableAnswer`` when it is not one."""
    names = _type_hints(prompt.response_type).keys()
    if isinstance(value, dict) and value and not value.keys() & names:
        inner = list(value.values())
        if len(inner) == 1 and isinstance(inner[0], dict) and inner[0].keys() & names:
            value = inner[0]  # The response in a wrapper, such as {"response": {…}}.
        else:
            raise UnreadableAnswer(f"it has none of the fields {', '.join(sorted(names))}")
    try:
        answer: A = msgspec.convert(coerce(value, prompt.response_type), prompt.response_type, strict=False)
    except msgspec.ValidationError as error:
        raise UnreadableAnswer(str(error)) from error
    return answer


def coerce(value: Any, kind: Any) -> Any:
    """Return a value of plain types in the form that ``kind`` expects, as far as its meaning is clear.

    A single item becomes a list of one, a number becomes a text, a word is matched regardless of case, and a response with
    one required field may come without the field's name.
    """
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _coerce_object(value, kind)
    origin = get_origin(kind)
    if origin is tuple:
        return _coerce_list(value, get_args(kind)[0])
    if origin is Mapping and isinstance(value, dict):
        return {name: coerce(item, get_args(kind)[1]) for name, item in value.items()}
    if origin is Literal and isinstance(value, str):
        return next((word for word in get_args(kind) if word.lower() == value.strip().lower()), value)
    if origin in (Union, types.UnionType) and value is not None:
        kinds = [other for other in get_args(kind) if other is not type(None)]
        return coerce(value, kinds[0] if len(kinds) == 1 else object)
    if kind is str and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        # Small models like to end a text with a space, and texts are compared word for word.
        return replace_surrogates(value.strip() if kind is str else value)
    return value


def _coerce_object(value: Any, kind: type) -> Any:
    hints = _type_hints(kind)
    items = dataclasses.fields(kind)
    required = [item.name for item in items if item.default is item.default_factory is dataclasses.MISSING]
    if isinstance(value, Mapping):
        return {
            name: coerce(value[name], hint)
            for name, hint in hints.items()
            if name in value and (value[name] is not None or name in required)
        }
    if len(required) == 1 and isinstance(value, str | list):  # The only field may come without its name.
        hint = hints[required[0]]
        if isinstance(value, list) == (get_origin(hint) is tuple):
            return {required[0]: coerce(value, hint)}
    return value


def _coerce_list(value: Any, kind: Any) -> Any:
    if value is None or value == "":
        return []
    if not isinstance(value, list | str | Mapping):
        return value
    items = value if isinstance(value, list) else [value]
    return [coerce(item, kind) for item in items if item is not None]


def token_margins(text: str, tokens: Sequence[Mapping[str, Any]]) -> tuple[float, ...]:
    """Return for each token of the first line by how much it is more probable than the best other candidate.

    Tokens without a letter or digit say nothing about the answer and are left out. Empty when the provider reported no
    candidates, and when the model thought aloud: its thoughts are not part of the answer.

    >>> top = [{"token": "Graz", "logprob": -0.22}, {"token": "Linz", "logprob": -1.9}]
    >>> [round(margin, 2) for margin in token_margins("Graz", [{"token": "Graz", "logprob": -0.22, "top_logprobs": top}])]
    [0.65]
    """
    margins: list[float] = []
    if strip_thinking(text) != text.replace("\ufeff", "").strip():
        return ()
    for token in tokens:
        word, candidates = str(token.get("token") or ""), token.get("top_logprobs") or ()
        if "\n" in word and margins:
            break
        if candidates and word.strip() in text and any(map(str.isalnum, word)):
            others = [exp(other["logprob"]) for other in candidates if other.get("token") != word]
            margins.append(exp(token["logprob"]) - max(others, default=0.0))
    return tuple(margins)
