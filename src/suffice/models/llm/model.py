"""A language model behind the Model seam: one function from an ask to its answer.

A structured answer is held to its JSON schema where the provider can do that. What comes back is read with everything that
costs nothing (``reading``); an answer that cannot be read is asked for once more, with the reason; if that fails too, what
is complete of it is kept, or the ask has failed. Every step of this is in the bill and in the reply's ``failures``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from suffice.asks.base import Ask
from suffice.errors import ModelError, ModelOutputError
from suffice.models.base import Reply, listening, spending
from suffice.models.llm.calls import CallError, Line, Report, Words
from suffice.models.llm.endpoint import Endpoint
from suffice.models.llm.prompting import first, length, second
from suffice.models.llm.thinking import quiet, room, thinks
from suffice.models.llm.weighing import ALTERNATIVES, shares
from suffice.text.tokens import estimate_tokens
from suffice.types import Failure, Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

A = TypeVar("A")


class Costing(Protocol):
    """What a call costs in US dollars."""

    def of(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float: ...


class LanguageModel:
    """``price`` is ``None`` when nobody knows what a call costs; then the bill says so."""

    def __init__(self, endpoint: Endpoint, price: Costing | None = None) -> None:
        self.name = endpoint.name
        self.local = endpoint.local
        self.context = endpoint.context
        self.eyes = endpoint.eyes
        self.price = price
        self.priced = price is not None
        self.endpoint = endpoint
        self._line = Line(endpoint)
        self.noted: set[str] = set()  # Kinds of harmless faults that were said already.
        # Until the server refuses them.
        self._by_schema = True
        self._weighs = endpoint.provider not in ("anthropic", "google")

    async def __call__(self, ask: Ask[A]) -> Reply[A]:
        conversation = _Conversation(self, ask)
        try:
            answer = await conversation.answer()
        except ModelError as error:
            error.usage = conversation.usage
            error.failures = tuple(conversation.failures)
            raise
        return Reply(answer, conversation.usage, tuple(conversation.failures))

    async def words(
        self,
        ask: Ask[Any],
        messages: "list[ModelMessage]",
        tokens: int,
        report: Report,
        note: Callable[[str, str], None],
    ) -> Words:
        """One exchange; without a schema, or without likelihoods, from the moment on that the server refuses them."""
        heard = listening.get() if ask.form == "text" else None
        while True:
            by_schema, weighs = self._by_schema and ask.form == "json", self._weighs and bool(ask.choices)
            try:
                return await self._line.call(
                    messages,
                    await self._settings(ask, tokens, length(messages), weighs),
                    _parameters(ask, by_schema),
                    listener=heard,
                    report=report,
                )
            except CallError as error:
                if not error.rejected or not (by_schema or weighs):
                    raise
                if by_schema:
                    self._by_schema = False
                    note("SchemaRefused", f"{error}; asking by prompt alone from now on")
                else:
                    self._weighs = False
                    note("LikelihoodsRefused", f"{error}; asking without log-probabilities from now on")

    async def _settings(self, ask: Ask[Any], tokens: int, prompt: int, weighs: bool) -> Any:
        client = await self._line.client()
        endpoint = self.endpoint
        always = bool(client.profile.get("thinking_always_enabled", False))
        settings: dict[str, Any] = {
            "temperature": ask.temperature,
            "max_tokens": self._room(tokens, prompt, always),
            "timeout": endpoint.seconds,
        }
        body = {} if endpoint.think else quiet(endpoint.model)
        if body and endpoint.provider not in ("anthropic", "google"):
            settings["extra_body"] = body
        if not endpoint.think and client.profile.get("supports_thinking", False) and not thinks(endpoint.model):
            settings["thinking"] = False
        if weighs:
            settings |= {"openai_logprobs": True, "openai_top_logprobs": ALTERNATIVES}
        return settings

    def _room(self, tokens: int, prompt: int, always: bool) -> int:
        """Output tokens to allow: never more than the context has beside the prompt."""
        wanted = room(self.endpoint.model, tokens, always=always, think=self.endpoint.think)
        if self.context is None:
            return wanted
        # Room to think is a gift. Our count of the prompt may be too low, and some servers refuse what would not fit.
        given = min(wanted, self.context - prompt - prompt // 2)
        return min(max(tokens, given), self.context - prompt)


class _Conversation:
    """One ask until it is answered: at most two exchanges, and what they cost."""

    def __init__(self, model: LanguageModel, ask: Ask[Any]) -> None:
        self._model = model
        self._ask = ask
        self._prompt = ask.prompt()
        self._length = 0  # Tokens of the last exchange's prompt, as far as we can count them.
        self.usage = Usage()
        self.failures: list[Failure] = []
        # Of the last exchange: the shares of the answer's choices, and whether it came with thoughts that nobody wanted.
        self._shares: dict[str, float] = {}
        self._thoughts = False

    async def answer(self) -> Any:
        from suffice.models.llm.reading import Unreadable, read, too_many, untidy, whole_sentences

        text, cut = await self._exchange(self._fitting(first(self._ask, self._prompt)), self._ask.max_tokens)
        if cut and self._ask.form == "text":
            text = whole_sentences(text)
        try:
            answer = read(self._ask, text)
        except Unreadable as error:
            answer = await self._again(text, self._why(error, cut))
        else:
            self._note_cut(cut)
            if why := "it came with thoughts" if self._thoughts else untidy(self._ask, text):
                self._once("Tidied", f"{why}; read all the same, and not said again")
        if self._shares:
            answer = self._ask.weighed(answer, self._shares)
        answer, over = too_many(self._ask, answer)
        if over:
            most = self._ask.most  # type: ignore[attr-defined]
            self._fail(
                "TooMany", f"{over + most} {self._ask.bounded} where at most {most} were asked for; the first are kept"
            )
        return answer

    async def _again(self, bad: str, why: str) -> Any:
        """Ask once more, with the reason; then keep what is complete."""
        from suffice.models.llm.reading import Unreadable, read, salvaged

        texts = [bad]
        asked = second(self._ask, self._prompt, bad, why, self._most)
        if self._fits(asked):
            self._fail("BadAnswer", f"{why}; asked again")
            text, cut = await self._exchange(asked, 2 * self._ask.max_tokens)
            try:
                answer = read(self._ask, text)
            except Unreadable as error:
                why, texts = self._why(error, cut), [text, bad]
            else:
                self._note_cut(cut)
                return answer
        else:
            reads = f"{self._model.name} reads {self._model.context} tokens"
            self._fail("BadAnswer", f"{why}; not asked again, because {reads}")
        for given in texts:
            try:
                answer = salvaged(self._ask, given)
            except Unreadable:
                continue
            self._fail("Repaired", f"{why}; what was complete of it is kept")
            return answer
        raise ModelOutputError(f"{self._model.name} gave no readable answer to {self._ask.role!r}: {why}")

    async def _exchange(self, asked: "list[ModelMessage]", tokens: int) -> tuple[str, bool]:
        """The text, and whether it was cut off at its limit. A response that is none at all counts as an empty text."""
        self._length = length(asked)
        try:
            words = await self._model.words(self._ask, asked, tokens, self._lost, self._fail)
        except CallError as error:
            if not error.unreadable:
                raise
            self._fail("BadAnswer", str(error))
            return "", False
        self._count(words)
        self._thoughts = words.thoughts and not self._model.endpoint.think
        self._shares = shares(words.text, words.likely, self._ask.choices) if self._ask.choices else {}
        return words.text, words.finish == "length"

    def _lost(self, error: CallError, again: bool) -> None:
        """An attempt that brought nothing is a call all the same; its prompt may be billed if it was read."""
        tokens = self._length if error.sent else 0
        self._bill(Usage(1, tokens, 0, self._usd(tokens, 0), estimated=int(error.sent)))
        if again:
            self.failures.append(Failure(self._ask.role, "Retried", str(error), True, error.attempt))

    def _count(self, words: Words) -> None:
        """The provider's own count; without one an estimate, marked as such."""
        tokens = words.input_tokens, words.output_tokens
        estimated = not any(tokens)
        if estimated:
            tokens = self._length, estimate_tokens(words.text)
            self._once("Uncounted", "the provider reports no tokens; they are estimated from here on")
        self._bill(Usage(1, *tokens, self._usd(*tokens, words.cached_tokens), estimated=int(estimated)))

    def _bill(self, usage: Usage) -> None:
        self.usage = self.usage + usage
        spending.get()(usage)

    def _usd(self, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float | None:
        price = self._model.price
        return None if price is None else price.of(input_tokens, output_tokens, cached_tokens)

    @property
    def _most(self) -> int | None:
        """Tokens of a prompt that leave room for the answer."""
        return None if self._model.context is None else self._model.context - self._ask.max_tokens

    def _fits(self, asked: "list[ModelMessage]") -> bool:
        """A prompt that leaves no room for a word would be cut by the server, and nobody would know."""
        return self._model.context is None or length(asked) < self._model.context

    def _fitting(self, asked: "list[ModelMessage]") -> "list[ModelMessage]":
        if not self._fits(asked):
            raise ModelError(
                f"The prompt of {self._ask.role!r} has about {length(asked)} tokens and {self._model.name} reads "
                f"{self._model.context}; choose a model that reads more, or set SUFFICE_CONTEXT if it does"
            )
        return asked

    def _why(self, error: Exception, cut: bool) -> str:
        limit = f" (cut off at its limit of {self._ask.max_tokens} tokens)" if cut else ""
        return f"{error}{limit}"

    def _note_cut(self, cut: bool) -> None:
        if cut and self._ask.form == "text":
            self._fail("CutOff", f"the text was cut off at its limit of {self._ask.max_tokens} tokens")

    def _once(self, kind: str, message: str) -> None:
        """What costs nothing and comes with every answer is said at the first."""
        if kind not in self._model.noted:
            self._model.noted.add(kind)
            self._fail(kind, message)

    def _fail(self, kind: str, message: str) -> None:
        self.failures.append(Failure(self._ask.role, kind, message))


def _parameters(ask: Ask[Any], by_schema: bool) -> Any:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    if not by_schema:
        return ModelRequestParameters()
    from suffice.models.llm.shape import schema

    shape = OutputObjectDefinition(json_schema=schema(ask), name=ask.role)
    return ModelRequestParameters(output_mode="native", output_object=shape)
