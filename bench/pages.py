"""Measure reading web pages, twenty at once against one, and useless searches: ``python -m bench.pages``.

The server waits 200 ms before it answers a page and 0 ms before its robots.txt. It runs in its own process, so its work is
not counted.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from suffice.search.pages.fetch import Fetcher
from suffice.search.pages.guard import HostAllowlist
from suffice.search.pages.reader import PageReader

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from little_web import LittleWeb

LATENCY = 0.2
PAGES = 20
REPEATS = 3
QUESTION = "Who designed the Sorrel lighthouse and when was it first lit?"


def serve(latency: float, pipe: Connection) -> None:
    with LittleWeb(latency=latency) as web:
        pipe.send(web.host)
        pipe.recv()


async def read_pages(host: str, count: int) -> tuple[float, float]:
    """Return wall and processor seconds for reading so many pages, each at its own address."""
    reader = PageReader(Fetcher(HostAllowlist.parse([host])))
    await reader.read(f"http://{host}/pages/birds?warm=1")
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(reader.read(f"http://{host}/pages/lighthouse?n={n}") for n in range(count)))
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    await reader.aclose()
    return seconds


def count_searches(host: str) -> tuple[int, int]:
    """Return the searches of a run, and how many of them came after the last new passage."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"SEARXNG_URL": f"http://{host}", "SUFFICE_ALLOW_HOSTS": host, "SUFFICE_CACHE_DIR": folder}
        command = [
            sys.executable,
            "-m",
            "suffice",
            "ask",
            QUESTION,
            "--provider",
            "searxng",
            "--model",
            "extractive",
            "--json",
        ]
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    rounds = json.loads(done.stdout)["stop"]["rounds"]
    last = max((number for number, round in enumerate(rounds) if round["new_passages"]), default=0)
    return sum(len(round["queries"]) for round in rounds), sum(len(round["queries"]) for round in rounds[last + 1 :])


def main() -> None:
    ours, theirs = get_context("spawn").Pipe()
    server = get_context("spawn").Process(target=serve, args=(LATENCY, theirs))
    server.start()
    host = ours.recv()
    try:
        one = statistics.median(asyncio.run(read_pages(host, 1))[0] for _ in range(REPEATS))
        many = [asyncio.run(read_pages(host, PAGES)) for _ in range(REPEATS)]
        wall, cpu = (statistics.median(column) for column in zip(*many, strict=True))
        total, useless = count_searches(host)
    finally:
        ours.send("stop")
        server.join()
    print(f"| pages at {1000 * LATENCY:.0f} ms each | seconds | times one page | processor ms per page |")
    print("|--:|--:|--:|--:|")
    print(f"| 1 | {one:.2f} | 1.0 | |")
    print(f"| {PAGES} | {wall:.2f} | {wall / one:.1f} | {1000 * cpu / PAGES:.1f} |")
    print(f"\nA run's searches: {total}, of which {useless} after the last new passage.")


if __name__ == "__main__":
    main()
