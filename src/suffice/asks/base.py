"""A model call as a value: its inputs, its answer, its temperature and length, and the template that words it.

No other module builds a prompt. A template is a file under ``prompts/``: a version line, ``---``, then text with
``$name`` for each input. Text that came from a source reaches a prompt only between fences, as data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from string import Template
from typing import ClassVar, Generic, TypeVar

from suffice.types import Note, Query

A = TypeVar("A")


class Ask(Generic[A]):
    """One question to a model. Subclasses are frozen dataclasses whose fields are the template's inputs."""

    role: ClassVar[str]
    answer: ClassVar[type]
    temperature: ClassVar[float] = 0.0
    max_tokens: ClassVar[int] = 800

    def prompt(self) -> str:
        """The words a language model gets."""
        inputs = {item.name: _words(getattr(self, item.name)) for item in fields(self)}  # type: ignore[arg-type]
        return template(self.role).body.substitute(inputs)

    @classmethod
    def version(cls) -> str:
        return template(cls.role).version


class PromptFile:
    """A template as it was read: its version and its body."""

    def __init__(self, text: str) -> None:
        head, _, body = text.partition("\n---\n")
        self.version = head.removeprefix("version:").strip()
        self.body = Template(body.strip())


@cache
def template(role: str) -> PromptFile:
    return PromptFile((files("suffice") / "prompts" / f"{role}.md").read_text(encoding="utf-8"))


def _words(value: object) -> str:
    if isinstance(value, Note):
        title = " ".join(_unfenced(value.title).split())
        return f"{' '.join(value.handles)} {title}".rstrip() + f"\n<<<\n{_unfenced(value.text)}\n>>>"
    if isinstance(value, Query):
        return value.text
    if isinstance(value, Mapping):
        return "\n".join(f"- {name}: {_words(item)}" for name, item in value.items()) or "(none)"
    if isinstance(value, Sequence) and not isinstance(value, str):
        lines = [_words(item) if isinstance(item, Note) else f"- {_words(item)}" for item in value]
        return "\n".join(lines) or "(none)"
    return str(value)


def _unfenced(text: str) -> str:
    """The fence marks retrieved text as data; one inside the text would end it early, so it is softened."""
    return text.replace(">>>", "> > >").replace("<<<", "< < <")
