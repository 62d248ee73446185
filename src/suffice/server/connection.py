"""The HTTP server and its socket. A connection whose request head does not arrive in time is closed."""

import asyncio
import socket
from contextlib import suppress
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from suffice.errors import InputError
from suffice.models.llm.endpoint import is_loopback

MAX_CONNECTIONS = 2000  # More connections at the same time are refused.
SHUTDOWN_SECONDS = 3  # Seconds that open connections have left when the service shuts down.
HEAD_TIMEOUT = 10.0  # Seconds within which the head of a request must arrive.


class HeadTimeoutProtocol(H11Protocol):
    """Closes connections that send no complete request head within ``HEAD_TIMEOUT`` seconds."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_head_timer()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._start_head_timer()
        else:
            self._cancel_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_head_timer()
        super().connection_lost(exc)

    def _start_head_timer(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_TIMEOUT, self._close_if_idle)

    def _cancel_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close_if_idle(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self.transport.close()


def build_http_server(app: ASGIApp) -> uvicorn.Server:
    """Build the server of an application; it is not started."""
    config = uvicorn.Config(
        app,
        http=HeadTimeoutProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        limit_concurrency=MAX_CONNECTIONS,
    )
    return uvicorn.Server(config)


def serve_app(app: ASGIApp, listener: socket.socket) -> int:
    """Serve an application until the process is interrupted; return the exit status."""
    server = build_http_server(app)
    with suppress(KeyboardInterrupt):  # Uvicorn has shut down cleanly before it raises this.
        server.run(sockets=[listener])
    return 0 if server.started else 1


def open_socket(host: str, port: int) -> socket.socket:
    """Open the listening socket before anything is started, so that a port in use is one clear error."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise InputError(f"Cannot listen on {host}:{port}: {reason}; choose another --port or --host") from error


def require_key(host: str, has_key: bool) -> None:
    """Raise ``InputError`` if others can reach the host without a key."""
    if not has_key and not is_loopback(host):
        raise InputError(
            f"{host} can be reached from other machines and no API key exists; create one with: suffice keys create NAME"
        )
