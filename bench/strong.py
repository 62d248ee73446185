"""Count what a run with a strong model sends and how long suffice itself takes: ``python -m bench.strong --data FOLDER``.

A server on loopback answers at once with what a strong language model once answered (``strong_answers.json``), over the 18
documents of the DRBench task DR0007; ``FOLDER`` holds ``tasks.tar.gz``. There are four cases: with a program or without, with
a revision or without. Citations of the recorded answers are found again by a hash of their passages, so the answers
fit as long as these are read as they were. Tokens are characters of the request through four, the answer's schema included.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import suffice
from bench.load import stream_completion

HERE = Path(__file__).parent
TASK = "DR0007"
CASES = {"plain": (), "program": ("program",), "revision": ("revision",), "both": ("program", "revision")}
_NOTE = re.compile(r"^(\[\d+\])(?: \([^)]*\))?\n<<<\n(.*?)\n>>>\n", re.DOTALL | re.MULTILINE)
_HANDLE = re.compile(r"\[\d+\]")
_KEY_CHARS = 120


@dataclass
class Replay:
    """Answers each prompt of a run as it was answered before, and counts what was sent."""

    with_parts: Sequence[str]
    tokens: dict[str, list[int]] = field(default_factory=dict)
    handles: dict[str, str] = field(default_factory=dict)
    """The handle in this run of each handle in the recorded answers."""
    prompts: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.recorded: dict[str, Any] = json.loads((HERE / "strong_answers.json").read_text(encoding="utf-8"))
        self.left = {role: list(answers) for role, answers in self.recorded["answers"].items()}

    def answer(self, request: Mapping[str, Any]) -> str:
        text = "\n".join(message["content"] for message in request["messages"])
        schema = request.get("response_format")
        role = _find_role(text, schema)
        if role == "self_test":  # Once for each model, so it is no part of the run.
            return (
                "The builder died in 1874 in Vienna [2] [3]. Petr Kolbe built the mill, which burned down in 1871 [2]."
            )
        self.tokens.setdefault(role, []).append(len(text + (json.dumps(schema) if schema else "")) // 4)
        self.prompts.append((role, text))
        if role == "draft":
            here = {_make_key(note): handle for handle, note in _NOTE.findall(text)}
            keys: dict[str, str] = self.recorded["passages"]
            self.handles = {handle: here[key] for handle, key in keys.items() if key in here}
        if role == "evaluate" and "revision" not in self.with_parts:
            return str(self.left[role][-1])
        if not self.left.get(role):
            raise LookupError(f"no recorded answer is left for {role}")
        answer = str(self.left[role].pop(0))
        if role == "plan" and "program" not in self.with_parts:
            return answer.replace('"calculates": true', '"calculates": false')
        return self._translate(answer)

    def _translate(self, answer: str) -> str:
        """Return a recorded answer with the handles of this run; what was computed is cited by the rows that it is from."""
        computed, rows = self.recorded["computed"], self.recorded["computed_from"]
        if "program" not in self.with_parts:
            answer = answer.replace(
                f'"source": "{computed}", "words": "{self.recorded["computed_words"]}"', rows["check"]
            )
            answer = answer.replace(computed, rows["citation"])
        return _HANDLE.sub(lambda found: self.handles.get(found[0], found[0]), answer)


def _find_role(text: str, schema: Mapping[str, Any] | None) -> str:
    if schema is not None:
        return str(schema["json_schema"]["name"])
    openings = {
        "self_test": "This is a short exercise",
        "draft": "Write the answer to a task",
        "revise": "Improve a text",
    }
    return next(role for role, opening in openings.items() if text.startswith(opening))


def _make_key(note: str) -> str:
    """Return a hash of the beginning of the longest line: titles and repeated names of columns come and go."""
    longest = max((re.sub(r"\W+", "", line) for line in note.split("\n")), key=len)
    return hashlib.sha256(longest[:_KEY_CHARS].encode()).hexdigest()[:16]


def _serve(replay: Replay) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *arguments: object) -> None:
            pass

        def send(self, value: Mapping[str, Any], status: int = 200) -> None:
            self.send_body(json.dumps(value).encode(), "application/json", status)

        def send_body(self, body: bytes, kind: str, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send({"object": "list", "data": [{"id": "replay-large", "object": "model", "max_model_len": 131072}]})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                text = replay.answer(request)
            except LookupError as error:
                self.send({"error": {"message": str(error)}}, 400)
                return
            message = {"role": "assistant", "content": text}
            sent, written = len(json.dumps(request)) // 4, len(text) // 4
            usage = {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            base = {"id": "1", "created": 1, "model": "replay-large", "object": "chat.completion"}
            completion = {**base, "choices": choices, "usage": usage}
            if request.get("stream"):
                self.send_body(stream_completion(completion), "text/event-stream")
            else:
                self.send(completion)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def run_case(case: str, question: str, folder: Path, home: Path, keep: Path | None = None) -> dict[str, Any]:
    """Run ``suffice ask`` once and return what it sent and took; ``home`` keeps its index for the next case."""
    replay = Replay(CASES[case])
    server = _serve(replay)
    places = {f"XDG_{name}_HOME": str(home / name) for name in ("CACHE", "DATA", "STATE", "CONFIG")}
    source = str(Path(suffice.__file__).parents[1])  # This checkout, whatever else is installed.
    here = {
        "PYTHONPATH": source,
        "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}/v1",
        "OPENAI_API_KEY": "none",
    }
    command = [
        sys.executable,
        "-m",
        "suffice",
        "ask",
        question,
        "--docs",
        str(folder),
        "--out",
        str(home / "report.json"),
    ]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [*command, "--model", "openai:replay-large"],
        env={**os.environ, **places, **here},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    server.shutdown()
    if done.returncode:
        raise SystemExit(f"{case}: {done.stderr}")
    report = json.loads((home / "report.json").read_text(encoding="utf-8"))
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{case}.json").write_text(json.dumps(report), encoding="utf-8")
        for number, (role, text) in enumerate(replay.prompts, 1):
            (keep / f"{case}.{number:02}.{role}.txt").write_text(text, encoding="utf-8")
    return {
        "case": case,
        "calls": sum(map(len, replay.tokens.values())),
        "tokens": sum(map(sum, replay.tokens.values())),
        "by_role": replay.tokens,
        "unfound": sorted(set(replay.recorded["passages"]) - set(replay.handles)),
        "status": report["status"],
        "claims": len(report["claims"]),
        "removed": len(report["removed"]),
        "seconds": round(seconds, 1),
        "cpu": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with tasks.tar.gz of DRBench")
    parser.add_argument("--cases", default=",".join(CASES), help="which of the cases, separated by commas")
    parser.add_argument("--keep", type=Path, help="a folder for the prompts and reports")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary)
        with tarfile.open(options.data / "tasks.tar.gz") as archive:
            archive.extractall(home, filter="data", members=[one for one in archive if f"/{TASK}/" in one.name])
        task = next(home.rglob(TASK))
        question = json.loads((task / "dr_question.json").read_text(encoding="utf-8"))["dr_question"]
        for extra in (task / "files").rglob("qa_dict.json"):
            extra.unlink()
        for case in options.cases.split(","):
            print(json.dumps(run_case(case, question, task / "files", home, options.keep)), flush=True)


if __name__ == "__main__":
    main()
