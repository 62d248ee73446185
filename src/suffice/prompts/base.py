"""A prompt as a value: its inputs, its response type, its temperature and length, and the template with its wording.

No other module builds a prompt. A template is a Markdown file of this folder: a ``version:`` line, ``---``, then text with
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
    """One request to a model. Subclasses are frozen dataclasses whose fields are the inputs of the template ``role``.md."""

    role: ClassVar[str]
    response_type: ClassVar[type]
    temperature: ClassVar[float] = 0.0
    max_tokens: int = 800
    """The longest response. A prompt of varying length has a field of this name."""
    output_format: ClassVar[Literal["json", "line", "text"]] = "json"
    """How a language model writes the response: as JSON of the response type, in one line, or as free text."""
    bounded_field: ClassVar[str] = ""
    """The list of the response that may have at most ``most`` items; ``most`` is then an input."""
    choices: ClassVar[tuple[str, ...]] = ()
    """The words of which one begins the response. Providers that can report the probability of each."""
    truncation_order: ClassVar[tuple[tuple[str, Literal["first", "last"]], ...]] = ()
    """The lists that are shortened when a prompt is too long (``truncate``), the least important list first, and at which
    end of each the least useful items are. All other inputs stay as they are."""

    omits_empty: ClassVar[bool] = False
    """Whether a paragraph of the template is left out when all of its inputs are empty, so that the prompt stays short."""

    @property
    def images(self) -> tuple[Image, ...]:
        """Images that belong to the prompt; the model must support vision."""
        return ()

    def render(self) -> str:
        """Return the text for a language model."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        template = load_template(self.role).body
        if self.omits_empty:
            template = _omit_empty_paragraphs(template, {name for name, value in values.items() if not value})
        return template.substitute({name: render_value(value) for name, value in values.items()})

    @classmethod
    def parse(cls, text: str) -> A:
        """Return the response that a line or a free text stands for; raise ``ValueError`` when it is not a response.

        An empty text means that the model has nothing to say.
        """
        response_type: Any = cls.response_type
        response: A = response_type(text)
        return response

    @classmethod
    def with_probabilities(cls, answer: A, probabilities: Mapping[str, float]) -> A:
        """Return the response with the probability of each of its ``choices``, as the provider reported them."""
        return answer

    @classmethod
    def version(cls) -> str:
        """Return the version of the wording."""
        return load_template(cls.role).version


class PromptTemplate:
    """A template file: its version, its body, and the keywords of a task that select it if it is one of several."""

    def __init__(self, text: str) -> None:
        head, _, body = text.partition("\n---\n")
        fields = dict(line.split(":", 1) for line in head.splitlines())
        self.version = fields["version"].strip()
        self.keywords = tuple(word.strip() for word in fields.get("when", "").split(",") if word.strip())
        self.body = Template(body.strip())


@cache
def load_template(name: str) -> PromptTemplate:
    """Return the template of a role, or of a snippet such as ``readers/critic``."""
    return PromptTemplate((files("suffice") / "prompts" / f"{name}.md").read_text(encoding="utf-8"))


def load_snippet(name: str) -> str:
    """Return a piece of prompt text that is an input of other prompts, such as ``readers/critic``."""
    return load_template(name).body.template


def render_value(value: object) -> str:
    """Return an input as a prompt shows it."""
    if isinstance(value, Note) and not value.text:
        return f"{' '.join(value.handles)} {OMITTED_MARKER}"
    if isinstance(value, Note):
        title = " ".join(value.title.split())  # Titles come from sources too.
        content = _escape_fences(f"{title}\n{value.text}" if title else value.text)
        return f"{' '.join(value.handles)}\n<<<\n{content}\n>>>".lstrip()
    if isinstance(value, Query):
        return _to_item(value.text)
    if isinstance(value, Mapping):
        return "\n".join(f"- {name}: {_to_item(render_value(item))}" for name, item in value.items()) or "(none)"
    if isinstance(value, Sequence) and not isinstance(value, str):
        lines = [
            render_value(item) if isinstance(item, Note) else f"- {_to_item(render_value(item))}" for item in value
        ]
        return "\n".join(lines) or "(none)"
    # A single line may be a title, such as the name of a section. Longer texts are the task's or the model's own.
    return str(value) if "\n" in str(value) else _escape_fences(str(value))


def _omit_empty_paragraphs(template: Template, empty: set[str]) -> Template:
    kept = []
    for paragraph in template.template.split("\n\n"):
        inputs = Template(paragraph).get_identifiers()
        if not inputs or not empty.issuperset(inputs):
            kept.append(paragraph)
    return Template("\n\n".join(kept))


def _to_item(text: str) -> str:
    """Return a list item in one line: queries and records contain titles and file names of sources."""
    return _escape_fences(" ".join(text.split()))


def _escape_fences(text: str) -> str:
    """Return the text with its fence marks spaced out: one inside retrieved text would end the fence around it early."""
    return text.replace(">>>", "> > >").replace("<<<", "< < <")
