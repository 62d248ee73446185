"""How long Ollama keeps a model in memory between two calls of a run: as long as similar runs take.

Ollama's OpenAI-compatible API has no ``keep_alive``. Its own ``/api/generate`` has; without a prompt it only loads the model.
The value set there holds for the calls that follow, because those do not set one.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from statistics import quantiles
from typing import Any, TypeVar

from suffice.errors import InputError
from suffice.models.base import Model, ModelWrapper, Reply
from suffice.models.llm.endpoint import server_root
from suffice.prompts.base import Prompt
from suffice.prompts.planning import PlanResponse

A = TypeVar("A")

MAX_RECENT_RUNS = 100
MIN_RUNS = 5  # With fewer runs of the same task type, runs of every type are used.
SAFETY_FACTOR = 1.2
# With too few runs: 300 (value of the source system, see docs/sources.md) and 150 for the review.
DEFAULT_SECONDS = 450.0
DEEP_FACTOR = 1.5
# Of the skills, likewise; -1: for ever.
SKILL_SECONDS = {"lit-review": -1, "github": 90, "email": 90, "recall": 90}
_LOAD_TIMEOUT = 300.0
_DURATION = re.compile(r"-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+|-?\d+(\.\d+)?")


class KeepAliveModel(ModelWrapper):
    """Wraps a model on Ollama and sets how long it stays loaded: before the first call, and again when the plan tells the
    task type. ``fixed``, the user's own value, wins."""

    def __init__(
        self,
        model: Model,
        url: str,
        model_name: str,
        *,
        runs: Sequence[Mapping[str, Any]] = (),
        fixed: str | float | None = None,
        skills: Sequence[str] = (),
    ) -> None:
        super().__init__(model)
        self._url = f"{server_root(url)}/api/generate"
        self._model_name = model_name
        self._runs = runs
        self._fixed = fixed
        self._skills = skills
        self._last_sent: str | float | None = None

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        if self._last_sent is None:
            await self._send_keep_alive(estimate_keep_alive(self._runs, skills=self._skills))
        reply = await self.wrapped(prompt)
        if isinstance(reply.answer, PlanResponse):
            plan = reply.answer
            skills = (*self._skills, "deep") if plan.complexity == "deep" else self._skills
            await self._send_keep_alive(estimate_keep_alive(self._runs, plan.task_type, skills))
        return reply

    async def _send_keep_alive(self, seconds: float) -> None:
        keep_alive = seconds if self._fixed is None else self._fixed
        if keep_alive == self._last_sent:
            return
        import httpx2

        self._last_sent = keep_alive
        # A server that rejects it keeps its own value. If the server is down, the call that follows says so.
        with suppress(httpx2.HTTPError):
            async with httpx2.AsyncClient(timeout=_LOAD_TIMEOUT, trust_env=not self.local) as client:
                await client.post(self._url, json={"model": self._model_name, "keep_alive": keep_alive})


def estimate_keep_alive(
    runs: Sequence[Mapping[str, Any]], task_type: str | None = None, skills: Sequence[str] = ()
) -> int:
    """Return seconds: the 90th percentile of the last 100 runs of this type, times 1.2. A run has ``seconds`` and
    ``task_type``. With too few runs the run's skills decide."""
    timed = (run for run in runs if isinstance(run.get("seconds"), int | float) and run["seconds"] > 0)
    recent = list(timed)[-MAX_RECENT_RUNS:]
    similar = [run for run in recent if task_type is not None and run.get("task_type") == task_type]
    chosen = similar if len(similar) >= MIN_RUNS else recent
    if len(chosen) < MIN_RUNS:
        known = next((SKILL_SECONDS[skill] for skill in skills if skill in SKILL_SECONDS), None)
        return known or round(DEFAULT_SECONDS * (DEEP_FACTOR if "deep" in skills else 1.0))
    p90: float = quantiles((run["seconds"] for run in chosen), n=10, method="inclusive")[-1]
    return max(1, round(p90 * SAFETY_FACTOR))


def parse_keep_alive(text: str) -> str | float:
    """Return ``OLLAMA_KEEP_ALIVE`` as Ollama's API takes it: a number of seconds, or a duration with its unit."""
    if not _DURATION.fullmatch(text):
        raise InputError(
            f"OLLAMA_KEEP_ALIVE={text!r} is not a duration; write seconds, a duration such as 10m, or -1 for no limit"
        )
    try:
        return float(text)
    except ValueError:
        return text
