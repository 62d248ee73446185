"""A language model behind the Model seam: from a prompt to its typed response.

Where the provider supports it, a structured response is bound to a JSON schema. A response that cannot be read (``parse``) is
requested once more, with the reason; if that fails too, what can be saved of it is used, or the call fails. The usage and the
``failures`` of the reply include every step.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from suffice.errors import ModelDeclined, ModelError, ModelOutputError, ModelUnusable
from suffice.models.base import Reply, text_listener, usage_listener
from suffice.models.llm.client import FailureCallback, ProviderConnection, ProviderError
from suffice.models.llm.endpoint import Endpoint
from suffice.models.llm.messages import build_message, count_message_tokens, response_schema, retry_messages
from suffice.models.llm.parse import (
    UnreadableAnswer,
    parse_answer,
    salvage_answer,
    token_margins,
    trim_to_sentence,
    truncate_items,
)
from suffice.models.prices import Price
from suffice.prompts.base import Prompt
from suffice.text.plain import to_one_line
from suffice.text.tokens import estimate_tokens
from suffice.types import Failure, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse

A = TypeVar("A")

NO_THINK_MAX_TOKENS = 8_192  # Output tokens of a thinking model with thinking off: some think all the same.
THINK_MAX_TOKENS = 16_384
MAX_ANSWER_CHARS = 100_000  # More than these limits allow; a server that ignores them would have a megabyte checked.


class LanguageModel:
    """A model at an endpoint. Without a ``price`` the cost of its calls is unknown."""

    is_language_model = True

    def __init__(self, endpoint: Endpoint, price: Price | None = None) -> None:
        self.name = endpoint.name
        self.local = endpoint.local
        self.context = endpoint.context
        self.supports_vision = endpoint.supports_vision
        self.price = price
        self.has_price = price is not None
        self.endpoint = endpoint
        self._connection = ProviderConnection(endpoint)
        # Assumed until the server rejects them.
        self._supports_schema = True
        self._supports_logprobs = endpoint.provider not in ("anthropic", "google")

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        conversation = _Conversation(self, prompt)
        try:
            answer = await conversation.answer()
        except ModelError as error:
            error.usage = conversation.usage
            error.failures = tuple(conversation.failures)
            if isinstance(error, ProviderError) and error.is_fatal:
                raise ModelUnusable(str(error), usage=error.usage, failures=error.failures) from error
            raise
        return Reply(answer, conversation.usage, tuple(conversation.failures))

    async def request(
        self,
        prompt: Prompt[Any],
        messages: "list[ModelMessage]",
        max_tokens: int,
        on_failure: FailureCallback,
        report: Callable[[str, str], None],
    ) -> "ModelResponse":
        """Return the response of one exchange. A server that rejects schemas or log-probabilities is asked without them
        from then on."""
        listener = text_listener.get() if prompt.output_format == "text" else None
        while True:
            use_schema = self._supports_schema and prompt.output_format == "json"
            use_logprobs = self._supports_logprobs and prompt.needs_margins
            try:
                return await self._connection.call(
                    messages,
                    await self._build_settings(prompt, max_tokens, count_message_tokens(messages), use_logprobs),
                    _build_request_parameters(prompt, use_schema),
                    listener=listener,
                    on_failure=on_failure,
                )
            except ProviderError as error:
                if not error.is_rejected or not (use_schema or use_logprobs):
                    raise
                if use_schema:
                    self._supports_schema = False
                    report("SchemaRefused", f"{error}; asking by prompt alone from now on")
                else:
                    self._supports_logprobs = False
                    report("LikelihoodsRefused", f"{error}; asking without log-probabilities from now on")

    async def _build_settings(
        self, prompt: Prompt[Any], max_tokens: int, prompt_tokens: int, use_logprobs: bool
    ) -> Any:
        client = await self._connection.get_client()
        endpoint = self.endpoint
        always_thinks = bool(client.profile.get("thinking_always_enabled", False))
        settings: dict[str, Any] = {
            "temperature": prompt.temperature,
            "max_tokens": self._limit_output(max_tokens, prompt_tokens, always_thinks),
            "timeout": endpoint.timeout_seconds,
        }
        if not endpoint.think and is_thinking_model(endpoint.model):
            if endpoint.provider not in ("anthropic", "google"):
                # Ollama's parameter, and that of vLLM and llama.cpp. Servers ignore the parameters they do not know.
                settings["extra_body"] = {
                    "reasoning_effort": "none",
                    "chat_template_kwargs": {"enable_thinking": False},
                }
        elif not endpoint.think and client.profile.get("supports_thinking", False):
            settings["thinking"] = False
        if use_logprobs:
            settings |= {"openai_logprobs": True, "openai_top_logprobs": 2}
        return settings

    def _limit_output(self, max_tokens: int, prompt_tokens: int, always_thinks: bool) -> int:
        """Return the output tokens to allow: at most what the context has left beside the prompt."""
        limit = max_tokens
        if always_thinks or is_thinking_model(self.endpoint.model):
            limit = max(max_tokens, THINK_MAX_TOKENS if self.endpoint.think else NO_THINK_MAX_TOKENS)
        if self.context is None:
            return limit
        # Room to think is optional. Our count of the prompt may be too low, and some servers reject what would not fit.
        limit = min(limit, self.context - prompt_tokens - prompt_tokens // 2)
        return min(max(max_tokens, limit), self.context - prompt_tokens)


class _Conversation:
    """One prompt until it is answered: at most two exchanges, and what they cost."""

    def __init__(self, model: LanguageModel, prompt: Prompt[Any]) -> None:
        self._model = model
        self._prompt = prompt
        self._prompt_text = prompt.render()
        self._prompt_tokens = 0  # Estimated tokens of the last exchange's messages.
        self.usage = Usage()
        self.failures: list[Failure] = []
        self._attempts: list[tuple[str, bool]] = []  # The texts so far, and whether each was cut off.
        # Of the last exchange: the lead of each token over the second best.
        self._margins: tuple[float, ...] = ()

    async def answer(self) -> Any:
        messages = [build_message(self._prompt, self._prompt_text)]
        if not self._fits(messages):
            raise ModelError(
                f"The prompt of {self._prompt.role!r} has about {count_message_tokens(messages)} tokens and "
                f"{self._model.name} reads {self._model.context}; choose a model that reads more, or set SUFFICE_CONTEXT "
                "if it does"
            )
        try:
            answer = await self._attempt(messages, self._prompt.max_tokens)
        except UnreadableAnswer as error:
            answer = await self._retry(str(error))
        if self._margins:
            answer = replace(answer, margins=self._margins)
        answer, dropped = truncate_items(self._prompt, answer)
        if dropped:
            limit = self._prompt.most  # type: ignore[attr-defined]
            self._report(
                "TooMany",
                f"{dropped + limit} {self._prompt.bounded_field} where at most {limit} were requested; the first are used",
            )
        return answer

    async def _attempt(self, messages: "list[ModelMessage]", max_tokens: int) -> Any:
        """Return the response of one exchange; raise ``UnreadableAnswer`` with the reason when there is none."""
        text, was_cut = await self._exchange(messages, max_tokens)
        self._attempts.append((text, was_cut))
        cut_off = f"cut off at its limit of {self._prompt.max_tokens} tokens"
        is_shortened = was_cut and self._prompt.output_format == "text"
        try:
            answer = parse_answer(self._prompt, trim_to_sentence(text) if is_shortened else text)
        except UnreadableAnswer as error:
            raise UnreadableAnswer(f"{error} ({cut_off})" if was_cut else str(error)) from error
        if is_shortened:
            self._report("CutOff", f"the text was {cut_off}")
        return answer

    async def _retry(self, reason: str) -> Any:
        """Ask once more, with the reason; then use what can be saved."""
        context = self._model.context
        limit = None if context is None else context - self._prompt.max_tokens  # Room for the response is left.
        messages = retry_messages(self._prompt, self._prompt_text, self._attempts[0][0], reason, limit)
        if self._fits(messages):
            self._report("BadAnswer", f"{reason}; asked again")
            try:
                return await self._attempt(messages, 2 * self._prompt.max_tokens)
            except UnreadableAnswer as error:
                reason = str(error)
        else:
            self._report("BadAnswer", f"{reason}; not asked again, because {self._model.name} reads {context} tokens")
        for text, was_cut in reversed(self._attempts):
            try:
                answer = salvage_answer(self._prompt, text, was_cut=was_cut)
            except UnreadableAnswer:
                continue
            self._report("Repaired", f"{reason}; the readable part is used")
            return answer
        if not any(text for text, _ in self._attempts):
            raise ModelDeclined(f"{self._model.name} wrote nothing, asked twice for {self._prompt.role!r}")
        raise ModelOutputError(f"{self._model.name} gave no readable answer to {self._prompt.role!r}: {reason}")

    async def _exchange(self, messages: "list[ModelMessage]", max_tokens: int) -> tuple[str, bool]:
        """Return the text, and whether it was cut off at its limit. An unreadable response counts as an empty text."""
        self._prompt_tokens = count_message_tokens(messages)
        try:
            response = await self._model.request(
                self._prompt, messages, max_tokens, self._record_failed_attempt, self._report
            )
        except ProviderError as error:
            if not error.is_unreadable:
                raise
            self._report("BadAnswer", str(error))
            return "", False
        self._record_usage(response)
        if response.finish_reason == "content_filter":
            said = (response.provider_details or {}).get("refusal") or "its content filter"
            raise ModelDeclined(
                f"{self._model.name} declined to answer {self._prompt.role!r}: {to_one_line(str(said), 300)}"
            )
        text, logprobs = response.text or "", (response.provider_details or {}).get("logprobs")
        # The log-probabilities of thoughts are no part of those of the answer, but stand among them.
        is_plain = self._prompt.needs_margins and not any(part.part_kind == "thinking" for part in response.parts)
        self._margins = token_margins(text, logprobs) if is_plain and isinstance(logprobs, list) else ()
        was_cut = response.finish_reason == "length" or len(text) > MAX_ANSWER_CHARS
        return text[:MAX_ANSWER_CHARS], was_cut

    def _record_failed_attempt(self, error: ProviderError, is_retried: bool) -> None:
        """Count a failed attempt as a call; its prompt may be billed if it was sent."""
        tokens = self._prompt_tokens if error.was_sent else 0
        self._add_usage(Usage(1, tokens, 0, self._cost_usd(tokens, 0), estimated=int(error.was_sent)))
        if is_retried:
            self.failures.append(Failure(self._prompt.role, "Retried", str(error), True, error.attempt))

    def _record_usage(self, response: "ModelResponse") -> None:
        """Add the tokens that the provider reports, or an estimate marked as such."""
        tokens = response.usage.input_tokens, response.usage.output_tokens
        is_estimated = not any(tokens)
        if is_estimated:
            tokens = self._prompt_tokens, estimate_tokens(response.text or "")
        usd = self._cost_usd(*tokens, response.usage.cache_read_tokens)
        self._add_usage(Usage(1, *tokens, usd, estimated=int(is_estimated)))

    def _add_usage(self, usage: Usage) -> None:
        self.usage = self.usage + usage
        usage_listener.get()(usage)

    def _cost_usd(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
        price = self._model.price
        return None if price is None else price.cost(input_tokens, output_tokens, cached_tokens)

    def _fits(self, messages: "list[ModelMessage]") -> bool:
        """A prompt that leaves no room for a response would be cut by the server without notice."""
        return self._model.context is None or count_message_tokens(messages) < self._model.context

    def _report(self, kind: str, message: str) -> None:
        self.failures.append(Failure(self._prompt.role, kind, message))


def _build_request_parameters(prompt: Prompt[Any], use_schema: bool) -> Any:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if not use_schema:
        return ModelRequestParameters()
    definition = OutputObjectDefinition(json_schema=response_schema(prompt), name=prompt.role)
    return ModelRequestParameters(output_mode="native", output_object=definition)


def is_thinking_model(model: str) -> bool:
    """Return whether a model thinks, by its name: Qwen 3 and QwQ do."""
    return any(name in model.lower() for name in ("qwen3", "qwq"))
