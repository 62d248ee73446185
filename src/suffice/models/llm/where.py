"""Where a provider is reached: at its usual address, or where the user's settings say."""

from suffice.errors import InputError
from suffice.model_settings import ModelSettings
from suffice.models.llm.endpoint import DEFAULT_URLS


def resolve_base_url(provider: str, models: ModelSettings) -> str:
    """The base URL."""
    given = models.base_urls.get(provider)
    if given is None:
        return DEFAULT_URLS[provider]
    if provider != "ollama":
        return _validate_url(given, provider)
    # OLLAMA_HOST is an address to listen on: `0.0.0.0`, `host:port`, or a URL.
    url = given if "://" in given else f"http://{given}"
    url = url.replace("//0.0.0.0", "//127.0.0.1").rstrip("/")
    if url.count(":") == 1:
        url += ":11434"
    return _validate_url(url.removesuffix("/v1") + "/v1", provider)


def _validate_url(url: str, provider: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InputError(f"The address of {provider}, {url!r}, is no URL; it begins with http:// or https://")
    return url.rstrip("/")
