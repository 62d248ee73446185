"""Corpora in a real Postgres with pgvector: the same passages as the local index, changes, several workers, clear errors."""

import asyncio
import json
import math
import os
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import postgres_server
import psycopg
import pytest
from http_client import wait_until

from suffice import research
from suffice.cli.app import main
from suffice.errors import InputError, SearchError
from suffice.search.corpus.index import extract_query_terms
from suffice.search.corpus.search import CorpusSearch
from suffice.search.corpus.sync import IndexRequest
from suffice.search.corpus.vectors import EmbeddingCache
from suffice.search.engines import hybrid, postgres
from suffice.search.engines.hybrid import PostgresSearch
from suffice.search.engines.ingest import IngestResult, ingest_files
from suffice.search.engines.postgres import PostgresAddress, connect, parse_postgres
from suffice.text.languages import ENGLISH
from suffice.types import Passage, Query

WORDS = "bee hive queen dance flower honey wax comb swarm drone nectar pollen sting brood frame keeper".split()


class Embedder:
    """A dimension for each word of a list."""

    name = "words"
    is_remote = False
    is_english_only = False

    def __init__(self, words: Sequence[str] = WORDS) -> None:
        self._words = words
        self.dimension = len(words)

    def embed(self, texts: Sequence[str]) -> Any:
        rows = np.array([[text.lower().count(word) + 0.01 for word in self._words] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def server(vector_postgres_url: str) -> Iterator[str]:
    yield vector_postgres_url
    postgres.get_pool(vector_postgres_url).close()
    postgres.get_pool.cache_clear()


@pytest.fixture
def address(server: str, request: pytest.FixtureRequest) -> PostgresAddress:
    base, _, query = server.partition("?")
    return parse_postgres(f"{base}/t{zlib.crc32(request.node.name.encode())}?{query}")


def as_text(address: PostgresAddress) -> str:
    base, _, query = address.dsn.partition("?")
    return f"{base}/{address.collection}?{query}"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Write a Markdown file with lines, a text and a record."""
    folder = tmp_path / "docs"
    folder.mkdir()
    dance = "The waggle dance tells nestmates where flowers are."
    decoding = "Karl von Frisch decoded the dance in 1927."
    (folder / "dance.md").write_text(f"# Dance\n\n{dance}\n\n# Decoding\n\n{decoding}\n")
    (folder / "hive.txt").write_text("A hive holds one queen. The keeper opens the frame.\n")
    rows = [
        {"id": f"r{i}", "title": WORDS[i], "text": f"The {WORDS[i]} and the {WORDS[-i]} of number {i}."}
        for i in range(9)
    ]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def ingest(
    address: PostgresAddress,
    docs: Path,
    embedder: Embedder | None = None,
    check_cancelled: Callable[[], None] = lambda: None,
    rebuild: bool = False,
) -> IngestResult:
    request = IndexRequest((str(docs),), (), (), None, lambda text: None, lambda *steps: None, check_cancelled)
    vectors = None if embedder is None else EmbeddingCache(embedder, None, lambda text: None)
    return ingest_files(address, request, vectors, rebuild=rebuild)


def find(address: PostgresAddress, query: str, alpha: float = 1.0, k: int = 5, embedder: Any = None) -> list[Passage]:
    async def run() -> list[Passage]:
        vectors = EmbeddingCache(embedder or Embedder(), None, lambda text: None)
        search = PostgresSearch.open(address, alpha, vectors)
        return await search(Query(query), k)

    return asyncio.run(run())


def find_locally(docs: Path, query: str, alpha: float = 1.0, k: int = 5) -> list[Passage]:
    async def run() -> list[Passage]:
        return await (await CorpusSearch.open([docs], cache_dir=None, alpha=alpha, embedder=Embedder()))(
            Query(query), k
        )

    return asyncio.run(run())


def read_statistics(address: PostgresAddress) -> tuple[dict[int, int], dict[str, int]]:
    with connect(address) as connection:
        terms = connection.execute(
            "SELECT term, sum(passages)::int FROM statistics GROUP BY 1 HAVING sum(passages) <> 0"
        )
        counts = dict(terms.fetchall())
        totals = connection.execute("SELECT name, sum(count)::int FROM totals GROUP BY 1 HAVING sum(count) <> 0")
        return counts, dict(totals.fetchall())


@pytest.mark.parametrize("query", ["who decoded the waggle dance", "queen", "the keeper of number 3", "nothing of it"])
def test_words_as_in_the_local_index(address, docs, query):
    ingest(address, docs)
    found, expected = find(address, query), find_locally(docs, query)
    assert [(p.id, p.text, p.title, p.place, p.kind) for p in found] == [
        (p.id, p.text, p.title, p.place, p.kind) for p in expected
    ]
    assert [p.score for p in found] == pytest.approx([p.score for p in expected], abs=0.05)


def test_words_and_meaning_as_in_the_local_index(address, docs):
    ingest(address, docs, Embedder())
    query = "flower dance"
    assert [p.id for p in find(address, query, 0.5, 3)] == [p.id for p in find_locally(docs, query, 0.5, 3)]
    assert [p.id for p in find(address, query, 0.0, 3)] == [p.id for p in find_locally(docs, query, 0.0, 3)]


def test_meaning_finds_what_has_none_of_the_words(address, docs):
    ingest(address, docs, Embedder())
    assert "queen" in find(address, "queenly", 0.5, 1)[0].text


def test_exact_lines(address, docs, monkeypatch):
    monkeypatch.chdir(docs.parent)
    ingest(address, docs)
    assert find(address, "Frisch decoded")[0].location == "docs/dance.md:1-7"


def test_changed_added_and_deleted_files(address, docs, server):
    assert ingest(address, docs).read == 3
    again = ingest(address, docs)
    assert (again.read, again.removed) == (0, 0)
    (docs / "hive.txt").write_text("A hive holds many drones.\n")
    (docs / "new.txt").write_text("Wax is made by workers.\n")
    (docs / "dance.md").unlink()
    changed = ingest(address, docs)
    assert (changed.read, changed.removed, changed.files) == (2, 1, 3)
    assert not find(address, "Frisch")
    assert find(address, "drones")[0].text.strip() == "A hive holds many drones."
    before = read_statistics(address)
    ingest(address, docs, rebuild=True)
    assert read_statistics(address) == before


def test_files_of_another_folder_stay(address, docs, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "sting.txt").write_text("The sting of a bee has barbs.\n")
    ingest(address, docs)
    assert ingest(address, tmp_path / "other").removed == 0
    assert find(address, "Frisch")
    assert find(address, "barbs")


def test_several_workers_at_once(address, tmp_path):
    rng = np.random.default_rng(1)
    for number in range(40):
        text = "\n\n".join(" ".join(rng.choice(WORDS, 60)) + "." for _ in range(3))
        (tmp_path / f"{number}.txt").write_text(text)
    with ThreadPoolExecutor(4) as workers:
        results = list(workers.map(lambda _: ingest(address, tmp_path), range(4)))
    assert sum(result.read for result in results) == 40
    together = read_statistics(address)
    with connect(address) as connection:
        rows = connection.execute("SELECT count(*), count(DISTINCT path) FROM files").fetchone()
        indexes = connection.execute("SELECT to_regclass('entries_terms'), to_regclass('entries_vector')").fetchone()
    assert rows == (40, 40)
    assert None not in (indexes or (None,))
    ingest(address, tmp_path, rebuild=True)
    assert read_statistics(address) == together


def test_an_interrupted_worker_goes_on(address, docs):
    class StopError(Exception):
        pass

    calls = iter([None] * 4)

    def stop() -> None:
        if next(calls, "end") == "end":
            raise StopError

    with pytest.raises(StopError):
        ingest(address, docs, check_cancelled=stop)
    assert ingest(address, docs).files == 3
    counts = read_statistics(address)
    ingest(address, docs, rebuild=True)
    assert read_statistics(address) == counts


def test_searches_while_a_worker_writes(address, docs):
    ingest(address, docs)
    stop = threading.Event()

    def rewrite() -> None:
        number = 0
        while not stop.is_set():
            (docs / "hive.txt").write_text(f"A hive holds one queen, number {number}.\n")
            ingest(address, docs)
            number += 1

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(rewrite)
        found = [len(find(address, "queen hive")) for _ in range(5)]
        stop.set()
        writing.result()
    assert all(found)


@pytest.mark.parametrize("query", ["bee hive", "bee hive queen dance", "bee sting", "comb swarm drone nectar pollen"])
def test_common_words_find_the_best_without_scoring_all(address, tmp_path, monkeypatch, query):
    rng = np.random.default_rng(2)
    weights = 1 / np.arange(1, len(WORDS) + 1)
    rows = [
        {
            "id": f"p{i}",
            "title": f"t{i}",
            "text": " ".join(rng.choice(WORDS, rng.integers(5, 30), p=weights / weights.sum())),
        }
        for i in range(400)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ingest(address, tmp_path)
    exact = score_by_words(address, query)
    monkeypatch.setattr(hybrid, "MAX_SCORED", 150)
    # Where more passages match than are scored, the best may be missed by a little.
    assert score_by_words(address, query) == pytest.approx(exact, rel=0.05)


def score_by_words(address: PostgresAddress, query: str) -> list[float]:
    """Return the twenty best scores by words."""
    with connect(address) as connection:
        counts = hybrid._read_counts(connection, extract_query_terms(query, [ENGLISH]))
        weights = {term: math.log(1 + (400 - count + 0.5) / (count + 0.5)) for term, count in counts.items()}
        ids = hybrid._find_by_words(connection, weights, counts, 20)
        rows = connection.execute(
            "SELECT -(words <#> %s::sparsevec) FROM entries WHERE id = ANY(%s)", (postgres.format_weights(weights), ids)
        ).fetchall()
    return sorted((score for (score,) in rows), reverse=True)


def test_zero_bytes(address, tmp_path):
    (tmp_path / "odd.jsonl").write_text('{"id": "a", "title": "T\\u0000", "text": "Odd bee\\u0000 words"}\n')
    assert ingest(address, tmp_path).passages == 1
    assert "bee" in find(address, "odd words")[0].text


def test_unreadable_files_are_named(address, docs):
    (docs / "broken.docx").write_bytes(b"PK no")
    result = ingest(address, docs)
    assert [file.path.name for file in result.skipped] == ["broken.docx"]
    assert result.files == 3


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.attack("passwords in addresses")
def test_dead_host():
    with pytest.raises(SearchError, match=r"127\.0\.0\.1") as caught:
        find(parse_postgres("postgres://ann:hunter2@127.0.0.1:9/wiki/pages"), "bee")
    assert "hunter2" not in str(caught.value)


def test_missing_collection(address):
    with pytest.raises(InputError, match=f"no collection '{address.collection}'.*suffice index"):
        find(address, "bee")


def test_wrong_embedder(address, docs):
    ingest(address, docs, Embedder())
    other = Embedder(WORDS[:4])
    with pytest.raises(InputError, match=r"words with 16 dimensions.*words with 4"):
        find(address, "bee", 0.5, embedder=other)
    with pytest.raises(InputError, match="--rebuild"):
        ingest(address, docs, other)
    with pytest.raises(InputError, match="--vectors static"):
        ingest(address, docs)
    assert find(address, "queen", 1.0, embedder=other)


def test_wrong_version(address, docs):
    ingest(address, docs)
    with connect(address) as connection:
        connection.execute("UPDATE collection SET version = 1")
    with pytest.raises(InputError, match=r"version 1.*--rebuild"):
        find(address, "bee")
    with pytest.raises(InputError, match=r"version 1.*--rebuild"):
        ingest(address, docs)
    assert ingest(address, docs, rebuild=True).files == 3


def test_old_pgvector(address, docs, monkeypatch):
    monkeypatch.setattr(postgres, "MIN_PGVECTOR", (99, 0))
    with pytest.raises(InputError, match=r"pgvector .* at least 99\.0"):
        ingest(address, docs)


def test_no_pgvector(server, docs):
    class NoExtensions:
        def execute(self, statement: str) -> Any:
            return self

        def fetchone(self) -> None:
            return None

    with pytest.raises(InputError, match="does not have the extension pgvector"):
        postgres.require_pgvector(NoExtensions(), parse_postgres("postgres://db/wiki/pages"))  # type: ignore[arg-type]


# Like an extension that was compiled for another processor: the first also ends all other sessions.
CRASHES = {
    "kill": "EXECUTE 'COPY (SELECT 1) TO PROGRAM ''kill -9 $PPID'''",
    "terminate": "PERFORM pg_terminate_backend(pg_backend_pid())",
}


@pytest.fixture
def crash(server: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a Postgres of its own whose process ends when an index is created on the table of the probe."""
    if request.param == "kill" and os.environ.get(postgres_server.VARIABLE):
        pytest.skip("other tests use the same server")
    with postgres_server.run_postgres(vectors=True) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "CREATE FUNCTION crash() RETURNS event_trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN IF current_query() LIKE '%hnsw%' THEN {CRASHES[request.param]}; END IF; END $$".encode()
            )
            connection.execute("CREATE EVENT TRIGGER crash ON ddl_command_start EXECUTE FUNCTION crash()")
        yield url


@pytest.mark.parametrize("crash", CRASHES, indirect=True)
def test_a_server_that_crashes_is_named_before_files_are_read(crash, docs, capsys):
    base, _, query = crash.partition("?")
    for _ in range(2):
        wait_until(lambda: _accepts_connections(crash), "the server does not recover", 120)
        command = ("index", str(docs), "--to", f"{base}/bees?{query}", "--vectors", "static")
        while "recovery mode" in (ended := run(capsys, *command))[2]:  # It accepted before it noticed its last crash.
            wait_until(lambda: _accepts_connections(crash), "the server does not recover", 120)
        status, _, errors = ended
        assert status != 0
        assert "crashes" in errors
        assert "postgresql-NN-pgvector" in errors
        assert len(errors.strip().splitlines()) == 1


def _accepts_connections(url: str) -> bool:
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


# -- the program -------------------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exited:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(exited.value.code or 0), captured.out, captured.err


def test_index_search_and_ask(address, docs, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(docs.parent)
    to = as_text(address).replace("postgres:@", "postgres:hunter2@")
    status, out, err = run(capsys, "index", str(docs), "--to", to, "--vectors", "static")
    assert (status, "11 passages" in out or "passages from 3 files" in out) == (0, True), err
    status, out, _ = run(capsys, "search", "Who decoded the dance?", "--docs", to, "--alpha", "1", "--json")
    assert status == 0
    assert json.loads(out)["passages"][0]["location"] == "docs/dance.md:1-7"
    question = ["Who decoded the waggle dance?", "--model", "extractive"]
    status, out, err = run(capsys, "ask", *question, "--docs", to, "--alpha", "1", "--json")
    assert status == 0, err
    report = json.loads(out)
    assert report["sources"][0]["location"] == "docs/dance.md:1-7"
    assert "Frisch" in report["final_answer"]
    stored = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(b"hunter2" in data for data in (*stored, out.encode(), err.encode()))
    status, out, err = run(capsys, "index", to, "--to", to)
    assert status == 2
    assert "hunter2" not in err


def test_files_and_a_collection_together(address, docs, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "prize.txt").write_text("Karl von Frisch received a prize in 1973.\n")
    ingest(address, docs)
    report = asyncio.run(
        research(
            "When did Karl von Frisch decode the dance, and when did he receive a prize?",
            docs=[as_text(address), tmp_path / "more"],
            alpha=1,
            model="extractive",
        )
    )
    assert {Path(source.location).name.partition(":")[0] for source in report.sources} >= {"dance.md", "prize.txt"}


def test_a_passage_taken_for_another_language_does_not_win_by_common_words(address, tmp_path):
    rows = [
        {"id": f"p{i}", "title": "Town", "text": f"The town number {i} is on the bank of a river."} for i in range(60)
    ]
    rows += [{"id": f"s{i}", "title": "Seat", "text": f"The seat of county {i} is a town."} for i in range(3)]
    french = "La capitale de la France est Paris, la ville est sur la Seine. The is of."
    rows.append({"id": "fr", "title": "Paris", "text": french})
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    ingest(address, tmp_path)
    query = "What is the seat of the county?"
    assert [p.id for p in find_locally(tmp_path, query, k=1)] == [p.id for p in find(address, query, k=1)]
    assert find(address, query, k=1)[0].id.startswith("s")
