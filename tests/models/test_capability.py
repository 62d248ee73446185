"""How a model writes, by its name and its self-test, and which steps are skipped for it."""

import asyncio

import pytest

from suffice.models.capability import ModelProfile, find_model, guess_style, make_profile
from suffice.models.extractive import ExtractiveModel
from suffice.models.llm.endpoint import Endpoint
from suffice.models.llm.model import LanguageModel
from suffice.models.routing import FallbackModel, RoleRouter
from suffice.prompts.writing import SelfTest
from suffice.testing import ScriptedModel

URL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("name", "local", "style"),
    [
        ("qwen2.5-coder-1.5b-instruct-q4_k_m.gguf", True, "sentence"),
        ("/models/7b/llama-3.2-3B-Instruct", True, "sentence"),
        ("smollm-360m", True, "sentence"),
        ("phi3:mini", True, "sentence"),
        ("qwen3:8b", True, "prose"),
        ("mixtral-8x7b", True, "prose"),
        ("openai/gpt-oss-20b", False, "prose"),
        ("gpt-5.4-mini", False, "prose"),
        ("my-model", True, None),
    ],
)
def test_the_name_tells_how_a_model_writes(name, local, style):
    assert guess_style(name, local=local) == style


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        (
            "Petr Kolbe died in 1874 in Vienna [2] [3]. The mill burned in 1871 and he died three years later [2] [3].",
            True,
        ),
        ("Petr Kolbe died in 1871 in Vienna [2] [3]. That follows from the sources [2] [3].", False),
        ("Petr Kolbe died in 1874 in Vienna.", False),
        ("## Answer\n\nPetr Kolbe died in 1874 in Vienna [2] [3].", False),
        ("", False),
    ],
)
def test_the_self_test_wants_the_answer_and_its_sources(text, passed):
    assert SelfTest.parse(text).passed is passed


def test_a_self_test_is_kept_for_each_model_and_taken_again_after_a_while(tmp_path, monkeypatch):
    def load(name):
        model = LanguageModel(Endpoint("openai", name, URL))
        return make_profile(model, None, tmp_path)

    async def styles():
        profile = load("my-model")
        assert profile.style is None
        await profile.set_style(False)
        found = []
        for name in ("my-model", "other-model"):
            again = load(name)
            await again.load()
            found.append(again.style)
        return found

    assert asyncio.run(styles()) == ["sentence", None]
    monkeypatch.setattr("suffice.models.capability.MAX_AGE_SECONDS", -1.0)
    expired = load("my-model")
    asyncio.run(expired.load())
    assert expired.style is None


def test_a_small_model_starts_without_review_and_plan():
    profile = ModelProfile("sentence")
    assert set(profile.skipped) == {"review", "plan", "reflect"}
    strong = ModelProfile("prose")
    assert strong.skipped == {}


def test_the_writers_model_decides_and_a_setting_overrides_it(tmp_path):
    small, large = (LanguageModel(Endpoint("openai", name, URL)) for name in ("tiny-1b", "big-70b"))
    model = RoleRouter(FallbackModel([small, ExtractiveModel()]), {"draft": large})
    assert find_model(model, "draft") is large
    assert find_model(model, "plan") is small
    assert make_profile(model, None, tmp_path).style == "prose"
    assert make_profile(small, None, tmp_path).style == "sentence"
    assert make_profile(small, "prose", tmp_path).style == "prose"
    assert make_profile(ScriptedModel({}), None, tmp_path).style == "prose"
