"""Test doubles for people who build on suffice: a model that answers from a script, a search over given passages.

model = ScriptedModel({"plan": [PlanResponse(…)], "reflect": [ReflectionResponse(…)], "draft": [SynthesisResponse(…)]})
search = FixtureSearch({"query": [passage, …]})
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar, cast

from suffice.errors import ModelError, SearchError
from suffice.memory.base import MemoryContext
from suffice.memory.open_questions import OpenQuestions
from suffice.models.base import Model, Reply
from suffice.prompts import Prompt
from suffice.text.tokens import estimate_tokens, tokenize
from suffice.types import Passage, Place, Query, Usage

A = TypeVar("A")
ScriptedAnswer = object | Exception | Callable[[Prompt[object]], object]


class ScriptedModel:
    """Answers each role from its list, in order; the last answer repeats. An exception in the list is raised; a function is
    called with the ask. ``asked`` keeps every ask, so that a test can look at the prompts."""

    name = "scripted"
    local = True

    def __init__(self, script: Mapping[str, Sequence[ScriptedAnswer]], *, usage: Usage | None = None) -> None:
        self._script = {role: list(answers) for role, answers in script.items()}
        self._usage = usage
        self.prompts: list[Prompt[object]] = []

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        self.prompts.append(cast(Prompt[object], prompt))
        answers = self._script.get(prompt.role)
        if not answers:
            raise ModelError(f"The script has no answer for {prompt.role!r}")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        if callable(answer):
            answer = answer(cast(Prompt[object], prompt))
        usage = self._usage or Usage(1, estimate_tokens(prompt.render()), estimate_tokens(repr(answer)))
        return Reply(cast(A, answer), usage)


class FixtureSearch:
    """Returns what a mapping says for a query; other queries go to ``default``. A value may be an exception to raise.

    ``delay`` makes it slow, ``asked`` keeps the queries.
    """

    def __init__(
        self,
        results: Mapping[str, Sequence[Passage] | Exception] | None = None,
        default: Sequence[Passage] | Exception = (),
        *,
        delay: float = 0.0,
    ) -> None:
        self._results = dict(results or {})
        self._default = default
        self._delay = delay
        self.queries: list[str] = []

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        self.queries.append(query.text)
        if self._delay:
            await asyncio.sleep(self._delay)
        result = self._results.get(query.text, self._default)
        if isinstance(result, Exception):
            raise result
        return list(result)[:k]


class WordSearch:
    """A tiny real search: ranks given passages by how many words they share with the query."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._passages = [(set(tokenize(f"{passage.title} {passage.text}")), passage) for passage in passages]

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        wanted = set(tokenize(query.text))
        ranked = sorted(self._passages, key=lambda item: -len(wanted & item[0]))
        return [passage for own, passage in ranked[:k] if wanted & own]


def make_passage(
    id: str, text: str, title: str = "", *, path: str = "notes.txt", score: float | None = None
) -> Passage:
    """A passage whose lines are counted from its text."""
    lines = (1, 1 + text.count("\n"))
    return Passage(id, text, title or id, Place(f"{path}", lines), "text", score)


def make_memory_context(
    model: Model | None = None, *, refused: list[str] | None = None, grounded: bool = False
) -> MemoryContext:
    """What a memory is made with, outside a run: ``refused`` collects what it did not believe. Without a model none answers."""
    answers = model or ScriptedModel({})

    async def ask(prompt: Prompt[A]) -> A | None:
        try:
            return (await answers(prompt)).answer
        except ModelError:
            return None

    return MemoryContext(ask, OpenQuestions(), ([] if refused is None else refused).append, grounded)


def make_search_error(message: str = "the search is down", *, retryable: bool = False) -> SearchError:
    """The error of a search that does not answer."""
    return SearchError(message, retryable=retryable)
