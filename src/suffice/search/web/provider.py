"""When two addresses are the same page: one spelling for each."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from suffice.errors import InputError
from suffice.search.base import Search
from suffice.settings import Settings
from suffice.types import Passage, Place

_DEFAULT_PORTS = {"http": 80, "https": 443}
# What says who sent the reader, not what is read.
_TRACKING_PARAMETER = re.compile(
    r"(?:utm_\w+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|igshid|twclid|ttclid|mc_cid|mc_eid|_hsenc|_hsmi"
    r"|vero_id|srsltid|ref_src|ref_url|_ga|_gl)(?:=|$)",
    re.IGNORECASE,
)
MAX_URL_CHARS = 2_000  # Characters. What is longer is no address of a page, but data.


def canonicalize_url(url: str) -> str | None:
    """The page's address in one spelling; ``None`` if this is no address of a web page.

    >>> canonical("HTTPS://Example.org:443/a/?utm_source=x&b=1#top")
    'https://example.org/a?b=1'
    """
    if len(url) > MAX_URL_CHARS or re.search(r"[\x00-\x20\x7f]", url):
        return None
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not host:
        return None
    host = f"[{host}]" if ":" in host else host
    place = host if port in (None, _DEFAULT_PORTS[parts.scheme]) else f"{host}:{port}"
    query = "&".join(part for part in parts.query.split("&") if part and not _TRACKING_PARAMETER.match(part))
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), query, ""))


MAX_TEXT_CHARS = 20_000  # Characters of one result: services that return whole pages are cut here.
_CONTROL_CHARS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)


class ProviderNotConfigured(InputError):
    """A provider lacks a setting; nobody who did not ask for it needs to hear of it."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A search service: who it is, how to ask it, and how often it likes to be asked."""

    name: str
    url: str
    """Where it answers: this is who gets to read the queries."""
    search: Search
    per_second: float = 5.0

    @property
    def address(self) -> str:
        """Where it answers, without a password that may stand in it."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result as a service gave it."""

    url: str
    title: str
    text: str


def to_passages(found: Iterable[SearchResult], k: int) -> list[Passage]:
    """The first ``k`` usable results, each page once. A result without a text is its title; one without an address of a web
    page is none. There is no score: a service's order says which is better, not by how much."""
    kept: dict[str, Passage] = {}
    for result in found:
        if len(kept) == k:
            break
        address, title = canonicalize_url(result.url.strip()), strip_control_chars(result.title)
        text = strip_control_chars(result.text)[:MAX_TEXT_CHARS] or title
        if address is not None and text:
            kept.setdefault(address, Passage(address, text, title or address, Place(result.url.strip()), "web"))
    return list(kept.values())


def strip_control_chars(text: str) -> str:
    """Without control characters and those that reorder or hide text; one line stays one line."""
    lines = (
        " ".join(line.split()) for line in _CONTROL_CHARS.sub(" ", text.encode("utf-8", "replace").decode()).split("\n")
    )
    return "\n".join(line for line in lines if line)


def require_setting(config: Settings, name: str, service: str) -> str:
    """A setting that the service cannot do without."""
    value = config.environment.get(name, "").strip()
    if not value:
        raise ProviderNotConfigured(f"{service} needs {name}, which is not set in the environment")
    return value


def get_base_url(config: Settings, name: str, default: str = "") -> str:
    """Where the service answers: as the environment says, else where it usually does."""
    url = config.environment.get(name, "").strip() or default
    if not re.match(r"https?://[^/\s]", url):
        raise InputError(f"{name}={url!r} is no address; set it to one that begins with http:// or https://")
    return url.rstrip("/")
