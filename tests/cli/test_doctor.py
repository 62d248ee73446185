"""``suffice doctor``: what is configured, whether it works, and how to fix what does not."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import FakeLlm


def test_a_healthy_machine(suffice: Callable) -> None:
    result = suffice("doctor")
    assert (result.status, result.err) == (0, "")
    assert "FAIL" not in result.out
    assert all(word in result.out for word in ("model", "embeddings", "index", "cache", "extractive"))
    assert "dimensions, English" in result.out


def test_an_unknown_model(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_MODEL", "nope")
    result = suffice("doctor")
    assert result.status == 4
    assert "FAIL model" in result.out
    assert "SUFFICE_MODEL" in result.out


def test_an_unwritable_cache(suffice: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "occupied").write_text("a file")
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "occupied" / "cache"))
    result = suffice("doctor")
    assert result.status == 0
    assert "FAIL cache" in result.out
    assert "SUFFICE_CACHE_DIR" in result.out


def test_limits_of_the_environment_are_shown(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESEARCH_MAX_ITERS", "7")
    assert "rounds 7" in suffice("doctor").out
    monkeypatch.setenv("RESEARCH_MAX_ITERS", "0")
    result = suffice("doctor")
    assert result.status == 2
    assert "RESEARCH_MAX_ITERS" in result.err


def test_the_loaded_model_is_named(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeLlm(models=["qwen-small", "other"], context=4096) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        result = suffice("doctor")
        assert result.status == 0
        assert "openai:qwen-small" in result.out
        assert "4096 tokens" in result.out
        monkeypatch.setenv("SUFFICE_MODEL", "openai:absent")
        assert "'absent'; using 'qwen-small'" in suffice("doctor").out
    monkeypatch.setenv("SUFFICE_MODEL", "openai:qwen-small")
    result = suffice("doctor")
    assert result.status == 4
    assert "start the server" in result.out


def test_a_dead_server_and_a_refused_key_are_told_apart(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeLlm(refuses_key=True) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for model in ("", "openai:qwen"):
            monkeypatch.setenv("SUFFICE_MODEL", model)
            result = suffice("doctor")
            assert result.status == 4
            assert "refuses the key" in result.out
            assert "OPENAI_API_KEY" in result.out
    monkeypatch.setenv("SUFFICE_MODEL", "")
    result = suffice("doctor")
    assert result.status == 4
    assert "start the server" in result.out


def test_every_model_of_a_list_is_checked(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("SUFFICE_MODEL", "openai:a,openai:b")
    result = suffice("doctor")
    assert result.status == 4
    for name in ("openai:a", "openai:b"):
        [line] = [line for line in result.out.splitlines() if f" {name}: " in line]
        assert line.startswith("FAIL model")
        assert "start the server" in line
    monkeypatch.setenv("SUFFICE_MODEL", "openai:a,extractive")
    result = suffice("doctor")
    assert (result.status, "FAIL model       openai:a" in result.out) == (0, True)
    monkeypatch.setenv("SUFFICE_MODEL", "extractive")
    monkeypatch.setenv("SUFFICE_MODEL_JUDGE", "openai:c")
    result = suffice("doctor")
    assert (result.status, "FAIL model       openai:c" in result.out) == (4, True)
