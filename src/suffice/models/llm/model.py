"""A language model behind the Model seam: one function from an ask to its answer.

A structured answer is held to its JSON schema where the provider can do that. What comes back is read with everything that
costs nothing (``reading``); an answer that cannot be read is asked for once more, with the reason; if that fails too, what
is complete of it is kept, or the ask has failed. Every step of this is in the bill and in the reply's ``failures``.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from suffice.errors import ModelError, ModelOutputError
from suffice.models.base import Reply, text_listener, usage_listener
from suffice.models.llm.client import CallError, Completion, FailureCallback, ProviderConnection
from suffice.models.llm.endpoint import Endpoint
from suffice.models.llm.messages import count_message_tokens, initial_messages, retry_messages
from suffice.models.llm.parse import TOP_LOGPROBS, choice_probabilities
from suffice.prompts.base import Prompt
from suffice.text.tokens import estimate_tokens
from suffice.types import Failure, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

A = TypeVar("A")


class Pricing(Protocol):
    """What a call costs in US dollars."""

    def cost(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float: ...


class LanguageModel:
    """``price`` is ``None`` when nobody knows what a call costs; then the bill says so."""

    def __init__(self, endpoint: Endpoint, price: Pricing | None = None) -> None:
        self.name = endpoint.name
        self.local = endpoint.local
        self.context = endpoint.context
        self.supports_vision = endpoint.supports_vision
        self.price = price
        self.has_price = price is not None
        self.endpoint = endpoint
        self._connection = ProviderConnection(endpoint)
        self.reported_kinds: set[str] = set()  # Kinds of harmless faults that were said already.
        # Until the server refuses them.
        self._supports_schema = True
        self._supports_logprobs = endpoint.provider not in ("anthropic", "google")

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        conversation = _Conversation(self, prompt)
        try:
            answer = await conversation.answer()
        except ModelError as error:
            error.usage = conversation.usage
            error.failures = tuple(conversation.failures)
            raise
        return Reply(answer, conversation.usage, tuple(conversation.failures))

    async def request(
        self,
        prompt: Prompt[Any],
        messages: "list[ModelMessage]",
        tokens: int,
        report: FailureCallback,
        note: Callable[[str, str], None],
    ) -> Completion:
        """One exchange; without a schema, or without likelihoods, from the moment on that the server refuses them."""
        heard = text_listener.get() if prompt.output_format == "text" else None
        while True:
            by_schema, weighs = (
                self._supports_schema and prompt.output_format == "json",
                self._supports_logprobs and bool(prompt.choices),
            )
            try:
                return await self._connection.call(
                    messages,
                    await self._build_settings(prompt, tokens, count_message_tokens(messages), weighs),
                    _build_request_parameters(prompt, by_schema),
                    listener=heard,
                    on_failure=report,
                )
            except CallError as error:
                if not error.is_rejected or not (by_schema or weighs):
                    raise
                if by_schema:
                    self._supports_schema = False
                    note("SchemaRefused", f"{error}; asking by prompt alone from now on")
                else:
                    self._supports_logprobs = False
                    note("LikelihoodsRefused", f"{error}; asking without log-probabilities from now on")

    async def _build_settings(self, prompt: Prompt[Any], tokens: int, prompt_tokens: int, use_logprobs: bool) -> Any:
        client = await self._connection.get_client()
        endpoint = self.endpoint
        always = bool(client.profile.get("thinking_always_enabled", False))
        settings: dict[str, Any] = {
            "temperature": prompt.temperature,
            "max_tokens": self._output_limit(tokens, prompt_tokens, always),
            "timeout": endpoint.timeout_seconds,
        }
        body = {} if endpoint.think else disable_thinking_params(endpoint.model)
        if body and endpoint.provider not in ("anthropic", "google"):
            settings["extra_body"] = body
        if (
            not endpoint.think
            and client.profile.get("supports_thinking", False)
            and not is_thinking_model(endpoint.model)
        ):
            settings["thinking"] = False
        if use_logprobs:
            settings |= {"openai_logprobs": True, "openai_top_logprobs": TOP_LOGPROBS}
        return settings

    def _output_limit(self, tokens: int, prompt_tokens: int, always: bool) -> int:
        """Output tokens to allow: never more than the context has beside the prompt."""
        wanted = output_limit(self.endpoint.model, tokens, always=always, think=self.endpoint.think)
        if self.context is None:
            return wanted
        # Room to think is a gift. Our count of the prompt may be too low, and some servers refuse what would not fit.
        given = min(wanted, self.context - prompt_tokens - prompt_tokens // 2)
        return min(max(tokens, given), self.context - prompt_tokens)


class _Conversation:
    """One ask until it is answered: at most two exchanges, and what they cost."""

    def __init__(self, model: LanguageModel, prompt: Prompt[Any]) -> None:
        self._model = model
        self._prompt = prompt
        self._prompt_text = prompt.render()
        self._prompt_tokens = 0  # Tokens of the last exchange's prompt, as far as we can count them.
        self.usage = Usage()
        self.failures: list[Failure] = []
        # Of the last exchange: the shares of the answer's choices, and whether it came with thoughts that nobody wanted.
        self._probabilities: dict[str, float] = {}
        self._has_unwanted_thoughts = False

    async def answer(self) -> Any:
        from suffice.models.llm.parse import (
            UnreadableAnswer,
            describe_untidiness,
            parse_answer,
            trim_to_sentence,
            truncate_items,
        )

        text, cut = await self._exchange(
            self._require_fit(initial_messages(self._prompt, self._prompt_text)), self._prompt.max_tokens
        )
        if cut and self._prompt.output_format == "text":
            text = trim_to_sentence(text)
        try:
            answer = parse_answer(self._prompt, text)
        except UnreadableAnswer as error:
            answer = await self._retry(text, self._describe_error(error, cut))
        else:
            self._report_truncation(cut)
            if (
                why := "it came with thoughts"
                if self._has_unwanted_thoughts
                else describe_untidiness(self._prompt, text)
            ):
                self._report_once("Tidied", f"{why}; read all the same, and not said again")
        if self._probabilities:
            answer = self._prompt.with_probabilities(answer, self._probabilities)
        answer, over = truncate_items(self._prompt, answer)
        if over:
            most = self._prompt.most  # type: ignore[attr-defined]
            self._report(
                "TooMany",
                f"{over + most} {self._prompt.bounded_field} where at most {most} were asked for; the first are kept",
            )
        return answer

    async def _retry(self, bad_answer: str, reason: str) -> Any:
        """Ask once more, with the reason; then keep what is complete."""
        from suffice.models.llm.parse import UnreadableAnswer, parse_answer, salvage_answer

        texts = [bad_answer]
        asked = retry_messages(self._prompt, self._prompt_text, bad_answer, reason, self._prompt_limit)
        if self._fits(asked):
            self._report("BadAnswer", f"{reason}; asked again")
            text, cut = await self._exchange(asked, 2 * self._prompt.max_tokens)
            try:
                answer = parse_answer(self._prompt, text)
            except UnreadableAnswer as error:
                reason, texts = self._describe_error(error, cut), [text, bad_answer]
            else:
                self._report_truncation(cut)
                return answer
        else:
            reads = f"{self._model.name} reads {self._model.context} tokens"
            self._report("BadAnswer", f"{reason}; not asked again, because {reads}")
        for given in texts:
            try:
                answer = salvage_answer(self._prompt, given)
            except UnreadableAnswer:
                continue
            self._report("Repaired", f"{reason}; what was complete of it is kept")
            return answer
        raise ModelOutputError(f"{self._model.name} gave no readable answer to {self._prompt.role!r}: {reason}")

    async def _exchange(self, asked: "list[ModelMessage]", tokens: int) -> tuple[str, bool]:
        """The text, and whether it was cut off at its limit. A response that is none at all counts as an empty text."""
        self._prompt_tokens = count_message_tokens(asked)
        try:
            words = await self._model.request(self._prompt, asked, tokens, self._record_failed_attempt, self._report)
        except CallError as error:
            if not error.is_unreadable:
                raise
            self._report("BadAnswer", str(error))
            return "", False
        self._record_usage(words)
        self._has_unwanted_thoughts = words.has_thoughts and not self._model.endpoint.think
        self._probabilities = (
            choice_probabilities(words.text, words.logprobs, self._prompt.choices) if self._prompt.choices else {}
        )
        return words.text, words.finish_reason == "length"

    def _record_failed_attempt(self, error: CallError, again: bool) -> None:
        """An attempt that brought nothing is a call all the same; its prompt may be billed if it was read."""
        tokens = self._prompt_tokens if error.was_sent else 0
        self._add_usage(Usage(1, tokens, 0, self._cost_usd(tokens, 0), estimated=int(error.was_sent)))
        if again:
            self.failures.append(Failure(self._prompt.role, "Retried", str(error), True, error.attempt))

    def _record_usage(self, words: Completion) -> None:
        """The provider's own count; without one an estimate, marked as such."""
        tokens = words.input_tokens, words.output_tokens
        estimated = not any(tokens)
        if estimated:
            tokens = self._prompt_tokens, estimate_tokens(words.text)
            self._report_once("Uncounted", "the provider reports no tokens; they are estimated from here on")
        self._add_usage(Usage(1, *tokens, self._cost_usd(*tokens, words.cached_tokens), estimated=int(estimated)))

    def _add_usage(self, usage: Usage) -> None:
        self.usage = self.usage + usage
        usage_listener.get()(usage)

    def _cost_usd(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
        price = self._model.price
        return None if price is None else price.cost(input_tokens, output_tokens, cached_tokens)

    @property
    def _prompt_limit(self) -> int | None:
        """Tokens of a prompt that leave room for the answer."""
        return None if self._model.context is None else self._model.context - self._prompt.max_tokens

    def _fits(self, asked: "list[ModelMessage]") -> bool:
        """A prompt that leaves no room for a word would be cut by the server, and nobody would know."""
        return self._model.context is None or count_message_tokens(asked) < self._model.context

    def _require_fit(self, asked: "list[ModelMessage]") -> "list[ModelMessage]":
        if not self._fits(asked):
            raise ModelError(
                f"The prompt of {self._prompt.role!r} has about {count_message_tokens(asked)} tokens and {self._model.name} reads "
                f"{self._model.context}; choose a model that reads more, or set SUFFICE_CONTEXT if it does"
            )
        return asked

    def _describe_error(self, error: Exception, cut: bool) -> str:
        limit = f" (cut off at its limit of {self._prompt.max_tokens} tokens)" if cut else ""
        return f"{error}{limit}"

    def _report_truncation(self, cut: bool) -> None:
        if cut and self._prompt.output_format == "text":
            self._report("CutOff", f"the text was cut off at its limit of {self._prompt.max_tokens} tokens")

    def _report_once(self, kind: str, message: str) -> None:
        """What costs nothing and comes with every answer is said at the first."""
        if kind not in self._model.reported_kinds:
            self._model.reported_kinds.add(kind)
            self._report(kind, message)

    def _report(self, kind: str, message: str) -> None:
        self.failures.append(Failure(self._prompt.role, kind, message))


def _build_request_parameters(prompt: Prompt[Any], by_schema: bool) -> Any:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if not by_schema:
        return ModelRequestParameters()
    from suffice.models.llm.messages import response_schema

    shape = OutputObjectDefinition(json_schema=response_schema(prompt), name=prompt.role)
    return ModelRequestParameters(output_mode="native", output_object=shape)


_THINKING_MODELS = re.compile(r"qwen3|qwq", re.IGNORECASE)
NO_THINK_MAX_TOKENS = 8_192  # Output tokens of a thinking model that is told not to think: some think all the same.
THINK_MAX_TOKENS = 16_384


def is_thinking_model(model: str) -> bool:
    """By its name: Qwen 3 and QwQ think."""
    return bool(_THINKING_MODELS.search(model))


def output_limit(model: str, tokens: int, *, always: bool, think: bool) -> int:
    """Output tokens to allow. ``always``: the provider says that this model cannot but think."""
    if not (always or is_thinking_model(model)):
        return tokens
    return max(tokens, THINK_MAX_TOKENS if think else NO_THINK_MAX_TOKENS)


def disable_thinking_params(model: str) -> dict[str, Any]:
    """What tells a server to keep such a model from thinking: Ollama's word and that of vLLM and llama.cpp. A server that
    knows neither passes over both."""
    if not is_thinking_model(model):
        return {}
    return {"reasoning_effort": "none", "chat_template_kwargs": {"enable_thinking": False}}
