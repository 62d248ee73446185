"""Where changes of an instruction come from: given texts, or a language model that sees what went badly."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from suffice.errors import InputError
from suffice.models.base import Model, collect_usage
from suffice.prompts.base import override_prompts
from suffice.prompts.lab import ProposeChange
from suffice.types import Usage


@dataclass(frozen=True)
class Proposal:
    """A changed text and what it is expected to do."""

    hypothesis: str
    text: str
    cost_usd: float | None = 0.0


@dataclass(frozen=True)
class TuningState:
    """What a proposer may look at. It never sees a held-out task."""

    name: str
    text: str
    weak_questions: tuple[str, ...]
    """The development questions with the lowest scores, each with the expected answer if one is known."""
    tried: tuple[str, ...]
    """The hypotheses so far, each with its decision."""


Propose = Callable[[TuningState], Awaitable[Proposal | None]]
"""Returns the next change; ``None`` when there is none left."""


def propose_given(texts: Sequence[tuple[str, str]]) -> Propose:
    """Propose given texts in order, each as (hypothesis, text)."""
    remaining = list(texts)

    async def propose(state: TuningState) -> Proposal | None:
        while remaining:
            hypothesis, text = remaining.pop(0)
            if not any(tried.startswith(f"{hypothesis}: ") for tried in state.tried):
                return Proposal(hypothesis, text)
        return None

    return propose


def propose_with_model(model: Model) -> Propose:
    """Ask a language model for one change. An answer that is not a usable text is skipped, three times at most."""

    async def propose(state: TuningState) -> Proposal | None:
        for _ in range(3):
            with collect_usage() as exchanges:
                reply = await model(ProposeChange(state.name, state.text, state.weak_questions, state.tried))
            cost = (sum(exchanges, Usage()) if exchanges else reply.usage).usd
            text = reply.answer.text.strip()
            try:
                with override_prompts({state.name: text}):
                    pass
            except InputError:
                continue
            if text and text != state.text.strip():
                return Proposal(" ".join(reply.answer.hypothesis.split()) or "a change without a reason", text, cost)
        return None

    return propose
