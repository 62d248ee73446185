"""Test doubles for code that uses suffice: a model that answers from a script, and searches over given passages.

model = ScriptedModel({"plan": [PlanResponse(…)], "reflect": [ReflectionResponse(…)], "draft": [SynthesisResponse(…)]})
search = FixtureSearch({"query": [passage, …]})
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar, cast

from suffice.errors import ModelError, SearchError
from suffice.models.base import Reply
from suffice.prompts.base import Prompt
from suffice.prompts.judging import CheckDraftResponse
from suffice.prompts.writing import MendResponse
from suffice.text.tokens import estimate_tokens, tokenize
from suffice.types import Passage, Place, Query, Usage

A = TypeVar("A")
ScriptedAnswer = object | Exception | Callable[[Prompt[object]], object]


_UNSCRIPTED: dict[str, list[ScriptedAnswer]] = {"check_draft": [CheckDraftResponse()], "mend": [MendResponse()]}


class ScriptedModel:
    """A model that answers each role from a list, in order; the last answer repeats.

    An exception in the list is raised; a function is called with the prompt. ``prompts`` records every prompt. A script that
    does not mention the check of a draft leaves it to the reader that comes with the package.
    """

    name = "scripted"
    local = True

    def __init__(self, script: Mapping[str, Sequence[ScriptedAnswer]], *, usage: Usage | None = None) -> None:
        self._script = {role: list(answers) for role, answers in script.items()}
        self._usage = usage
        self.prompts: list[Prompt[object]] = []

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        self.prompts.append(cast(Prompt[object], prompt))
        answers = self._script.get(prompt.role) or _UNSCRIPTED.get(prompt.role)
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
    """A search that returns given passages per query, and ``default`` for all other queries.

    An exception in place of passages is raised. ``delay`` is in seconds. ``queries`` records every query.
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
    """A small search that ranks given passages by the number of words that they share with the query."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._passages = [(set(tokenize(f"{passage.title} {passage.text}")), passage) for passage in passages]

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        words = set(tokenize(query.text))
        ranked = sorted(self._passages, key=lambda item: -len(words & item[0]))
        return [passage for own_words, passage in ranked[:k] if words & own_words]


def make_passage(
    id: str, text: str, title: str = "", *, path: str = "notes.txt", score: float | None = None
) -> Passage:
    """Return a passage whose line range is derived from its text."""
    lines = (1, 1 + text.count("\n"))
    return Passage(id, text, title or id, Place(path, lines), "text", score)


def make_search_error(message: str = "the search is down", *, retryable: bool = False) -> SearchError:
    """Return the error of a failed search."""
    return SearchError(message, retryable=retryable)
