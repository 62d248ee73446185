"""Responses stored on disk: paid for once, never confused, and no obstacle when the cache is unusable."""

import asyncio
import dataclasses
from pathlib import Path

import pytest

from suffice.errors import ModelError
from suffice.models.base import Reply, UsageTrackingModel
from suffice.models.cache import CachedModel, _cache_key
from suffice.prompts import Compress, Plan, PlannedQuery, PlanResponse, base
from suffice.prompts.belief import Compression, ExtractedFact
from suffice.storage.sqlite_cache import SqliteCache
from suffice.testing import ScriptedModel
from suffice.types import Note, Usage

ANSWER = PlanResponse((PlannedQuery("what bees say", "the dance"),), "deep", subtasks=("they dance",))
BILL = Usage(1, 100, 20, 0.01)


def scripted(*answers: object) -> ScriptedModel:
    return ScriptedModel({"plan": list(answers) or [ANSWER], "compress": list(answers)}, usage=BILL)


def ask(model: CachedModel | UsageTrackingModel, task: str = "How do bees talk?", most: int = 6) -> Reply[PlanResponse]:
    return asyncio.run(model(Plan(task, most)))


def test_the_same_prompt_is_paid_for_once(tmp_path: Path) -> None:
    model = scripted()
    assert ask(CachedModel(model, tmp_path)) == Reply(ANSWER, BILL)
    again = UsageTrackingModel(CachedModel(model, tmp_path))
    assert ask(again).answer == ANSWER
    assert len(model.prompts) == 1
    assert again.total == Usage(stored=1)
    assert again.by_role == {"plan": Usage(stored=1)}


def test_usage_can_be_replayed(tmp_path: Path) -> None:
    model = scripted()
    assert (
        ask(CachedModel(model, tmp_path)) == ask(CachedModel(model, tmp_path, replay_usage=True)) == Reply(ANSWER, BILL)
    )
    assert len(model.prompts) == 1


def test_another_input_limit_or_model_is_another_entry(tmp_path: Path) -> None:
    model = scripted()
    ask(CachedModel(model, tmp_path))
    ask(CachedModel(model, tmp_path), most=3)
    ask(CachedModel(model, tmp_path), task="How do bees talk")
    model.name = "another"  # type: ignore[misc]
    ask(CachedModel(model, tmp_path))
    assert len(model.prompts) == 4


def test_a_new_version_of_the_wording_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = scripted()
    ask(CachedModel(model, tmp_path))
    newer = base.PromptTemplate("version: 999\n---\n$task $most")
    monkeypatch.setattr(base, "load_template", lambda role: newer)
    ask(CachedModel(model, tmp_path))
    assert len(model.prompts) == 2


def test_a_replaced_prompt_of_the_same_version_is_asked_again(tmp_path: Path) -> None:
    model = scripted()
    ask(CachedModel(model, tmp_path))
    text = base.read_built_in("plan") + "\nBe brief."
    with base.override_prompts({"plan": text}):
        assert base.load_template("plan").version == base.load_built_in("plan").version
        ask(CachedModel(model, tmp_path))
    assert len(model.prompts) == 2


@pytest.mark.parametrize(("sampled", "calls"), [(False, 2), (True, 1)])
def test_sampled_responses_are_requested_again_unless_cached_too(tmp_path: Path, sampled: bool, calls: int) -> None:
    model = scripted(Compression((ExtractedFact("bees dance", ("[1]",)),)))
    for _ in range(2):
        asyncio.run(CachedModel(model, tmp_path, cache_sampled=sampled)(Compress("task", (Note("x", ("[1]",)),), ())))
    assert Compress.temperature > 0
    assert len(model.prompts) == calls


def test_a_failure_is_not_stored(tmp_path: Path) -> None:
    model = CachedModel(scripted(ModelError("down"), ANSWER), tmp_path)
    with pytest.raises(ModelError):
        ask(model)
    assert ask(model).answer == ANSWER


def test_a_damaged_cache_is_replaced_with_one_message(tmp_path: Path) -> None:
    (tmp_path / "answers.sqlite").write_bytes(b"nothing that SQLite ever wrote" * 300)
    messages: list[str] = []
    model = CachedModel(scripted(), tmp_path, notify=messages.append)
    assert ask(model).usage.calls == 1
    assert ask(model).usage == Usage(stored=1)
    assert len(messages) == 1
    assert "answer cache" in messages[0]


def test_a_stored_response_of_another_shape_is_replaced(tmp_path: Path) -> None:
    model = scripted()
    cached = CachedModel(model, tmp_path)
    ask(cached)
    SqliteCache(tmp_path / "answers.sqlite", "answer cache", print).put(
        {_cache_key(Plan("How do bees talk?", 6), model.name): b'{"answer": {"queries": 3}, "usage": {}}'}
    )
    assert ask(cached).answer == ANSWER
    assert len(model.prompts) == 2
    assert ask(cached).usage == Usage(stored=1)


def test_a_lone_surrogate_does_not_prevent_a_response(tmp_path: Path) -> None:
    odd = dataclasses.replace(ANSWER, notes="\ud800")
    model = CachedModel(scripted(odd), tmp_path)
    assert ask(model, task="\ud83d").answer == odd
    assert ask(model, task="\ud83d").answer == odd


def test_it_has_the_name_of_the_wrapped_model(tmp_path: Path) -> None:
    model = scripted()
    cached = CachedModel(model, tmp_path)
    assert (cached.name, cached.local) == (model.name, model.local)
