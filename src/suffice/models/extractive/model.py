"""The extractive model: each ask goes to the function that answers it."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from suffice.asks import (
    Act,
    Ask,
    Compress,
    Curate,
    Draft,
    DraftOutline,
    Extract,
    Gap,
    Hypothesize,
    Hypothetical,
    Judge,
    Label,
    Novelty,
    Plan,
    Reflect,
    ShortAnswer,
    Step,
    Thought,
)
from suffice.errors import ModelError
from suffice.leads import Embed
from suffice.models.base import Reply
from suffice.models.extractive.assess import judge, novelty
from suffice.models.extractive.compress import compress
from suffice.models.extractive.curate import curate
from suffice.models.extractive.draft import draft
from suffice.models.extractive.extract import extract
from suffice.models.extractive.gap import gap
from suffice.models.extractive.harness import act, short_answer, step, thought
from suffice.models.extractive.hypotheses import hypotheses
from suffice.models.extractive.outline import hypothetical, label, outline
from suffice.models.extractive.plan import plan
from suffice.models.extractive.reflect import reflect
from suffice.types import Usage

A = TypeVar("A")

_ANSWERS: dict[type, Callable[[Any], Any]] = {
    Plan: plan,
    Reflect: reflect,
    Novelty: novelty,
    Judge: judge,
    Extract: extract,
    Curate: curate,
    Compress: compress,
    Thought: thought,
    Act: act,
    Step: step,
    ShortAnswer: short_answer,
    Gap: gap,
    DraftOutline: outline,
    Hypothetical: hypothetical,
    Hypothesize: hypotheses,
    Label: label,
}


class Extractive:
    """``embed`` makes its choice of sentences better; without it words alone decide."""

    name = "extractive"
    local = True

    def __init__(self, embed: Embed | None = None) -> None:
        self._embed = embed

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        if isinstance(ask, Draft):
            answer: Any = await asyncio.to_thread(draft, ask, self._embed)
        elif type(ask) in _ANSWERS:
            answer = _ANSWERS[type(ask)](ask)
        else:
            raise ModelError(f"The extractive model cannot answer {ask.role!r}; choose a language model with --model")
        return Reply(answer, Usage(calls=1, usd=0.0))
