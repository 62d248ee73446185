"""Where a language model is reached and how it is to be treated: everything about it that is known before the first call."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

USUAL = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
    "openrouter": "https://openrouter.ai/api/v1",
    "ollama": "http://127.0.0.1:11434/v1",
}
PROVIDERS = tuple(USUAL)
CLOUD_SECONDS = 180.0  # A cloud model that has said nothing for this long will not.
LOCAL_SECONDS = 1800.0  # A model on this machine is slow, not stuck: eight thousand tokens of prompt take minutes.
CLOUD_CALLS = 8  # Calls at a time, unless set; a server on this machine shares its cores among all of them.
LOCAL_CALLS = 2


@dataclass(frozen=True, slots=True)
class Endpoint:
    provider: str
    model: str
    url: str
    key: str | None = None
    context: int | None = None
    """Tokens it can read; ``None``: unknown."""
    timeout: float | None = None
    """Seconds for one attempt; ``None``: the default for its kind of host."""
    concurrency: int | None = None
    per_minute: float | None = None
    think: bool = False
    """A thinking model may think (S4)."""
    eyes: bool | None = None
    """Whether it sees pictures; ``None``: it does not say."""

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
    def seconds(self) -> float:
        return self.timeout or (LOCAL_SECONDS if self.local else CLOUD_SECONDS)

    @property
    def calls(self) -> int:
        return self.concurrency or (LOCAL_CALLS if self.local else CLOUD_CALLS)


def is_local(url: str) -> bool:
    """The address is this machine's loopback, so nothing leaves it."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
