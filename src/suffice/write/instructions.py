"""Which writing instruction (S4) a task calls for. The texts are versioned files under ``prompts/writing``.

A list of things is written as a list: ``count``. Everything else is looked at in order, trading → technical → research → prose,
by the words that stand at the head of each file; ``prose`` has none and takes the rest.
"""

import re
from dataclasses import dataclass

from suffice.asks.base import template
from suffice.run import Run
from suffice.text.kinds import TaskType, expected_sections, says, task_type

ORDER = ("trading", "technical", "research", "prose")


@dataclass(frozen=True, slots=True)
class Instruction:
    """How to write. ``count`` is how many sections a list must have; 0 when nobody said."""

    variant: str
    version: str
    text: str
    count: int = 0


def instruction(run: Run) -> Instruction:
    """The instruction for a run's task, by its wording and its plan."""
    if kind(run) == "enumerated":
        count, file = _count(run), template("writing/count")
        return Instruction("count", file.version, file.body.substitute(count=count or "separate"), count)
    variant = next(name for name in ORDER if _calls_for(name, run.task))
    file = template(f"writing/{variant}")
    return Instruction(variant, file.version, file.body.template)


def kind(run: Run) -> TaskType:
    """What kind of task it is: a number of things in its wording decides, then the plan, then the rest of the wording."""
    if run.planned is None or expected_sections(run.task) is not None:
        return task_type(run.task)
    return run.planned.task_type


def _count(run: Run) -> int:
    """How many things the task asks for. A plan's number counts only when the task says it too: a model likes to guess one."""
    number = expected_sections(run.task)
    if number is None and run.planned is not None and run.planned.expected_sections is not None:
        number = run.planned.expected_sections if says(run.task, run.planned.expected_sections) else None
    return number or 0


def _calls_for(variant: str, task: str) -> bool:
    """Whether the task holds one of the variant's words, whole; a variant without words suits every task."""
    words = template(f"writing/{variant}").when
    return not words or any(re.search(rf"\b{re.escape(word)}\b", task, re.IGNORECASE) for word in words)
