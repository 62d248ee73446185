"""Prompts that update what is known."""

from suffice.prompts.base import Prompt, Response
from suffice.types import Note


class ExtractedFact(Response):
    """A fact as a source states it, the handles of its sources, and the open question that it answers, if any."""

    text: str
    handles: tuple[str, ...]
    about: str = ""


class Extraction(Response):
    facts: tuple[ExtractedFact, ...] = ()
    resolved: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


class Extract(Prompt[Extraction]):
    """What a round's passages add. It sees the belief and the new passages only."""

    role = "extract"
    max_tokens = 600
    truncation_order = (("observation", "last"), ("open", "last"), ("known", "last"))

    task: str
    known: tuple[Note, ...]
    open: tuple[str, ...]
    observation: tuple[Note, ...]


class CuratedFact(Response):
    """A fact to keep: the numbers of the facts it was made of, and its text; empty for the text of the first of them."""

    of: tuple[int, ...]
    text: str = ""


class Curation(Response):
    """The facts to keep, most important first."""

    kept: tuple[CuratedFact, ...]


class Curate(Prompt[Curation]):
    """Which facts to keep when there are too many. ``facts`` have their numbers, from 1, in place of handles."""

    role = "curate"
    bounded_field = "kept"
    max_tokens = 600
    truncation_order = (("open", "last"), ("facts", "last"))

    task: str
    open: tuple[str, ...]
    facts: tuple[Note, ...]
    most: int


class Compression(Response):
    bullets: tuple[ExtractedFact, ...]


class Compress(Prompt[Compression]):
    """A summary of bounded length, from the last one and new results."""

    role = "compress"
    temperature = 0.1
    max_tokens = 400
    truncation_order = (("results", "last"), ("known", "last"))

    task: str
    known: tuple[Note, ...]
    results: tuple[Note, ...]
