"""What a trace and a report show of a run's state: the belief after a round, the record of a round, the final state."""

from dataclasses import asdict, replace
from typing import Any

from suffice.events import BeliefSnapshot
from suffice.memory.evidence import Evidence
from suffice.state.run import RunState
from suffice.text.plain import to_one_line
from suffice.types import Note, Round, RoundRecord, Verdict

TRACE_BELIEF_TOKENS = 1_000  # Tokens of the belief in a trace …
TRACE_NOTE_CHARS = 400  # … and characters of each note.
MAX_RECORD_ITEMS = 16  # Passages and notes that the record of a round lists …
MAX_RECORD_NOTE_CHARS = 200  # … and characters of each note.


def snapshot_belief(run: RunState) -> BeliefSnapshot:
    """Return a short form of the belief: extra notes such as weighed hypotheses first, then the memory's."""
    notes = (*(note for render in run.extra_notes for note in render()), *run.render_memory(TRACE_BELIEF_TOKENS))
    return BeliefSnapshot(
        tuple(replace(note, text=note.text[:TRACE_NOTE_CHARS]) for note in notes), run.open_questions.open
    )


def complete_record(run: RunState, round: Round, verdict: Verdict, belief: BeliefSnapshot) -> RoundRecord:
    """Return the latest record with what its round found and what was believed after it.

    If the belief is too long, notes that the record before does not have are preferred.
    """
    *earlier, record = run.records[-2:]
    notes = [_shorten_note(note, run.evidence) for note in belief.notes]
    known = {note for before in earlier for note in before.belief}
    chosen = sorted(range(len(notes)), key=lambda i: (notes[i] in known, i))[:MAX_RECORD_ITEMS]
    return replace(
        record,
        new_passages=len(round.new),
        verdicts=verdict.leaves,
        found=tuple(f"{passage.title} ({passage.location})" for passage in round.new[:MAX_RECORD_ITEMS]),
        belief=tuple(notes[i] for i in sorted(chosen)),
        open=belief.open,
    )


def snapshot_state(run: RunState, stop_reason: str = "") -> dict[str, Any]:
    """Return the run's state for the ``stopped`` event. The field names are published, see docs/sources.md.

    ``errors`` are the failures of ``error_log`` with all their fields; ``query_intents`` says what each query is for.
    """
    planned = run.current_plan.queries if run.current_plan else ()
    return {
        "task": run.task,
        "plan_queries": [one.query for one in planned],
        "query_intents": run.searches.intents | {one.query: one.intent for one in planned},
        "search_results": [passage.id for passage in run.evidence],
        "citations": [run.evidence.get_handle(passage) for passage in run.evidence],
        "iteration": len(run.records),
        "max_iters": run.budget.bounds.rounds,
        "max_execution_time_s": run.budget.bounds.seconds,
        "sufficient": run.sufficient,
        "confidence": None if run.reflection is None else run.reflection.confidence,
        "gaps": list(run.gaps),
        "failed_queries": list(run.searches.thin_queries),
        "error_log": [failure.message for failure in run.error_log],
        "errors": [asdict(failure) for failure in run.error_log],
        "token_budget": run.budget.tokens_left,
        "insufficient_termination": run.is_insufficient(stop_reason),
        "degraded_mode": run.searches.is_degraded,
    }


def _shorten_note(note: Note, evidence: Evidence) -> str:
    """Return the note on one line, with the titles of its sources."""
    sources = [found.title for handle in note.handles if (found := evidence.find_passage(handle)) is not None]
    text = to_one_line(note.text, MAX_RECORD_NOTE_CHARS)
    return f"{text} ({'; '.join(dict.fromkeys(sources))})" if sources else text
