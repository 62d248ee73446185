"""Measure what the lab itself costs: ``python -m bench.lab_grid [EPISODES]``.

A grid of scripted episodes (default 4,000: every harness, memory and two gates over made-up questions) runs in one process with
an in-memory search. Printed: the seconds and CPU time of an episode and of a round, and the resident memory along the way,
which must stay flat.
"""

import asyncio
import gc
import json
import random
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

from suffice import settings
from suffice.lab.experiment import Experiment
from suffice.lab.grid import Grid, Progress
from suffice.models.base import Reply
from suffice.prompts.agents import MemGPTStepResponse, ReActStepResponse
from suffice.prompts.base import Prompt, TextResponse
from suffice.prompts.belief import CuratedFact, Curation, ExtractedFact, Extraction
from suffice.prompts.lab import GradeResponse, NotesResponse
from suffice.types import Usage

WORDS = "river bridge works founder town steel lamp keeper harbour mill tower road garden bell clock gate wall".split()


class StatelessModel:
    """Answers each prompt from its text alone, at once."""

    name = "scripted"
    local = True

    async def __call__(self, prompt: Prompt[Any]) -> Reply[Any]:
        chance = random.Random(crc32(repr(prompt).encode()))
        words = " ".join(chance.choices(WORDS, k=4))
        answer: Any
        if prompt.role == "extract":
            first = prompt.observation[0]  # type: ignore[attr-defined]
            answer = Extraction((ExtractedFact(first.text.split(". ")[0], first.handles),), (), (words,))
        elif prompt.role == "notes":
            answer = NotesResponse(f"Notes about {words}.")
        elif prompt.role == "thought":
            answer = TextResponse(f"The {words} is old.")
        elif prompt.role == "act":
            answer = ReActStepResponse(words, "Search", words)
        elif prompt.role == "step":
            answer = MemGPTStepResponse(words, "archival_search", {"query": words})
        elif prompt.role == "curate":
            answer = Curation(tuple(CuratedFact((number,)) for number in range(1, 7)))
        elif prompt.role == "grade":
            answer = GradeResponse(50, 50, 10)
        else:
            answer = TextResponse(words)
        return Reply(answer, Usage(1, 500, 30, 0.0))


def write_data(folder: Path, questions: int) -> None:
    """Write a made-up data set: 2,000 passages of random words."""
    chance = random.Random(0)
    folder.mkdir()
    with (folder / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for number in range(2_000):
            text = ". ".join(" ".join(chance.choices(WORDS, k=10)) for _ in range(5))
            file.write(json.dumps({"id": f"p{number}", "title": f"Page {number}", "text": f"{text}."}) + "\n")
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for number in range(questions):
            item = {"id": f"q{number}", "question": f"Which {' '.join(chance.choices(WORDS, k=5))}?", "answer": "mill"}
            file.write(json.dumps({**item, "gold": [f"p{number}"]}) + "\n")


def read_memory() -> float:
    """Return the resident memory of this process in MB."""
    pages = Path("/proc/self/statm")
    if not pages.exists():  # Not Linux: the highest value so far.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return int(pages.read_text().split()[1]) * resource.getpagesize() / 2**20


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    memory: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        experiment = Experiment(data=(str(folder / "made-up"),), alpha=(1.0,), keep_text=False)
        cells = len(experiment.list_cells())
        write_data(folder / "made-up", -(-wanted // cells))
        config = replace(settings.load(), cache_dir=folder / "cache")
        grid = Grid(experiment, folder / "out", (StatelessModel(), StatelessModel()), config)

        def watch(progress: Progress) -> None:
            if progress.done % (wanted // 8) == 0:
                gc.collect()
                memory[progress.done] = read_memory()

        started_at, cpu = time.perf_counter(), time.process_time()
        progress = asyncio.run(grid.run(concurrency=16, on_progress=watch))
        seconds, cpu = time.perf_counter() - started_at, time.process_time() - cpu
        rows = [json.loads(line) for line in (folder / "out" / "rows.jsonl").open(encoding="utf-8")]
    rounds, calls = sum(row["rounds"] for row in rows), sum(row["calls"] for row in rows)
    print(
        f"{progress.done:,} episodes, {rounds:,} rounds, {calls:,} calls, {progress.errors} errors in {seconds:.0f} s\n"
    )
    print("| | CPU ms |\n|---|--:|")
    print(f"| an episode | {1000 * cpu / len(rows):.1f} |")
    print(f"| a round (search, meters, memory, journal, row) | {1000 * cpu / rounds:.2f} |\n")
    print("| episodes done | " + " | ".join(f"{done:,}" for done in memory) + " |\n|---|" + "--:|" * len(memory))
    print("| resident MB | " + " | ".join(f"{value:.0f}" for value in memory.values()) + " |")


if __name__ == "__main__":
    main()
