"""Compute: a small program over figures of the evidence, where the task needs arithmetic; nothing where it does not."""

from dataclasses import dataclass

from suffice.asks.base import Prompt
from suffice.types import Note


@dataclass(frozen=True, slots=True)
class ComputeResponse:
    """``code`` is empty when nothing needs to be computed."""

    code: str = ""


@dataclass(frozen=True)
class Compute(Prompt[ComputeResponse]):
    role = "compute"
    response_type = ComputeResponse
    truncation_order = (("notes", "first"),)

    task: str
    modules: str
    trouble: str
    """What was wrong with the last program; empty before the first."""
    notes: tuple[Note, ...]
