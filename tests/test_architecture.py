"""The shape of the package: the order of its folders, its public names, and where libraries and the environment are used."""

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

# Folders and top-level modules, low to high. A module imports only from its own line or from lines above it.
ORDER = """
    types answers errors events settings plugins
    text measure
    screening
    storage
    prompts
    models
    search
    memory
    state
    meters gates
    replay
    monitor belief guard
    strategies
    claims
    tools report
    review
    testing
    skills
    engine
    options
    api
    jobs
    lab tuning adapters server
    cli __main__
"""
RANKS = {folder: rank for rank, line in enumerate(ORDER.strip().splitlines()) for folder in line.split()}
PUBLIC = """
    Asked BeliefState CheckingClaim Continued Drafting Event Failed Finished Gate InjectionsStripped InputError ModelError
    ModelOutputError
    PageError PageRead PageRefused Passage Place Planned PromptCompacted Query Recalled Reflected Report ReviewRound
    RoundDone RunOptions SearchError SearchRefused SearchStopped Searching Started StopMonitor SufficeError TopicsCovered
    Unavailable Verdict Writing
    __version__ budget coverage exhaustion fixed gain judged parse_gate predicates recall research run_research saturation
    stable sufficiency
    unseen worth
""".split()
SEAMS = {"models", "searches", "providers", "memories", "strategies", "gates", "meters", "skills"}

# Every module below ``suffice`` by name; the package itself has the empty name.
MODULES = {
    re.sub(r"(^|\.)__init__$", "", ".".join(path.relative_to(SOURCE).with_suffix("").parts)): path
    for path in sorted(SOURCE.rglob("*.py"))
}
TREES = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}


def find_imports(module: str) -> set[str]:
    """Return everything a module imports: at its top, inside functions and for type checkers."""
    names = set()
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"suffice.{module} uses a relative import"
            qualified = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name for name in qualified if name.removeprefix("suffice.") in MODULES} or {str(node.module)}
    return names


IMPORTS = {module: find_imports(module) for module in MODULES}
OWN_IMPORTS = {
    module: {name.removeprefix("suffice.") for name in names if name.startswith("suffice.")}
    for module, names in IMPORTS.items()
}


def find_users(library: str) -> set[str]:
    return {module for module, names in IMPORTS.items() if any(f"{name}.".startswith(f"{library}.") for name in names)}


@pytest.mark.parametrize("module", [module for module in MODULES if module])
def test_imports_run_one_way(module: str) -> None:
    folder = module.partition(".")[0]
    higher = {name for name in OWN_IMPORTS[module] if RANKS[name.partition(".")[0]] > RANKS[folder]}
    assert not higher, f"suffice.{module} imports from higher folders: {sorted(higher)}"


def test_no_import_cycles() -> None:
    """Not even lazy ones: each module can be understood after those it imports."""
    graph = {module: names for module, names in OWN_IMPORTS.items() if module}
    done: set[str] = set()
    while ready := {module for module, names in graph.items() if module not in done and names & graph.keys() <= done}:
        done |= ready
    assert not graph.keys() - done, f"in or behind a cycle: {sorted(graph.keys() - done)}"


@pytest.mark.parametrize("module", MODULES)
def test_module_has_a_docstring(module: str) -> None:
    assert not TREES[module].body or ast.get_docstring(TREES[module])


def test_the_source_stays_within_its_budget() -> None:
    """Raising a figure in ``pyproject.toml`` is a decision with a record."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    budget = settings["tool"]["suffice"]["budget"]
    text = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    assert text.count("\n") <= budget["lines"]
    assert text.count("re.compile(") <= budget["compiled_patterns"]
    inline = re.findall(r"\bre\.(?:search|match|fullmatch|subn?|findall|finditer|split)\(", text)
    assert len(inline) <= budget["inline_patterns"]


def test_class_names_are_unique() -> None:
    homes: dict[str, set[str]] = {}
    for module, tree in TREES.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, set()).add(module)
    assert not {name: modules for name, modules in homes.items() if len(modules) > 1}


def test_only_settings_reads_the_environment() -> None:
    readers = {
        module
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if getattr(node, "attr", getattr(node, "id", getattr(node, "name", None))) in ("environ", "getenv")
    }
    assert readers <= {"settings", ""}  # The package itself only switches the telemetry of a library off.


def test_only_the_cli_prints() -> None:
    printers = {
        module
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert all(module.startswith("cli.") for module in printers), printers


@pytest.mark.parametrize(
    ("library", "homes"),
    [
        ("typer", ("cli.",)),
        ("click", ("cli.",)),
        ("rich", ("cli.",)),
        ("fastapi", ("server.",)),
        ("uvicorn", ("server.",)),
        ("mcp", ("server.mcp",)),
        ("dbos", ("jobs.",)),
        ("sqlalchemy", ("jobs.", "server.health")),
        ("psycopg", ("search.engines.",)),
        ("psycopg_pool", ("search.engines.",)),
        ("tantivy", ("search.", "text.languages", "cli.doctor")),
        ("onnxruntime", ("models.embeddings", "models.reader")),
        ("pydantic_ai", ("models.llm.", "adapters.pydantic_ai")),
        ("openai", ("models.llm.",)),
        ("genai_prices", ("models.prices",)),
    ],
)
def test_heavy_library_has_one_home(library: str, homes: tuple[str, ...]) -> None:
    assert all(module.startswith(homes) for module in find_users(library)), find_users(library)


def test_public_names() -> None:
    assert suffice.__all__ == sorted(PUBLIC)
    assert dir(suffice) == suffice.__all__


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_can_be_imported(name: str) -> None:
    assert getattr(suffice, name) is not None


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nope"):
        suffice.nope  # noqa: B018


def test_package_is_typed() -> None:
    assert (SOURCE / "py.typed").is_file()


def read_entry_points() -> dict[tuple[str, str], str]:
    """Return the plug-ins that pyproject.toml declares, by group and name."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    return {
        (group.removeprefix("suffice."), name): value
        for group, plugins in groups.items()
        for name, value in plugins.items()
    }


@pytest.mark.parametrize(("plugin", "value"), read_entry_points().items())
def test_entry_point_loads(plugin: tuple[str, str], value: str) -> None:
    module, _, attribute = value.partition(":")
    assert plugin[0] in SEAMS
    assert callable(getattr(import_module(module), attribute))


def test_installed_entry_points_are_the_declared_ones() -> None:
    installed = {
        (entry.group.removeprefix("suffice."), entry.name): entry.value
        for entry in distribution("suffice").entry_points
        if entry.group.startswith("suffice.")
    }
    assert installed == read_entry_points(), "pyproject.toml changed; install again with: make setup"


@pytest.mark.parametrize(
    ("group", "folder", "mark"),
    [
        ("gates", "gates", '(LeafGate):\n    """'),
        ("strategies", "strategies", "async def propose("),
        ("memories", "memory", "def render("),
        ("meters", "meters", "moment: Moment ="),
    ],
)
def test_every_built_in_is_registered(group: str, folder: str, mark: str) -> None:
    """Built-ins are loaded the same way as plug-ins of other packages."""
    registered = {value for (own, _), value in read_entry_points().items() if own == group}
    built_in = {
        f"suffice.{module}:{node.name}"
        for module in MODULES
        if module.startswith(f"{folder}.")
        for node in TREES[module].body
        if isinstance(node, ast.ClassDef) and not any("Protocol" in ast.unparse(base) for base in node.bases)
        if mark in (ast.get_source_segment(MODULES[module].read_text(encoding="utf-8"), node) or "")
    }
    assert built_in, f"no class in {folder}/ has {mark!r}; adapt this test to its new name"
    assert built_in <= registered
