"""Every test: no key, model or server of whoever runs the tests is picked up, and waiting before a retry takes no time."""

import os
from collections.abc import Iterator

import hypothesis
import pytest

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
