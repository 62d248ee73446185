"""Label: what passages that belong together are about, if the answer should cover it (S5's latent topics)."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class LabelClusterResponse:
    """``label`` is empty when the passages share nothing that the task needs."""

    label: str


@dataclass(frozen=True)
class LabelCluster(Prompt[LabelClusterResponse]):
    role = "label"
    response_type = LabelClusterResponse
    output_format = "line"
    temperature = 0.2
    max_tokens = 16
    truncation_order = (("notes", "last"), ("topics", "last"))

    task: str
    topics: tuple[str, ...]
    notes: tuple[Note, ...]
