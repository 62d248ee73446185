"""Settings from the environment and ``.env``, tiers, and layers of bounds."""

from pathlib import Path

import pytest

from suffice.errors import InputError
from suffice.settings import (
    TIERS,
    ReviewRules,
    Settings,
    load,
    read_dotenv,
    resolve_bounds,
)
from suffice.types import Bounds


def load_from(folder: Path, **environment: str) -> Settings:
    return load({"HOME": str(folder), **environment}, folder)


def test_the_defaults(tmp_path: Path) -> None:
    settings = load_from(tmp_path)
    assert settings.model is None
    assert settings.offline is False
    assert settings.bounds == Bounds()
    assert settings.cache_dir.name == settings.data_dir.name == "suffice"


def test_every_bound_has_a_variable(tmp_path: Path) -> None:
    settings = load_from(
        tmp_path,
        RESEARCH_MAX_ITERS="3",
        RESEARCH_MAX_QUERIES="4",
        RESEARCH_MAX_SOURCES="5",
        RESEARCH_MAX_EXECUTION_TIME_S="1.5",
        RESEARCH_TOKEN_BUDGET="7",
        RESEARCH_MAX_COST_USD="0.25",
    )
    assert settings.bounds == Bounds(3, 4, 5, 1.5, 7, 0.25)


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_counts_as_unset(tmp_path: Path, value: str) -> None:
    assert load_from(tmp_path, RESEARCH_MAX_ITERS=value).bounds.rounds is None
    assert load_from(tmp_path, SUFFICE_MODEL=value.strip()).model is None


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "ten", "nan"])
def test_a_bound_must_be_a_number_above_zero(tmp_path: Path, value: str) -> None:
    with pytest.raises(InputError, match="RESEARCH_MAX_ITERS"):
        load_from(tmp_path, RESEARCH_MAX_ITERS=value)


@pytest.mark.parametrize(("value", "offline"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_offline_is_any_value_but_zero(tmp_path: Path, value: str, offline: bool) -> None:
    assert load_from(tmp_path, SUFFICE_OFFLINE=value).offline is offline


def test_folders_come_from_our_variables_or_xdg(tmp_path: Path) -> None:
    assert load_from(tmp_path, SUFFICE_CACHE_DIR="/tmp/x").cache_dir == Path("/tmp/x")
    assert load_from(tmp_path, XDG_CACHE_HOME="/tmp/y").cache_dir == Path("/tmp/y/suffice")
    assert load_from(tmp_path, SUFFICE_DATA_DIR="/tmp/d").data_dir == Path("/tmp/d")
    assert "~" not in str(load_from(tmp_path, SUFFICE_CACHE_DIR="~/x").cache_dir)


def test_the_environment_overrides_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "# a comment\n\nexport SUFFICE_MODEL='extractive'\nRESEARCH_MAX_ITERS = 2\nRESEARCH_MAX_QUERIES=\"9\"\nbroken line\n"
    )
    settings = load_from(tmp_path, RESEARCH_MAX_QUERIES="8")
    assert settings.model == "extractive"
    assert (settings.bounds.rounds, settings.bounds.queries) == (2, 8)


def test_dotenv_may_not_set_addresses(tmp_path: Path) -> None:
    refused = "OPENAI_BASE_URL ANTHROPIC_BASE_URL SUFFICE_ALLOW_HOSTS SUFFICE_DATABASE_URL OLLAMA_HOST".split()
    (tmp_path / ".env").write_text("".join(f"{name}=evil\nexport {name}=evil\n" for name in refused) + "KEPT=1\n")
    assert read_dotenv(tmp_path) == {"KEPT": "1"}


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b""])
def test_an_unreadable_dotenv_is_ignored(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".env").write_bytes(content)
    assert load_from(tmp_path).bounds == Bounds()


def test_tiers_are_the_source_values() -> None:
    assert list(TIERS) == ["simple", "standard", "deep"]
    assert resolve_bounds("simple") == Bounds(2, 3, 5, 60, 20_000)
    assert resolve_bounds("standard") == Bounds(5, 10, 15, 90, 60_000)
    assert resolve_bounds("deep") == Bounds(10, 15, 20, 120, 150_000)


def test_an_unknown_tier() -> None:
    with pytest.raises(InputError, match="standard"):
        resolve_bounds("huge")


def test_review_rules(tmp_path: Path) -> None:
    assert load({}, tmp_path).review == ReviewRules(8.0, 3, False)
    values = {"SUFFICE_REVIEW_PASS": "7.5", "MAX_WIGGUM_ROUNDS": "2"}
    assert load(values, tmp_path).review == ReviewRules(7.5, 2, False)
    with pytest.raises(InputError, match="SUFFICE_REVIEW_PASS"):
        load({"SUFFICE_REVIEW_PASS": "11"}, tmp_path)


@pytest.mark.parametrize(("text", "rounds"), [("", 3), ("0", 0), ("2", 2)])
def test_attempts_for_a_computation(tmp_path: Path, text: str, rounds: int) -> None:
    assert load({"PYTHON_TOOL_ROUNDS": text}, tmp_path).python_rounds == rounds
