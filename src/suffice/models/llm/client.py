"""Call a provider: one request to an endpoint, with rate limits, retries and errors that a user understands.

Pydantic AI speaks each provider's protocol; its own retries are off, so that only the policy of ``models.retry`` applies.
The heavy imports happen when the first call is made.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import InitVar, dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from suffice.models.llm.endpoint import DEFAULT_URLS, Endpoint
from suffice.models.retry import MAX_RETRY_AFTER, CallError, get_retry_delay
from suffice.settings import KEY_VARIABLES
from suffice.text.plain import to_one_line

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as Client
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_CONNECT_TIMEOUT = 10.0
OUTAGE_SECONDS = 60.0  # How long a server that failed three times in a row is not asked again.
MAX_RESPONSE_BYTES = 20_000_000  # Bytes of one response, streamed or not; the longest answers have less than 1 MB.
MAX_PACKED_BYTES = 1_000_000  # Bytes of one that is compressed although we do not ask for it.

TextListener = Callable[[str], None]
FailureCallback = Callable[["ProviderError", bool], None]
"""Receives a failed attempt, and whether it is tried again."""

# Clients with their open connections, and limits, belong to an event loop. All runs in it share a client for the same
# endpoint, and limits for the same host.
_clients: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Endpoint, Client[Any]]]" = WeakKeyDictionary()
_semaphores: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int], asyncio.Semaphore]]" = (
    WeakKeyDictionary()
)


@dataclass(eq=False, repr=False)
class ProviderError(CallError):
    """A call to a provider failed.

    ``is_rejected``: the server does not support a request like this. ``is_unreadable``: what it sent is not a response.
    ``was_sent``: the model may have worked on it, so it may be billed. ``is_fatal``: every other call would fail too.
    ``is_outage``: the server itself fails, so that every other call would probably fail too for a while.
    """

    message: InitVar[str]
    retryable: bool = False
    retry_after: float | None = None
    is_rejected: bool = False
    is_unreadable: bool = False
    was_sent: bool = False
    is_fatal: bool = False
    is_outage: bool = False

    def __post_init__(self, message: str) -> None:
        super().__init__(message, retryable=self.retryable, retry_after=self.retry_after)


class ProviderConnection:
    """The connection to an endpoint, opened by the first call."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._has_answered = False  # A server that has answered once and is gone now may come back.
        self._outage: ProviderError | None = None  # Of the last call, whose attempts all failed.
        self._outage_ends = 0.0

    async def get_client(self) -> "Client[Any]":
        clients = _clients.setdefault(asyncio.get_running_loop(), {})
        if self.endpoint not in clients:
            create = _CLIENT_FACTORIES.get(self.endpoint.provider, _create_openai_client)
            client = await asyncio.to_thread(create, self.endpoint)
            clients.setdefault(self.endpoint, client)
        return clients[self.endpoint]

    async def call(
        self,
        messages: "list[ModelMessage]",
        settings: "ModelSettings",
        parameters: "ModelRequestParameters",
        *,
        listener: TextListener | None = None,
        on_failure: FailureCallback,
    ) -> "ModelResponse":
        """Return the provider's response; raise the ``ProviderError`` of the last attempt when all fail.

        ``listener`` receives the text as it streams, and an empty piece when it starts over. ``on_failure`` receives every
        failed attempt, also one that is cancelled. While the server is out, its error is raised again without an attempt.
        """
        if self._outage is not None and time.monotonic() < self._outage_ends:
            raise ProviderError(str(self._outage), retryable=True, is_outage=True)
        client = await self.get_client()
        for attempt in count(1):
            try:
                async with _get_semaphore(self.endpoint):
                    request = _send_request(client, messages, settings, parameters, listener)
                    response = await self._await_request(request, on_failure)
                    self._has_answered, self._outage = True, None
                    return response
            except Exception as cause:  # The only place where a provider's exceptions become ours.
                error = self._translate_error(cause)
                delay = get_retry_delay(error, attempt)
                if error.is_outage and delay is None:
                    self._outage, self._outage_ends = error, time.monotonic() + OUTAGE_SECONDS
                on_failure(error, delay is not None)
                if delay is None:
                    raise error from cause
            await asyncio.sleep(delay)
        raise AssertionError("the last attempt returns or raises")

    async def _await_request(self, request: "Awaitable[ModelResponse]", on_failure: FailureCallback) -> "ModelResponse":
        """Await the request; report a cancelled one, because it may be billed all the same."""
        try:
            return await request
        except asyncio.CancelledError:
            on_failure(ProviderError(f"{self.endpoint.name} was cancelled before it answered", was_sent=True), False)
            raise

    def _translate_error(self, error: Exception) -> ProviderError:
        """Return what a user should read, and whether trying again may help."""
        from pydantic_ai import exceptions

        server = f"{self.endpoint.name} at {self.endpoint.host}"
        retry_after = getattr(error, "retry_after", None)
        if isinstance(error, exceptions.ModelRateLimitError):
            is_long = retry_after is not None and retry_after > MAX_RETRY_AFTER
            time_left = f"{retry_after:.0f} seconds" if is_long else "now"
            message = f"{server} refuses more calls for {time_left} (too many requests)"
            return ProviderError(message, retryable=not is_long, retry_after=retry_after)
        is_unreachable = isinstance(error, exceptions.ModelConnectionError) and error.phase == "connect"
        if is_unreachable and not self._has_answered:
            how = "start the server" if self.endpoint.local else "check the address and the network"
            return ProviderError(f"{server} cannot be reached; {how}, or use --model extractive", is_fatal=True)
        if isinstance(error, exceptions.ModelTimeoutError | exceptions.ModelRequestTimeout):
            seconds = f"{self.endpoint.timeout_seconds:g} seconds; set SUFFICE_TIMEOUT to wait longer"
            message = f"{server} did not answer within {seconds}"
            return ProviderError(message, retryable=True, was_sent=True, is_outage=True)
        detail = _error_text(error)
        if isinstance(error, exceptions.ModelConnectionError):
            message = f"{server} cannot be reached or closed the connection: {detail}"
            return ProviderError(message, retryable=True, was_sent=error.phase == "read", is_outage=True)
        if isinstance(error, exceptions.ModelUnavailableError | exceptions.ModelServerError):
            message = f"{server} reports a server error: {detail}"
            return ProviderError(message, retryable=True, retry_after=retry_after, is_outage=True)
        if isinstance(error, exceptions.ModelAuthenticationError):
            advice = f"set {KEY_VARIABLES[self.endpoint.provider][0]} to a valid key"
            return ProviderError(f"{server} does not accept the API key: {detail}; {advice}", is_fatal=True)
        if isinstance(error, exceptions.ModelContextWindowExceededError):
            advice = "set SUFFICE_CONTEXT to how many tokens the model can read"
            return ProviderError(f"The prompt is too long for {server}; {advice}")
        if isinstance(error, exceptions.ModelNotFoundError):
            advice = "name another with --model or SUFFICE_MODEL, or check the address"
            return ProviderError(f"{server} does not exist there: {detail}; {advice}", is_fatal=True)
        if isinstance(error, exceptions.ModelRequestRejectedError):
            return ProviderError(f"{server} rejects the request: {detail}", is_rejected=True)
        is_undecoded = isinstance(error.__cause__, ValueError)
        if isinstance(error, exceptions.ModelAPIError | exceptions.UserError) and not is_undecoded:
            return ProviderError(f"{server} failed: {detail}")
        message = f"{server} sent something that is not a response: {detail}"
        return ProviderError(message, is_unreadable=True, was_sent=True)


async def _send_request(
    client: "Client[Any]",
    messages: "list[ModelMessage]",
    settings: "ModelSettings",
    parameters: "ModelRequestParameters",
    listener: TextListener | None,
) -> "ModelResponse":
    if listener is None:
        return await client.request(messages, settings, parameters)
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta

    listener("")
    async with client.request_stream(messages, settings, parameters) as stream:
        async for event in stream:
            if isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                listener(event.part.content)
            elif isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                listener(event.delta.content_delta)
        return stream.get()


def _error_text(error: Exception) -> str:
    """Return the server's own message if it sent one, in one line of at most 300 characters."""
    body = getattr(error, "body", None)
    message = body.get("message") if isinstance(body, dict) else body
    return to_one_line(str(message or error), 300) or type(error).__name__


def _get_semaphore(endpoint: Endpoint) -> asyncio.Semaphore:
    """Return the semaphore that bounds the calls to the endpoint's host at a time."""
    semaphores = _semaphores.setdefault(asyncio.get_running_loop(), {})
    key = endpoint.host, endpoint.max_concurrency
    return semaphores.setdefault(key, asyncio.Semaphore(endpoint.max_concurrency))


def _create_openai_client(endpoint: Endpoint) -> "Client[Any]":
    """Use chat completions, for OpenAI and every compatible server. (Pydantic AI's ``openai:NAME`` alone would choose the
    Responses API, which other servers lack.)"""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer, OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        base_url=endpoint.url, api_key=endpoint.key or "none", max_retries=0, http_client=_create_http_client(endpoint)
    )
    is_openai = endpoint.provider == "openai" and endpoint.url == DEFAULT_URLS["openai"]
    # Other servers are assumed to take a schema without OpenAI's strict mode, and the older name of the token limit.
    profile = OpenAIModelProfile(
        json_schema_transformer=OpenAIJsonSchemaTransformer,
        supports_json_schema_output=True,
        openai_supports_strict_tool_definition=False,
        openai_chat_supports_max_completion_tokens=False,
    )
    provider = OpenAIProvider(openai_client=client)
    return OpenAIChatModel(endpoint.model, provider=provider, profile=None if is_openai else profile)


def _create_anthropic_client(endpoint: Endpoint) -> "Client[Any]":
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        base_url=endpoint.url, api_key=endpoint.key, max_retries=0, http_client=_create_http_client(endpoint)
    )
    return AnthropicModel(endpoint.model, provider=AnthropicProvider(anthropic_client=client))


def _create_google_client(endpoint: Endpoint) -> "Client[Any]":
    from google.genai.types import HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(
        api_key=endpoint.key or "none",
        base_url=endpoint.url,
        http_client=_create_http_client(endpoint),
        retry_options=HttpRetryOptions(attempts=1),
    )
    return GoogleModel(endpoint.model, provider=provider)


def _create_http_client(endpoint: Endpoint) -> "httpx2.AsyncClient":
    import httpx2

    timeout = httpx2.Timeout(endpoint.timeout_seconds, connect=_CONNECT_TIMEOUT)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=endpoint.max_concurrency)
    # A proxy from the environment is not used for a server on this machine.
    return httpx2.AsyncClient(
        timeout=timeout,
        limits=limits,
        trust_env=not endpoint.local,
        follow_redirects=False,  # The API key would go along, in a header that the client does not know as secret.
        headers={"accept-encoding": "identity"},  # So that the size on the wire is the size in memory.
        event_hooks={"response": [limit_body]},
    )


async def limit_body(response: "httpx2.Response") -> None:
    """Make a response fail while it is read if it is larger than any answer of a model."""
    import httpx2

    is_packed = response.headers.get("content-encoding", "identity") != "identity"
    wire = cast(httpx2.AsyncByteStream, response.stream)
    limit = MAX_PACKED_BYTES if is_packed else MAX_RESPONSE_BYTES

    class LimitedStream(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for piece in wire:
                size += len(piece)
                if size > limit:
                    raise httpx2.ReadError(f"the answer is larger than {limit // 1_000_000} MB")
                yield piece

        async def aclose(self) -> None:
            await wire.aclose()

    response.stream = LimitedStream()


_CLIENT_FACTORIES = {"anthropic": _create_anthropic_client, "google": _create_google_client}
