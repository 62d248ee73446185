"""Run every command of suffice with an empty home folder, where possible in a network of its own with a resolver of its own.

    python sealed.py FOLDER [--network]

With ``--network`` the process must be in new user, network and mount namespaces (``unshare``, no rights needed). There the only
interface is loopback, and every name that any process looks up, in Python or in native code, is asked of the resolver in this
process. What was looked up is printed as JSON. Without it only the files below FOLDER tell what the commands did.
"""

import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

_MS_BIND = 4096
_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1
_WATCHED_SECONDS = (
    20.0  # Of the service after its first answer: onnxruntime 1.31 looks up its collector after 10 seconds.
)
_TEXT = "The Forth Bridge was opened in 1890. Benjamin Baker and John Fowler designed it.\n"
_QUESTION = "When was the Forth Bridge opened?"


def take_over_network(folder: Path) -> list[str]:
    """Bring loopback up and answer all look-ups; return the list to which the names are added."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))
    for path, text in {
        "/etc/resolv.conf": "nameserver 127.0.0.1\n",
        "/etc/nsswitch.conf": "hosts: files dns\n",
    }.items():
        replacement = folder / Path(path).name
        replacement.write_text(text)
        if ctypes.CDLL(None, use_errno=True).mount(bytes(replacement), path.encode(), None, _MS_BIND, None):
            raise OSError(ctypes.get_errno(), f"{path} cannot be replaced")
    resolver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    resolver.bind(("127.0.0.1", 53))
    names: list[str] = []

    def answer() -> None:
        while True:
            query, sender = resolver.recvfrom(4096)
            names.append(_read_name(query))
            resolver.sendto(query[:2] + b"\x81\x83" + query[4:], sender)  # There is no such name.

    threading.Thread(target=answer, daemon=True).start()
    with suppress(OSError):
        socket.getaddrinfo("resolver.test", 443)
    if "resolver.test" not in names:
        raise OSError("look-ups do not reach the resolver")
    names.clear()
    return names


def _read_name(query: bytes) -> str:
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode("latin-1"))
        at += query[at] + 1
    return ".".join(labels)


def run_commands(folder: Path) -> None:
    """Run the commands that read documents and those that serve; a command that fails ends the program."""
    docs = folder / "docs"
    docs.mkdir()
    (docs / "bridge.txt").write_text(_TEXT)
    (docs / "page.html").write_text(f"<h1>Bridge</h1><p>{_TEXT}</p>")  # Read in a child process.
    service = _start(folder, "serve", "--docs", str(docs), "--port", "0", stderr=subprocess.PIPE)
    try:
        _ask_service(_wait_for_address(service))
        answered = time.monotonic()
        _run(folder, "index", str(docs))
        _run(folder, "ask", _QUESTION, "--docs", str(docs))
        _run(folder, "check", "-", "--docs", str(docs), input=_TEXT)
        _ask_mcp(folder, docs)
        time.sleep(max(0.0, answered + _WATCHED_SECONDS - time.monotonic()))
    finally:
        service.terminate()
        service.wait(30)


def _make_environment(folder: Path) -> dict[str, str]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH", "LANG")}
    return {**kept, "HOME": str(home), "TMPDIR": str(home), "OLLAMA_HOST": "127.0.0.1:9"}


def _start(folder: Path, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "suffice", *arguments], env=_make_environment(folder), cwd=folder, text=True, **options
    )


def _run(folder: Path, *arguments: str, input: str = "") -> None:
    process = _start(folder, *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    printed, _ = process.communicate(input, timeout=120)
    if process.returncode != 0:
        raise SystemExit(f"{arguments} ended with {process.returncode}: {printed}")


def _wait_for_address(service: "subprocess.Popen[str]") -> str:
    assert service.stderr is not None
    printed = ""
    for line in service.stderr:
        printed += line
        if "listens on " in line:
            threading.Thread(target=service.stderr.read, daemon=True).start()
            return line.split("listens on ")[1].strip()
    raise SystemExit(f"serve did not start: {printed}")


def _ask_service(address: str) -> None:
    body = json.dumps({"question": _QUESTION}).encode()
    request = urllib.request.Request(f"{address}/run", body, {"content-type": "application/json"})
    without_proxy = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    report = json.load(without_proxy.open(request, timeout=120))
    if "1890" not in report["final_answer"]:
        raise SystemExit(f"The service did not find the answer: {report['final_answer']}")


def _ask_mcp(folder: Path, docs: Path) -> None:
    process = _start(folder, "mcp", "--docs", str(docs), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    try:
        _call(process.stdin, process.stdout, 1, "initialize", about)
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}) + "\n")
        for number, (tool, arguments) in enumerate(
            {"research": {"question": _QUESTION}, "check": {"text": _TEXT}}.items(), start=2
        ):
            answer = _call(process.stdin, process.stdout, number, "tools/call", {"name": tool, "arguments": arguments})
            if answer["result"].get("isError"):
                raise SystemExit(f"The tool {tool} failed: {answer}")
    finally:
        process.stdin.close()
        process.wait(30)


def _call(write: IO[str], read: IO[str], id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    write.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n")
    write.flush()
    for line in read:
        message: dict[str, Any] = json.loads(line)
        if message.get("id") == id:
            return message
    raise SystemExit(f"mcp did not answer {method}")


if __name__ == "__main__":
    work = Path(sys.argv[1])
    looked_up = take_over_network(work) if "--network" in sys.argv else None
    run_commands(work)
    print(json.dumps(looked_up))
