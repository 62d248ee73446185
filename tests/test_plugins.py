"""Parts by name: the built-in ones, those of a third-party package, and unknown names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from suffice import plugins
from suffice.errors import InputError

PLUGIN_MODULE = """
from suffice.gates.leaf import LeafGate
from suffice.memory.trajectory import TrajectoryMemory
from suffice.models.extractive import ExtractiveModel
from suffice.strategies.reflect import ReflectStrategy

class mine(LeafGate):
    needs = frozenset({"spend.rounds"})

    def judge(self, readings, seed=0):
        return self.judge_at_least("spend.rounds", readings, 1, "budget_rounds", "mine says so")

class Memory(TrajectoryMemory):
    pass

class Model(ExtractiveModel):
    name = "plugin"

class Strategy(ReflectStrategy):
    pass
"""
ENTRY_POINTS = """
[suffice.gates]
mine = thirdparty:mine
[suffice.memories]
elephant = thirdparty:Memory
[suffice.models]
plugin = thirdparty:Model
broken = missing_module:Model
[suffice.strategies]
wander = thirdparty:Strategy
"""


@pytest.mark.parametrize("group", ["models", "searches", "memories", "strategies", "gates", "meters"])
def test_every_group_has_a_built_in_part(group: str) -> None:
    assert plugins.list_plugins(group)
    for name in plugins.list_plugins(group):
        assert callable(plugins.load_plugin(group, name))


def test_an_unknown_name_gets_a_suggestion_or_the_list() -> None:
    with pytest.raises(InputError, match="exhaustion"):
        plugins.load_plugin("gates", "exhuastion")
    with pytest.raises(InputError, match=r"zzz.*extractive"):
        plugins.load_plugin("models", "zzz")
    with pytest.raises(InputError, match="nonsense"):
        plugins.load_plugin("nonsense", "zzz")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine on which a third-party distribution is installed."""
    info = tmp_path / "thirdparty-1.0.dist-info"
    info.mkdir()
    (tmp_path / "thirdparty.py").write_text(PLUGIN_MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thirdparty\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "bees.txt").write_text("Karl von Frisch decoded the waggle dance in 1927.\n")
    path = os.pathsep.join((str(tmp_path), os.environ["PYTHONPATH"]))
    return {**os.environ, "PYTHONPATH": path, "SUFFICE_CACHE_DIR": str(tmp_path / "cache")}


def run_ask(environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    arguments = [
        "ask",
        "Who decoded the waggle dance?",
        "--docs",
        f"{environment['PYTHONPATH'].partition(os.pathsep)[0]}/bees.txt",
        "--alpha",
        "1",
    ]
    return subprocess.run(
        [sys.executable, "-m", "suffice", *arguments, "--json", *options],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_third_party_parts_work_like_built_in_ones(environment: dict[str, str]) -> None:
    done = run_ask(environment, "--stop", "mine", "--memory", "elephant", "--model", "plugin")
    report = json.loads(done.stdout)
    assert report["usage"]["model"] == "plugin"
    assert report["stop"]["gate"] == "mine"
    assert "Karl von Frisch" in report["final_answer"]


def test_a_third_party_strategy_can_be_chosen(environment: dict[str, str]) -> None:
    done = run_ask(environment, "--strategy", "wander")
    assert done.returncode == 0, done.stderr
    assert "Karl von Frisch" in json.loads(done.stdout)["final_answer"]


def test_a_part_that_cannot_be_imported_is_an_input_error(environment: dict[str, str]) -> None:
    done = run_ask(environment, "--model", "broken")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "broken" in done.stderr
