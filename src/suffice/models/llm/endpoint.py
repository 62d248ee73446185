"""Where a language model is reached, and everything about it that is known before the first call."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from suffice.errors import InputError
from suffice.settings import ModelSettings

DEFAULT_URLS = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "openrouter": "https://openrouter.ai/api/v1",
    "ollama": "http://127.0.0.1:11434/v1",
}
PROVIDERS = tuple(DEFAULT_URLS)
CLOUD_TIMEOUT = 180.0  # Seconds after which a cloud model that has sent nothing will not.
LOCAL_TIMEOUT = 1800.0  # A model on this machine may be slow: a prompt of eight thousand tokens takes minutes.
CLOUD_CONCURRENCY = 8  # Calls at a time.
LOCAL_CONCURRENCY = 2  # All calls to a server on this machine share its cores.


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model of a provider, its address, and the limits of its calls."""

    provider: str
    model: str
    url: str
    key: str | None = None
    context: int | None = None
    """Tokens it can read; ``None`` when unknown."""
    timeout: float | None = None
    """Seconds for one attempt; ``None`` for the default of its kind of host."""
    concurrency: int | None = None
    """Calls at a time; ``None`` for the default of its kind of host."""
    think: bool = False
    """Whether a thinking model may think."""
    supports_vision: bool | None = None
    """Whether it accepts images; ``None`` when unknown."""

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}"

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc.rpartition("@")[2]

    @property
    def local(self) -> bool:
        return is_local(self.url)

    @property
    def timeout_seconds(self) -> float:
        return self.timeout or (LOCAL_TIMEOUT if self.local else CLOUD_TIMEOUT)

    @property
    def max_concurrency(self) -> int:
        return self.concurrency or (LOCAL_CONCURRENCY if self.local else CLOUD_CONCURRENCY)


def is_local(url: str) -> bool:
    """Return whether the address is this machine's loopback, so that no data leaves the machine."""
    return is_loopback(urlsplit(url).hostname or "")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can be reached under this name or address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def server_root(url: str) -> str:
    """Return the address of the server itself, without the ``/v1`` of its OpenAI-compatible API.

    >>> server_root("http://127.0.0.1:11434/v1/")
    'http://127.0.0.1:11434'
    """
    return url.rstrip("/").removesuffix("/v1")


def resolve_base_url(provider: str, models: ModelSettings) -> str:
    """Return the base URL of a provider: as the settings say, else its own."""
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
    return _validate_url(f"{server_root(url)}/v1", provider)


def _validate_url(url: str, provider: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InputError(f"The address of {provider}, {url!r}, is not a URL; it must begin with http:// or https://")
    return url.rstrip("/")
