"""Arithmetic over the evidence before the draft: the model writes a program, a sandbox runs it, its output becomes a source.

Only tasks that sound like arithmetic are asked about, and only when the sources hold figures. A program may use no figure
and no name that the task and the sources do not have: what it prints is evidence, so nothing may come in through it. The
source is of the kind ``computed``, shows its code, and is cited like any other.
"""

import ast
import re

from suffice.prompts import Compute
from suffice.report.build import select_writer_notes
from suffice.state.budget import is_budget_spent
from suffice.state.run import RunState
from suffice.text.entities import extract_names
from suffice.text.markdown import unwrap_fence
from suffice.tools import sandbox
from suffice.types import COMPUTED_KIND, Failure, Note, Passage, Place

_ARITHMETIC_WORDS = re.compile(
    r"\b(?:how\s+(?:many|much|long|old|far|often)|calculat\w*|comput\w*|totals?|sum|averages?|mean|median|percent(?:age)?s?"
    r"|ratios?|proportions?|shares?|growth|rates?|difference|increase\w*|decrease\w*|grew|fell|rose|per\s+capita|combined|altogether"
    r"|net|margins?|times\s+(?:as|more|larger|higher))\b|%",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[,\u202f\u00a0 ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
# What arithmetic brings along by itself: identity, halves, percent, calendar and clock, and powers of ten.
_FREE_CONSTANTS = frozenset(
    {0, 0.5, 1, 2, 7, 10, 12, 24, 30, 52, 60, 100, 365, 366, 1_000, 3_600, 1_000_000, 1_000_000_000}
)
_UNIT_SCALES = (1, 100, 1e-3, 1e-6, 1e-9)  # 12 % may be written 0.12, and 3 million 3_000_000.


def needs_computation(task: str, notes: tuple[Note, ...]) -> bool:
    """Whether the task sounds like arithmetic and there are figures to do it with."""
    return bool(_ARITHMETIC_WORDS.search(task)) and sum(len(_NUMBER.findall(note.text)) for note in notes) > 1


async def run_computation(run: RunState, attempts: int) -> None:
    """Let the model compute what the draft will need: one program, at most ``rounds`` tries."""
    notes = select_writer_notes(run)
    if not attempts or not needs_computation(run.task, notes):
        return
    trouble = ""
    for _ in range(attempts):
        if is_budget_spent(run):
            return
        answer = await run.try_ask(Compute(run.task, ", ".join(sorted(sandbox.ALLOWED_MODULES)), trouble, notes))
        code = "" if answer is None else _strip_fence(answer.code)
        if not code:
            return
        strange = find_unsourced_value(code, "\n".join((run.task, *(f"{note.title}\n{note.text}" for note in notes))))
        outcome = sandbox.ProgramResult(error=strange) if strange else await sandbox.run_program(code, _time_limit(run))
        if not outcome.error:
            passage = build_computed_passage(code, outcome.output)
            run.evidence.add(passage)
            run.pinned_ids.add(passage.id)
            return
        run.record_failure(Failure("compute", "Refused", f"a computation was left out: {outcome.error}"))
        trouble = f"Your last program could not be used: {outcome.error}."


def find_unsourced_value(code: str, source_text: str) -> str:
    """What a program brings in that neither the task nor a source has; empty when there is nothing."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""  # The sandbox's own check says it better.
    formats = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue)
        for part in _walk_optional(node.format_spec)
    }
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in formats]
    there = {_parse_number(text) for text in _NUMBER.findall(source_text)}
    texts = [value for value in values if isinstance(value, str)]
    figures = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    for figure in (*figures, *(_parse_number(text) for line in texts for text in _NUMBER.findall(line))):
        if figure not in _FREE_CONSTANTS and not any(round(figure * scale, 9) in there for scale in _UNIT_SCALES):
            return f"{figure:g} stands in no source"
    named = next(
        (name for line in texts for name in extract_names(line.lstrip()) if name.lower() not in source_text.lower()),
        None,
    )
    return f"{named} stands in no source" if named else ""


def build_computed_passage(code: str, output: str) -> Passage:
    """The computation as a passage: what came out, each line a sentence that can be quoted among others, and the program."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    results = "\n\n".join(f"{line[0].upper()}{line[1:]}{'' if line[-1] in '.!?' else '.'}" for line in lines)
    return Passage(
        "computed:1", f"{results}\n\nProgram:\n{code}", "Computed from the sources", Place("computed:1"), COMPUTED_KIND
    )


def _walk_optional(node: ast.expr | None) -> list[ast.AST]:
    return [] if node is None else list(ast.walk(node))


def _parse_number(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text))


def _strip_fence(code: str) -> str:
    """The program without the fence that a model likes to put around it."""
    inside = unwrap_fence(code)
    return (code if inside is None else inside).strip()


def _time_limit(run: RunState) -> float:
    left = run.seconds_left
    return sandbox.TIMEOUT_SECONDS if left is None else max(0.1, min(sandbox.TIMEOUT_SECONDS, left))
