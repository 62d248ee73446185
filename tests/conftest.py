"""Fixtures of all tests. No API key, model or server of the machine is used."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from suffice.models.reader.model import ReaderModel
    from suffice.models.reading import AnswerSpan

# Child processes run the code of this tree, wherever the installed package comes from.
_SOURCE = str(Path(__file__).parents[1] / "src")
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (_SOURCE, os.environ.get("PYTHONPATH"))))

# A busy machine must not fail a test. `make reliability` tries ten times as many examples.
hypothesis.settings.register_profile("quick", deadline=None, max_examples=30)
hypothesis.settings.register_profile("thorough", deadline=None, max_examples=300)
hypothesis.settings.load_profile("quick")

# The longest tests, which wait more than they compute: begun last, they leave the other process idle.
_LONGEST = (
    "reliability/",
    "lab/",
    "test_patterns.py",
    "test_privacy.py",
    "server/test_two_services.py",
    "test_docs.py",
)

_MODEL_VARIABLES = (
    "OPENAI_",
    "ANTHROPIC_",
    "GOOGLE_",
    "GEMINI_",
    "OPENROUTER_",
    "OLLAMA_",
    "SUFFICE_MODEL",
    "HARNESS_",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest tests first (``--no-loadscope-reorder`` keeps them there)."""
    root = Path(__file__).parent
    items.sort(key=lambda item: not item.path.relative_to(root).as_posix().startswith(_LONGEST))


@pytest.fixture(autouse=True)
def _no_configured_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(_MODEL_VARIABLES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OLLAMA_HOST", "127.0.0.1:9")  # An unused port, so that no running Ollama is found.


@pytest.fixture(autouse=True)
def _quick_reader(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Leave the large reader to the tests of readers, of cells and of commands: it takes a minute or two of all."""
    if not any(map(request.node.path.match, ("models/test_reader.py", "skills/test_compare.py"))):
        monkeypatch.setattr("suffice.models.reader.model.ReaderModel.reread", _read_once_more)
        monkeypatch.setattr("suffice.models.reader.model._SURE", 0.5)


def _read_once_more(reader: "ReaderModel", question: str, passages: Sequence[str]) -> "list[AnswerSpan]":
    return reader.read(question, passages)


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry without waiting, as often as usual."""
    from suffice.models.retry import get_retry_delay

    monkeypatch.setattr(
        "suffice.models.llm.client.get_retry_delay",
        lambda *failure: None if get_retry_delay(*failure) is None else 0.0,
    )
    monkeypatch.setattr("suffice.models.embeddings.remote.sleep", lambda seconds: None)


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    """Run a Postgres and yield the URL of an empty database."""
    yield from _run_postgres(vectors=False)


@pytest.fixture(scope="module")
def vector_postgres_url() -> Iterator[str]:
    """Run a Postgres whose vector extension works and yield the URL of an empty database."""
    yield from _run_postgres(vectors=True)


def _run_postgres(*, vectors: bool) -> Iterator[str]:
    from postgres_server import NoPostgres, run_postgres

    try:
        with run_postgres(vectors=vectors) as url:
            yield url
    except NoPostgres as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Open a real browser. It runs an event loop in this thread, so its tests cannot run another one."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Debian's chromium: apt-get install chromium")
    with sync_playwright() as play:
        launched = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield launched
        launched.close()
