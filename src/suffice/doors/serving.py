"""``suffice serve`` and ``suffice worker``: the service, and more hands for it."""

import asyncio
import ipaddress
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress

from suffice import settings
from suffice.doors.terminal import Terminal
from suffice.errors import InputError
from suffice.jobs import database, orders
from suffice.jobs.worker import Limits, Worker

GRACE = 3  # Seconds that open connections get when the service is told to end.


def serve(host: str, port: int, docs: Sequence[str], models: Sequence[str], limits: Limits, *, web: bool) -> int:
    """Serve until told to end; runs under way go on with the next worker."""
    import uvicorn

    from suffice.doors.http.app import application
    from suffice.doors.http.context import Service
    from suffice.models.choose import choose

    config = settings.load()
    terminal = Terminal(quiet=False)
    if not loopback(host):
        raise InputError(
            f"{host} can be reached from outside, and there are no keys yet; make one with: suffice keys create"
        )
    listening = _bound(host, port)
    worker = Worker(database.address(config.database_url, config.data_dir), orders.collections(docs), limits=limits)
    usual = models[0] if models else None
    choose(usual, config, terminal.say)  # Where documents go is said before the first call.
    app = application(Service(worker, usual, tuple(dict.fromkeys((*models, "extractive"))), web))
    shown = f"[{host}]" if ":" in host else host
    terminal.say(f"suffice listens on http://{shown}:{listening.getsockname()[1]}")
    terminal.say(f"Collections: {', '.join(worker.offered) or 'none (start with --docs NAME=PATH)'}.")
    server = uvicorn.Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=GRACE, lifespan="on"
        )
    )
    with suppress(KeyboardInterrupt):  # uvicorn has closed everything by then.
        server.run(sockets=[listening])
    return 0 if server.started else 1


def work(docs: Sequence[str], limits: Limits) -> int:
    """Take runs from the queue that a service on the same database fills."""
    config = settings.load()
    if not config.database_url:
        raise InputError(
            "A worker shares a database with the service: set SUFFICE_DATABASE_URL=postgresql://… for both; "
            "alone, suffice serve works on its runs itself"
        )
    worker = Worker(database.address(config.database_url, config.data_dir), orders.collections(docs), limits=limits)
    terminal = Terminal(quiet=False)

    async def main() -> None:
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        await worker.start()
        terminal.say(f"Worker {worker.roster.id} takes runs; collections: {', '.join(worker.offered) or 'none'}.")
        await ended.wait()
        await worker.stop()

    asyncio.run(main())
    return 0


def loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bound(host: str, port: int) -> socket.socket:
    """The socket, before anything is started: a port that is taken is said in one sentence."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else "there is no such port"
        raise InputError(f"Cannot listen on {host}:{port}: {reason}; choose another --port or --host") from error
