"""Which writing instruction (S4) a task calls for. The texts are versioned files under ``prompts/writing``.

A list of things is written as a list: ``count``. Everything else is looked at in order, trading → technical → research → prose,
by the words that stand at the head of each file; ``prose`` has none and takes the rest.
"""

import re
from dataclasses import dataclass

from suffice.asks.base import load_template
from suffice.run import RunState
from suffice.text.kinds import TaskType, classify_task, mentions_number, parse_item_count

VARIANT_ORDER = ("trading", "technical", "research", "prose")


@dataclass(frozen=True, slots=True)
class WritingInstruction:
    """How to write. ``count`` is how many sections a list must have; 0 when nobody said."""

    variant: str
    version: str
    text: str
    count: int = 0


def choose_instruction(run: RunState) -> WritingInstruction:
    """The instruction for a run's task, by its wording and its plan."""
    if get_task_type(run) == "enumerated":
        count, file = _expected_count(run), load_template("writing/count")
        return WritingInstruction("count", file.version, file.body.substitute(count=count or "separate"), count)
    variant = next(name for name in VARIANT_ORDER if _matches_variant(name, run.task))
    file = load_template(f"writing/{variant}")
    return WritingInstruction(variant, file.version, file.body.template)


def get_task_type(run: RunState) -> TaskType:
    """What kind of task it is: a number of things in its wording decides, then the plan, then the rest of the wording."""
    if run.current_plan is None or parse_item_count(run.task) is not None:
        return classify_task(run.task)
    return run.current_plan.task_type


def _expected_count(run: RunState) -> int:
    """How many things the task asks for. A plan's number counts only when the task says it too: a model likes to guess one."""
    number = parse_item_count(run.task)
    if number is None and run.current_plan is not None and run.current_plan.expected_sections is not None:
        number = (
            run.current_plan.expected_sections
            if mentions_number(run.task, run.current_plan.expected_sections)
            else None
        )
    return number or 0


def _matches_variant(variant: str, task: str) -> bool:
    """Whether the task holds one of the variant's words, whole; a variant without words suits every task."""
    words = load_template(f"writing/{variant}").keywords
    return not words or any(re.search(rf"\b{re.escape(word)}\b", task, re.IGNORECASE) for word in words)
