"""Every test: no key, model or server of whoever runs the tests is picked up, and waiting before a retry takes no time."""

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

hypothesis.settings.register_profile("busy", deadline=None)  # A busy machine is no fault.
hypothesis.settings.load_profile("busy")

_FOREIGN = ("OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "OPENROUTER_", "OLLAMA_", "SUFFICE_MODEL", "HARNESS_")


@pytest.fixture(autouse=True)
def _no_foreign_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(_FOREIGN):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")  # Nobody listens there, so no running Ollama is found.


@pytest.fixture
def no_waiting() -> Iterator[None]:
    """Retries come at once, as many as ever."""
    import stamina

    stamina.set_testing(True, attempts=3, cap=True)
    yield
    stamina.set_testing(False)


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A real browser. While it is open the thread has an event loop, so modules that use it cannot run one of their own."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Debian's chromium: apt-get install chromium")
    with sync_playwright() as play:
        launched = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield launched
        launched.close()
