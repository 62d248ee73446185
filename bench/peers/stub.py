"""Run suffice and three other tools in the stub world, each in a process and an environment of its own.

Every tool keeps its defaults, but for the addresses of the model and the search; what is set is in ``TOOLS``. A row is one run:
what the servers counted, and what the system counted for the process and its children (``wait4``).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.peers.world import MODEL, QUESTION, Temper, World, WorldName, running

ROOT = Path(__file__).parents[2]
DRIVERS = Path(__file__).parent / "drivers"
SECONDS = 900.0
REPORT = "=== REPORT ==="


@dataclass(frozen=True)
class Tool:
    """A tool as it is measured: its package, how it is started, and what differs from its defaults."""

    name: str
    package: str
    requirement: str
    command: tuple[str, ...]
    settings: str


TOOLS = (
    Tool(
        "suffice",
        "suffice",
        str(ROOT),
        ("-m", "suffice", "ask", QUESTION, "--provider", "searxng", "--model", f"openai:{MODEL}"),
        "`suffice ask … --provider searxng`; tier `standard`, strategy `auto`",
    ),
    Tool(
        "suffice, deep",
        "suffice",
        str(ROOT),
        ("-m", "suffice", "ask", QUESTION, "--provider", "searxng", "--model", f"openai:{MODEL}", "--tier", "deep"),
        "the same with `--tier deep`",
    ),
    Tool(
        "gpt-researcher",
        "gpt-researcher",
        "gpt-researcher==0.15.1",
        (str(DRIVERS / "run_gpt_researcher.py"), QUESTION, "research_report"),
        "report type `research_report` (its default); `RETRIEVER=searx` instead of Tavily",
    ),
    Tool(
        "gpt-researcher, deep",
        "gpt-researcher",
        "gpt-researcher==0.15.1",
        (str(DRIVERS / "run_gpt_researcher.py"), QUESTION, "deep"),
        "report type `deep`, breadth 3, depth 2; `RETRIEVER=searx`",
    ),
    Tool(
        "open-deep-research",
        "open-deep-research",
        "open-deep-research==0.0.16",
        (str(DRIVERS / "run_open_deep_research.py"), QUESTION),
        "its graph with its defaults (3 iterations, 5 units, 5 tool calls, Tavily); only Tavily's address is changed",
    ),
    Tool(
        "local-deep-research",
        "local-deep-research",
        "local-deep-research==1.5.6",
        (str(DRIVERS / "run_local_deep_research.py"), QUESTION, "source-based"),
        "`quick_summary` with strategy `source-based` (the default of its Python interface), 3 iterations, SearXNG",
    ),
    Tool(
        "local-deep-research, agent",
        "local-deep-research",
        "local-deep-research==1.5.6",
        (str(DRIVERS / "run_local_deep_research.py"), QUESTION, "langgraph-agent"),
        "`quick_summary` with strategy `langgraph-agent` (the default of its application), at most 50 iterations, SearXNG",
    ),
)


def prepare_environment(tool: Tool, folder: Path) -> Path:
    """Install a tool into an environment of its own below ``folder``, unless it is there. Return its Python."""
    python = folder / tool.package / "bin" / "python"
    marker = folder / tool.package / "installed"
    if not marker.exists():
        print(f"installing {tool.requirement} …", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder / tool.package)], check=True)
        uv = shutil.which("uv")
        install = [uv, "pip", "install", "-q", "-p", str(python)] if uv else [str(python), "-m", "pip", "install", "-q"]
        subprocess.run([*install, tool.requirement], check=True)
        marker.touch()
    return python


def measure_installation(python: Path, package: str) -> dict[str, Any]:
    """Return the version of a package, and the packages and megabytes that its environment holds beside pip."""
    code = (
        "import json, sys; from importlib import metadata as m; from pathlib import Path\n"
        "own = {'pip', 'setuptools', 'wheel'}\n"
        "found = [d for d in m.distributions() if d.metadata['Name'].lower() not in own]\n"
        "size = sum(p.stat().st_size for d in found for f in d.files or () if (p := Path(d.locate_file(f))).is_file())\n"
        "print(json.dumps({'version': m.version(sys.argv[1]), 'packages': len(found), 'megabytes': round(size / 1e6)}))"
    )
    done = subprocess.run([str(python), "-c", code, package], check=True, capture_output=True, text=True, cwd="/")
    return dict(json.loads(done.stdout))


def make_environment(world: World, home: Path) -> dict[str, str]:
    """Return the settings of a run: addresses on loopback and an empty home, no keys and no proxies."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "NO_PROXY": "*",
        "OPENAI_BASE_URL": world.model_url,
        "OPENAI_API_KEY": "stub",
        "RETRIEVER": "searx",
        "SEARX_URL": world.search_url,
        "STUB_SEARCH_URL": world.search_url,
        "STUB_TAVILY_URL": world.search_url,
        "TAVILY_API_KEY": "stub",
        "SEARXNG_URL": world.search_url,
        "SUFFICE_ALLOW_HOSTS": world.page_host,
        "LDR_DATA_DIR": str(home / "ldr"),
    }


def run_tool(
    tool: Tool, python: Path, world_name: WorldName, temper: Temper, *, log: Path | None = None
) -> dict[str, Any]:
    """Run a tool once and return its row."""
    with (
        running(world_name, temper) as world,
        tempfile.TemporaryDirectory(prefix="peer-") as home,
        tempfile.TemporaryFile() as out,
    ):
        began = time.monotonic()
        process = subprocess.Popen(
            [str(python), *tool.command],
            env=make_environment(world, Path(home)),
            cwd=home,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        status, used, timed_out = _wait(process, began + SECONDS)
        seconds = time.monotonic() - began
        out.seek(0)
        text = out.read().decode(errors="replace")
        if log is not None:
            log.mkdir(parents=True, exist_ok=True)
            (log / f"{tool.name}-{world_name}-{temper}.txt".replace(", ", "-")).write_text(text, encoding="utf-8")
        report = text.rpartition(REPORT)[2] if REPORT in text else text
        return {
            "tool": tool.name,
            "world": world_name,
            "temper": temper,
            "ended": "timed out" if timed_out else "ok" if status == 0 else f"exit {status}",
            "calls": world.counts["calls"],
            "prompt_tokens": world.counts["prompt characters"] // 4,
            "embedding_calls": world.counts["embedding calls"],
            "searches": world.counts["searches"],
            "different_queries": len(set(world.queries)),
            "pages": world.counts["pages"],
            "documents": len(world.seen),
            "seconds": round(seconds, 1),
            "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
            "peak_megabytes": round(used.ru_maxrss / 1024),
            "words": len(report.split()),
            "unknown_prompts": len(world.unknown_prompts),
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
        }


def _wait(process: "subprocess.Popen[bytes]", deadline: float) -> tuple[int, Any, bool]:
    """Wait for a process and return its exit status, what it used, and whether it was ended at the deadline."""
    timed_out = False
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, used, timed_out
        if time.monotonic() > deadline and not timed_out:
            process.kill()
            timed_out = True
        time.sleep(0.02)


def find_tools(names: Sequence[str]) -> list[Tool]:
    """Return the tools of these names; all of them if none is named."""
    return [tool for tool in TOOLS if not names or tool.name in names or tool.package in names]


def make_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the Markdown table: one line a tool and world, ``eager`` / ``content`` where the model's temper matters."""
    lines = [
        "| world | tool | LLM calls | prompt tokens | searches | pages read | documents seen | seconds | CPU s | peak MB |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for world in ("saturated", "rich"):
        for tool in TOOLS:
            found = {row["temper"]: row for row in rows if (row["tool"], row["world"]) == (tool.name, world)}
            if not found:
                continue

            def cell(key: str, found: Mapping[str, Mapping[str, Any]] = found) -> str:
                values = [f"{found[temper][key]:,}" for temper in ("eager", "content") if temper in found]
                return " / ".join(values if len(set(values)) > 1 else values[:1])

            ended = {row["ended"] for row in found.values()} - {"ok"}
            name = tool.name + (f" ({', '.join(sorted(ended))})" if ended else "")
            keys = (
                "calls",
                "prompt_tokens",
                "searches",
                "pages",
                "documents",
                "seconds",
                "cpu_seconds",
                "peak_megabytes",
            )
            lines.append(f"| {world} | {name} | " + " | ".join(cell(key) for key in keys) + " |")
    return "\n".join(lines)


def make_installation_table(installations: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the Markdown table of packages and sizes."""
    lines = ["| package | version | packages | installed MB |", "|---|---|--:|--:|"]
    for name, found in installations.items():
        lines.append(f"| {name} | {found['version']} | {found['packages']} | {found['megabytes']:,} |")
    return "\n".join(lines)
