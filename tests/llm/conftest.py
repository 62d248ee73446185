"""A real language model for the tests that ask for one (``make test-llm``): the one that is configured, or a small one here."""

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
_PATIENCE = 300.0  # Seconds that the server may take to load its model on a busy machine.


@pytest.fixture(scope="session")
def model() -> Iterator[Mapping[str, str]]:
    """The environment that names the model."""
    set_already = {name: os.environ[name] for name in ("SUFFICE_MODEL", "OPENAI_BASE_URL") if os.environ.get(name)}
    if set_already:
        yield set_already
        return
    if not SERVER.is_file():
        pytest.skip("no model is configured: set SUFFICE_MODEL or OPENAI_BASE_URL")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1"
    server = subprocess.Popen([SERVER, "serve", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait(server, url)
        yield {"OPENAI_BASE_URL": url}
    finally:
        server.terminate()
        server.wait(30)


def _wait(server: "subprocess.Popen[bytes]", url: str) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if server.poll() is not None:
            pytest.fail(f"the model server ended with status {server.returncode}")
        try:
            with urlopen(f"{url}/models", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.5)
    pytest.fail(f"the model server did not answer within {_PATIENCE:.0f} s")
