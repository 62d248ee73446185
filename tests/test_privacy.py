"""Nothing leaves the machine unless the user names a service: no name is looked up, and no other package writes files."""

import ast
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SEALED = str(Path(__file__).parent / "sealed.py")
# Loopback, a file system for itself and no rights outside: what an unprivileged process may have on most Linux systems.
UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--mount")
OWN_FOLDERS = (".cache/suffice", ".local/share/suffice", ".config/suffice")


@dataclass(frozen=True)
class Traces:
    """What the commands left behind: files in the empty home folder, and names that were looked up, if that could be seen."""

    files: list[str]
    looked_up: list[str] | None


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """Run ask, check, index, serve and mcp as real processes, once for all tests of this module."""
    folder = tmp_path_factory.mktemp("sealed")
    in_namespaces = _can_unshare()
    command = [sys.executable, SEALED, str(folder)]
    completed = subprocess.run(
        [*UNSHARE, *command, "--network"] if in_namespaces else command, capture_output=True, text=True, timeout=600
    )
    assert completed.returncode == 0, completed.stderr
    home = folder / "home"
    files = [path.relative_to(home).as_posix() for path in home.rglob("*") if not path.is_dir()]
    return Traces(files, json.loads(completed.stdout.splitlines()[-1]))


def _can_unshare() -> bool:
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True, timeout=60).returncode == 0
    except OSError:
        return False


@pytest.mark.attack("privacy")
def test_no_command_writes_outside_its_own_folders(traces: Traces) -> None:
    assert traces.files, "the commands keep an index at least"
    assert [path for path in traces.files if not path.startswith(OWN_FOLDERS)] == []


@pytest.mark.attack("privacy")
def test_no_command_looks_up_a_name(traces: Traces) -> None:
    if traces.looked_up is None:
        pytest.skip("needs Linux with user namespaces (unshare --user --net --mount) to see look-ups of native code")
    assert traces.looked_up == []


def test_telemetry_is_off_before_any_library_is_imported() -> None:
    code = "import suffice, os; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "1"


def test_every_program_that_imports_onnxruntime_imports_suffice_first() -> None:
    """Programs for training are not part of the package; there, only this order turns the telemetry off."""
    for folder in ("training", "bench", "examples"):
        for path in (Path(__file__).parents[1] / folder).rglob("*.py"):
            imported = _list_imports(path)
            if "onnxruntime" in imported:
                assert "suffice" in imported[: imported.index("onnxruntime")], path


def _list_imports(path: Path) -> list[str]:
    """Return the packages that a file imports, in the order of its lines."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name.split(".")[0]) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.append((node.lineno, node.module.split(".")[0]))
    return [name for _, name in sorted(found)]
