"""One HTTP request to a search service, bounded in time and size, with a named error for every outcome (docs/web.md).

Redirects are not followed and proxies of the environment are not used, so that a key is sent only to the configured address.
"""

import asyncio
import json
import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2

from suffice import __version__
from suffice.errors import SearchError, SearchRefused
from suffice.models.retry import parse_retry_after
from suffice.search.web.provider import SearchResult, clean_text, to_passages
from suffice.types import Passage

T = TypeVar("T")

TIMEOUT_SECONDS = 15.0  # For the whole answer.
MAX_RESPONSE_BYTES = 4_000_000  # Unpacked.
MAX_ERROR_CHARS = 160  # How much of a service's own error message is shown.
USER_AGENT = f"suffice/{__version__}"


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    url: str
    params: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Any = None
    """If set, it is sent as JSON with POST."""
    key_setting: str = ""
    """The name of the setting that holds the secret, for error messages."""
    secret: str = field(default="", repr=False)
    """The secret itself; it is removed from every message."""
    refusal_messages: Mapping[int, str] = field(default_factory=dict)
    """Statuses by which this service refuses a request, with the reason to show."""
    empty_statuses: tuple[int, ...] = ()
    """Statuses by which this service says that it found nothing; the answer is then ``null``."""


async def fetch_passages(
    service: str, request: ProviderRequest, parse: Callable[[Any], Iterable[SearchResult]], k: int
) -> list[Passage]:
    """Send the request and return the first ``k`` results that ``parse`` finds in the JSON of the answer."""
    return await fetch_json(service, request, lambda answer: to_passages(parse(answer), k))


async def fetch_json(service: str, request: ProviderRequest, parse: Callable[[Any], T]) -> T:
    """Send the request and return what ``parse`` makes of the JSON of the answer."""
    body = await send_request(service, request)
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        start = _redact(body[:100].decode("utf-8", "replace"), request) or "nothing"
        raise SearchError(f"{service} answered with something that is not JSON: {start}") from error
    try:
        return parse(answer)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise SearchError(f"{service} answered in a shape that cannot be read ({reason})") from error


async def send_request(service: str, request: ProviderRequest) -> bytes:
    """Send the request and return the body of a successful answer."""
    host = urlsplit(request.url).netloc.rpartition("@")[2]
    try:
        async with (
            asyncio.timeout(TIMEOUT_SECONDS),
            httpx2.AsyncClient(verify=_make_ssl_context(), trust_env=False, timeout=TIMEOUT_SECONDS) as client,
            client.stream(
                "GET" if request.body is None else "POST",
                request.url,
                params=dict(request.params) or None,
                headers={"User-Agent": USER_AGENT, "Accept": "application/json, */*;q=0.1", **request.headers},
                json=request.body,
            ) as response,
        ):
            body = await read_bounded(response, MAX_RESPONSE_BYTES)
            if len(body) > MAX_RESPONSE_BYTES:
                limit = f"{MAX_RESPONSE_BYTES // 1_000_000} MB"
                raise SearchError(f"{service} answered with more than {limit}; the rest was not read")
            if response.status_code in request.empty_statuses:
                return b"null"
            if response.status_code != 200:
                raise _make_error(service, request, response, body)
            return body
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise SearchError(f"{service} did not answer within {TIMEOUT_SECONDS:g} seconds", retryable=True) from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
        raise SearchError(f"{service} cannot be queried at {host}: {error}") from error
    except httpx2.DecodingError as error:
        raise SearchError(f"{service} answered with a body that cannot be unpacked") from error
    except httpx2.HTTPError as error:
        message = f"{service} cannot be reached at {host}: {error or type(error).__name__}"
        raise SearchError(message, retryable=True) from error


@cache
def _make_ssl_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


async def read_bounded(response: httpx2.Response, max_bytes: int) -> bytes:
    """Return the unpacked body of an answer; of a longer one, more than ``max_bytes``, but not the rest."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > max_bytes:
            break
    return bytes(body)


def _make_error(service: str, request: ProviderRequest, response: httpx2.Response, body: bytes) -> SearchError:
    status, said = response.status_code, _extract_error_text(body, request)
    reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    if status == 429:
        wait = parse_retry_after(response.headers.get("retry-after"))
        asked = "" if wait is None else f" and asked to wait {wait:g} seconds"
        message = f"{service} received too many requests{asked} ({reason})"
        return SearchRefused(message, retryable=True, retry_after=wait)
    if status in request.refusal_messages:
        return SearchRefused(f"{service} refused: {request.refusal_messages[status]} ({reason})")
    if status in (401, 403):
        hint = f"; check {request.key_setting}" if request.key_setting else ""
        return SearchRefused(f"{service} refused the request ({reason}){hint}")
    if status in (402, 432, 433):
        key = request.key_setting or "this key"
        return SearchRefused(f"{service} refused: the plan behind {key} is used up ({reason})")
    if 300 <= status < 400:
        target = clean_text(response.headers.get("location", "another address"))[:200]
        return SearchError(f"{service} has moved to {target} ({reason})")
    return SearchError(f"{service} failed ({reason})", retryable=status in (408, 425) or status >= 500)


def _extract_error_text(body: bytes, request: ProviderRequest) -> str:
    """Return the service's own error message: from its JSON, or its plain text; nothing from an HTML page."""
    try:
        text = _find_error_message(json.loads(body))
    except (ValueError, RecursionError):
        text = "" if body.lstrip().startswith(b"<") else body[:2_000].decode("utf-8", "replace")
    return _redact(text, request)


def _redact(text: str, request: ProviderRequest) -> str:
    """Return the text as one short line without the secret."""
    public = text.replace(request.secret, "…") if request.secret else text
    return " ".join(clean_text(public).split())[:MAX_ERROR_CHARS]


def _find_error_message(error: Any) -> str:
    """Return the message in a JSON error, under any of the names that services use."""
    if isinstance(error, str):
        return error
    if isinstance(error, list):
        return _find_error_message(error[0]) if error else ""
    if isinstance(error, dict):
        for name in ("message", "detail", "error", "reason", "msg", "info"):
            if found := _find_error_message(error.get(name)):
                return found
    return ""
