"""The database of the service: an SQLite file in the data directory, or a Postgres that several machines share."""

from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from filelock import FileLock

from suffice.errors import InputError, Unavailable
from suffice.settings import Settings

POOL_SIZE = 8  # Connections per process for our own queries; dbos opens as many. Postgres allows 100 in all by default.
BUSY_MILLISECONDS = 30_000  # How long a writer on SQLite waits for the others.
POOL_TIMEOUT = 120.0  # Seconds that a query waits for a connection.

_POSTGRES_DRIVERS = ("postgresql", "postgres", "postgresql+psycopg")

DatabaseError = sa.exc.SQLAlchemyError

metadata = sa.MetaData()

runs = sa.Table(
    "suffice_runs",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(64), nullable=False),
    sa.Column("status", sa.String(16), nullable=False, index=True),
    sa.Column("order", sa.Text, nullable=False),
    sa.Column("priority", sa.Integer, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("started", sa.Float),
    sa.Column("finished", sa.Float),
    sa.Column("attempts", sa.Integer, nullable=False, default=0),
    sa.Column("cancel", sa.Boolean, nullable=False, default=False),
    sa.Column("idempotency", sa.String(255)),
    sa.Column("report", sa.Text),
    sa.Column("error", sa.Text),
    sa.UniqueConstraint("owner", "idempotency"),
    sa.Index("suffice_runs_of_owner", "owner", "created", "id"),
)

events = sa.Table(
    "suffice_events",
    metadata,
    sa.Column("run", sa.String(64), primary_key=True),
    sa.Column("seq", sa.Integer, primary_key=True),
    sa.Column("type", sa.String(32), nullable=False),
    sa.Column("data", sa.Text, nullable=False),
)

# What stays readable of each run at a glance: its line of the log, and its finding for later runs of the same owner.
run_log = sa.Table(
    "suffice_run_log",
    metadata,
    sa.Column("run", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(64), nullable=False),
    sa.Column("at", sa.Float, nullable=False),
    sa.Column("row", sa.Text, nullable=False),
    sa.Column("finding", sa.Text),
    sa.Index("suffice_run_log_of_owner", "owner", "at"),
)

workers = sa.Table(
    "suffice_workers",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("host", sa.String(255), nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("beat", sa.Float, nullable=False),
)

# The queue that each worker takes its runs from, and the tags of the collections it serves as JSON (see ``served``).
listeners = sa.Table(
    "suffice_listeners",
    metadata,
    sa.Column("worker", sa.String(64), primary_key=True),
    sa.Column("queue", sa.String(64), nullable=False),
    sa.Column("tags", sa.Text, nullable=False),
)

keys = sa.Table(
    "suffice_keys",
    metadata,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.String(100), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("created", sa.Float, nullable=False),
    sa.Column("revoked", sa.Boolean, nullable=False),
    sa.Column("allowance", sa.Text, nullable=False),
)


def sqlite_url(path: Path) -> str:
    """Return the URL of an SQLite file and create its folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise InputError(
            f"The data directory {path.parent} cannot be created: {error.strerror}; set SUFFICE_DATA_DIR"
        ) from error
    return f"sqlite:///{path.resolve()}"


def database_url(url: str | None, data_dir: Path) -> str:
    """Return the URL from ``SUFFICE_DATABASE_URL``, or that of the SQLite file in the data directory."""
    if not url:
        return sqlite_url(data_dir / "service.sqlite")
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError as error:
        raise InputError(
            "SUFFICE_DATABASE_URL is not a database URL; write postgresql://user:password@host/database"
        ) from error
    if parsed.drivername in _POSTGRES_DRIVERS:
        return parsed.set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    raise InputError(
        f"SUFFICE_DATABASE_URL names the unsupported database {parsed.drivername!r}; use postgresql://…, or unset it "
        "for an SQLite file in the data directory"
    )


def open_engine(url: str) -> sa.Engine:
    """Open the database and create missing tables. Writers on SQLite wait for each other."""
    postgres = not url.startswith("sqlite")
    engine = sa.create_engine(
        url, pool_pre_ping=postgres, pool_size=POOL_SIZE, max_overflow=0, pool_timeout=POOL_TIMEOUT
    )
    if not postgres:
        sa.event.listen(engine, "connect", _configure_sqlite)
    try:
        with lock_setup(url), engine.begin() as connection:
            if postgres:  # Otherwise two workers that start at the same time would both create the tables.
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7823401)"))
            metadata.create_all(connection)
    except (sa.exc.DBAPIError, OSError) as error:
        engine.dispose()
        reason = str(getattr(error, "orig", error)).strip().partition("\n")[0]
        if not postgres:
            raise Unavailable(
                f"The database {sa.make_url(url).database} cannot be used ({reason}); free it or its disk, restore it from "
                "a backup, or move it away to start with an empty one"
            ) from error
        address = sa.make_url(url).render_as_string(hide_password=True)
        raise Unavailable(f"The database {address} does not answer ({reason}); is it running?") from error
    return engine


def open_configured(config: Settings) -> sa.Engine:
    return open_engine(database_url(config.database_url, config.data_dir))


def lock_setup(url: str) -> AbstractContextManager[object]:
    """Let one process at a time create tables in an SQLite file, so that two services can start together."""
    return FileLock(f"{sa.make_url(url).database}.setup", mode=0o600) if url.startswith("sqlite") else nullcontext()


def is_database_failure(error: BaseException) -> bool:
    """Whether the database cannot be used now (locked, full, corrupt, gone), as opposed to a wrong statement."""
    if isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError | sa.exc.TimeoutError):
        return True
    return type(error) is sa.exc.DatabaseError  # SQLite reports a corrupt file like this.


def _configure_sqlite(connection: Any, record: Any) -> None:
    file = connection.execute("PRAGMA database_list").fetchone()[2]
    if file:
        # Before anything is written: the files that SQLite puts beside this one get the same mode.
        with suppress(PermissionError):
            Path(file).chmod(0o600)
    connection.isolation_level = "IMMEDIATE"
    connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
    connection.execute("PRAGMA journal_mode=WAL")  # Readers do not wait for the writer.
    # Our own writes need no disk sync of their own. Events are written again when a run is resumed, and a request is
    # followed by its queueing, which dbos syncs together with everything written before it.
    connection.execute("PRAGMA synchronous=NORMAL")
