"""What stands before every path: bodies are small and come in time, and no browser does more with an answer than it should."""

import asyncio
import re
from contextlib import suppress

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from suffice.server.errors import error_response

MAX_BODY_BYTES = 256 * 1024  # Bytes. A task is at most 20,000 characters; documents do not come this way.
BODY_TIMEOUT = 15.0  # Seconds until a body must be there.
DRAIN_TIMEOUT = 2.0  # Seconds that a body which is too large may go on.

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
    """``here_only``: no key is needed, so nobody may be led here under another name (a page that a browser has open could
    give this machine's address a name of its own)."""

    def __init__(self, app: ASGIApp, *, localhost_only: bool) -> None:
        self._app = app
        self._localhost_only = localhost_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if self._localhost_only and not _is_localhost(scope):
            refusal = error_response(421, "Without keys this service answers only to localhost, 127.0.0.1 and [::1]")
            await refusal(scope, receive, guarded)
            return
        try:
            body = await _read_body(scope, receive)
        except _BodyTooLarge:
            await _drain_body(receive)
            refusal = error_response(
                413, f"The body is larger than {MAX_BODY_BYTES // 1024} KiB", headers={"connection": "close"}
            )
            await refusal(scope, receive, guarded)
        except TimeoutError:
            refusal = error_response(
                408, f"The body was not there after {BODY_TIMEOUT:g} seconds", True, {"connection": "close"}
            )
            await refusal(scope, receive, guarded)
        else:
            await self._app(scope, _replay_body(body, receive), guarded)


def _is_localhost(scope: Scope) -> bool:
    named = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
    return re.fullmatch(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?", named.lower()) is not None


class _BodyTooLarge(Exception):
    pass


async def _read_body(scope: Scope, receive: Receive) -> bytes:
    """The whole body, within its bounds."""
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
    """Let a client that is still sending finish, within bounds: cut off in the middle it would not read the answer."""
    left = 8 * MAX_BODY_BYTES
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_TIMEOUT):
            while left > 0:
                message = await receive()
                left -= len(message.get("body", b""))
                if not message.get("more_body"):
                    return


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, then whatever comes."""
    told = False

    async def again() -> Message:
        nonlocal told
        if not told:
            told = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again
