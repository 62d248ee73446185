"""``suffice serve`` and ``suffice worker``: the HTTP service, and further processes that work on its runs."""

from typing import TYPE_CHECKING

from suffice import settings
from suffice.cli.options import flag
from suffice.cli.output import print_note
from suffice.errors import InputError, Unavailable

if TYPE_CHECKING:
    from suffice.jobs.worker import Worker

_COLLECTIONS = flag(
    None,
    "A file, a folder or the address of a corpus (postgres://…) that requests may search by this name; without NAME, "
    "'default'. Repeatable.",
    metavar="NAME=PATH|PATH",
)
_RUNS = flag(32, "Runs that this process works on at the same time.", metavar="N", min=1)
_RUNS_PER_USER = flag(
    8, "Runs of one user that are worked on at the same time by all workers with these --docs.", metavar="N", min=1
)
_RUNS_OVERALL = flag(
    None, "Runs that all workers with these --docs work on at the same time. Default: no limit.", metavar="N", min=1
)


def serve(
    host: str = flag("127.0.0.1", "Address to listen on.", metavar="HOST"),
    port: int = flag(8080, "Port to listen on; 0 picks a free one.", metavar="PORT", min=0, max=65535),
    docs: list[str] | None = _COLLECTIONS,
    model: list[str] | None = flag(
        None,
        "A model that requests may choose, as for 'suffice ask'. Repeatable; the first is the default.",
        metavar="NAME",
    ),
    web: bool = flag(False, "Allow requests to search the web.", flags="--web"),
    orders_only: bool = flag(
        False,
        "Only accept requests; 'suffice worker' processes on the same Postgres database run them.",
        flags="--orders-only",
    ),
    runs: int = _RUNS,
    runs_per_user: int = _RUNS_PER_USER,
    runs_overall: int | None = _RUNS_OVERALL,
) -> int:
    """Start the HTTP service with its web page.

    Runs are durable: after a crash or restart, a worker continues them without paying again.
    """
    from suffice.models.choose import choose_model
    from suffice.server.app import create_app
    from suffice.server.connection import open_socket, require_key, serve_app
    from suffice.server.dependencies import Service

    config = settings.load()
    if orders_only and not config.database_url:
        raise InputError(
            "--orders-only needs workers on the same database; set SUFFICE_DATABASE_URL=postgresql://… for all of them"
        )
    worker = _open_worker(config, docs, (runs, runs_per_user, runs_overall), takes_jobs=not orders_only)
    needs_key = worker.api_keys.has_any()
    require_key(host, needs_key)
    listener = open_socket(host, port)
    default_model = model[0] if model else None
    choose_model(default_model, config, print_note)  # Tells the operator now where documents will be sent.
    app = create_app(Service(worker, default_model, tuple(dict.fromkeys((*(model or ()), "extractive"))), web))
    url_host = f"[{host}]" if ":" in host else host
    print_note(f"suffice listens on http://{url_host}:{listener.getsockname()[1]}")
    print_note(f"Collections: {', '.join(worker.collections) or 'none (add one with --docs NAME=PATH)'}.")
    if not needs_key:
        print_note(
            "No API keys: everyone on this machine can use the service. To require a key, run: suffice keys create NAME"
        )
    return serve_app(app, listener)


def worker(
    docs: list[str] | None = _COLLECTIONS,
    runs: int = _RUNS,
    runs_per_user: int = _RUNS_PER_USER,
    runs_overall: int | None = _RUNS_OVERALL,
    check: bool = flag(
        False, "Only check that a worker on this machine is alive; status 4 if none is.", flags="--check"
    ),
) -> None:
    """Work on the runs of a service that uses the same database and serves the same collections."""
    import asyncio
    import signal

    config = settings.load()
    if not config.database_url:
        raise InputError(
            "A worker needs the database of a service; set SUFFICE_DATABASE_URL=postgresql://… for both. "
            "Without a shared database, suffice serve works on its own runs"
        )
    if check:
        _check_worker(config)
        return
    worker = _open_worker(config, docs, (runs, runs_per_user, runs_overall))

    async def work_until_signal() -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        await worker.start()
        print_note(f"Worker {worker.heartbeats.id} is ready. Collections: {', '.join(worker.collections) or 'none'}.")
        await stopped.wait()
        await worker.stop()

    asyncio.run(work_until_signal())


def _check_worker(config: settings.Settings) -> None:
    from suffice.jobs.database import open_configured
    from suffice.jobs.heartbeats import Heartbeats

    if not Heartbeats(open_configured(config)).is_alive_here():
        raise Unavailable("No worker on this machine is alive")


def _open_worker(
    config: settings.Settings, docs: list[str] | None, limits: tuple[int, int, int | None], *, takes_jobs: bool = True
) -> "Worker":
    from suffice.jobs import database, requests
    from suffice.jobs.telemetry import configure_logging
    from suffice.jobs.worker import ConcurrencyLimits, Worker

    configure_logging()
    return Worker(
        database.database_url(config.database_url, config.data_dir),
        requests.parse_collections(docs or []),
        limits=ConcurrencyLimits(*limits),
        takes_jobs=takes_jobs,
        has_telemetry=True,
        retention=config.retention,
    )
