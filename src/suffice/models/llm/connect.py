"""The provider's own client behind pydantic-ai, with its retries off: ours are the only ones.

Heavy imports happen in here, when the first call is made.
"""

from typing import TYPE_CHECKING, Any

from suffice.models.llm.endpoint import DEFAULT_URLS, Endpoint

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Client

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
