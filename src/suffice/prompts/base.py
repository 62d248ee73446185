"""A model call as a value: its inputs, its answer, its temperature and length, and the template that words it.

No other module builds a prompt. A template is a file under ``prompts/``: a version line, ``---``, then text with
``$name`` for each input. Text that came from a source reaches a prompt only between fences, as data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, ClassVar, Generic, Literal, TypeVar

from suffice.types import Image, Note, Query

A = TypeVar("A")

OMITTED_MARKER = "(found earlier, left out here for room)"


class Prompt(Generic[A]):
    """One question to a model. Subclasses are frozen dataclasses whose fields are the template's inputs."""

    role: ClassVar[str]
    response_type: ClassVar[type]
    temperature: ClassVar[float] = 0.0
    max_tokens: ClassVar[int] = 800
    truncation_order: ClassVar[tuple[tuple[str, Literal["first", "last"]], ...]] = ()
    """The lists that give way when a prompt is too long (``asks/fitted.py``), the least needed list first, and at which end
    of each the least useful items stand. All other fields stay as they are."""
    output_format: ClassVar[Literal["json", "line", "text"]] = "json"
    """How a language model writes the answer: as JSON of the answer's shape, in one line, or as free text."""
    bounded_field: ClassVar[str] = ""
    """The list of the answer that may have ``most`` items."""
    choices: ClassVar[tuple[str, ...]] = ()
    """The words one of which begins the answer; a provider that can is asked how likely each of them was."""

    @property
    def images(self) -> tuple[Image, ...]:
        """Pictures that go with the words; only a model with eyes can be asked then."""
        return ()

    def render(self) -> str:
        """The words a language model gets."""
        inputs = {item.name: render_value(getattr(self, item.name)) for item in fields(self)}  # type: ignore[arg-type]
        return load_template(self.role).body.substitute(inputs)

    @classmethod
    def parse(cls, text: str) -> A:
        """The answer that a line or a free text stands for; empty: nothing to say. Raises ``ValueError`` when it is none."""
        answer: Any = cls.response_type
        read: A = answer(text)
        return read

    @classmethod
    def with_probabilities(cls, answer: A, probabilities: Mapping[str, float]) -> A:
        """The answer with the share of each of its ``choices``, where the provider gave them."""
        return answer

    @classmethod
    def version(cls) -> str:
        return load_template(cls.role).version


class PromptTemplate:
    """A template as it was read: its version, its body, and the words of a task that call for it, if it is one of several."""

    def __init__(self, text: str) -> None:
        head, _, body = text.partition("\n---\n")
        fields = dict(line.split(":", 1) for line in head.splitlines())
        self.version = fields["version"].strip()
        self.keywords = tuple(word.strip() for word in fields.get("when", "").split(",") if word.strip())
        self.body = Template(body.strip())


@cache
def load_template(role: str) -> PromptTemplate:
    return PromptTemplate((files("suffice") / "prompts" / f"{role}.md").read_text(encoding="utf-8"))


def load_snippet(name: str) -> str:
    """A piece of prompt text that is an input of other prompts, such as ``readers/critic``."""
    return load_template(name).body.template


def render_value(value: object) -> str:
    """An input as a prompt shows it."""
    if isinstance(value, Note) and not value.text:
        return f"{' '.join(value.handles)} {OMITTED_MARKER}"
    if isinstance(value, Note):
        title = " ".join(value.title.split())  # As much a stranger's text as what stands below it.
        inside = _escape_fences(f"{title}\n{value.text}" if title else value.text)
        return f"{' '.join(value.handles)}\n<<<\n{inside}\n>>>".lstrip()
    if isinstance(value, Query):
        return value.text
    if isinstance(value, Mapping):
        return "\n".join(f"- {name}: {render_value(item)}" for name, item in value.items()) or "(none)"
    if isinstance(value, Sequence) and not isinstance(value, str):
        lines = [render_value(item) if isinstance(item, Note) else f"- {render_value(item)}" for item in value]
        return "\n".join(lines) or "(none)"
    return str(value)


def _escape_fences(text: str) -> str:
    """The fence marks retrieved text as data; one inside the text would end it early, so it is softened."""
    return text.replace(">>>", "> > >").replace("<<<", "< < <")
