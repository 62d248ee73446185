"""What starting up costs: nothing heavy is imported before it is needed."""

import json
import subprocess
import sys

import pytest

REPORT = "import json, sys; sys.stderr.write('\\n' + json.dumps(sorted(sys.modules)))"


def loaded(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def by_import() -> set[str]:
    return loaded(f"import suffice; {REPORT}")


@pytest.fixture(scope="module")
def by_help() -> set[str]:
    return loaded(
        f"import atexit; atexit.register(lambda: exec({REPORT!r}));from suffice.cli.app import main; main(['--help'])"
    )


@pytest.mark.parametrize(
    "heavy",
    """numpy tantivy onnxruntime tokenizers typer click rich msgspec pydantic asyncio markdown_it nh3 sqlite3 httpx2 ddgs
    aiolimiter pydantic_ai openai anthropic google.genai genai_prices stamina""".split(),
)
def test_importing_the_package(by_import: set[str], heavy: str) -> None:
    assert heavy not in by_import


@pytest.mark.parametrize(
    "heavy",
    """numpy tantivy onnxruntime tokenizers msgspec pypdfium2 charset_normalizer markdown_it nh3 sqlite3 httpx2 ddgs
    aiolimiter pydantic_ai openai anthropic google.genai genai_prices stamina""".split(),
)
def test_showing_the_help(by_help: set[str], heavy: str) -> None:
    assert "typer" in by_help
    assert heavy not in by_help


def test_gates_alone_need_no_numbers_library() -> None:
    """Whoever only wants the stop gate pays for nothing else."""
    modules = loaded(f"from suffice import exhaustion, saturation, budget; exhaustion() | budget(rounds=3); {REPORT}")
    assert not modules & {"numpy", "tantivy", "onnxruntime", "tokenizers", "typer", "rich"}
