"""``suffice doctor``: what is configured, what works, what to do about the rest."""

from collections.abc import Callable
from pathlib import Path

import pytest


def test_a_healthy_machine(suffice: Callable) -> None:
    ended = suffice("doctor")
    assert (ended.status, ended.err) == (0, "")
    assert "FAIL" not in ended.out
    assert all(word in ended.out for word in ("model", "embeddings", "index", "cache", "extractive"))


def test_a_model_that_is_not_there(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_MODEL", "nope")
    ended = suffice("doctor")
    assert ended.status == 4
    assert "FAIL model" in ended.out
    assert "SUFFICE_MODEL" in ended.out


def test_a_cache_that_cannot_be_written(suffice: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "occupied").write_text("a file")
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "occupied" / "cache"))
    ended = suffice("doctor")
    assert ended.status == 0
    assert "FAIL cache" in ended.out
    assert "SUFFICE_CACHE_DIR" in ended.out


def test_bounds_of_the_environment_are_shown(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESEARCH_MAX_ITERS", "7")
    assert "rounds 7" in suffice("doctor").out
    monkeypatch.setenv("RESEARCH_MAX_ITERS", "0")
    ended = suffice("doctor")
    assert ended.status == 2
    assert "RESEARCH_MAX_ITERS" in ended.err
