"""One request to a search service: bounded in time and size, and every way to go wrong has a name.

    401, 403              SearchRefused   the key is wrong: says which setting holds it
    402, 432, 433         SearchRefused   the plan is used up
    429                   SearchRefused   asked too often; tried again after as long as it says
    408, 425, 5xx         SearchError     tried again
    no answer, no line    SearchError     tried again
    anything else         SearchError     not tried again

No redirect is followed and no proxy taken from the environment: a key goes to the address that was set and nowhere else.
"""

import asyncio
import json
import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from suffice import __version__
from suffice.errors import SearchError, SearchRefused
from suffice.search.web.provider import SearchResult, strip_control_chars, to_passages
from suffice.types import Passage

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")

TIMEOUT_SECONDS = 15.0  # What a service has for its whole answer.
MAX_RESPONSE_BYTES = 4_000_000  # Bytes of an answer, unpacked.
USER_AGENT = f"suffice/{__version__}"


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """A request. ``key`` names the setting that holds the secret, ``secret`` is it and is never shown."""

    url: str
    params: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Any = None
    """Sent as JSON by POST, if there is one."""
    key_setting: str = ""
    secret: str = field(default="", repr=False)
    refusal_messages: Mapping[int, str] = field(default_factory=dict)
    """What a status means that this service uses in its own way: it says no, and why."""
    empty_statuses: tuple[int, ...] = ()
    """Statuses by which this service says that there is nothing; the answer is then ``null``."""


async def fetch_passages(
    service: str, call: ProviderRequest, read: Callable[[Any], Iterable[SearchResult]], k: int
) -> list[Passage]:
    """The first ``k`` of what ``read`` finds in the JSON of the answer."""
    return await fetch_json(service, call, lambda answer: to_passages(read(answer), k))


async def fetch_json(service: str, call: ProviderRequest, read: Callable[[Any], T]) -> T:
    """What ``read`` makes of the JSON of the answer."""
    body = await send_request(service, call)
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError) as error:
        start = _redact(body[:100].decode("utf-8", "replace"), call) or "nothing"
        raise SearchError(f"{service} answered with something that is no JSON: {start}") from error
    try:
        return read(answer)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise SearchError(
            f"{service} answered in a shape that cannot be read ({type(error).__name__}: {error})"
        ) from error


async def send_request(service: str, call: ProviderRequest) -> bytes:
    """The body of a good answer."""
    import httpx2

    where = urlsplit(call.url).netloc.rpartition("@")[2]
    try:
        async with (
            asyncio.timeout(TIMEOUT_SECONDS),
            httpx2.AsyncClient(verify=_make_ssl_context(), trust_env=False, timeout=TIMEOUT_SECONDS) as client,
            client.stream(
                "GET" if call.body is None else "POST",
                call.url,
                params=dict(call.params) or None,
                headers={"User-Agent": USER_AGENT, "Accept": "application/json, */*;q=0.1", **call.headers},
                json=call.body,
            ) as answer,
        ):
            body = await _read_bounded(service, answer)
            if answer.status_code in call.empty_statuses:
                return b"null"
            if answer.status_code != 200:
                raise _make_error(service, call, answer, body)
            return body
    except (TimeoutError, httpx2.TimeoutException) as error:
        raise SearchError(f"{service} did not answer within {TIMEOUT_SECONDS:g} seconds", retryable=True) from error
    except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, UnicodeError) as error:
        raise SearchError(f"{service} cannot be asked at {where}: {error}") from error
    except httpx2.DecodingError as error:
        raise SearchError(f"{service} answered with a body that cannot be unpacked") from error
    except httpx2.HTTPError as error:
        raise SearchError(
            f"{service} cannot be reached at {where}: {error or type(error).__name__}", retryable=True
        ) from error


@cache
def _make_ssl_context() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context(trust_env=False)


async def _read_bounded(service: str, answer: "httpx2.Response") -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > MAX_RESPONSE_BYTES:
            raise SearchError(
                f"{service} answered with more than {MAX_RESPONSE_BYTES // 1_000_000} MB; the rest was not read"
            )
    return bytes(body)


def _make_error(service: str, call: ProviderRequest, answer: "httpx2.Response", body: bytes) -> SearchError:
    status, said = answer.status_code, _extract_error_text(body, call)
    reason = f"HTTP {status}: {said}" if said else f"HTTP {status}"
    if status == 429:
        wait = _parse_retry_after(answer.headers.get("retry-after"))
        told = "" if wait is None else f" and wants to be left alone for {wait:g} seconds"
        return SearchRefused(f"{service} was asked too often{told} ({reason})", retryable=True, retry_after=wait)
    if status in call.refusal_messages:
        return SearchRefused(f"{service} refused: {call.refusal_messages[status]} ({reason})")
    if status in (401, 403):
        mend = f"; check {call.key_setting}" if call.key_setting else ""
        return SearchRefused(f"{service} refused the request ({reason}){mend}")
    if status in (402, 432, 433):
        return SearchRefused(
            f"{service} refused: the plan behind {call.key_setting or 'this key'} is used up ({reason})"
        )
    if 300 <= status < 400:
        return SearchError(
            f"{service} has moved to {strip_control_chars(answer.headers.get('location', 'elsewhere'))[:200]} ({reason})"
        )
    return SearchError(f"{service} failed ({reason})", retryable=status in (408, 425) or status >= 500)


def _extract_error_text(body: bytes, call: ProviderRequest) -> str:
    """What the service says about it, in a few words: its error's sentence, or plain text; a whole page says nothing."""
    try:
        text = _find_error_message(json.loads(body))
    except (ValueError, RecursionError):
        text = "" if body.lstrip().startswith(b"<") else body[:2_000].decode("utf-8", "replace")
    return _redact(text, call)


def _redact(text: str, call: ProviderRequest) -> str:
    """One short line; if it repeats the secret, without it."""
    return " ".join(strip_control_chars(text.replace(call.secret, "…") if call.secret else text).split())[:160]


def _find_error_message(told: Any) -> str:
    """The sentence in an error object, wherever services put it."""
    if isinstance(told, str):
        return told
    if isinstance(told, list):
        return _find_error_message(told[0]) if told else ""
    if isinstance(told, dict):
        for name in ("message", "detail", "error", "msg", "info"):
            if found := _find_error_message(told.get(name)):
                return found
    return ""


def _parse_retry_after(value: str | None) -> float | None:
    """Seconds, from a number or a date."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            moment = parsedate_to_datetime(value)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, round(seconds, 1)) if seconds == seconds else None
