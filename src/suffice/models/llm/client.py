"""The provider's own client behind pydantic-ai, with its retries off: ours are the only ones.

Heavy imports happen in here, when the first call is made.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from suffice.errors import ModelError
from suffice.models.llm.endpoint import DEFAULT_URLS, Endpoint

if TYPE_CHECKING:
    import httpx2
    from aiolimiter import AsyncLimiter
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model as Client
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

_CONNECT_TIMEOUT = 10.0


def create_client(endpoint: Endpoint) -> "Client[Any]":
    """A client for the endpoint."""
    return _CLIENT_FACTORIES.get(endpoint.provider, _create_openai_client)(endpoint)


def _create_openai_client(endpoint: Endpoint) -> "Client[Any]":
    """Chat completions: OpenAI itself and every server that speaks like it. (The name ``openai:x`` alone would choose the
    Responses API, which other servers lack.)"""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer, OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(
        base_url=endpoint.url, api_key=endpoint.key or "none", max_retries=0, http_client=_create_http_client(endpoint)
    )
    own = endpoint.provider == "openai" and endpoint.url == DEFAULT_URLS["openai"]
    # What any other server is assumed to take: a schema without OpenAI's strictness, and the older name of the limit.
    profile = OpenAIModelProfile(
        json_schema_transformer=OpenAIJsonSchemaTransformer,
        supports_json_schema_output=True,
        openai_supports_strict_tool_definition=False,
        openai_chat_supports_max_completion_tokens=False,
    )
    provider = OpenAIProvider(openai_client=client)
    return OpenAIChatModel(endpoint.model, provider=provider, profile=None if own else profile)


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

    once = HttpRetryOptions(attempts=1)
    provider = GoogleProvider(
        api_key=endpoint.key or "none",
        base_url=endpoint.url,
        http_client=_create_http_client(endpoint),
        retry_options=once,
    )
    return GoogleModel(endpoint.model, provider=provider)


def _create_http_client(endpoint: Endpoint) -> "httpx2.AsyncClient":
    import httpx2

    timeout = httpx2.Timeout(endpoint.timeout_seconds, connect=_CONNECT_TIMEOUT)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=endpoint.max_concurrency)
    # A proxy from the environment is for the world outside, never for this machine.
    return httpx2.AsyncClient(timeout=timeout, limits=limits, trust_env=not endpoint.local)


_CLIENT_FACTORIES = {"anthropic": _create_anthropic_client, "google": _create_google_client}


# Limits are bound to the event loop they wait in, and shared by everything in it that talks to the same host.
_semaphores: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int], asyncio.Semaphore]] = (
    WeakKeyDictionary()
)
_rate_limiters: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, float], AsyncLimiter]]" = (
    WeakKeyDictionary()
)


@asynccontextmanager
async def rate_limit(endpoint: Endpoint) -> AsyncIterator[None]:
    """Waits until a call may be made."""
    loop = asyncio.get_running_loop()
    calls = _semaphores.setdefault(loop, {})
    async with AsyncExitStack() as held:
        await held.enter_async_context(
            calls.setdefault((endpoint.host, endpoint.max_concurrency), asyncio.Semaphore(endpoint.max_concurrency))
        )
        if endpoint.per_minute is not None:
            await _get_rate_limiter(loop, endpoint.host, endpoint.per_minute).acquire()
        yield


def _get_rate_limiter(loop: asyncio.AbstractEventLoop, host: str, per_minute: float) -> "AsyncLimiter":
    from aiolimiter import AsyncLimiter

    rates = _rate_limiters.setdefault(loop, {})
    return rates.setdefault((host, per_minute), AsyncLimiter(per_minute, 60))


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
