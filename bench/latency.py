"""Measure the seconds of a new question over an index that is ready: ``python -m bench.latency [--old FOLDER] [--indexed]``.

``--old`` is a checkout of an earlier commit (``git worktree add FOLDER COMMIT``); it runs in its ``.venv`` if there is one;
its questions are asked in turn with those of this one, so that both see the same load of the machine. ``--indexed`` also asks
this one after ``suffice index``, which takes minutes. ``--docs`` is the source of the standard library unless given. Every
question is new to its cache. Writes a table.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

QUESTIONS = (
    "How does heapq merge combine sorted inputs?",
    "What is the default number of workers of ThreadPoolExecutor?",
    "How does shutil copy a directory tree?",
    "When does a temporary file get deleted?",
    "Which errors does json raise for invalid input?",
    "How are quoted fields parsed by csv?",
    "What does functools lru_cache do when it is full?",
    "How can a subprocess be killed after a timeout?",
    "How does argparse handle unknown arguments?",
    "Which hash algorithms are always available?",
    "How does zipfile check a member for corruption?",
    "What happens to pending tasks when asyncio run ends?",
)
EXCLUDE = ("site-packages/", "test/", "tests/", "idlelib/", "lib2to3/")
_CHILD = """
import asyncio, json, resource, sys, time
from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.models.embeddings.minilm import get_minilm
from suffice.options import RunOptions

EXCLUDE = tuple(sys.argv[2:])

async def ask(question):
    began, used = time.perf_counter(), time.process_time()
    config = await prepare_run(question, RunOptions(docs=sys.argv[1], exclude=EXCLUDE, model="extractive"))
    async for event in run_pipeline(config):
        pass
    return time.perf_counter() - began, time.process_time() - used

get_minilm().embed(["warm"])
asyncio.run(ask("What is an unrelated first question about nothing?"))
for line in sys.stdin:
    print(json.dumps(asyncio.run(ask(line.strip()))), flush=True)
"""


class Asker:
    """A process with one version of suffice, which answers one question at a time."""

    def __init__(self, source: Path, docs: str, cache: str, *, indexed: bool = False) -> None:
        python = str(own) if (own := source / ".venv/bin/python").exists() else sys.executable
        environment = os.environ | {
            "PYTHONPATH": str(source / "src"),
            "SUFFICE_CACHE_DIR": cache,
            "SUFFICE_DATA_DIR": cache,
            "SUFFICE_MEMORY": "0",
        }
        if indexed:
            excluded = [option for glob in EXCLUDE for option in ("--exclude", glob)]
            subprocess.run([python, "-m", "suffice", "index", docs, *excluded], env=environment, check=True)
        self._process = subprocess.Popen(
            [python, "-c", _CHILD, docs, *EXCLUDE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self, question: str) -> tuple[float, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        wall, processor = json.loads(self._process.stdout.readline())
        return wall, processor

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=Path, help="checkout of an earlier commit to compare with")
    parser.add_argument("--docs", default=sysconfig.get_path("stdlib"))
    parser.add_argument("--indexed", action="store_true", help="ask this commit also after suffice index")
    parser.add_argument("--limit", type=int, help="only the first questions")
    given = parser.parse_args()
    sources = {"this commit": Path(__file__).parents[1]} | ({"old commit": given.old} if given.old else {})
    with tempfile.TemporaryDirectory() as folder:
        askers = {
            name: Asker(path, given.docs, f"{folder}/{number}") for number, (name, path) in enumerate(sources.items())
        }
        if given.indexed:
            askers["this commit, indexed"] = Asker(
                sources["this commit"], given.docs, f"{folder}/indexed", indexed=True
            )
        seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in askers}
        for question in QUESTIONS[: given.limit]:
            for name, asker in askers.items():
                seconds[name].append(asker.ask(question))
        for asker in askers.values():
            asker.close()
    print("| code | questions | median seconds | slowest | median seconds of processor |\n|---|--:|--:|--:|--:|")
    for name, rows in seconds.items():
        walls, used = [row[0] for row in rows], statistics.median(row[1] for row in rows)
        print(f"| {name} | {len(rows)} | {statistics.median(walls):.2f} | {max(walls):.2f} | {used:.2f} |")


if __name__ == "__main__":
    main()
