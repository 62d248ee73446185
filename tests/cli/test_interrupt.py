"""Ctrl-C: the program ends quickly, without a traceback, and prints what it has found."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fake_llm import SENSIBLE, Answer, Body, FakeLlm, Say, role_of

QUESTION = "Who decoded the waggle dance?"
TIME_LIMIT = 180.0  # Seconds until a program that does not get anywhere is killed.
SOON = 30.0  # Seconds until an interrupted program has ended; its work would take much longer.
# Ctrl-C before Python has reached the program is Python's own affair, and a busy machine starts it slowly.
PROGRAM = "import sys; from suffice.__main__ import main; print('started', file=sys.stderr, flush=True); main()"


@contextmanager
def started(*words: object, wait_for: str = "started", **environment: str) -> Iterator[subprocess.Popen[str]]:
    """Start the program and wait until a line of standard error holds ``wait_for``."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    watchdog = threading.Timer(TIME_LIMIT, process.kill)  # Bounds every wait for the program's output.
    watchdog.start()
    try:
        assert process.stderr is not None
        while wait_for not in (line := process.stderr.readline()):
            assert line, f"the program ended, or was killed, before it printed {wait_for!r}"
        yield process
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


def interrupt(process: subprocess.Popen[str]) -> tuple[int, float, str, str]:
    """Send Ctrl-C; returns the exit status, the seconds until the end, standard output and standard error."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        status = process.wait(timeout=60)
    except subprocess.TimeoutExpired:
        return -1, 60.0, "", ""
    seconds = time.monotonic() - began
    out, err = process.communicate()
    return status, seconds, out, err


def wait_for_request(server: FakeLlm, process: subprocess.Popen[str], number: int, role: str = "") -> None:
    """Wait until the server was asked so many times, and for this role."""
    deadline = time.monotonic() + TIME_LIMIT
    while process.poll() is None and time.monotonic() < deadline:
        if len(server.requests) >= number and (not role or role in map(role_of, server.requests)):
            return
        time.sleep(0.02)


def test_while_the_answer_is_written(docs: Path, tmp_path: Path) -> None:
    def answer(body: Body) -> Answer:
        return Say(delay=600.0) if role_of(body) == "draft" else SENSIBLE[role_of(body)]

    words = ("ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", "--trace", "trace.jsonl")
    with (
        FakeLlm(answer) as server,
        started(*words, OPENAI_BASE_URL=server.url, SUFFICE_WRITER="prose") as process,
    ):
        wait_for_request(server, process, 1, "draft")
        status, seconds, out, err = interrupt(process)
    report = json.loads(out)
    assert (status, report["stop"]["reason"], report["status"]) == (130, "cancelled", "partial")
    assert "waggle dance" in report["final_answer"]  # What was found is quoted.
    assert seconds < SOON
    assert len(report["stop"]["rounds"]) >= 1
    assert "Interrupted" in err
    assert "Traceback" not in err
    events = [json.loads(line)["type"] for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    assert events[-2:] == ["stopped", "report"]


def test_the_report_counts_what_the_model_has_cost(docs: Path) -> None:
    """The first plan cannot be read; the interruption comes while the model is asked again."""
    with FakeLlm([Say("I would search.", usage=(100, 20)), Say(delay=120.0)]) as server:
        words = ("ask", QUESTION, "--docs", docs, "--alpha", 1, "--json", "--strategy", "reflect")
        with started(*words, OPENAI_BASE_URL=server.url) as process:
            wait_for_request(server, process, 2)
            status, _, out, _ = interrupt(process)
    usage = json.loads(out)["usage"]
    assert (status, usage["calls"], usage["estimated_calls"], usage["output_tokens"]) == (130, 2, 1, 20)
    assert usage["by_role"]["plan"]["input_tokens"] == usage["input_tokens"] > 200


def test_while_passages_are_embedded(tmp_path: Path) -> None:
    """``--alpha 0`` embeds every passage: minutes of work in a thread that signals do not reach."""
    lines = (
        json.dumps({"id": str(n), "title": f"Note {n}", "text": f"Bees of hive {n} dance. " * 20}) for n in range(5000)
    )
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    with started(
        "ask", QUESTION, "--docs", "many.jsonl", "--alpha", 0, "--json", "-v", wait_for="stop rule:"
    ) as process:
        time.sleep(1.5)
        status, seconds, out, err = interrupt(process)
    assert status == 130
    assert seconds < SOON
    assert json.loads(out)["stop"]["reason"] == "cancelled"
    assert "Traceback" not in err


def test_while_files_are_read(tmp_path: Path) -> None:
    """No run has started, so standard output is empty."""
    folder = tmp_path / "many"
    folder.mkdir()
    text = "\n\n".join(f"Paragraph {n} says that bees dance and bridges stand. " * 12 for n in range(2000))
    for n in range(150):
        (folder / f"{n}.md").write_text(text)
    with started("ask", QUESTION, "--docs", folder, "--alpha", 1, "--json") as process:
        time.sleep(2)
        status, seconds, out, err = interrupt(process)
    assert status == 130
    assert seconds < SOON
    assert out == ""
    assert "Traceback" not in err


def test_while_waiting_for_standard_input() -> None:
    with started("ask", QUESTION, "--docs", "-", "--alpha", 1) as process:
        time.sleep(2)
        status, seconds, _, err = interrupt(process)
    assert status == 130
    assert seconds < SOON
    assert "Traceback" not in err


def test_while_modules_are_imported(program: Callable, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'suffice.api':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    result = program("ask", QUESTION, "--docs", docs, PYTHONPATH=str(tmp_path))
    assert result.status == 130
    assert result.out == ""
    assert "Traceback" not in result.err
    assert "this is a bug" not in result.err
