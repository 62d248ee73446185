"""Arithmetic over the evidence before the draft: the model writes a program, a sandbox runs it, its output becomes a source.

Only tasks that sound like arithmetic are asked about, and only when the sources hold figures. A program may use no figure
and no name that the task and the sources do not have: what it prints is evidence, so nothing may come in through it. The
source is of the kind ``computed``, shows its code, and is cited like any other.
"""

import ast
import re

from suffice.asks import Compute
from suffice.run import Run
from suffice.spending import spent
from suffice.text.entities import names
from suffice.tools import python
from suffice.types import COMPUTED, Failure, Note, Passage, Place
from suffice.write.report import before_the_writer

_ASKED = re.compile(
    r"\b(?:how\s+(?:many|much|long|old|far|often)|calculat\w*|comput\w*|totals?|sum|averages?|mean|median|percent(?:age)?s?"
    r"|ratios?|proportions?|shares?|growth|rates?|difference|increase\w*|decrease\w*|grew|fell|rose|per\s+capita|combined|altogether"
    r"|net|margins?|times\s+(?:as|more|larger|higher))\b|%",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[,\u202f\u00a0 ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
# What arithmetic brings along by itself: identity, halves, percent, calendar and clock, and powers of ten.
_OWN = frozenset({0, 0.5, 1, 2, 7, 10, 12, 24, 30, 52, 60, 100, 365, 366, 1_000, 3_600, 1_000_000, 1_000_000_000})
_SCALES = (1, 100, 1e-3, 1e-6, 1e-9)  # 12 % may be written 0.12, and 3 million 3_000_000.


def needed(task: str, notes: tuple[Note, ...]) -> bool:
    """Whether the task sounds like arithmetic and there are figures to do it with."""
    return bool(_ASKED.search(task)) and sum(len(_NUMBER.findall(note.text)) for note in notes) > 1


async def computed(run: Run, rounds: int) -> None:
    """Let the model compute what the draft will need: one program, at most ``rounds`` tries."""
    notes = before_the_writer(run)
    if not rounds or not needed(run.task, notes):
        return
    trouble = ""
    for _ in range(rounds):
        if spent(run):
            return
        answer = await run.attempt(Compute(run.task, ", ".join(sorted(python.MODULES)), trouble, notes))
        code = "" if answer is None else _bare(answer.code)
        if not code:
            return
        strange = foreign(code, "\n".join((run.task, *(f"{note.title}\n{note.text}" for note in notes))))
        outcome = python.Outcome(error=strange) if strange else await python.run(code, _seconds(run))
        if not outcome.error:
            passage = source(code, outcome.output)
            run.evidence.add(passage)
            run.pinned.add(passage.id)
            return
        run.fail(Failure("compute", "Refused", f"a computation was left out: {outcome.error}"))
        trouble = f"Your last program could not be used: {outcome.error}."


def foreign(code: str, known: str) -> str:
    """What a program brings in that neither the task nor a source has; empty when there is nothing."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""  # The sandbox's own check says it better.
    formats = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.FormattedValue) for part in _parts(node.format_spec)
    }
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in formats]
    there = {_value(text) for text in _NUMBER.findall(known)}
    texts = [value for value in values if isinstance(value, str)]
    figures = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    for figure in (*figures, *(_value(text) for line in texts for text in _NUMBER.findall(line))):
        if figure not in _OWN and not any(round(figure * scale, 9) in there for scale in _SCALES):
            return f"{figure:g} stands in no source"
    named = next((name for line in texts for name in names(line.lstrip()) if name.lower() not in known.lower()), None)
    return f"{named} stands in no source" if named else ""


def source(code: str, output: str) -> Passage:
    """The computation as a passage: what came out, each line a sentence that can be quoted among others, and the program."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    results = "\n\n".join(f"{line[0].upper()}{line[1:]}{'' if line[-1] in '.!?' else '.'}" for line in lines)
    return Passage(
        "computed:1", f"{results}\n\nProgram:\n{code}", "Computed from the sources", Place("computed:1"), COMPUTED
    )


def _parts(node: ast.expr | None) -> list[ast.AST]:
    return [] if node is None else list(ast.walk(node))


def _value(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text))


def _bare(code: str) -> str:
    """The program without the fence that a model likes to put around it."""
    fenced = re.fullmatch(r"\s*```\w*\n(.*?)\n?```\s*", code, re.DOTALL)
    return (fenced[1] if fenced else code).strip()


def _seconds(run: Run) -> float:
    left = run.seconds_left
    return python.SECONDS if left is None else max(0.1, min(python.SECONDS, left))
