"""The extractive model: hands each prompt to the function that answers it."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from suffice.errors import ModelError
from suffice.models.base import Reply
from suffice.models.extractive.agents import answer_briefly, answer_from_memory, leave_open
from suffice.models.extractive.belief import compress_facts, curate_facts, extract_facts, rewrite_notes
from suffice.models.extractive.judging import judge_progress, rate_novelty
from suffice.models.extractive.outline import draft_outline, echo_topic, label_cluster
from suffice.models.extractive.planning import plan_queries, propose_hypotheses, propose_query, reflect
from suffice.models.reader import find_reader
from suffice.prompts.agents import IRCoTStep, MemGPTStep, ReActStep, ShortAnswer
from suffice.prompts.base import Prompt
from suffice.prompts.belief import Compress, Curate, Extract
from suffice.prompts.judging import JudgeNeutrally, JudgeProgress, RateNovelty
from suffice.prompts.lab import AnswerFromMemory, RewriteNotes, TrialAnswer
from suffice.prompts.outline import DraftOutline, HypotheticalDocument, LabelCluster
from suffice.prompts.planning import Hypothesize, Plan, ProposeQuery, Reflect
from suffice.types import Embed, Usage

A = TypeVar("A")

_HANDLERS: dict[type, Callable[[Any], Any]] = {
    Plan: plan_queries,
    RateNovelty: rate_novelty,
    JudgeProgress: judge_progress,
    JudgeNeutrally: judge_progress,
    RewriteNotes: rewrite_notes,
    AnswerFromMemory: answer_from_memory,
    TrialAnswer: answer_from_memory,
    Extract: extract_facts,
    Curate: curate_facts,
    Compress: compress_facts,
    IRCoTStep: leave_open,
    ReActStep: leave_open,
    MemGPTStep: leave_open,
    ShortAnswer: answer_briefly,
    ProposeQuery: propose_query,
    DraftOutline: draft_outline,
    HypotheticalDocument: echo_topic,
    Hypothesize: propose_hypotheses,
    LabelCluster: label_cluster,
}


class ExtractiveModel:
    """Answers prompts with sentences of the sources.

    With ``embed`` it selects them by meaning too, and lets the reader model look for the answer; else by words alone.
    """

    name = "extractive"
    local = True
    is_language_model = False

    def __init__(self, embed: Embed | None = None) -> None:
        self._embed = embed

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        if isinstance(prompt, Reflect):
            reader = find_reader() if self._embed is not None else None
            answer: Any = await asyncio.to_thread(reflect, prompt, reader)
        elif type(prompt) in _HANDLERS:
            answer = _HANDLERS[type(prompt)](prompt)
        else:
            raise ModelError(
                f"The extractive model cannot answer {prompt.role!r}; choose a language model with --model"
            )
        return Reply(answer, Usage(calls=1, usd=0.0))
