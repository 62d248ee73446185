"""Run the benchmarks and write RESULTS.md: ``make bench``. Those that need ``../shared/data`` are skipped without it."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "shared" / "data"
_PARTS = {
    "Start-up": "startup",
    "Engine overhead per round (scripted model, fixture search)": "overhead",
    "A model call's overhead (loopback server)": "llm_overhead",
    "Readings and verdicts": "meters",
    "The lab: overhead of an episode, and 4,000 episodes in one process (scripted model)": "lab_grid",
    "Prompt tokens per round, by memory (extractive model)": "memory",
    "The demo": "demo",
    "Reading web pages": "pages",
    "Corpus search at 200,000 passages": "corpus",
    "Gold-passage recall by round, extractive engine, 5 passages per round": "recall",
    "Gold-passage recall by round, by strategy, extractive model, 5 passages per round": "strategies",
    "No evidence, no report": "evidence",
    "Stopping: gap closed by a gate that knows which gold is missing": "ceiling",
}
_NEEDS_DATA = {"recall", "strategies", "evidence", "ceiling"}
_OWN_PAGES = (["stopping"], ["claims", "scifact", "corruptions", "report", "speed"])
"""Benchmarks that write a page, or sections of one, themselves."""
PAGES = """| question | page |
|---|---|
| Does it answer questions about real documentation? | [answers.md](answers.md) |
| Multi-hop questions, with and without a language model | [qa.md](qa.md) |
| Does the claim check tell true from false? | [claims.md](claims.md) |
| Is stopping early better than a fixed number of rounds? | [stopping.md](stopping.md), [own_runs.md](own_runs.md) |
| Is it worth telling another agent that its searches bring nothing new? | [guard.md](guard.md) |
| Do gates and agents keep in live runs what recorded ones promise? | [reading.md](reading.md) |
| The three novelty assessors | [assessors.md](assessors.md) |
| Other tools in the same world, and DRBench | [peers/RESULTS.md](peers/RESULTS.md) |
| A small language model with two memories | [llm.md](llm.md) |
| The tuner with a real model | [tuning.md](tuning.md) |
| Seconds of a new question, and recall of the faster search | [latency.md](latency.md) |
| A corpus in Postgres | [corpora.md](corpora.md) |
| Many runs at once | [load.md](load.md) |
"""


def main() -> None:
    head = f"""# Results

Made by `make bench` on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores, {platform.machine()}, Python
{platform.python_version()}. Times are from one run on a shared machine: compare within a table, not across machines.
What is not below has a page of its own:

{PAGES}"""
    sections = [head]
    for title, module in _PARTS.items():
        if module in _NEEDS_DATA and not DATA.is_dir():
            print(f"{module}: skipped, ../shared/data does not exist")
            continue
        print(f"{module} …", flush=True)
        done = subprocess.run([sys.executable, "-m", f"bench.{module}"], check=True, capture_output=True, text=True)
        sections.append(f"## {title}\n`python -m bench.{module}`\n\n{done.stdout.strip()}\n")
    (HERE / "RESULTS.md").write_text("\n".join(sections), encoding="utf-8")
    if DATA.is_dir():
        for module, *sections_of_page in _OWN_PAGES:
            subprocess.run([sys.executable, "-m", f"bench.{module}", *sections_of_page], check=True)


if __name__ == "__main__":
    main()
