"""``suffice serve`` and ``suffice worker``: the service, and more hands for it."""

import asyncio
import ipaddress
import signal
from collections.abc import Sequence
from contextlib import suppress

from suffice import settings
from suffice.cli.terminal import Terminal
from suffice.errors import InputError
from suffice.jobs import database, requests
from suffice.jobs.telemetry import configure_logging
from suffice.jobs.worker import ConcurrencyLimits, Worker


def serve(
    host: str,
    port: int,
    docs: Sequence[str],
    models: Sequence[str],
    limits: ConcurrencyLimits,
    *,
    web: bool,
    takes_jobs: bool,
) -> int:
    """Serve until told to end; runs under way go on with the next worker."""
    from suffice.models.choose import choose_model
    from suffice.server.app import create_app
    from suffice.server.connection import build_http_server, open_socket
    from suffice.server.dependencies import Service

    config = settings.load()
    terminal = Terminal(quiet=False)
    configure_logging()
    if not takes_jobs and not config.database_url:
        raise InputError("--orders-only needs workers on the same database: set SUFFICE_DATABASE_URL=postgresql://…")
    url = database.database_url(config.database_url, config.data_dir)
    worker = Worker(url, requests.parse_collections(docs), limits=limits, takes_jobs=takes_jobs, has_telemetry=True)
    needs_key = worker.api_keys.has_any()
    if not needs_key and not is_loopback(host):
        raise InputError(
            f"{host} can be reached from outside, and there are no keys yet; make one with: suffice keys create NAME"
        )
    listening = open_socket(host, port)
    usual = models[0] if models else None
    choose_model(usual, config, terminal.say)  # Where documents go is said before the first call.
    app = create_app(Service(worker, usual, tuple(dict.fromkeys((*models, "extractive"))), web, not needs_key))
    shown = f"[{host}]" if ":" in host else host
    terminal.say(f"suffice listens on http://{shown}:{listening.getsockname()[1]}")
    terminal.say(f"Collections: {', '.join(worker.collections) or 'none (start with --docs NAME=PATH)'}.")
    if not needs_key:
        terminal.say("No keys: whoever is on this machine can use it. suffice keys create NAME changes that.")
    server = build_http_server(app)
    with suppress(KeyboardInterrupt):  # uvicorn has closed everything by then.
        server.run(sockets=[listening])
    return 0 if server.started else 1


def run_worker(docs: Sequence[str], limits: ConcurrencyLimits) -> int:
    """Take runs from the queue that a service on the same database fills."""
    config = settings.load()
    if not config.database_url:
        raise InputError(
            "A worker shares a database with the service: set SUFFICE_DATABASE_URL=postgresql://… for both; "
            "alone, suffice serve works on its runs itself"
        )
    configure_logging()
    worker = Worker(
        database.database_url(config.database_url, config.data_dir),
        requests.parse_collections(docs),
        limits=limits,
        has_telemetry=True,
    )
    terminal = Terminal(quiet=False)

    async def main() -> None:
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        await worker.start()
        terminal.say(
            f"Worker {worker.heartbeats.id} takes runs; collections: {', '.join(worker.collections) or 'none'}."
        )
        await ended.wait()
        await worker.stop()

    asyncio.run(main())
    return 0


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
