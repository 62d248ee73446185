"""What a user sees when something breaks: every fault against the real program, written to docs/reliability.md.

``python -m bench.faults`` runs ``suffice ask … --web`` against the little web of the tests, once a fault, and writes the table
between the markers. Lost would be an answer that the sources still allowed, or the record of what was asked and went wrong.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from little_web import LittleWeb  # noqa: E402

PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- faults -->", "<!-- end of faults -->"
QUESTION = "Who designed the Sorrel lighthouse and when was it first lit?"
ANSWER = "Ada Kovalenko"


@dataclass(frozen=True)
class Fault:
    """What is broken, and how to break it."""

    name: str
    breaks: Callable[[LittleWeb], None]
    environment: tuple[tuple[str, str], ...] = ()


def search(fault: str) -> Callable[[LittleWeb], None]:
    return lambda web: setattr(web, "search_fault", fault)


def result(path: str) -> Callable[[LittleWeb], None]:
    """The first result of every search leads there."""
    snippet = "An unheard-of account of beacons, keepers and storms that nobody else has published."
    return lambda web: web.listed.append((path, "A result that breaks", snippet))


FAULTS = [
    Fault("nothing", lambda web: None),
    Fault("search answers HTTP 500, every time", search("500")),
    Fault("search answers HTTP 429, every time", search("429")),
    Fault("search refuses the key (401)", search("401")),
    Fault("search hangs up", search("reset")),
    Fault("search answers with something else than JSON", search("garbage")),
    Fault("search finds nothing", search("empty")),
    Fault("search does not answer", search("slow"), (("RESEARCH_MAX_EXECUTION_TIME_S", "8"),)),
    Fault("page answers HTTP 500", result("/error/x")),
    Fault("page answers HTTP 429", result("/busy/x")),
    Fault("page does not answer", result("/slow/x")),
    Fault("page drips a byte at a time", result("/drip/x")),
    Fault("page hangs up", result("/reset/x")),
    Fault("page ends in the middle", result("/broken/x")),
    Fault("page is a gzip bomb", result("/bomb/x")),
    Fault("page is torn gzip", result("/torn/x")),
    Fault("page redirects in a circle", result("/loop")),
    Fault("page redirects to the metadata address", result("/to?u=http%3A%2F%2F169.254.169.254%2F")),
    Fault("page redirects to a file", result("/to?u=file%3A%2F%2F%2Fetc%2Fpasswd")),
    Fault("result leads to a private address", result("http://10.0.0.1/")),
    Fault("page is forbidden by robots.txt", result("/private/x")),
    Fault("robots.txt answers HTTP 503", lambda web: setattr(web, "robots_status", 503)),
    Fault("page is a program", result("/program/x")),
    Fault("page is binary under a false name", result("/binary/x")),
    Fault("page names a wrong charset", result("/latin/x")),
    Fault("page holds no text", result("/empty/x")),
    Fault("page commands the model", result("/injected/x")),
]


def asked(fault: Fault) -> tuple[str, ...]:
    """One row: fault, what the user sees, exit status, reason of the stop, pages read, what was recorded, seconds."""
    with LittleWeb() as web, tempfile.TemporaryDirectory() as folder:
        fault.breaks(web)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SUFFICE_", "RESEARCH_"))}
        environment = {
            **kept,
            "SEARXNG_URL": web.url,
            "SUFFICE_ALLOW_HOSTS": web.host,
            "SUFFICE_CACHE_DIR": folder,
            "SUFFICE_DATA_DIR": folder,
            **dict(fault.environment),
        }
        began = time.monotonic()
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
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180)
        seconds = time.monotonic() - began
        searches = web.hits["/search"]
    report = json.loads(done.stdout) if done.stdout.strip() else {}
    answer = report.get("final_answer", "")
    assert "PWNED" not in done.stdout, fault.name
    assert "Traceback" not in done.stderr, f"{fault.name}: {done.stderr}"
    told = [failure["message"] for failure in report.get("error_log", [])]
    if ANSWER in answer:
        seen = "the answer" if not report["degraded_mode"] else "a partial answer that says so"
    else:
        seen = _last_line(done.stderr) or "an answer from the snippets"
    recorded = re.sub(r"127\.0\.0\.1:\d+", "HOST", told[-1]) if told else "–"
    return (
        fault.name,
        seen,
        str(done.returncode),
        report.get("stop", {}).get("reason", "–"),
        f"{searches}",
        str(report.get("usage", {}).get("pages_read", 0)),
        recorded[:150],
        _lost(report, ANSWER in answer),
        f"{seconds:.1f}",
    )


def _lost(report: dict[str, Any], answered: bool) -> str:
    """Nothing, if the answer is there, or the run's record with what was asked, found and went wrong."""
    if answered:
        return "nothing"
    kept = (
        bool(report)
        and bool(report["stop"]["rounds"])
        and bool(report["error_log"] or report["status"] == "no_evidence")
    )
    return "nothing: the record is kept" if kept else "THE RUN"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("suffice:") or "No " in line]
    return re.sub(r"127\.0\.0\.1:\d+", "HOST", lines[-1])[:170] if lines else ""


def main() -> None:
    head = (
        "fault",
        "what the user sees",
        "exit",
        "why it stopped",
        "searches",
        "pages",
        "what is recorded",
        "what was lost",
        "s",
    )
    rows = [head, ("---",) * len(head)]
    for fault in FAULTS:
        rows.append(asked(fault))
        print(" | ".join(rows[-1]), flush=True)
    table = "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows)
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
