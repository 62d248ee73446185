"""A web search service as a ``Provider``, and helpers to write one.

A provider is a function ``NAME(config) -> Provider``, registered in the entry-point group ``suffice.providers``.
Its search describes the call as an ``http.ProviderRequest`` and passes it to ``http.fetch_passages``, with a function that
yields a ``SearchResult`` for each result; on a malformed answer it may raise ``LookupError``, ``TypeError``, ``ValueError`` or
``AttributeError``. ``choose`` adds the cache, retries, the rate limit and the circuit breaker.

CONTRIBUTING.md lists the steps to add a provider.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from suffice.errors import InputError
from suffice.search.base import Search
from suffice.search.urls import canonicalize_url
from suffice.settings import Settings
from suffice.text.plain import replace_surrogates
from suffice.types import Passage, Place

MAX_TEXT_CHARS = 20_000  # Characters of one result; services that return whole pages are cut here.
# Control, bidi-control and zero-width characters. More than ``text.plain`` strips, and each becomes a space: in the text of
# a service they often stand between words.
_UNWANTED_CHARS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]"
)


class ProviderNotConfigured(InputError):
    """A provider lacks a setting. Providers that the user did not name are then skipped silently."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A search service: its name, where it answers, its search, and how many queries it accepts in a second."""

    name: str
    url: str
    """The address that receives the queries."""
    search: Search
    per_second: float = 5.0

    @property
    def address(self) -> str:
        """The URL without a user name and password."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result as a service returned it."""

    url: str
    title: str
    text: str


def read_results(results: Iterable[Any], url: str = "url", *, text: str) -> Iterator[SearchResult]:
    """Yield the results of an answer, in which the address and the text have these names."""
    for result in results:
        yield SearchResult(result.get(url) or "", result.get("title") or "", result.get(text) or "")


def to_passages(results: Iterable[SearchResult], k: int) -> list[Passage]:
    """Return the first ``k`` usable results as passages, each page once.

    A result without a text uses its title as text; a result without the URL of a web page is dropped. Passages have no score:
    the order of a service shows which result is better, not by how much.
    """
    passages: dict[str, Passage] = {}
    for result in results:
        if len(passages) == k:
            break
        url, title = canonicalize_url(result.url.strip()), clean_text(result.title)
        text = clean_text(result.text)[:MAX_TEXT_CHARS] or title
        if url is not None and text:
            passages.setdefault(url, Passage(url, text, title or url, Place(result.url.strip()), "web"))
    return list(passages.values())


def clean_text(text: str) -> str:
    """Return the text without control and invisible characters, blank lines and repeated spaces."""
    lines = (" ".join(line.split()) for line in _UNWANTED_CHARS.sub(" ", replace_surrogates(text)).split("\n"))
    return "\n".join(line for line in lines if line)


def require_setting(config: Settings, name: str, service: str) -> str:
    """Return a setting that the service needs."""
    value = config.environment.get(name, "").strip()
    if not value:
        raise ProviderNotConfigured(f"{service} needs {name}, which is not set in the environment")
    return value


def get_base_url(config: Settings, name: str, default: str = "") -> str:
    """Return the address of the service: from the environment, or its default."""
    url = config.environment.get(name, "").strip() or default
    if not re.match(r"https?://[^/\s]", url):
        raise InputError(f"{name}={url!r} is not a URL; set it to one that begins with http:// or https://")
    return url.rstrip("/")
