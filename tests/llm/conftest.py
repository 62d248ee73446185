"""A real language model for ``make test-llm``: the configured one, or a small one on this machine."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

SERVER = Path(__file__).parents[3] / "shared" / "tools" / "chat-model"
_START_TIMEOUT = 300.0  # Seconds to load the model on a busy machine.


@pytest.fixture(scope="session")
def model() -> Iterator[Mapping[str, str]]:
    """Return the environment variables that name the model."""
    configured = {name: os.environ[name] for name in ("SUFFICE_MODEL", "OPENAI_BASE_URL") if os.environ.get(name)}
    if configured:
        yield configured
        return
    if not SERVER.is_file():
        pytest.skip("no model is configured: set SUFFICE_MODEL or OPENAI_BASE_URL")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    server = subprocess.Popen([SERVER, "serve", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_until_ready(server, url)
        yield {"OPENAI_BASE_URL": url}
    finally:
        server.terminate()
        server.wait(30)


def _wait_until_ready(server: "subprocess.Popen[bytes]", url: str) -> None:
    end = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < end:
        if server.poll() is not None:
            pytest.fail(f"the model server ended with status {server.returncode}")
        try:
            with urlopen(f"{url}/models", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.5)
    pytest.fail(f"the model server did not answer within {_START_TIMEOUT:.0f} s")
