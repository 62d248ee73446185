"""Do arithmetic over the evidence before the draft is written.

The model writes a program, a sandbox runs it, and the output becomes a passage of the kind ``computed`` that shows its code
and is cited like any other. Several programs may follow one another. A strong model says in its plan whether it needs one,
others are asked if the sources contain figures. A program may use only figures that occur in the task or the sources, because
its output counts as evidence. A program computes values; it does not know facts: a line that it prints counts if it has a
figure that was computed, and a label with words of no source is replaced. Else a model could print any sentence and cite it.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from suffice.answers import Statement
from suffice.claims.figures import find_figures
from suffice.claims.whole import add_nearest
from suffice.memory.evidence import drop_repeated_columns, drop_repeated_titles
from suffice.prompts.writing import Compute
from suffice.report.draft import select_writer_notes
from suffice.state.run import RunState
from suffice.text.entities import stem_words
from suffice.text.markdown import unwrap_fence
from suffice.text.sentences import quotable_spans
from suffice.text.tokens import STOP_WORDS, estimate_tokens
from suffice.tools import sandbox
from suffice.types import COMPUTED_KIND, ROW_KINDS, Failure, Note, Passage, Place

_NUMBER = re.compile(r"\d+(?:[,\u202f\u00a0 ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
# Constants that arithmetic needs and no source has to mention: identity, halves, percent, calendar, clock, powers of ten.
_FREE_CONSTANTS = frozenset(
    {0, 0.5, 1, 2, 7, 10, 12, 24, 30, 52, 60, 100, 365, 366, 1_000, 3_600, 1_000_000, 1_000_000_000}
)
_OTHER_MARKS = str.maketrans(",.", ".,")  # 11,9 is 11.9 in many languages, and 20.000 is 20,000.
_FIGURE_TOKENS = 3_000  # Of sentences with figures that a strong model is shown, those nearest to the task.
_UNIT_SCALES = (1, 100, 1e-3, 1e-6, 1e-9)  # 12 % may be written as 0.12, and 3 million as 3_000_000.
_FIGURE = re.compile(r"(?<!\w)-?\d+(?:[,\u202f\u00a0 ]\d{3})*(?:\.\d+)?(?:\s?%)?")
_NEGATION = re.compile(r"\b(?:not?|never|none|neither|nor|without|cannot|false|wrong)\b|n['’]t\b", re.IGNORECASE)
# Words that name an operation, a unit or a relation; they state nothing about the world.
_OPERATION_WORDS = """
per result results total totals sum average mean median difference ratio share rate growth increase decrease change
percent percentage points factor times more less fewer larger smaller higher lower longer shorter older younger
combined together altogether remaining number count value amount approximately about equals minus plus divided
multiplied rounded second seconds minute minutes hour hours day days week weeks month months year years decade decades
hundred thousand million billion trillion usd eur gbp dollars euros kg km m cm mm
"""


async def run_computation(run: RunState, max_attempts: int) -> tuple[bool, ...]:
    """Add a computed passage to the evidence for each program that the task needs; return whether each attempt gave one.

    A program that cannot be used may be corrected by the model. The user is told that a computation was left out, and the
    model why.
    """
    outcomes: list[bool] = []
    if not max_attempts or not _is_wanted(run):
        return ()
    correction = ""
    for _ in range(max_attempts):
        if run.budget.is_spent() or run.must_write_now:
            run.refused[Compute.role] += 1
            break
        notes = select_writer_notes(run)
        shown = () if correction else tuple(filter(None, map(_keep_figures, notes)))
        shown = _select_nearest(run, shown) if run.is_strong else shown
        answer = await run.try_ask(Compute(run.task, ", ".join(sorted(sandbox.ALLOWED_MODULES)), correction, shown))
        code = "" if answer is None else (unwrap_fence(answer.code) or answer.code).strip()
        if answer is None or not code:
            break
        result = await _compute(run, code, notes)
        outcomes.append(not result.error)
        if result.error:
            run.record_failure(
                Failure("compute", "Refused", "a computation was left out: its program could not be used")
            )
            correction = f"You wrote this program from the sources, and it could not be used: {result.error}.\n\n{code}"
            continue
        passage = build_computed_passage(code, result.output, sum(outcomes))
        run.evidence.add(passage)
        run.pinned_ids.add(passage.id)
        correction = ""
        if not answer.more:
            break
    return tuple(outcomes)


def _is_wanted(run: RunState) -> bool:
    """Whether to ask for a program. The question shows the model all figures of the evidence, so a plan may rule it out."""
    if run.is_strong:
        return run.current_plan is None or run.current_plan.calculates is not False
    return sum(len(_NUMBER.findall(note.text)) for note in select_writer_notes(run)) > 1


def _keep_figures(note: Note) -> Note | None:
    """Return the note with its sentences that have a figure, a row of a table whole; ``None`` if it has no figure."""
    if not _NUMBER.search(note.text):
        return None
    spans = [note.text[slice(*span)] for span in quotable_spans(note.text, note.kind)]
    kept = [text for text in spans if text.startswith("|") or _NUMBER.search(text)]  # A table keeps its head.
    return note if note.kind in ROW_KINDS else replace(note, text="\n".join(kept))


def _select_nearest(run: RunState, notes: Sequence[Note]) -> tuple[Note, ...]:
    """Return the notes if they are few or in another language than the task; else computed ones and those near to the task."""
    is_all = run.scope_languages or sum(estimate_tokens(note.text) for note in notes) <= _FIGURE_TOKENS
    by_handle = {" ".join(note.handles): note for note in notes}
    first = [handle for handle, note in by_handle.items() if is_all or note.kind == COMPUTED_KIND]
    wanted = Statement(f"{run.task} {run.current_plan.notes if run.current_plan else ''}")
    near = add_nearest([wanted], first, by_handle, _FIGURE_TOKENS, len(notes))
    return tuple(map(drop_repeated_columns, drop_repeated_titles([*near.values()])))


async def _compute(run: RunState, code: str, notes: tuple[Note, ...]) -> sandbox.ProgramResult:
    """Run a program if the sources have its figures, and keep the result lines that count as evidence."""
    source_text = "\n".join((run.task, *(f"{note.title}\n{note.text}" for note in notes)))
    unsourced = find_unsourced_figure(code, source_text)
    if unsourced:
        return sandbox.ProgramResult(error=unsourced)
    left = run.budget.seconds_left
    limit = sandbox.TIMEOUT_SECONDS if left is None else max(0.1, min(sandbox.TIMEOUT_SECONDS, left))
    result = await sandbox.run_program(code, limit)
    if result.error:
        return result
    output = keep_computed_lines(result.output, code, source_text)
    return sandbox.ProgramResult(output) if output else sandbox.ProgramResult(error="it computes no value")


def find_unsourced_figure(code: str, source_text: str) -> str:
    """Name a figure of the program that does not occur in the sources; empty if there is none."""
    texts = source_text, source_text.translate(_OTHER_MARKS)
    known_figures = {_parse_number(number) for text in texts for number in _NUMBER.findall(text)}
    known_figures.update(figure.value / figure.factor for figure in find_figures(source_text))  # In words too.
    values = list_constants(code)
    figures = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    in_texts = [
        _parse_number(number) for value in values if isinstance(value, str) for number in _NUMBER.findall(value)
    ]
    for figure in (*figures, *in_texts):
        stated = {*(figure * scale for scale in _UNIT_SCALES), abs(figure - 1) * 100}  # 1.25 is a growth of 25 %.
        if figure not in _FREE_CONSTANTS and not any(round(value, 9) in known_figures for value in stated):
            return f"{figure:g} occurs in no source"
    return ""


def build_computed_passage(code: str, output: str, number: int = 1) -> Passage:
    """Return the computation as a passage: each output line as a sentence that can be quoted, then the program."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    results = "\n\n".join(f"{line[0].upper()}{line[1:]}{'' if line[-1] in '.!?' else '.'}" for line in lines)
    name = f"computed:{number}"
    return Passage(name, f"{results}\n\nProgram:\n{code}", "Computed from the sources", Place(name), COMPUTED_KIND)


def _parse_number(text: str) -> float:
    return float(re.sub(r"[^\d.]", "", text))


def keep_computed_lines(output: str, code: str, source_text: str) -> str:
    """Return the lines with a computed figure; a label with words of no source becomes "Result".

    >>> keep_computed_lines("The bridge is safe.\\nSum: 42", "print('The bridge is safe.')\\nprint('Sum:', 40 + 2)", "40 2")
    'Sum: 42'
    """
    quoted = " ".join(value for value in list_constants(code) if isinstance(value, str))
    stated = set(_FIGURE.findall(quoted))
    known = {*stem_words(source_text), *stem_words(_OPERATION_WORDS), *stem_words(" ".join(STOP_WORDS))}
    lines = []
    for line in filter(None, map(str.strip, output.splitlines())):
        figures = [figure for figure in _FIGURE.findall(line) if figure not in stated]
        if not figures:
            continue
        words = {stem for stem in stem_words(line) if not stem.isdecimal()}
        is_borne_out = words <= known and not _NEGATION.search(line)
        lines.append(line if is_borne_out else f"Result: {', '.join(figures)}")
    return "\n".join(lines)


def list_constants(code: str) -> list[object]:
    """Return the constants of a program, without those that format numbers; none if it cannot be parsed."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []  # The sandbox's own check reports this with a better message.
    format_specs = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None
        for part in ast.walk(node.format_spec)
    }
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in format_specs]
