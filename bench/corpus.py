"""Measure how fast a corpus is indexed, reopened and searched; prints a Markdown table.

    python bench/corpus.py [--passages 200000] [--queries 100]

Passages are synthetic: 80 words each, drawn by Zipf's law, in JSONL files of 10,000. The baseline is tantivy alone, which
writes the same texts with the same analyzer in the same run. Passage vectors are random (384 dimensions), because embedding
200,000 passages would measure the model and not the search. The time of MiniLM for one query is measured separately and
adds to a hybrid search.
"""

import argparse
import asyncio
import hashlib
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import tantivy

from suffice.models.embeddings.minilm import MiniLM
from suffice.search.corpus.search import CorpusSearch
from suffice.text.languages import ENGLISH, get_analyzer
from suffice.types import Query

if TYPE_CHECKING:
    from numpy.typing import NDArray

WORDS = 80
VOCABULARY = 50_000
PER_FILE = 10_000


class RandomEmbedder:
    """Random unit vectors, seeded by the text."""

    name = "random"
    dimension = 384
    is_remote = False

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") for text in texts]
        rows = np.array([np.random.default_rng(seed).standard_normal(384) for seed in seeds], np.float32)
        unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def generate_passages(count: int) -> Iterator[str]:
    random = np.random.default_rng(1)
    weights = 1 / np.arange(1, VOCABULARY + 1)
    weights /= weights.sum()
    for start in range(0, count, PER_FILE):
        drawn = random.choice(VOCABULARY, (min(PER_FILE, count - start), WORDS), p=weights)
        yield from (" ".join(f"w{word}" for word in row) for row in drawn)


def write_files(folder: Path, texts: Sequence[str]) -> None:
    for start in range(0, len(texts), PER_FILE):
        rows = enumerate(texts[start : start + PER_FILE], start=start)
        lines = (json.dumps({"id": f"p{i}", "title": f"Passage {i}", "text": text}) for i, text in rows)
        (folder / f"{start:07}.jsonl").write_text("\n".join(lines), encoding="utf-8")


def index_with_tantivy(folder: Path, texts: Sequence[str], analyzer: tantivy.TextAnalyzer) -> float:
    """Index the texts with tantivy alone; returns seconds."""
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("text", stored=True, tokenizer_name="words", index_option="freq")
    index = tantivy.Index(schema.build(), str(folder))
    index.register_tokenizer("words", analyzer)
    start = time.perf_counter()
    writer = index.writer()
    for i, text in enumerate(texts):
        document = tantivy.Document()
        document.add_text("text", f"Passage {i} {text}")
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    return time.perf_counter() - start


def open_corpus(folder: Path, cache: Path, alpha: float) -> tuple[CorpusSearch, float]:
    """Open the corpus; returns it with the seconds it took."""
    start = time.perf_counter()
    corpus = asyncio.run(
        CorpusSearch.open([folder], cache_dir=cache, alpha=alpha, embedder=RandomEmbedder(), notify=print)
    )
    return corpus, time.perf_counter() - start


async def time_searches(corpus: CorpusSearch, queries: Sequence[str]) -> list[float]:
    """Return the milliseconds of each search."""
    times = []
    for query in queries:
        start = time.perf_counter()
        await corpus(Query(query), 10)
        times.append(1000 * (time.perf_counter() - start))
    return times


def format_row(name: str, times: Sequence[float]) -> str:
    ordered = sorted(times)
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    return f"| {name} | p50 {statistics.median(ordered):.1f} ms, p95 {p95:.1f} ms |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=100)
    options = parser.parse_args()
    texts = list(generate_passages(options.passages))
    random = np.random.default_rng(2)
    positions = random.integers(0, len(texts), options.queries)
    queries = [" ".join(random.permutation(texts[i].split())[:6]) for i in positions]
    with tempfile.TemporaryDirectory() as temporary:
        folder, cache, bare = (Path(temporary) / name for name in ("docs", "cache", "plain"))
        folder.mkdir()
        bare.mkdir()
        write_files(folder, texts)
        baseline = index_with_tantivy(bare, texts, get_analyzer(ENGLISH))
        corpus, indexing = open_corpus(folder, cache, 1.0)
        _, reopening = open_corpus(folder, cache, 1.0)
        by_words = asyncio.run(time_searches(corpus, queries))
        hybrid, _ = open_corpus(folder, cache, 0.5)
        asyncio.run(time_searches(hybrid, queries))
        reopened, _ = open_corpus(folder, cache, 0.5)
        from_disk = asyncio.run(time_searches(reopened, queries))
        from_memory = asyncio.run(time_searches(reopened, queries))
    model = MiniLM()
    model.embed(["warm up"])
    embedding_times = []
    for query in queries[:20]:
        start = time.perf_counter()
        model.embed([query])
        embedding_times.append(1000 * (time.perf_counter() - start))
    print(f"| {len(texts):,} passages of {WORDS} words | |\n|---|---|")
    print(f"| tantivy alone | {len(texts) / baseline:,.0f} passages/s |")
    print(
        f"| CorpusSearch, from files | {len(texts) / indexing:,.0f} passages/s ({baseline / indexing:.2f} of tantivy alone) |"
    )
    print(f"| reopen, unchanged | {1000 * reopening:.0f} ms |")
    print(format_row("words only (alpha 1)", by_words))
    print(format_row("hybrid, vectors on disk", from_disk))
    print(format_row("hybrid, vectors in memory", from_memory))
    print(format_row("MiniLM, one query", embedding_times))


if __name__ == "__main__":
    main()
