"""A corpus in Postgres with pgvector: its address, connections, tables and formats.

A collection is one schema, ``suffice_NAME``:

    collection   one row: version of the index, embedder and its dimension, mean length of a passage
    files        path, digest of the content, number of passages, why it could not be read
    passages     text, title and place of each passage
    entries      what is searched: terms (GIN index), BM25 weights (sparse vector), meaning (vector, HNSW index)
    statistics   in how many passages each term occurs      } rows are added, never changed, so that workers do not
    totals       how many passages there are, by language   } wait for each other; the sum counts

The BM25 score of a passage is the inner product of its stored weights and the inverse document frequencies of the query's
terms. Those come from ``statistics`` at the time of the query. Only the mean length is fixed when the collection is made.

An id is the id of the file, shifted, plus the number of the passage in it, so a file's rows are one range.
"""

import atexit
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import psycopg
from psycopg import sql
from psycopg_pool import ConnectionPool, PoolTimeout

from suffice.errors import InputError, SearchError
from suffice.search.corpus.index import Term
from suffice.search.corpus.sync import INDEX_VERSION
from suffice.search.engines.address import remove_secrets, split_address
from suffice.types import Vectors

Connection = psycopg.Connection[Any]
K1, B = 1.2, 0.75  # As in tantivy.
TERM_DIMENSIONS = 1_000_000_000  # The most that pgvector allows; a term's dimension is its hash.
FILE_SHIFT = 24  # 16 million passages a file.
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 30  # Of a search; ingestion has no limit.
POOL_SIZE = 8  # Connections for searches, for each database and process.
EF_SEARCH = 100  # How far the vector index looks; at least the number of candidates.
MIN_PGVECTOR = (0, 7)
_PROBE_SIZE = 64  # Vectors and dimensions of the index that is built to see whether the server survives it.
_CONNECTION_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "connect_timeout": CONNECT_SECONDS,
    "application_name": "suffice",
    "prepare_threshold": None,  # A prepared plan would not know how common the terms are.
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")

_TABLES = """
CREATE TABLE collection (version int NOT NULL, embedder text NOT NULL, dimension int NOT NULL, mean_length real);
CREATE TABLE files (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, path text UNIQUE NOT NULL, stamp text NOT NULL,
    passages int NOT NULL, why text NOT NULL);
CREATE TABLE passages (id bigint PRIMARY KEY, text text NOT NULL, title text NOT NULL, kind text NOT NULL, first_line int,
    last_line int, page int, record text, record_id text, part int NOT NULL, section text, language text NOT NULL);
CREATE INDEX passages_record ON passages (record_id) WHERE record_id IS NOT NULL;
CREATE TABLE entries (id bigint PRIMARY KEY, position bigint NOT NULL, terms int[] NOT NULL,
    words sparsevec({terms}) NOT NULL, vector halfvec({dimension}));
CREATE TABLE statistics (term int NOT NULL, passages bigint NOT NULL);
CREATE INDEX statistics_term ON statistics (term);
CREATE TABLE totals (name text NOT NULL, count bigint NOT NULL);
"""


@dataclass(frozen=True)
class PostgresAddress:
    """Where a collection is. ``text`` has no secrets and is for messages."""

    dsn: str
    collection: str
    text: str

    @property
    def schema(self) -> str:
        return f"suffice_{self.collection}"


@dataclass(frozen=True)
class CollectionInfo:
    """What a collection was made with."""

    embedder: str
    dimension: int


def parse_postgres(text: str) -> PostgresAddress:
    """Parse ``postgres://USER:PASSWORD@HOST:PORT/DATABASE/COLLECTION?libpq parameters``."""
    shown = remove_secrets(text)
    netloc, path, _ = split_address(text)
    if len(path) != 2:
        raise InputError(
            f"{shown} does not name a database and a collection; write postgres://HOST/DATABASE/COLLECTION"
        )
    database, name = path
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot be the name of a collection; use up to 40 of a-z, 0-9, - and _, beginning with a letter or digit"
        )
    query = text.partition("?")[2]
    return PostgresAddress(f"postgresql://{netloc}/{database}{'?' if query else ''}{query}", name, shown)


@contextmanager
def translate_errors(address: PostgresAddress) -> Iterator[None]:
    """Turn errors of the database into one sentence. The driver's messages contain no password."""
    try:
        yield
    except psycopg.errors.UndefinedTable as error:
        raise InputError(f"The collection {address.text} is incomplete; make it again with --rebuild") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise InputError(f"The user of {address.text} lacks a right ({_first_line(error)})") from error
    except psycopg.errors.QueryCanceled as error:
        raise SearchError(
            f"{address.text} did not answer within {STATEMENT_SECONDS} seconds; does it have its indexes? "
            "suffice index --to builds them",
            retryable=True,
        ) from error
    except (psycopg.OperationalError, PoolTimeout) as error:
        raise SearchError(f"{address.text} cannot be used ({_first_line(error)})", retryable=True) from error
    except psycopg.ProgrammingError as error:
        raise InputError(f"{address.text} cannot be used ({_first_line(error)})") from error
    except psycopg.Error as error:
        raise SearchError(f"{address.text} failed ({_first_line(error)})") from error


def connect(address: PostgresAddress) -> Connection:
    """Open a connection of its own, with the collection first in its search path."""
    connection = psycopg.connect(address.dsn, **_CONNECTION_OPTIONS)
    set_search_path(connection, address)
    return connection


@cache
def get_pool(dsn: str) -> ConnectionPool:
    """Return the connections for searches, which all collections of a database and all runs of this process share."""
    pool = ConnectionPool(
        dsn,
        kwargs=_CONNECTION_OPTIONS,
        min_size=0,
        max_size=POOL_SIZE,
        max_idle=60,
        timeout=CONNECT_SECONDS,
        reconnect_timeout=CONNECT_SECONDS,
        configure=_configure_search,
        check=ConnectionPool.check_connection,
        open=True,
    )
    atexit.register(pool.close)
    return pool


def _configure_search(connection: Connection) -> None:
    connection.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")
    connection.execute(f"SET hnsw.ef_search = {EF_SEARCH}")
    connection.execute("SET jit = off")  # It would take longer than the query.


def set_search_path(connection: Connection, address: PostgresAddress) -> None:
    """Let unqualified names mean the tables of the collection; types of extensions are found as before."""
    connection.execute("RESET search_path")
    connection.execute(
        "SELECT set_config('search_path', quote_ident(%s) || ', ' || current_setting('search_path'), false)",
        (address.schema,),
    )


def read_info(connection: Connection, address: PostgresAddress) -> CollectionInfo | None:
    """Return what the collection was made with; ``None`` if it does not exist. Raise ``InputError`` for another version."""
    found = connection.execute("SELECT to_regclass(%s)", (f'"{address.schema}".collection',)).fetchone()
    if found is None or found[0] is None:
        return None
    row = connection.execute("SELECT version, embedder, dimension FROM collection").fetchone()
    if row is not None and row[0] != INDEX_VERSION:
        raise InputError(
            f"The collection {address.text} has the index version {row[0]}, but this suffice reads {INDEX_VERSION}; "
            "make it again with: suffice index PATH --to … --rebuild"
        )
    return None if row is None else CollectionInfo(*row[1:])


def require_info(connection: Connection, address: PostgresAddress) -> CollectionInfo:
    """Return what the collection was made with; raise ``InputError`` if it cannot be searched."""
    info = read_info(connection, address)
    if info is None:
        query = "SELECT substr(nspname, 9) FROM pg_namespace WHERE nspname LIKE 'suffice\\_%' ORDER BY 1 LIMIT 5"
        rows = connection.execute(query).fetchall()
        others = f" (it has: {', '.join(name for (name,) in rows)})" if rows else ""
        raise InputError(
            f"There is no collection {address.collection!r} at {address.text}{others}; make it with: "
            f"suffice index PATH --to {address.text}"
        )
    return info


def create_collection(connection: Connection, address: PostgresAddress, embedder: str, dimension: int) -> None:
    """Create the schema and its tables. The caller holds a lock, so that two workers do not both do it."""
    with connection.transaction():
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(address.schema)))
        for statement in _TABLES.format(terms=TERM_DIMENSIONS, dimension=dimension).split(";"):
            if statement.strip():
                connection.execute(statement.encode())
        connection.execute("INSERT INTO collection VALUES (%s, %s, %s, NULL)", (INDEX_VERSION, embedder, dimension))


def drop_collection(connection: Connection, address: PostgresAddress) -> None:
    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(address.schema)))


def require_pgvector(connection: Connection, address: PostgresAddress) -> None:
    """Make sure that the extension is there, and create it if the user may."""
    query = "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'"
    if connection.execute(query).fetchone() is None:
        raise InputError(
            f"The server of {address.text} does not have the extension pgvector; install it there (Debian: "
            "postgresql-NN-pgvector)"
        )
    try:
        with connection.transaction():
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public")
    except psycopg.errors.InsufficientPrivilege as error:
        raise InputError(
            f"The user of {address.text} may not create the extension pgvector; let an administrator run: "
            "CREATE EXTENSION vector"
        ) from error
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    version = str(row[0]) if row else "0"
    if tuple(int(part) for part in version.split(".")[:2]) < MIN_PGVECTOR:
        raise InputError(
            f"The server of {address.text} has pgvector {version}, but at least "
            f"{'.'.join(map(str, MIN_PGVECTOR))} is needed; update it there"
        )


def require_working_vectors(address: PostgresAddress) -> None:
    """Build a small vector index once, on a connection of its own.

    A pgvector that was compiled for another processor ends the server's process here, and the server recovers for a while.
    """
    with connect(address) as connection:
        connection.execute(f"CREATE TEMPORARY TABLE probe (vector halfvec({_PROBE_SIZE}))".encode())
        connection.execute(
            f"INSERT INTO probe SELECT ARRAY(SELECT 1 + i * j % 7 FROM generate_series(1, {_PROBE_SIZE}) AS j)::halfvec "
            f"FROM generate_series(1, {_PROBE_SIZE}) AS i".encode()
        )
        try:
            connection.execute("CREATE INDEX ON probe USING hnsw (vector halfvec_cosine_ops)")
        except psycopg.OperationalError as error:
            if not connection.broken:
                raise
            raise InputError(
                f"The server of {address.text} crashes when its extension pgvector builds an index, probably because it was "
                "compiled for another processor; install the one of your distribution there (Debian: "
                "postgresql-NN-pgvector), or compile it there"
            ) from error


# -- terms and formats -----------------------------------------------------------------------------------------------------


def hash_term(term: Term) -> int:
    """Return the dimension of a term."""
    return zlib.crc32(f"{term[0]}:{term[1]}".encode()) % TERM_DIMENSIONS


def weigh_terms(terms: Sequence[Term], mean_length: float) -> dict[int, float]:
    """Return the part of each term's BM25 score that depends on the passage alone, by dimension in ascending order."""
    norm = K1 * (1 - B + B * len(terms) / max(mean_length, 1.0))
    counts = Counter(map(hash_term, terms))
    return {term: (K1 + 1) * counts[term] / (counts[term] + norm) for term in sorted(counts)}


def format_weights(weights: Mapping[int, float]) -> str:
    """Return the text form of ``sparsevec``, which counts dimensions from 1."""
    inside = ",".join(f"{term + 1}:{weights[term]:.7g}" for term in sorted(weights))
    return f"{{{inside}}}/{TERM_DIMENSIONS}"


def format_vector(vector: Vectors) -> str:
    """Return the text form of ``halfvec``."""
    return "[" + ",".join(f"{value:.6g}" for value in vector.tolist()) + "]"


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
