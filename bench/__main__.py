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
    "Claims: SciFact, corrupted sentences, the extractive report, speed": "claims",
    "Stopping: gap closed by a gate that knows which gold is missing": "ceiling",
}
_NEEDS_DATA = {"recall", "strategies", "evidence", "claims", "ceiling"}


def main() -> None:
    head = f"""# Results

Made by `make bench` on {datetime.now(UTC):%Y-%m-%d}: {os.cpu_count()} cores, {platform.machine()}, Python
{platform.python_version()}. Times are from one run on a shared machine: compare within a table, not across machines.
Stop gates are on their own page: [stopping.md](stopping.md).
"""
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
        subprocess.run([sys.executable, "-m", "bench.stopping"], check=True)


if __name__ == "__main__":
    main()
