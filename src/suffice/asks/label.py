"""Label: what passages that belong together are about, if the answer should cover it (S5's latent topics)."""

from dataclasses import dataclass

from suffice.asks.base import Ask
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class LabelResponse:
    """``label`` is empty when the passages share nothing that the task needs."""

    label: str


@dataclass(frozen=True)
class Label(Ask[LabelResponse]):
    role = "label"
    answer = LabelResponse
    form = "line"
    temperature = 0.2
    max_tokens = 16
    shrinks = (("notes", "last"), ("topics", "last"))

    task: str
    topics: tuple[str, ...]
    notes: tuple[Note, ...]
