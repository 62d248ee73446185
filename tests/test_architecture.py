"""The shape of the package: who may import whom, which names are public, and where the world outside is touched."""

import ast
import re
import tomllib
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path

import pytest

import suffice

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "suffice"

# A module imports only from its own line or from lines above it.
LAYERS = """
    types errors
    model_settings damage pictures
    plugins settings events shelf
    text
    measure
    leads outline rivals
    asks
    search.base search.files tools
    models
    search
    memory
    happenings
    run sight
    spending
    meters
    gates
    explanation telling
    replay
    monitor
    strategies
    interventions
    gather
    write
    review
    runs
    presets
    pipeline
    front
    jobs
    lab adapters
    testing doors __main__
"""
PUBLIC = """
    Gate Passage Place Query Report StopMonitor Verdict __version__ budget exhaustion fixed gain judged parse_gate
    predicates recall research run_research saturation sufficiency unseen worth
"""
SEAMS = {"models", "searches", "providers", "memories", "strategies", "gates", "meters"}


def modules() -> dict[str, Path]:
    """Every module by its name below ``suffice``; the package itself is the empty name."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        found[re.sub(r"(^|\.)__init__$", "", name)] = path
    return found


MODULES = modules()


def imported(path: Path) -> set[str]:
    """What a file imports, anywhere in it: on top, inside functions, for type checkers."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            ours = {name for name in inside if name.removeprefix("suffice.") in MODULES}
            names |= ours or {str(node.module)}
    return names


def layer(module: str) -> int:
    """The line of the longest entry that the module is or lies under."""
    lines = LAYERS.strip().splitlines()
    entries = {entry: number for number, line in enumerate(lines) for entry in line.split()}
    fitting = [entry for entry in entries if module == entry or module.startswith(entry + ".")]
    assert fitting, f"suffice.{module} has no place in the order of imports; give it one in {Path(__file__).name}"
    return entries[max(fitting, key=len)]


@pytest.mark.parametrize("module", [name for name in MODULES if name])
def test_a_module_imports_only_from_above(module: str) -> None:
    for name in imported(MODULES[module]):
        if name.startswith("suffice."):
            below = name.removeprefix("suffice.")
            assert layer(below) <= layer(module), f"suffice.{module} imports {name}"


def test_no_module_imports_itself_through_others() -> None:
    """No circle, not even a lazy one: each module can be understood after those it imports."""
    graph = {
        module: {name.removeprefix("suffice.") for name in imported(path) if name.startswith("suffice.")}
        for module, path in MODULES.items()
        if module
    }
    done: set[str] = set()
    while ready := {module for module, needs in graph.items() if module not in done and needs & graph.keys() <= done}:
        done |= ready
    assert not graph.keys() - done, f"in or behind a circle: {sorted(graph.keys() - done)}"


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_short_and_says_what_it_is(module: str) -> None:
    text = MODULES[module].read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 400
    tree = ast.parse(text)
    assert not tree.body or ast.get_docstring(tree), f"suffice.{module} has no docstring"


def test_only_settings_reads_the_environment() -> None:
    readers = {
        module for module, path in MODULES.items() if re.search(r"\benviron\b|\bgetenv\b", "\n".join(_code(path)))
    }
    assert readers <= {"settings"}


def test_only_doors_print() -> None:
    printers = {
        module
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert all(module.startswith("doors.") for module in printers), printers


@pytest.mark.parametrize("library", ["typer", "click", "rich"])
def test_only_doors_know_the_terminal(library: str) -> None:
    users = {module for module, path in MODULES.items() if any(_is(name, library) for name in imported(path))}
    assert all(module.startswith("doors.") for module in users), users


@pytest.mark.parametrize(
    ("library", "home"),
    [
        ("tantivy", ("search.", "text.entities", "doors.checkup")),
        ("onnxruntime", ("models.embeddings",)),
        ("pydantic_ai", ("models.llm.", "adapters.pydantic_ai")),
        ("openai", ("models.llm.",)),
        ("genai_prices", ("models.prices",)),
    ],
)
def test_a_heavy_library_has_one_home(library: str, home: tuple[str, ...]) -> None:
    users = {module for module, path in MODULES.items() if any(_is(name, library) for name in imported(path))}
    assert users
    assert all(module.startswith(home) for module in users), users


def test_public_names() -> None:
    assert suffice.__all__ == sorted(PUBLIC.split())
    assert dir(suffice) == suffice.__all__


@pytest.mark.parametrize("name", PUBLIC.split())
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(suffice, name) is not None


def test_a_name_that_is_not_public() -> None:
    with pytest.raises(AttributeError, match="nope"):
        suffice.nope  # noqa: B018


def declared() -> dict[tuple[str, str], str]:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    return {
        (group.removeprefix("suffice."), name): value
        for group, parts in groups.items()
        for name, value in parts.items()
    }


@pytest.mark.parametrize(("part", "value"), declared().items())
def test_a_registered_part_loads(part: tuple[str, str], value: str) -> None:
    module, _, attribute = value.partition(":")
    assert part[0] in SEAMS
    assert callable(getattr(import_module(module), attribute))


def test_the_installed_parts_are_the_declared_ones() -> None:
    installed = {
        (entry.group.removeprefix("suffice."), entry.name): entry.value
        for entry in distribution("suffice").entry_points
        if entry.group.startswith("suffice.")
    }
    assert installed == declared(), "pyproject.toml changed; install again with: make setup"


def test_every_built_in_part_is_registered() -> None:
    """Built-ins come in by the same door as a stranger's part."""
    registered = {seam: {value for (own, _), value in declared().items() if own == seam} for seam in SEAMS}
    classes = {
        "gates": [("gates", r"\(Leaf\)")],
        "strategies": [("strategies", r"class (\w+)(?!.*Protocol).*:\n(?:.|\n)*?async def propose")],
        "memories": [("memory", r"def render")],
        "meters": [("meters", r"moment: Moment =")],
    }
    for seam, places in classes.items():
        for folder, mark in places:
            for path in sorted((SOURCE / folder).rglob("*.py")):
                tree = ast.parse(path.read_text(encoding="utf-8"))
                for node in tree.body:
                    text = ast.get_source_segment(path.read_text(encoding="utf-8"), node) or ""
                    if isinstance(node, ast.ClassDef) and "Protocol" not in text.partition("\n")[0]:
                        module = "suffice." + ".".join(path.relative_to(SOURCE).with_suffix("").parts)
                        if re.search(mark, text) and node.name != "Leaf":
                            assert f"{module}:{node.name}" in registered[seam], f"{node.name} is not registered"


def _is(name: str, library: str) -> bool:
    return name == library or name.startswith(library + ".")


def _code(path: Path) -> list[str]:
    """The file's code without its strings and comments."""
    return [
        node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else node.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute | ast.Name | ast.alias)
    ]
