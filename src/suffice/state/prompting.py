"""How a run asks its model: prompts are cut to what the model reads and the budget allows, and every cut is reported.

A draft is streamed while the model writes it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from suffice.errors import BudgetSpent, ModelError, ModelUnusable
from suffice.events import Asked, Drafting, Event, Failed, PromptCompacted
from suffice.models.base import Model, UsageTrackingModel, is_language_model, text_listener
from suffice.models.capability import find_model
from suffice.prompts.base import Prompt
from suffice.prompts.truncate import fit_to_budget
from suffice.prompts.writing import DraftAnswer
from suffice.state.budget import LOW_BUDGET_SHARE, Budget
from suffice.types import Failure

A = TypeVar("A")

# Evidence in one prompt; older evidence is shortened. Value of the source system, see docs/sources.md.
MAX_EVIDENCE_TOKENS = 50_000
MIN_PROMPT_TOKENS = 4_000  # Held even when the token budget is spent, so that an answer is written.
MIN_NOTES_TOKENS = 200  # Evidence that a prompt may always hold.
WRITING_ROLES = ("draft", "answer")  # Asked even when the tokens are used up, so that an answer is written.
MIN_CHUNK_CHARS = 80  # A provider streams a few letters at a time; a Drafting event waits for this many characters.


class Prompter:
    """Asks the model within the budget. ``emit`` receives events, ``error_log`` holds what went wrong."""

    def __init__(self, model: UsageTrackingModel, budget: Budget, emit: Callable[[Event], None]) -> None:
        self.model = model
        self.budget = budget
        self.error_log: list[Failure] = []
        self._emit = emit
        self._delegates: dict[str, Model] = {}
        self.refused: Counter[str] = Counter()
        """Calls that were not made because the budget was spent, by role."""

    def record_failure(self, failure: Failure) -> None:
        """Add a failure to the error log and report it."""
        self.error_log.append(failure)
        self._emit(Failed(failure))

    def delegate(self, roles: Iterable[str], model: Model) -> None:
        """Let another model answer these roles. It costs nothing and is not counted."""
        self._delegates.update(dict.fromkeys(roles, model))

    def get_model(self, role: str) -> Model:
        return self._delegates.get(role, self.model)

    def is_answered_by_language_model(self, role: str) -> bool:
        """Return whether a language model answers a role, so that asking costs something."""
        return is_language_model(find_model(self.get_model(role), role))

    def must_refuse(self, role: str) -> bool:
        """Return whether the budget has nothing left for a call. Spent tokens still allow to write, spent money does not."""
        if not self.budget.is_spent(include_time=False) or not self.is_answered_by_language_model(role):
            return False
        return role not in WRITING_ROLES or self.budget.usd_left == 0

    async def ask(self, prompt: Prompt[A]) -> A:
        """Return the model's answer.

        Raise ``ModelError`` when it fails or cannot read even the shortened prompt, ``BudgetSpent`` when it may not be asked.
        """
        if self.must_refuse(prompt.role):
            self.refused[prompt.role] += 1
            raise BudgetSpent(f"{prompt.role!r} was not asked: the run has used up its tokens or its money")
        limit, why = self.compute_prompt_budget(prompt.max_tokens)
        fitted = fit_to_budget(prompt, limit)
        context = self.model.context
        if context is not None and fitted.tokens > context - prompt.max_tokens:
            raise ModelError(
                f"The shortest prompt for {prompt.role!r} has about {fitted.tokens:,} tokens, but {self.model.name} reads "
                f"{context:,}; choose a model with a longer context or shorten the question"
            )
        if fitted.shortened_count:
            reason = f"the prompt for {prompt.role!r} was too long: {why}"
            self._emit(PromptCompacted(reason, fitted.whole_count, fitted.shortened_count))
        if self.is_answered_by_language_model(prompt.role):
            self._emit(Asked(prompt.role, fitted.prompt.render()))
        try:
            with stream_draft(fitted.prompt, self._emit):
                reply = await self.get_model(prompt.role)(fitted.prompt)
        except ModelError as error:
            for failure in error.failures:
                self.record_failure(failure)
            raise
        for failure in reply.failures:
            self.record_failure(failure)
        return reply.answer

    async def try_ask(self, prompt: Prompt[A]) -> A | None:
        """Return the model's answer, or ``None`` after recording why there is none."""
        try:
            return await self.ask(prompt)
        except ModelUnusable:
            raise
        except BudgetSpent:
            return None
        except ModelError as error:
            self.record_failure(Failure(prompt.role, type(error).__name__, str(error), error.retryable))
            return None

    def compute_prompt_budget(self, answer_tokens: int) -> tuple[int, str]:
        """Return how many tokens a prompt may hold beside its answer, and what sets that limit."""
        limit, why = self._compute_context_limit(answer_tokens)
        left = self.budget.tokens_left
        if left is not None and max(left - answer_tokens, MIN_PROMPT_TOKENS) < limit:
            return max(left - answer_tokens, MIN_PROMPT_TOKENS), self._describe_tokens_left(left)
        return limit, why

    def compute_notes_budget(self) -> tuple[int, str]:
        """Return how many tokens of evidence a prompt may show, and what sets that limit."""
        limit, why = min((MAX_EVIDENCE_TOKENS, _EVIDENCE_LIMIT), self._compute_context_limit(0))
        left, total = self.budget.tokens_left, self.budget.bounds.tokens
        if left is not None and total is not None and left < LOW_BUDGET_SHARE * total:
            return min(limit, max(left // 2, MIN_NOTES_TOKENS)), self._describe_tokens_left(left)
        return limit, why

    def _compute_context_limit(self, answer_tokens: int) -> tuple[int, str]:
        """A model that does not state its context gets prompts of a usual size."""
        if self.model.context is None:
            return MAX_EVIDENCE_TOKENS, _EVIDENCE_LIMIT
        return self.model.context - answer_tokens, f"the model reads {self.model.context} tokens"

    def _describe_tokens_left(self, left: int) -> str:
        return f"{left} of {self.budget.bounds.tokens} tokens are left"


_EVIDENCE_LIMIT = f"the evidence is over {MAX_EVIDENCE_TOKENS} tokens"


@contextmanager
def stream_draft(prompt: Prompt[Any], emit: Callable[[Event], None]) -> Iterator[None]:
    """Emit ``Drafting`` events while a draft streams; other prompts are not streamed."""
    if not isinstance(prompt, DraftAnswer):
        yield
        return
    pending: list[str] = []

    def flush() -> None:
        if pending:
            emit(Drafting("".join(pending), prompt.section))
            pending.clear()

    def receive(text: str) -> None:
        if not text:  # The model starts again.
            pending.clear()
            emit(Drafting("", prompt.section))
            return
        pending.append(text)
        if "\n" in text or sum(map(len, pending)) >= MIN_CHUNK_CHARS:
            flush()

    token = text_listener.set(receive)
    try:
        yield
    finally:
        text_listener.reset(token)
        flush()
