"""The extractive model: hands each prompt to the function that answers it.

What only a language model can answer is left open, and whoever asks goes on without: an agent follows what was found, a gate
abstains, facts are curated by a rule, and a topic is compared by its own words. On 60 questions of MuSiQue, rules that took
the steps of an agent or proposed hypotheses found less.
"""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from suffice.errors import ModelError
from suffice.models.base import Reply
from suffice.models.extractive.belief import compress_facts, extract_facts, rewrite_notes
from suffice.models.extractive.outline import draft_outline, label_cluster
from suffice.models.extractive.planning import plan_queries, propose_query, reflect
from suffice.models.extractive.short_answers import answer_briefly
from suffice.models.reader.model import find_reader
from suffice.prompts.agents import IRCoTStep, MemGPTStep, ReActStep, ShortAnswer
from suffice.prompts.base import Prompt
from suffice.prompts.belief import Compress, Curate, Extract
from suffice.prompts.judging import JudgeProgress, RateNovelty
from suffice.prompts.lab import AnswerFromMemory, RewriteNotes, TrialAnswer
from suffice.prompts.outline import DraftOutline, HypotheticalDocument, LabelCluster
from suffice.prompts.planning import Hypothesize, Plan, ProposeQuery, Reflect
from suffice.types import Embed, Usage

A = TypeVar("A")

_HANDLERS: dict[type, Callable[[Any], Any]] = {
    Plan: plan_queries,
    RewriteNotes: rewrite_notes,
    AnswerFromMemory: answer_briefly,
    TrialAnswer: answer_briefly,
    Extract: extract_facts,
    Compress: compress_facts,
    ShortAnswer: answer_briefly,
    ProposeQuery: propose_query,
    DraftOutline: draft_outline,
    LabelCluster: label_cluster,
}
_LEFT_OPEN = IRCoTStep, ReActStep, MemGPTStep, Hypothesize, JudgeProgress, RateNovelty, Curate, HypotheticalDocument


class ExtractiveModel:
    """Answers prompts with sentences of the sources.

    With ``embed`` it selects them by meaning too, and the reader model looks for what is missing; else by words alone.
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
            answer = await asyncio.to_thread(_HANDLERS[type(prompt)], prompt)
        elif isinstance(prompt, _LEFT_OPEN):
            answer = None
        else:
            raise ModelError(
                f"The extractive model cannot answer {prompt.role!r}; choose a language model with --model"
            )
        return Reply(answer, Usage(calls=1, usd=0.0))
