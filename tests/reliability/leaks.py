"""Memory and open files of one process over many different questions and many searches.

    python -m reliability.leaks [--runs 100] [--searches 300]

The documents are those of the repository, and each of their headings is a question. All models are loaded before the first
one, because a question needs some of them and another question others. Memory after all runs may be at most 1.1
times that after the first ten, where the allocator has given back what is free: it keeps more or less of it by chance.
"""

import argparse
import asyncio
import ctypes
import gc
import os
import sys
import tempfile
from pathlib import Path

from suffice import research, settings
from suffice.models.reader.model import find_reader
from suffice.search.open import SearchScope, open_search
from suffice.text.markdown import find_headings
from suffice.types import Query

ROOT = Path(__file__).parents[2]
MAX_GROWTH = 1.1


def list_questions(docs: Path) -> list[str]:
    """Return a question for each heading of the documents."""
    pages = [page.read_text(encoding="utf-8") for page in sorted(docs.rglob("*.md"))]
    titles = (text[heading.start : heading.body_start] for text in pages for heading in find_headings(text))
    return list(dict.fromkeys(f"What is said about {title.strip('# .').lower()}?" for title in titles))


def load_models() -> None:
    reader = find_reader()
    reader.judge([("A hive holds bees.", "Bees live in a hive.")])
    for look in (reader.read, reader.reread):
        look("What does a hive hold?", ["Bees live in a hive."])


def read_usage() -> tuple[float, float, int]:
    """Return the memory of this process in MB, before and after the allocator gives back what is free, and its open files."""
    gc.collect()
    before = _read_memory()
    ctypes.CDLL(None).malloc_trim(0)
    return before, _read_memory(), len(os.listdir("/proc/self/fd"))


def _read_memory() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


async def measure(docs: Path, runs: int, searches: int) -> list[tuple[str, float, float, int]]:
    load_models()
    rows, questions = [], list_questions(docs)
    if runs > len(questions):
        sys.exit(f"The documents have {len(questions)} headings only.")
    for number, question in enumerate(questions[:runs], 1):
        await research(question, docs=str(docs), model="extractive")
        if number in (1, 10, 40, runs):
            rows.append((f"{number} runs", *read_usage()))
    for number in range(1, searches + 1):
        opened = await open_search(SearchScope((str(docs),)), settings.load(), lambda message: None)
        await opened(Query(questions[number % len(questions)]), 3)
        if number == searches:
            rows.append((f"then {number} searches", *read_usage()))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--searches", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(SUFFICE_CACHE_DIR=f"{folder}/cache", SUFFICE_DATA_DIR=f"{folder}/data", SUFFICE_OFFLINE="1")
        rows = asyncio.run(measure(ROOT / "docs", arguments.runs, arguments.searches))
    print("| after | MB | MB in use | open files |\n|---|---|---|---|")
    for title, memory, used, files in rows:
        print(f"| {title} | {memory:.0f} | {used:.0f} | {files} |")
    ten = next(used for title, _, used, _ in rows if title == "10 runs")
    if max(used for _, _, used, _ in rows[-2:]) > MAX_GROWTH * ten:
        sys.exit("Memory grows with the number of runs.")


if __name__ == "__main__":
    main()
