"""Do arithmetic over the evidence before the draft is written.

The model writes a program, a sandbox runs it, and the output becomes a passage of the kind ``computed`` that shows its code
and is cited like any other. The model is asked only if the task sounds like arithmetic and the sources contain figures. A
program may use only figures and names that occur in the task or the sources, because its output counts as evidence.
"""

import ast
import re

from suffice.prompts import Compute
from suffice.report.computed_lines import keep_computed_lines
from suffice.report.draft import select_writer_notes
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
# Constants that arithmetic needs and no source has to mention: identity, halves, percent, calendar, clock, powers of ten.
_FREE_CONSTANTS = frozenset(
    {0, 0.5, 1, 2, 7, 10, 12, 24, 30, 52, 60, 100, 365, 366, 1_000, 3_600, 1_000_000, 1_000_000_000}
)
_UNIT_SCALES = (1, 100, 1e-3, 1e-6, 1e-9)  # 12 % may be written as 0.12, and 3 million as 3_000_000.


async def run_computation(run: RunState, max_attempts: int) -> None:
    """Add a computed passage to the evidence if the task needs one; a refused program may be corrected by the model."""
    notes = select_writer_notes(run)
    if not max_attempts or not needs_computation(run.task, notes):
        return
    source_text = "\n".join((run.task, *(f"{note.title}\n{note.text}" for note in notes)))
    correction = ""
    for _ in range(max_attempts):
        if run.budget.is_spent():
            return
        answer = await run.try_ask(Compute(run.task, ", ".join(sorted(sandbox.ALLOWED_MODULES)), correction, notes))
        code = "" if answer is None else _strip_fence(answer.code)
        if not code:
            return
        unsourced = find_unsourced_value(code, source_text)
        result = (
            sandbox.ProgramResult(error=unsourced) if unsourced else await sandbox.run_program(code, _time_limit(run))
        )
        if not result.error:
            output = keep_computed_lines(result.output, code, source_text)
            result = sandbox.ProgramResult(output) if output else sandbox.ProgramResult(error="it computes no value")
        if not result.error:
            passage = build_computed_passage(code, result.output)
            run.evidence.add(passage)
            run.pinned_ids.add(passage.id)
            return
        run.record_failure(Failure("compute", "Refused", f"a computation was left out: {result.error}"))
        correction = f"Your last program could not be used: {result.error}."


def needs_computation(task: str, notes: tuple[Note, ...]) -> bool:
    """Return whether the task sounds like arithmetic and the notes contain at least two figures."""
    return bool(_ARITHMETIC_WORDS.search(task)) and sum(len(_NUMBER.findall(note.text)) for note in notes) > 1


def find_unsourced_value(code: str, source_text: str) -> str:
    """Name a figure or name of the program that does not occur in the sources; empty if there is none."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""  # The sandbox's own check reports this with a better message.
    format_specs = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None
        for part in ast.walk(node.format_spec)
    }
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in format_specs]
    known_figures = {_parse_number(text) for text in _NUMBER.findall(source_text)}
    texts = [value for value in values if isinstance(value, str)]
    figures = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    for figure in (*figures, *(_parse_number(number) for text in texts for number in _NUMBER.findall(text))):
        if figure not in _FREE_CONSTANTS and not any(
            round(figure * scale, 9) in known_figures for scale in _UNIT_SCALES
        ):
            return f"{figure:g} occurs in no source"
    names = (name for text in texts for name in extract_names(text.lstrip()))
    unknown = next((name for name in names if name.lower() not in source_text.lower()), None)
    return f"{unknown} occurs in no source" if unknown else ""


def build_computed_passage(code: str, output: str) -> Passage:
    """Return the computation as a passage: each output line as a sentence that can be quoted, then the program."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    results = "\n\n".join(f"{line[0].upper()}{line[1:]}{'' if line[-1] in '.!?' else '.'}" for line in lines)
    return Passage(
        "computed:1", f"{results}\n\nProgram:\n{code}", "Computed from the sources", Place("computed:1"), COMPUTED_KIND
    )


def _parse_number(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text))


def _strip_fence(code: str) -> str:
    """Remove the code fence that a model may put around its program."""
    inside = unwrap_fence(code)
    return (code if inside is None else inside).strip()


def _time_limit(run: RunState) -> float:
    """Return the seconds that a program may run: the sandbox's limit or what is left of the run's time."""
    left = run.budget.seconds_left
    return sandbox.TIMEOUT_SECONDS if left is None else max(0.1, min(sandbox.TIMEOUT_SECONDS, left))
