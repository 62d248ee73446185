"""The middleware of every route: limits on request bodies, a check of the host, and security headers."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from suffice.jobs.database import DatabaseError
from suffice.server.errors import error_response

MAX_BODY_BYTES = 256 * 1024  # A question is short, and documents are not uploaded.
BODY_TIMEOUT = 15.0  # Seconds within which a body must arrive.
DRAIN_TIMEOUT = 2.0  # Seconds for which an oversized body is still read.

# Headers that proxies and content networks add.
_FORWARDED_HEADER = re.compile(
    rb"forwarded|x-forwarded(-[\w-]+)?|via|x-real-ip|x-client-ip|x-cluster-client-ip|x-original-(host|forwarded-for|url)"
    rb"|true-client-ip|(cf|fastly|fly|do)-(connecting|client)-ip|cf-ray|x-envoy-[\w-]+|x-amzn-[\w-]+|x-appengine-[\w-]+"
)

SECURITY_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class SecurityMiddleware:
    """Adds security headers to responses and refuses oversized, slow and misdirected requests.

    While no key is needed, the service answers only to the names of this machine, and to no request that a proxy forwards.
    Otherwise a web page could reach it from a browser through a host name that resolves to this machine (DNS rebinding), and
    a proxy on this machine would open it to others.
    """

    def __init__(self, app: ASGIApp, *, needs_key: Callable[[], Awaitable[bool]]) -> None:
        self._app = app
        self._needs_key = needs_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = None if await self._is_key_needed() else _refuse_outsider(scope)
        closing = {"connection": "close"}
        try:
            body = await _read_body(scope, receive) if refusal is None else b""
        except _BodyTooLarge:
            await _drain_body(receive)
            refusal = error_response(413, f"The body is larger than {MAX_BODY_BYTES // 1024} KiB", headers=closing)
        except TimeoutError:
            refusal = error_response(408, f"The body did not arrive within {BODY_TIMEOUT:g} seconds", True, closing)
        if refusal is None:
            await self._app(scope, _replay_body(body, receive), send_with_headers)
        else:
            await refusal(scope, receive, send_with_headers)

    async def _is_key_needed(self) -> bool:
        try:
            return await self._needs_key()
        except DatabaseError:  # The route answers with the error; until the database is back, this machine only.
            return False


def _refuse_outsider(scope: Scope) -> Response | None:
    """Return the refusal of a request that does not come from this machine; ``None`` if it does."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
    if not re.fullmatch(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?", host.lower()):
        return error_response(421, "Without keys this service answers only to the hosts localhost, 127.0.0.1 and [::1]")
    forwarded = next((name for name, _ in scope["headers"] if _FORWARDED_HEADER.fullmatch(name)), None)
    if forwarded is not None:
        return error_response(
            403,
            f"This request was forwarded by a proxy (header {forwarded.decode('latin-1')}), and without keys this service "
            "answers only to this machine; create a key with: suffice keys create NAME",
        )
    return None


class _BodyTooLarge(Exception):
    pass


async def _read_body(scope: Scope, receive: Receive) -> bytes:
    """Read the whole body; raise ``_BodyTooLarge`` or ``TimeoutError`` beyond the limits."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > MAX_BODY_BYTES:
            raise _BodyTooLarge
    body = bytearray()
    async with asyncio.timeout(BODY_TIMEOUT):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return bytes(body)
            body += message.get("body", b"")
            if len(body) > MAX_BODY_BYTES:
                raise _BodyTooLarge
            if not message.get("more_body"):
                return bytes(body)


async def _drain_body(receive: Receive) -> None:
    """Read on for a while: a client that is cut off while sending would not read the response."""
    left = 8 * MAX_BODY_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_TIMEOUT):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body"):
                    return


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that gives the body that was read, then the following messages."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return unread.pop() if unread else await receive()

    return receive_again
