"""The service under unusual requests: generated from its OpenAPI schema, randomly broken, too slow and too large.

    python -m reliability.shapes [--examples N]

No response may be a 500, every response must match the schema, and clients that send too slowly or too much are cut off.
"""

import argparse
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
from copy import deepcopy
from pathlib import Path

import httpx2
from bridge_story import PASSAGES
from http_client import RunningService, run_service

from suffice.server import connection, middleware
from suffice.testing import WordSearch

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


def run_schemathesis(
    service: RunningService, examples: int, *, phases: str = "examples,coverage,fuzzing", seed: int = 1
) -> subprocess.CompletedProcess:
    """Run schemathesis over every route of the schema."""
    command = ["-m", "schemathesis.cli", "run", f"{service.url}/openapi.json", "--checks", CHECKS, "--seed", str(seed)]
    command += ["--max-examples", str(examples), "--phases", phases, "--workers", "1"]
    command += ["--generation-database", "none", "--request-timeout", "30", "--no-color"]
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=tempfile.gettempdir())


BODY = {
    "question": "Who built the Meridian bridge?",
    "options": {"max_rounds": 2, "stop": "worth | fixed(2)", "collections": ["default"], "alpha": 1, "seed": 3},
    "complexity_tier": "simple",
    "stream": False,
    "async": False,
}
ODD_VALUES = [
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


def break_request(rng: random.Random) -> bytes:
    """Return a valid request with random changes."""
    body = json.loads(json.dumps(BODY))
    for _ in range(rng.randint(1, 4)):
        inside = rng.choice([body, body["options"] if isinstance(body.get("options"), dict) else body])
        name = rng.choice([*inside, "nonsense", "task", "max_iters", "max_cost_usd", "model", "memory", "priority"])
        inside[name] = deepcopy(rng.choice(ODD_VALUES))  # A list or object of the request may be changed again.
    text = json.dumps(body).encode()
    if rng.random() < 0.3:
        place = rng.randrange(len(text))
        text = (
            text[:place]
            + bytes(rng.randrange(256) for _ in range(rng.randint(0, 6)))
            + text[place + rng.randint(0, 6) :]
        )
    return text


def fuzz(service: RunningService, count: int, seed: int = 1) -> list[tuple[bytes, int]]:
    """Send broken requests to ``/run``; return those that got a 500 or a malformed error."""
    rng, bad = random.Random(seed), []
    for _ in range(count):
        text = break_request(rng)
        response = service.client.post("/run", content=text, headers={"content-type": "application/json"})
        well_formed = response.status_code < 400 or set(response.json().get("error", {})) == {
            "type",
            "message",
            "retryable",
        }
        if response.status_code >= 500 or not well_formed:
            bad.append((text, response.status_code))
    return bad


def send_slow_head(service: RunningService) -> float:
    """Return after how many seconds a client that sends its head byte by byte is cut off."""
    with socket.create_connection(("127.0.0.1", httpx2.URL(service.url).port)) as sock:
        return _send_slowly(sock, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"x" * 10_000)


def send_slow_body(service: RunningService) -> float:
    """Return after how many seconds a client that sends its body byte by byte is cut off."""
    with socket.create_connection(("127.0.0.1", httpx2.URL(service.url).port)) as sock:
        head = "POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n"
        sock.sendall(head.encode())
        return _send_slowly(sock, b'{"task": "' + b"x" * 10_000)


def _send_slowly(sock: socket.socket, text: bytes) -> float:
    started = time.monotonic()
    sock.settimeout(0.05)
    for place in range(len(text)):
        try:
            sock.sendall(text[place : place + 1])
            sock.recv(4096)  # A response, or empty: the other side has closed.
            return time.monotonic() - started
        except TimeoutError:
            continue
        except OSError:
            return time.monotonic() - started
    raise AssertionError("it was never cut off")


def send_oversized_body(service: RunningService) -> int:
    """Send up to a hundred megabytes; return how many bytes were accepted."""
    sent = 0

    def flood():
        nonlocal sent
        for _ in range(1600):
            sent += 65536
            yield b"x" * 65536

    try:
        answer = service.client.post("/run", content=flood(), headers={"content-type": "application/json"})
        assert answer.status_code == 413
    except httpx2.TransportError:  # Cut off while sending.
        pass
    return sent


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, run_service(Path(name)) as service:
        service.overrides.search = WordSearch(PASSAGES)
        checked = run_schemathesis(service, arguments.examples)
        print(checked.stdout[-3000:])
        bad = fuzz(service, arguments.examples * 20)
        print(f"{arguments.examples * 20} broken requests to /run: {len(bad)} bad responses {bad[:3]}")
        print(
            f"a head sent byte by byte is cut off after {send_slow_head(service):.1f} s (allowed {connection.HEAD_TIMEOUT:g} s)"
        )
        print(
            f"a body sent byte by byte is cut off after {send_slow_body(service):.1f} s (allowed {middleware.BODY_TIMEOUT:g} s)"
        )
        print(f"of 100 MB {send_oversized_body(service) / 1e6:.1f} MB were accepted before the response")
    return 1 if checked.returncode or bad else 0


if __name__ == "__main__":
    sys.exit(main())
