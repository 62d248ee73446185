"""What a language model can be trusted with: by settings, by the size in its name, else by a self-test.

A small model writes one sentence and the rest of the answer is quoted; a strong one writes prose. For a small model the steps
of ``SKIPPED_FOR_SMALL_MODELS`` are skipped, and the report says so. What a model did in earlier runs changes nothing: equal
commands do equal things.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from suffice.models.base import Model, is_language_model
from suffice.storage.sqlite_cache import JsonCache, SqliteCache, make_key

WriterStyle = Literal["sentence", "prose"]

SMALL_BILLIONS = 4.0  # Parameters, in billions, up to which a model is small.
MAX_AGE_SECONDS = 30 * 86_400.0  # A self-test is taken again after a month: servers change their models behind a name.
SKIPPED_FOR_SMALL_MODELS = {
    "review": "a small model: its scores do not tell answers apart",
    "plan": "a small model: the question itself finds more than its queries",
    "reflect": "a small model: its reflections repeat the queries",
}

_BILLIONS = re.compile(r"(?<![\d.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)
_MILLIONS = re.compile(r"(?<![\d.])(\d{2,4})m(?![a-z])", re.IGNORECASE)
_SMALL_WORDS = re.compile(r"(?<![a-z])(?:tiny|mini|nano|smol)", re.IGNORECASE)


def parse_size(name: str) -> float | None:
    """Return the parameters, in billions, that a model's name states; ``None`` when it states none.

    >>> parse_size("qwen2.5-coder-1.5b-instruct"), parse_size("mixtral-8x7b"), parse_size("smollm-360m"), parse_size("gpt-5")
    (1.5, 56.0, 0.36, None)
    """
    name = name.rpartition("/")[2]  # Some servers name a model by its path.
    if found := _BILLIONS.search(name):
        return float(found[2]) * int(found[1] or 1)
    if found := _MILLIONS.search(name):
        return float(found[1]) / 1000
    return None


def guess_style(name: str, *, local: bool) -> WriterStyle | None:
    """Return how a model of this name writes; ``None`` when only a self-test can tell. Cloud models write prose."""
    size = parse_size(name)
    if size is not None:
        return "sentence" if size <= SMALL_BILLIONS else "prose"
    if not local:
        return "prose"
    return "sentence" if _SMALL_WORDS.search(name) else None


@dataclass(slots=True)
class ModelProfile:
    """What a run knows about its model: how it writes, and so what is skipped and why."""

    style: WriterStyle | None = "prose"
    """``None`` until the self-test has been taken."""
    self_tests: JsonCache | None = None
    """Results of earlier self-tests."""
    key: bytes = b""
    """What the result of this model is stored under."""

    async def load(self) -> None:
        """Set the style by an earlier self-test, if there was one."""
        if self.style is None and self.self_tests is not None:
            passed: bool | None = await self.self_tests.load(self.key, bool)
            if passed is not None:
                self.style = "prose" if passed else "sentence"

    async def set_style(self, passed: bool | None) -> None:
        """Set the style by the self-test; a model that did not answer it writes prose, as an unknown model does."""
        self.style = "sentence" if passed is False else "prose"
        if self.self_tests is not None and passed is not None:
            await self.self_tests.save(self.key, passed)

    @property
    def skipped(self) -> Mapping[str, str]:
        return SKIPPED_FOR_SMALL_MODELS if self.style == "sentence" else {}


def find_model(model: Model, role: str) -> Model:
    """Return the model that answers a role: through wrappers, a router's model for the role, the first of a fallback list."""
    while True:
        by_role = getattr(model, "get_model", None)
        inner = by_role(role) if by_role is not None else getattr(model, "wrapped", None)
        if inner is None:
            return model
        model = inner


def make_profile(
    model: Model, style: str | None, cache_dir: Path | None, notify: Callable[[str], None] = lambda message: None
) -> ModelProfile:
    """Return the profile of a run's writer. ``style`` is the user's choice; ``None`` leaves it to the model's name.

    Models without an endpoint, such as test doubles and plug-ins, write prose.
    """
    chosen: WriterStyle | None = "sentence" if style == "sentence" else "prose" if style == "prose" else None
    writer = find_model(model, "draft")
    endpoint = getattr(writer, "endpoint", None)
    if not is_language_model(writer):
        return ModelProfile("prose")
    if endpoint is None:
        return ModelProfile(chosen or "prose")
    path = None if cache_dir is None else cache_dir / "models.sqlite"
    return ModelProfile(
        chosen or guess_style(endpoint.model, local=endpoint.local),
        self_tests=JsonCache(SqliteCache(path, "self-tests of models", notify), max_age_seconds=MAX_AGE_SECONDS),
        key=make_key("self_test", 1, f"{endpoint.name}@{endpoint.url}"),
    )
