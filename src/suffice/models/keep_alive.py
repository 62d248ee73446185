"""How long Ollama keeps a model in memory between two calls of a run (S4): as long as runs like this one take.

Ollama's OpenAI-compatible address takes no ``keep_alive``; its own ``/api/generate`` does, and without a prompt it loads the
model and answers nothing. What is set there holds for the calls that follow, because those do not speak of it.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from suffice.errors import InputError
from suffice.models.base import Model, ModelWrapper, Reply
from suffice.prompts.base import Prompt
from suffice.prompts.planning import PlanResponse

A = TypeVar("A")

MAX_RECENT_RUNS = 100  # Runs that are looked at,
MIN_RUNS = 5  # if at least this many of them are of the same type; else those of every type.
SAFETY_FACTOR = 1.2
DEFAULT_SECONDS = 450.0  # Seconds, when there are too few runs to tell: S4's 300, and 150 for the review.
DEEP_FACTOR = 1.5
_LOAD_TIMEOUT = 300.0
_DURATION = re.compile(r"-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+|-?\d+(\.\d+)?")


def estimate_keep_alive(runs: Sequence[Mapping[str, Any]], task_type: str | None = None, *, deep: bool = False) -> int:
    """Seconds: the p90 of the runs of this type among the last 100, times 1.2. A run has ``seconds`` and ``task_type``."""
    recent = [run for run in runs if _run_seconds(run) is not None][-MAX_RECENT_RUNS:]
    alike = [run for run in recent if task_type is not None and run.get("task_type") == task_type]
    chosen = alike if len(alike) >= MIN_RUNS else recent
    if len(chosen) < MIN_RUNS:
        return round(DEFAULT_SECONDS * (DEEP_FACTOR if deep else 1.0))
    return max(1, round(_p90(sorted(float(run["seconds"]) for run in chosen)) * SAFETY_FACTOR))


def parse_keep_alive(text: str) -> str | float:
    """What ``OLLAMA_KEEP_ALIVE`` says, as Ollama's interface takes it: a number of seconds or a duration with its unit."""
    if not _DURATION.fullmatch(text):
        raise InputError(
            f"OLLAMA_KEEP_ALIVE={text!r} is no duration; write seconds, a duration such as 10m, or -1 for ever"
        )
    try:
        return float(text)
    except ValueError:
        return text


class KeepAliveModel(ModelWrapper):
    """Wraps a model on Ollama: tells it how long to stay before the first call, and again when the plan says what kind of
    task it is. ``fixed`` is what the user set; it wins."""

    def __init__(
        self,
        model: Model,
        url: str,
        model_name: str,
        *,
        runs: Sequence[Mapping[str, Any]] = (),
        fixed: str | float | None = None,
    ) -> None:
        super().__init__(model)
        self._url = f"{url.rstrip('/').removesuffix('/v1')}/api/generate"
        self._model_name = model_name
        self._runs = runs
        self._fixed = fixed
        self._last_sent: str | float | None = None

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        if self._last_sent is None:
            await self._send_keep_alive(estimate_keep_alive(self._runs))
        reply = await self._model(prompt)
        if isinstance(reply.answer, PlanResponse):
            plan = reply.answer
            await self._send_keep_alive(estimate_keep_alive(self._runs, plan.task_type, deep=plan.complexity == "deep"))
        return reply

    async def _send_keep_alive(self, seconds: float) -> None:
        stay = seconds if self._fixed is None else self._fixed
        if stay == self._last_sent:
            return
        import httpx2

        self._last_sent = stay
        # A server that does not take it keeps the model as long as it likes, and the call that follows says what is wrong.
        with suppress(httpx2.HTTPError):
            async with httpx2.AsyncClient(timeout=_LOAD_TIMEOUT, trust_env=not self.local) as client:
                await client.post(self._url, json={"model": self._model_name, "keep_alive": stay})


def _run_seconds(run: Mapping[str, Any]) -> float | None:
    seconds = run.get("seconds")
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None


def _p90(ordered: Sequence[float]) -> float:
    """The 90th percentile, between the two nearest values."""
    place = 0.9 * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])
