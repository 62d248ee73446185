"""Parts by name: the built-in ones, a stranger's, and names that nobody has."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from suffice import plugins
from suffice.errors import InputError

STRANGER = """
from suffice.gates.leaf import Leaf
from suffice.memory.trajectory import Trajectory
from suffice.models.extractive import Extractive
from suffice.strategies.reflect import ReflectStrategy

class mine(Leaf):
    needs = frozenset({"spend.rounds"})

    def judge(self, readings, seed=0):
        return self.at_least("spend.rounds", readings, 1, "budget_rounds", "mine says so")

class Memory(Trajectory):
    pass

class Model(Extractive):
    name = "stranger"

class Strategy(ReflectStrategy):
    pass
"""
ENTRY_POINTS = """
[suffice.gates]
mine = stranger:mine
[suffice.memories]
elephant = stranger:Memory
[suffice.models]
stranger = stranger:Model
broken = stranger_that_is_not_there:Model
[suffice.strategies]
wander = stranger:Strategy
"""


@pytest.mark.parametrize("seam", ["models", "searches", "memories", "strategies", "gates", "meters"])
def test_every_seam_has_a_built_in_part(seam: str) -> None:
    assert plugins.list_plugins(seam)
    for name in plugins.list_plugins(seam):
        assert callable(plugins.load_plugin(seam, name))


def test_an_unknown_name_gets_a_list_or_a_guess() -> None:
    with pytest.raises(InputError, match="did you mean 'exhaustion'"):
        plugins.load_plugin("gates", "exhuastion")
    with pytest.raises(InputError, match=r"no model named 'zzz'.*extractive"):
        plugins.load_plugin("models", "zzz")
    with pytest.raises(InputError, match="none installed"):
        plugins.load_plugin("nonsense", "zzz")


@pytest.fixture
def stranger(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine on which a stranger's distribution is installed."""
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (tmp_path / "stranger.py").write_text(STRANGER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (tmp_path / "bees.txt").write_text("Karl von Frisch decoded the waggle dance in 1927.\n")
    return {**os.environ, "PYTHONPATH": str(tmp_path), "SUFFICE_CACHE_DIR": str(tmp_path / "cache")}


def asked(stranger: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    words = ["ask", "Who decoded the waggle dance?", "--docs", f"{stranger['PYTHONPATH']}/bees.txt", "--alpha", "1"]
    return subprocess.run(
        [sys.executable, "-m", "suffice", *words, "--json", *options],
        env=stranger,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_strangers_parts_work_like_our_own(stranger: dict[str, str]) -> None:
    done = asked(stranger, "--stop", "mine", "--memory", "elephant", "--model", "stranger")
    report = json.loads(done.stdout)
    assert report["usage"]["model"] == "stranger"
    assert report["stop"]["gate"] == "mine"
    assert "Karl von Frisch" in report["final_answer"]


def test_a_strangers_strategy_can_be_named(stranger: dict[str, str]) -> None:
    done = asked(stranger, "--strategy", "wander")
    assert done.returncode == 0, done.stderr
    assert "Karl von Frisch" in json.loads(done.stdout)["final_answer"]


def test_a_part_that_cannot_be_loaded(stranger: dict[str, str]) -> None:
    done = asked(stranger, "--model", "broken")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "broken" in done.stderr
