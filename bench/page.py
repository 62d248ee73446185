"""Measure the web page on loopback: its weight, its requests and the first paint in a real browser.

``python -m bench.page`` starts the service over a small folder, opens the page in a fresh browser context several times and
prints the medians. It needs chromium.
"""

import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

REPEATS = 7


def main() -> None:
    """Print one row: bytes, requests, requests to other hosts, first paint."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("This measurement needs chromium in the PATH.")
    with run_service() as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        opened = [open_page(browser, address) for _ in range(REPEATS)]
        browser.close()
    size, requests, outside, paint = (median(values) for values in zip(*opened, strict=True))
    print("| KB | requests | to other hosts | first paint |\n|--:|--:|--:|--:|")
    print(f"| {size / 1000:.0f} | {requests:.0f} | {outside:.0f} | {paint:.0f} ms |")


def open_page(browser: "Browser", address: str) -> tuple[float, float, float, float]:
    """Open the page without a cache; return its bytes, requests, requests elsewhere and milliseconds to the first paint."""
    context = browser.new_context()
    page = context.new_page()
    responses = []
    page.on("response", lambda response: responses.append(response))
    page.goto(address, wait_until="networkidle")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    own = [response for response in responses if response.url.startswith(address)]
    size = sum(len(response.body()) for response in own)
    elsewhere = sum(not response.url.startswith((address, "data:")) for response in responses)
    context.close()
    return size, len(own), elsewhere, paint


@contextmanager
def run_service() -> "Iterator[str]":
    """Run the service over one document on a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        docs = Path(folder) / "docs"
        docs.mkdir()
        (docs / "bees.txt").write_text("Karl von Frisch decoded the waggle dance.\n", encoding="utf-8")
        command = [sys.executable, "-m", "suffice", "serve", "--docs", str(docs), "--port", str(port)]
        service = subprocess.Popen(command, env={"SUFFICE_DATA_DIR": folder, "PATH": ""}, stdout=subprocess.DEVNULL)
        try:
            address = f"http://127.0.0.1:{port}/"
            wait_for(address)
            yield address
        finally:
            service.terminate()
            service.wait(30)


def wait_for(address: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address + "healthz", timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("The service did not start.")


if __name__ == "__main__":
    main()
