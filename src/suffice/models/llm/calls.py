"""One call to a provider: in its turn, tried again after passing faults, and counted whatever comes of it.

Only faults that pass are tried again: too many requests, a server's own error, a time-out, a lost connection. The server's
``Retry-After`` decides the wait, if it names one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from suffice.errors import ModelError
from suffice.models.llm.connect import create_client
from suffice.models.llm.endpoint import Endpoint
from suffice.models.llm.limits import rate_limit

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as Client
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

MAX_ATTEMPTS = 3
MAX_BACKOFF = 10.0  # min(2ⁿ + U(0, 1), 10) seconds, as for a search (S1).
MAX_RETRY_AFTER = 60.0  # A server that asks for more patience than this has failed for now.

TextListener = Callable[[str], None]
FailureCallback = Callable[["CallError", bool], None]
"""An attempt failed, and whether it is tried again."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back: the text, why it ended, the tokens that the provider reported, and how likely they were if it said."""

    text: str
    finish_reason: str | None
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    logprobs: Sequence[Mapping[str, Any]] = ()
    has_thoughts: bool = False


# A client and its open connections belong to an event loop; all runs in it that use the same endpoint share them.
_clients: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Endpoint, Client[Any]]]" = WeakKeyDictionary()


class ProviderConnection:
    """The connection to an endpoint, made when the first call needs it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    async def get_client(self) -> "Client[Any]":
        clients = _clients.setdefault(asyncio.get_running_loop(), {})
        if self.endpoint not in clients:
            made = await asyncio.to_thread(create_client, self.endpoint)
            clients.setdefault(self.endpoint, made)
        return clients[self.endpoint]

    async def call(
        self,
        messages: "list[ModelMessage]",
        settings: "ModelSettings",
        parameters: "ModelRequestParameters",
        *,
        listener: TextListener | None = None,
        on_failure: FailureCallback,
    ) -> Completion:
        """The provider's words. ``listener`` hears them as they come, and an empty piece when it begins again. ``report``
        hears of every attempt that brought nothing, also of one that was cut off; an error of the last one is raised."""
        import stamina
        import stamina.instrumentation

        stamina.instrumentation.set_on_retry_hooks([])  # Its own hook would write to the terminal.
        client = await self.get_client()
        waits = stamina.retry_context(
            on=_retry_delay, attempts=MAX_ATTEMPTS, timeout=None, wait_initial=2, wait_max=MAX_BACKOFF, wait_jitter=1
        )
        async for attempt in waits:
            with attempt:
                try:
                    async with rate_limit(self.endpoint):
                        return await self._await_request(
                            _send_request(client, messages, settings, parameters, listener), on_failure
                        )
                except Exception as error:  # Whatever a provider's library raises becomes an error of ours, only here.
                    failed = self._translate_error(error)
                    failed.attempt = attempt.num
                    on_failure(failed, attempt.num < MAX_ATTEMPTS and _retry_delay(failed) is not False)
                    raise failed from error
        raise AssertionError("the last attempt returns or raises")

    async def _await_request(self, request: Awaitable[Completion], report: FailureCallback) -> Completion:
        """What is cut off while it is under way may be billed all the same."""
        try:
            return await request
        except asyncio.CancelledError:
            report(CallError(f"{self.endpoint.name} was cut off before it answered", was_sent=True), False)
            raise

    def _translate_error(self, error: Exception) -> "CallError":
        """What a user should read, and whether trying again may help."""
        from pydantic_ai import exceptions as given

        where = f"{self.endpoint.name} at {self.endpoint.host}"
        wait = getattr(error, "retry_after", None)
        if isinstance(error, given.ModelRateLimitError):
            if wait is not None and wait > MAX_RETRY_AFTER:
                return CallError(f"{where} refuses more calls for {wait:.0f} seconds (too many requests)")
            return CallError(
                f"{where} refuses more calls for now (too many requests)", retryable=True, retry_after=wait
            )
        if isinstance(error, given.ModelTimeoutError | given.ModelRequestTimeout):
            return CallError(
                f"{where} did not answer within {self.endpoint.timeout_seconds:g} seconds; SUFFICE_TIMEOUT sets them",
                retryable=True,
                was_sent=True,
            )
        if isinstance(error, given.ModelConnectionError):
            return CallError(
                f"{where} cannot be reached or hung up: {_error_text(error)}",
                retryable=True,
                was_sent=error.phase == "read",
            )
        if isinstance(error, given.ModelUnavailableError | given.ModelServerError):
            return CallError(f"{where} has an error of its own: {_error_text(error)}", retryable=True, retry_after=wait)
        if isinstance(error, given.ModelAuthenticationError):
            return CallError(f"{where} does not accept the API key: {_error_text(error)}")
        if isinstance(error, given.ModelContextWindowExceededError):
            return CallError(f"The prompt is too long for {where}; SUFFICE_CONTEXT tells how many tokens it can read")
        if isinstance(error, given.ModelNotFoundError):
            return CallError(f"{where} does not exist there: {_error_text(error)}")
        if isinstance(error, given.ModelRequestRejectedError):
            return CallError(f"{where} does not take the request: {_error_text(error)}", is_rejected=True)
        undecoded = isinstance(error.__cause__, ValueError)
        if isinstance(error, given.ModelAPIError | given.UserError) and not undecoded:
            return CallError(f"{where} failed: {_error_text(error)}")
        return CallError(f"{where} sent something that is no answer: {_error_text(error)}", is_unreadable=True)


class CallError(ModelError):
    """``rejected``: the server does not take a request like this. ``unreadable``: what it sent is no answer at all. ``sent``:
    the model may have worked on it, so it may be billed."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        is_rejected: bool = False,
        is_unreadable: bool = False,
        was_sent: bool = False,
    ) -> None:
        super().__init__(message, retryable=retryable)
        self.retry_after = retry_after
        self.is_rejected = is_rejected
        self.is_unreadable = is_unreadable
        self.was_sent = was_sent or is_unreadable


def _retry_delay(error: Exception) -> bool | float:
    """Whether to try again, or after how many seconds."""
    if not isinstance(error, CallError) or not error.retryable:
        return False
    return True if error.retry_after is None else max(error.retry_after, 0.001)


async def _send_request(
    client: "Client[Any]",
    messages: "list[ModelMessage]",
    settings: "ModelSettings",
    parameters: "ModelRequestParameters",
    listener: TextListener | None,
) -> Completion:
    if listener is None:
        return _parse_completion(await client.request(messages, settings, parameters))
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    listener("")
    async with client.request_stream(messages, settings, parameters) as stream:
        async for event in stream:
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                listener(event.part.content)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                listener(event.delta.content_delta)
        return _parse_completion(stream.get())


def _parse_completion(response: "ModelResponse") -> Completion:
    usage = response.usage
    return Completion(
        response.text or "",
        response.finish_reason,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        logprobs=likely if isinstance(likely := (response.provider_details or {}).get("logprobs"), list) else (),
        has_thoughts=any(part.part_kind == "thinking" for part in response.parts),
    )


def _error_text(error: Exception) -> str:
    """The server's own words, if it had any."""
    body = getattr(error, "body", None)
    own = body.get("message") if isinstance(body, dict) else body
    text = " ".join(str(own or error).split()) or type(error).__name__
    return text if len(text) <= 300 else text[:299] + "…"
