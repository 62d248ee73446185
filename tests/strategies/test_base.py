"""Strategies and interventions use a run only through ``RunView``."""

import ast
import inspect
from pathlib import Path

import pytest

import suffice
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters.base import LiveRun
from suffice.state.run import RunState
from suffice.strategies.base import RunView
from suffice.testing import ScriptedModel

SOURCE = Path(suffice.__file__).parent
USERS = [
    *sorted((SOURCE / "strategies").glob("*.py")),
    *(SOURCE / "engine" / f"{name}.py" for name in ("interventions", "hypotheses")),
]


def members(protocol: type) -> set[str]:
    return {name for kind in protocol.__mro__ for name in vars(kind) if not name.startswith("_")}


def is_run(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "run"


@pytest.mark.parametrize("path", USERS, ids=lambda path: path.stem)
def test_only_members_of_the_view_are_used_and_none_is_assigned(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and is_run(node.value)]
    assert {node.attr for node in used} <= members(RunView)
    assert all(isinstance(node.ctx, ast.Load) for node in used), "a strategy sets state only through methods"


@pytest.mark.parametrize("path", USERS, ids=lambda path: path.stem)
def test_the_run_is_always_typed_as_the_view(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    arguments = [node for node in ast.walk(tree) if isinstance(node, ast.arg) and node.arg == "run"]
    assert all(isinstance(node.annotation, ast.Name) and node.annotation.id == "RunView" for node in arguments)
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "suffice.state.run" not in imported


@pytest.mark.parametrize("protocol", [RunView, LiveRun])
def test_a_run_has_every_member_of_the_view(protocol: type) -> None:
    run = RunState("task", ScriptedModel({}), TrajectoryMemory, run_id="r")
    assert [name for name in members(protocol) if not hasattr(run, name)] == []


def test_every_member_of_the_view_is_used_and_documented() -> None:
    names = {
        node.attr
        for path in USERS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and is_run(node.value)
    }
    assert names | {"embed"} == members(RunView), "``embed`` is there for plug-ins"
    for name in members(RunView):
        member = inspect.getattr_static(RunView, name)
        assert (member.fget if isinstance(member, property) else member).__doc__, name
