"""A prompt as a value: its inputs, its response type, its temperature and length, and the template with its wording.

No other module builds a prompt. A template is a Markdown file of this folder: a ``version:`` line, ``---``, then text with
``$name`` for each input. Text that came from a source reaches a prompt only between fences, as data.

A user can replace a template by a file of the same name in ``SUFFICE_PROMPTS``. It must have the same inputs; ``version:`` and
``---`` may be left out. ``override_prompts`` does the same for a block of code.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import ClassVar, Generic, Literal, TypeVar, cast, dataclass_transform, get_args

from suffice import settings
from suffice.errors import InputError
from suffice.text.plain import read_text
from suffice.types import Image, Note

A = TypeVar("A")

OMITTED_MARKER = "(found earlier, left out here for room)"
_FOLDER = Path(str(files("suffice") / "prompts"))
# A user's template may leave them out; templates were written before they existed.
_OPTIONAL_INPUTS = frozenset(
    {"left", "kept", "gaps", "once", "files", "languages", "lists", "reading", "today", "removed"}
)
_OWN_VERSION = "own"  # The version of a user's template that names none.
_replacements: ContextVar[Mapping[str, str]] = ContextVar("prompt_replacements", default=MappingProxyType({}))


@dataclass_transform(frozen_default=True)
class Response:
    """Base of what prompts are answered with, and of its parts. Subclasses are frozen dataclasses."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)


class TextResponse(Response):
    """A few words or a text; empty when the model has nothing to say.

    ``margins`` is how far each token is ahead of the second best, if the prompt asks for it and the provider reports it.
    """

    text: str
    margins: tuple[float, ...] = ()


@dataclass_transform(frozen_default=True)
class Prompt(Generic[A]):
    """One request to a model. Subclasses are frozen dataclasses whose fields are the inputs of the template ``role``.md."""

    role: ClassVar[str]
    template: ClassVar[str] = ""
    """The template, if the prompt has the wording of another role."""
    response_type: ClassVar[type]
    """``A``, which a subclass names once: ``class Plan(Prompt[PlanResponse])``."""
    temperature: ClassVar[float] = 0.0
    max_tokens: int = 800
    """The longest response. A prompt of varying length has a field of this name."""
    output_format: ClassVar[Literal["json", "line", "text"]] = "json"
    """How a language model writes the response: as JSON of the response type, in one line, or as free text."""
    bounded_field: ClassVar[str] = ""
    """The list of the response that may have at most ``most`` items; ``most`` is then an input."""
    needs_margins: ClassVar[bool] = False
    """Whether providers that can report how far each token of the response is ahead of the second best, as probabilities. The
    response has a field ``margins`` for them."""
    truncation_order: ClassVar[tuple[tuple[str, Literal["first", "last"]], ...]] = ()
    """The lists that are shortened when a prompt is too long (``truncate``), the least important list first, and at which
    end of each the least useful items are. All other inputs stay as they are."""

    omits_empty: ClassVar[bool] = False
    """Whether a paragraph of the template is left out when all of its inputs are empty, so that the prompt stays short."""

    def __init_subclass__(cls) -> None:
        for base in vars(cls).get("__orig_bases__", ()):
            (cls.response_type,) = get_args(base)
        dataclass(frozen=True)(cls)

    @property
    def images(self) -> tuple[Image, ...]:
        """Images that belong to the prompt; the model must support vision."""
        return ()

    def render(self) -> str:
        values = {item.name: getattr(self, item.name) for item in fields(self)}  # type: ignore[arg-type]
        template = self.load_template().body
        if self.omits_empty:
            template = _omit_empty_paragraphs(template, {name for name, value in values.items() if not value})
        return template.substitute({name: render_value(value) for name, value in values.items()})

    @classmethod
    def parse(cls, text: str) -> A:
        """Return the response that a line or a free text stands for; raise ``ValueError`` when it is not a response.

        An empty text means that the model has nothing to say.
        """
        return cast(A, cls.response_type(text))

    @classmethod
    def load_template(cls) -> "PromptTemplate":
        return load_template(cls.template or cls.role)

    @classmethod
    def version(cls) -> str:
        return cls.load_template().version


class PromptTemplate:
    """A template file: its version, its body, and the keywords of a task that select it if it is one of several."""

    def __init__(self, text: str) -> None:
        head, separator, body = text.replace("\r\n", "\n").partition("\n---\n")
        if not separator or not head.startswith("version:"):
            head, body = f"version: {_OWN_VERSION}", text
        fields = dict(line.split(":", 1) for line in head.splitlines() if ":" in line)
        self.version = fields["version"].strip()
        self.keywords = tuple(word.strip() for word in fields.get("when", "").split(",") if word.strip())
        self.body = Template(body.strip())


def load_template(name: str) -> PromptTemplate:
    text = _replacements.get().get(name)
    if text is not None:
        return _parse_own(name, text, f"the replaced prompt {name}")
    path = settings.get_prompts_dir() / f"{name}.md"
    try:
        modified = path.stat().st_mtime_ns
    except OSError:
        return load_built_in(name)
    return _load_own(name, path, modified)


@cache
def load_built_in(name: str) -> PromptTemplate:
    return PromptTemplate(read_built_in(name))


def read_built_in(name: str) -> str:
    """Return the file of a built-in template; raise ``InputError`` with the nearest name for an unknown one."""
    if name not in list_templates():
        similar = get_close_matches(name, list_templates(), 1)
        hint = f"did you mean {similar[0]}" if similar else "see: suffice prompts list"
        raise InputError(f"There is no prompt {name!r}; {hint}")
    return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")


@cache
def list_templates() -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(_FOLDER).with_suffix("").as_posix() for path in _FOLDER.rglob("*.md")))


def list_own_templates() -> dict[str, Path]:
    """Return the user's templates; raise ``InputError`` for a file that replaces nothing or cannot be used."""
    folder = settings.get_prompts_dir()
    own = {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.md"))}
    for name, path in own.items():
        if name not in list_templates():
            similar = get_close_matches(name, list_templates(), 1)
            hint = f"did you mean {similar[0]}.md" if similar else "remove it or see: suffice prompts list"
            raise InputError(f"{path} replaces no prompt; {hint}")
        load_template(name)
    return own


@contextmanager
def override_prompts(texts: Mapping[str, str]) -> Iterator[None]:
    """Use these texts in place of the templates of these names inside the block."""
    for name, text in texts.items():
        _parse_own(name, text, f"the replaced prompt {name}")
    token = _replacements.set({**_replacements.get(), **texts})
    try:
        yield
    finally:
        _replacements.reset(token)


@cache
def _load_own(name: str, path: Path, modified: int) -> PromptTemplate:
    return _parse_own(name, read_text(path), str(path))


def _parse_own(name: str, text: str, where: str) -> PromptTemplate:
    template, built_in = PromptTemplate(text), load_built_in(name)
    if not template.body.is_valid():
        raise InputError(f"{where} has a '$' that names no input; write '$$' for the sign itself")
    given, wanted = set(template.body.get_identifiers()), set(built_in.body.get_identifiers())
    if not wanted - _OPTIONAL_INPUTS <= given <= wanted:
        missing = [f"lacks ${one}" for one in sorted(wanted - given - _OPTIONAL_INPUTS)]
        unknown = [f"has the unknown ${one}" for one in sorted(given - wanted)]
        raise InputError(f"{where} {' and '.join(missing + unknown)}; use the inputs of: suffice prompts show {name}")
    if not template.keywords:
        template.keywords = built_in.keywords
    return template


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
    if isinstance(value, Sequence) and not isinstance(value, str):
        # An item is one line and escaped: queries and records contain titles and file names of sources.
        items = (item if isinstance(item, Note) else _escape_fences(" ".join(str(item).split())) for item in value)
        return "\n".join(render_value(one) if isinstance(one, Note) else f"- {one}" for one in items) or "(none)"
    # A single line may be a title, such as the name of a section. Longer texts are the task's or the model's own.
    return str(value) if "\n" in str(value) else _escape_fences(str(value))


def _omit_empty_paragraphs(template: Template, empty: set[str]) -> Template:
    inputs = {paragraph: Template(paragraph).get_identifiers() for paragraph in template.template.split("\n\n")}
    return Template("\n\n".join(own for own, names in inputs.items() if not names or not empty.issuperset(names)))


def _escape_fences(text: str) -> str:
    """Return the text with its fence marks spaced out: one inside retrieved text would end the fence around it early."""
    return text.replace(">>>", "> > >").replace("<<<", "< < <")
