"""Reading pages: twenty at once against one, processor time, searches in vain: ``python -m bench.pages``.

The server waits 200 ms before it answers each page and 0 ms before its robots.txt; it runs in a process of its own, as any
other server does, so that its work is not counted as ours.
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


def served(latency: float, pipe: Connection) -> None:
    with LittleWeb(latency=latency) as web:
        pipe.send(web.host)
        pipe.recv()


async def read(host: str, count: int) -> tuple[float, float]:
    """Wall and processor seconds of reading so many pages, each under an address of its own."""
    reader = PageReader(Fetcher(HostAllowlist.parse([host])))
    await reader.read(f"http://{host}/pages/birds?warm=1")
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(reader.read(f"http://{host}/pages/lighthouse?n={n}") for n in range(count)))
    took = time.perf_counter() - wall, time.process_time() - cpu
    await reader.aclose()
    return took


def searches(host: str) -> tuple[int, int]:
    """Searches of a whole run, and those among them after the last new passage."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"SEARXNG_URL": f"http://{host}", "SUFFICE_ALLOW_HOSTS": host, "SUFFICE_CACHE_DIR": folder}
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
        done = subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True, check=True)
    rounds = json.loads(done.stdout)["stop"]["rounds"]
    last = max((number for number, one in enumerate(rounds) if one["new_passages"]), default=0)
    return sum(len(one["queries"]) for one in rounds), sum(len(one["queries"]) for one in rounds[last + 1 :])


def main() -> None:
    ours, theirs = get_context("spawn").Pipe()
    server = get_context("spawn").Process(target=served, args=(LATENCY, theirs))
    server.start()
    host = ours.recv()
    try:
        one = statistics.median(asyncio.run(read(host, 1))[0] for _ in range(REPEATS))
        many = [asyncio.run(read(host, PAGES)) for _ in range(REPEATS)]
        wall, cpu = (statistics.median(column) for column in zip(*many, strict=True))
        total, vain = searches(host)
    finally:
        ours.send("stop")
        server.join()
    print(f"| pages at {1000 * LATENCY:.0f} ms each | seconds | times one page | processor ms a page |")
    print("|--:|--:|--:|--:|")
    print(f"| 1 | {one:.2f} | 1.0 | |")
    print(f"| {PAGES} | {wall:.2f} | {wall / one:.1f} | {1000 * cpu / PAGES:.1f} |")
    print(f"\nA run's searches: {total}, of which {vain} after the last new passage.")


if __name__ == "__main__":
    main()
