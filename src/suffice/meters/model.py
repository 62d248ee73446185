"""Readings that cost a model call. Each is taken only if the gate needs it.

novelty.model         0–10: how much the round adds to the memory, as the model rates it; taken before the round is accepted
sufficiency.model     1 if the reflection calls the evidence sufficient, else 0
confidence.answer     0–1: the confidence that the reflection states
judged.conservative   how exhausted the search is: 0 productive, 0.5 stale query, 1 exhausted; in doubt, productive
judged.neutral        the same without that tie-break
"""

from dataclasses import replace

from suffice.meters.base import LiveRun, MeterContext, Moment
from suffice.prompts import JudgeProgress, RateNovelty
from suffice.types import Note, Readings, Round

# Characters of a result or note that the model sees. Value of the source system, see docs/sources.md.
SNIPPET_CHARS = 800
_KNOWN_TOKENS = 800  # Tokens of memory that a round is compared with.
_JUDGED_QUERIES = 10  # Latest queries that the model sees when it judges progress.
_TIE_BREAKS = {"judged.conservative": "In doubt, answer PRODUCTIVE.", "judged.neutral": ""}
_PROGRESS_SCORES = {"PRODUCTIVE": 0.0, "QUERY_STALE": 0.5, "EXHAUSTED": 1.0}


class ModelNoveltyMeter:
    moment: Moment = "before"
    names: tuple[str, ...] = ("novelty.model",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        """Make the meter as every meter is made; it needs nothing of the context."""

    async def read_with_model(self, round: Round, run: LiveRun) -> Readings:
        known = tuple(replace(note, text=note.text[:SNIPPET_CHARS]) for note in run.render_memory(_KNOWN_TOKENS))
        answer = await run.try_ask(RateNovelty(run.task, known, _build_snippets(round)))
        score = None if answer is None else answer.score
        return {"novelty.model": float(score) if score is not None and 0 <= score <= 10 else None}


class ModelSufficiencyMeter:
    moment: Moment = "after"
    names: tuple[str, ...] = ("sufficiency.model", "confidence.answer")

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        """Make the meter as every meter is made; it needs nothing of the context."""

    async def read_with_model(self, round: Round, run: LiveRun) -> Readings:
        reflection = await run.reflect()
        if reflection is None:
            return dict.fromkeys(self.names)
        return {"sufficiency.model": float(reflection.sufficient), "confidence.answer": reflection.confidence}


class ModelVerdictMeter:
    moment: Moment = "after"

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self.names: tuple[str, ...] = tuple(name for name in _TIE_BREAKS if name in context.needs)

    async def read_with_model(self, round: Round, run: LiveRun) -> Readings:
        readings: dict[str, float | None] = {}
        for name in self.names:
            queries = tuple(run.asked_queries[-_JUDGED_QUERIES:])
            answer = await run.try_ask(JudgeProgress(run.task, _TIE_BREAKS[name], queries, _build_snippets(round)))
            readings[name] = None if answer is None else _PROGRESS_SCORES.get(answer.verdict)
        return readings


def _build_snippets(round: Round) -> tuple[Note, ...]:
    return tuple(Note(passage.text[:SNIPPET_CHARS], (), passage.title, passage.kind, False) for passage in round.new)
