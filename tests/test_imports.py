"""Start-up stays light: heavy libraries are imported only when they are needed."""

import json
import subprocess
import sys

import pytest

PRINT_MODULES = "import json, sys; sys.stderr.write('\\n' + json.dumps(sorted(sys.modules)))"


def list_loaded_modules(code: str) -> set[str]:
    """Run code in a new process and return the modules it has loaded."""
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    return set(json.loads(completed.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def loaded_by_import() -> set[str]:
    return list_loaded_modules(f"import suffice; {PRINT_MODULES}")


@pytest.fixture(scope="module")
def loaded_by_help() -> set[str]:
    return list_loaded_modules(
        f"import atexit; atexit.register(lambda: exec({PRINT_MODULES!r}));from suffice.cli.app import main; main(['--help'])"
    )


@pytest.mark.parametrize(
    "heavy",
    """numpy tantivy onnxruntime tokenizers typer click rich msgspec pydantic asyncio markdown_it nh3 sqlite3 httpx2 ddgs
    aiolimiter pydantic_ai openai anthropic google.genai genai_prices""".split(),
)
def test_import_is_light(loaded_by_import: set[str], heavy: str) -> None:
    assert heavy not in loaded_by_import


@pytest.mark.parametrize(
    "heavy",
    """numpy tantivy onnxruntime tokenizers msgspec pypdfium2 charset_normalizer markdown_it nh3 sqlite3 httpx2 ddgs
    aiolimiter pydantic_ai openai anthropic google.genai genai_prices asyncio""".split(),
)
def test_help_is_light(loaded_by_help: set[str], heavy: str) -> None:
    assert "typer" in loaded_by_help
    assert heavy not in loaded_by_help


def test_errors_and_events_are_light() -> None:
    modules = list_loaded_modules(f"from suffice import InputError, RoundDone; {PRINT_MODULES}")
    assert not modules & {"numpy", "tantivy", "onnxruntime", "tokenizers", "msgspec", "pydantic", "asyncio"}


def test_gates_are_light() -> None:
    modules = list_loaded_modules(
        f"from suffice import exhaustion, saturation, budget; exhaustion() | budget(rounds=3); {PRINT_MODULES}"
    )
    assert not modules & {"numpy", "tantivy", "onnxruntime", "tokenizers", "typer", "rich"}
