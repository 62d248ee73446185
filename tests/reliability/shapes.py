"""The service under requests of every shape: generated from its own description, broken by chance, and sent too slowly.

    python -m reliability.shapes [--examples N]

Nothing may be answered with a 500, every answer must be of the shape that the description promises, and who dawdles or sends
too much is cut off.
"""

import argparse
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx2
from bridge_story import PASSAGES
from http_client import Running, running

from suffice.server import connection, guard
from suffice.testing import WordSearch

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def described(
    service: Running, examples: int, *, phases: str = "examples,coverage,fuzzing", seed: int = 1
) -> subprocess.CompletedProcess:
    """Schemathesis over every path of the description."""
    command = ["-m", "schemathesis.cli", "run", f"{service.url}/openapi.json", "--checks", CHECKS, "--seed", str(seed)]
    command += ["--max-examples", str(examples), "--phases", phases, "--workers", "1"]
    command += ["--generation-database", "none", "--request-timeout", "30", "--no-color"]
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=tempfile.gettempdir())


BODY = {
    "task": "Who built the Meridian bridge?",
    "options": {"max_iters": 2, "stop": "worth | fixed(2)", "collections": ["default"], "alpha": 1, "seed": 3},
    "complexity_tier": "simple",
    "stream": False,
    "async": False,
}
ODD = [
    None,
    True,
    -1,
    0,
    1e308,
    10**30,
    "",
    "\x00",
    "\ud800",
    "𝕏" * 50,
    "'; DROP TABLE suffice_runs; --",
    [],
    {},
    [[]],
    {"a": 1},
]


def broken(rng: random.Random) -> bytes:
    """A request that was right once."""
    body = json.loads(json.dumps(BODY))
    for _ in range(rng.randint(1, 4)):
        inside = rng.choice([body, body["options"] if isinstance(body.get("options"), dict) else body])
        name = rng.choice([*inside, "nonsense", "max_cost_usd", "model", "memory", "priority"])
        inside[name] = rng.choice(ODD)
    text = json.dumps(body).encode()
    if rng.random() < 0.3:
        place = rng.randrange(len(text))
        text = (
            text[:place]
            + bytes(rng.randrange(256) for _ in range(rng.randint(0, 6)))
            + text[place + rng.randint(0, 6) :]
        )
    return text


def fuzzed(service: Running, count: int, seed: int = 1) -> list[tuple[bytes, int]]:
    """Broken requests to ``/run``; those that were answered with a 500, or with an error of no shape."""
    rng, bad = random.Random(seed), []
    for _ in range(count):
        text = broken(rng)
        answer = service.get_client.post("/run", content=text, headers={"content-type": "application/json"})
        shaped = answer.status_code < 400 or set(answer.json().get("error", {})) == {"type", "message", "retryable"}
        if answer.status_code >= 500 or not shaped:
            bad.append((text, answer.status_code))
    return bad


def slow_head(service: Running) -> float:
    """Seconds until a client that sends its head a byte at a time is cut off."""
    with socket.create_connection(("127.0.0.1", httpx2.URL(service.url).port)) as line:
        return _dawdled(line, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"x" * 10_000)


def slow_body(service: Running) -> float:
    """The same for a body."""
    with socket.create_connection(("127.0.0.1", httpx2.URL(service.url).port)) as line:
        head = "POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
        line.sendall(head.encode())
        return _dawdled(line, b'{"task": "' + b"x" * 10_000)


def _dawdled(line: socket.socket, text: bytes) -> float:
    began = time.monotonic()
    line.settimeout(0.05)
    for place in range(len(text)):
        try:
            line.sendall(text[place : place + 1])
            if line.recv(4096):
                return time.monotonic() - began
            return time.monotonic() - began  # The other side has closed.
        except TimeoutError:
            continue
        except OSError:
            return time.monotonic() - began
    raise AssertionError("it was never cut off")


def oversize(service: Running) -> int:
    """The answer to a hundred megabytes, as far as they are taken."""
    sent = 0

    def flood():
        nonlocal sent
        for _ in range(1600):
            sent += 65536
            yield b"x" * 65536

    try:
        answer = service.get_client.post("/run", content=flood(), headers={"content-type": "application/json"})
        assert answer.status_code == 413
    except httpx2.TransportError:  # Cut off in the middle, which is as good.
        pass
    return sent


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=50)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, running(Path(name)) as service:
        service.stage.search = WordSearch(PASSAGES)
        checked = described(service, chosen.examples)
        print(checked.stdout[-3000:])
        bad = fuzzed(service, chosen.examples * 20)
        print(f"{chosen.examples * 20} broken requests to /run: {len(bad)} bad answers {bad[:3]}")
        print(
            f"a head a byte at a time is cut off after {slow_head(service):.1f} s (allowed {connection.HEAD_TIMEOUT:g} s)"
        )
        print(f"a body a byte at a time is cut off after {slow_body(service):.1f} s (allowed {guard.BODY_TIMEOUT:g} s)")
        print(f"of 100 MB {oversize(service) / 1e6:.1f} MB were taken before the answer")
    return 1 if checked.returncode or bad else 0


if __name__ == "__main__":
    sys.exit(main())
