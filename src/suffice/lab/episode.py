"""One question in one cell: search with the harness, answer from the memory condition, score, and return the row.

The harness is faithful: its own queries only, repeated ones included. The answer sees what the memory condition holds and
nothing else, through one prompt that all cells share.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from suffice import plugins
from suffice.engine.bounds import add_budget
from suffice.engine.loop import run_loop
from suffice.errors import ModelError
from suffice.events import RoundDone
from suffice.gates.parse import parse_gate
from suffice.lab.conditions import get_condition, render_for_answer
from suffice.lab.data import LabQuestion
from suffice.lab.experiment import NO_GATE, Cell
from suffice.lab.gaps import SearchRecord, SearchRound, detect_gaps
from suffice.lab.scores import cosine, judge_answer, score_lexically
from suffice.measure.answers import is_abstention
from suffice.meters import EMBEDDING_READINGS, build_meters
from suffice.models.base import Model, UsageTrackingModel
from suffice.prompts.lab import AnswerFromMemory, GradeAnswer, GradeResponse
from suffice.search.base import Search
from suffice.state.prompting import Prompter
from suffice.state.run import RunState
from suffice.types import Bounds, Embed, Readings, Stop, Usage

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EpisodeParts:
    """What an episode runs with. ``search`` retrieves; ``embed`` is for readings and scores that need it."""

    search: Search
    model: Model
    judge: Model | None = None
    embed: Embed | None = None
    seed: int = 0
    answers_each_round: bool = False
    keep_text: bool = True


async def run_episode(cell: Cell, question: LabQuestion, parts: EpisodeParts) -> Row:
    """Return the row of a question. A failure of the model becomes the row's ``error``."""
    started_at = time.monotonic()
    gate = add_budget(None if cell.gate == NO_GATE else parse_gate(cell.gate), Bounds(rounds=cell.rounds))
    run = RunState(
        question.text,
        parts.model,
        get_condition(cell.memory),
        run_id=f"{cell.name} {question.id}",
        bounds=Bounds(rounds=cell.rounds),
        seed=parts.seed,
        limits=cell.limits,
        faithful=True,
    )
    embed = None if gate.needs.isdisjoint(EMBEDDING_READINGS) else parts.embed
    meters = build_meters(gate.needs, question.text, embed)
    strategy = plugins.load_plugin("strategies", cell.harness)()
    episode = _Episode(cell, question, parts, run)
    stopped = await run_loop(run, parts.search, strategy, gate, meters, k=cell.k, after_round=episode.record_round)
    return {**await episode.build_row(stopped.stop), "seconds": round(time.monotonic() - started_at, 3)}


@dataclass
class _Episode:
    """What happened round by round."""

    cell: Cell
    question: LabQuestion
    parts: EpisodeParts
    run: RunState
    rounds: list[SearchRound] = field(default_factory=list)
    recall: list[float | None] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    answers: list[tuple[str, Usage]] = field(default_factory=list)
    readings: list[Readings] = field(default_factory=list)

    async def record_round(self, event: RoundDone) -> None:
        passages: dict[str, str | None] = {
            passage.id: f"{passage.title}\n{passage.text}" for passage in (*event.round.raw, *event.round.new)
        }
        self.rounds.append(SearchRound(event.round.queries, passages))
        gold = self.question.gold
        self.recall.append(len(gold & {passage.id for passage in self.run.evidence}) / len(gold) if gold else None)
        self.tokens.append(self.run.budget.tokens_used)
        self.readings.append(event.readings)
        if self.parts.answers_each_round and self.cell.gate == NO_GATE:
            answer, usage, _ = await self._answer()
            self.answers.append((answer, usage))

    async def _answer(self) -> tuple[str, Usage, bool]:
        """Return the answer from what the memory holds, what it cost, and whether the call failed. It is not billed to the
        run."""
        run = self.run
        tracked = UsageTrackingModel(self.parts.model)
        prompter = Prompter(tracked, run.budget, lambda event: None)
        answer = await prompter.try_ask(AnswerFromMemory(run.task, render_for_answer(run.memory)))
        run.error_log += prompter.error_log
        return "" if answer is None else answer.text.strip(), tracked.total, answer is None

    async def _judge(self, answer: str, judge: Model) -> tuple[float | None, Usage]:
        tracked = UsageTrackingModel(judge)

        async def ask(prompt: GradeAnswer) -> GradeResponse | None:
            try:
                return (await tracked(prompt)).answer
            except ModelError:
                return None

        return await judge_answer(self.question.text, answer, self.question.answers, ask), tracked.total

    async def build_row(self, stop: Stop) -> Row:
        """Answer, score and return the row."""
        cell, question, parts, run = self.cell, self.question, self.parts, self.run
        # The last of the extra answers is the answer; now it is billed.
        answer, answer_usage, failed = (*self.answers[-1], False) if self.answers else await self._answer()
        judge_score, judge_usage = None, Usage()
        if parts.judge is not None:
            judge_score, judge_usage = await self._judge(answer, parts.judge)
        total = run.model.total + answer_usage
        usage_by_role = {**run.model.by_role, "answer": answer_usage}
        fired = cell.gate != NO_GATE and not stop.gate.startswith(("budget", "planner", "breaker"))
        memory_text = "\n".join(f"{note.title}\n{note.text}" for note in render_for_answer(run.memory))
        rounds, gold = tuple(self.rounds), question.gold or None
        record = SearchRecord(question.text, rounds, answer, stop.reason, question.answers, gold, memory_text)
        scores = {
            **score_lexically(answer, question.answers),
            "cosine": cosine(answer, question.answers, parts.embed),
            "judge": judge_score,
        }
        failures = [failure for failure in run.error_log if failure.kind != "Refused"]
        row: Row = {
            **name_row(cell, question, parts.model.name),
            "scores": {name: _round(value) for name, value in scores.items()},
            "recall": _round(self.recall[-1]) if self.recall else None,
            "abstained": is_abstention(answer),
            "stop": stop.reason,
            "fired": fired,
            "fire_round": len(rounds) if fired else None,
            "rounds": len(rounds),
            "queries": sum(len(round.queries) for round in rounds),
            "calls": total.calls,
            "input_tokens": total.input_tokens,
            "output_tokens": total.output_tokens,
            "by_role": {
                role: [used.calls, used.input_tokens, used.output_tokens] for role, used in usage_by_role.items()
            },
            "judge_tokens": judge_usage.input_tokens + judge_usage.output_tokens,
            "cost_usd": _round((total + judge_usage).usd, 6),
            "recall_by_round": [_round(value) for value in self.recall],
            "tokens_by_round": self.tokens,
            "similarity_by_round": [_round(readings.get("overlap.jaccard")) for readings in self.readings],
            "new_by_round": [_round(readings.get("overlap.upr")) for readings in self.readings],
            "gaps": detect_gaps(record),
            "refused": len(run.error_log) - len(failures),
            "failures": len(failures),
            "error": failures[-1].message if (failed or not rounds) and failures else None,
        }
        if self.answers:
            row["f1_by_round"] = [_round(score_lexically(text, question.answers)["f1"]) for text, _ in self.answers]
            row["answer_tokens_by_round"] = [used.input_tokens + used.output_tokens for _, used in self.answers]
        if parts.keep_text:
            row |= {
                "answer": answer,
                "query_texts": [list(round.queries) for round in rounds],
                "passages_by_round": [list(round.passages) for round in rounds],
            }
        return row


def _round(value: float | None, digits: int = 4) -> float | None:
    return None if value is None else round(value, digits)


def name_row(cell: Cell, question: LabQuestion, model: str) -> Row:
    """Return what every row has, also that of a question that could not be run."""
    return {
        "question": question.id,
        "group": question.group,
        "answerable": question.answerable,
        "harness": cell.harness,
        "memory": cell.memory,
        "gate": cell.gate,
        "variant": cell.variant,
        "model": model,
    }
