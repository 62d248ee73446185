"""Run the program against every fault, and write what the user sees to docs/reliability.md.

``python -m bench.faults`` runs ``suffice ask … --web`` once per fault against the small web server of the tests, and writes
the table between the markers. A run is lost if it has neither an answer nor a record of its queries and failures.
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
    """A fault by name, the function that causes it, and settings for the run."""

    name: str
    apply: Callable[[LittleWeb], None]
    environment: tuple[tuple[str, str], ...] = ()


def break_search(fault: str) -> Callable[[LittleWeb], None]:
    return lambda web: setattr(web, "search_fault", fault)


def add_result(path: str) -> Callable[[LittleWeb], None]:
    """Return a fault whose path is the first result of every search."""
    snippet = "An unheard-of account of beacons, keepers and storms that nobody else has published."
    return lambda web: web.listed.append((path, "A result that breaks", snippet))


FAULTS = [
    Fault("nothing", lambda web: None),
    Fault("search answers HTTP 500, every time", break_search("500")),
    Fault("search answers HTTP 429, every time", break_search("429")),
    Fault("search refuses the key (401)", break_search("401")),
    Fault("search hangs up", break_search("reset")),
    Fault("search answers with something else than JSON", break_search("garbage")),
    Fault("search finds nothing", break_search("empty")),
    Fault("search does not answer", break_search("slow"), (("RESEARCH_MAX_EXECUTION_TIME_S", "8"),)),
    Fault("page answers HTTP 500", add_result("/error/x")),
    Fault("page answers HTTP 429", add_result("/busy/x")),
    Fault("page does not answer", add_result("/slow/x")),
    Fault("page drips a byte at a time", add_result("/drip/x")),
    Fault("page hangs up", add_result("/reset/x")),
    Fault("page ends in the middle", add_result("/broken/x")),
    Fault("page is a gzip bomb", add_result("/bomb/x")),
    Fault("page is torn gzip", add_result("/torn/x")),
    Fault("page redirects in a circle", add_result("/loop")),
    Fault("page redirects to the metadata address", add_result("/to?u=http%3A%2F%2F169.254.169.254%2F")),
    Fault("page redirects to a file", add_result("/to?u=file%3A%2F%2F%2Fetc%2Fpasswd")),
    Fault("result leads to a private address", add_result("http://10.0.0.1/")),
    Fault("page is forbidden by robots.txt", add_result("/private/x")),
    Fault("robots.txt answers HTTP 503", lambda web: setattr(web, "robots_status", 503)),
    Fault("page is a program", add_result("/program/x")),
    Fault("page is binary under a false name", add_result("/binary/x")),
    Fault("page names a wrong charset", add_result("/latin/x")),
    Fault("page holds no text", add_result("/empty/x")),
    Fault("page commands the model", add_result("/injected/x")),
]


def run_with_fault(fault: Fault) -> tuple[str, ...]:
    """Return a row: fault, what the user sees, exit status, stop reason, searches, pages, record, loss, seconds."""
    with LittleWeb() as web, tempfile.TemporaryDirectory() as folder:
        fault.apply(web)
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("SUFFICE_", "RESEARCH_"))
        }
        environment = {
            **inherited,
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
    failures = [failure["message"] for failure in report.get("error_log", [])]
    if ANSWER in answer:
        seen = "the answer" if not report["degraded_mode"] else "a partial answer that says so"
    else:
        seen = _last_line(done.stderr) or "an answer from the snippets"
    recorded = re.sub(r"127\.0\.0\.1:\d+", "HOST", failures[-1]) if failures else "–"
    return (
        fault.name,
        seen,
        str(done.returncode),
        report.get("stop", {}).get("reason", "–"),
        f"{searches}",
        str(report.get("usage", {}).get("pages_read", 0)),
        recorded[:150],
        _describe_loss(report, ANSWER in answer),
        f"{seconds:.1f}",
    )


def _describe_loss(report: dict[str, Any], answered: bool) -> str:
    """Return "nothing" if there is an answer, or a record of the rounds and failures of the run."""
    if answered:
        return "nothing"
    has_record = (
        bool(report)
        and bool(report["stop"]["rounds"])
        and bool(report["error_log"] or report["status"] == "no_evidence")
    )
    return "nothing: the record is kept" if has_record else "THE RUN"


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
        rows.append(run_with_fault(fault))
        print(" | ".join(rows[-1]), flush=True)
    table = "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows)
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
