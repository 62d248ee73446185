"""BeliefState: what your own search loop knows so far, beside ``StopMonitor``, which says when it knows enough.

    belief = BeliefState("Who founded the works that built the bridge?", model)
    await belief.observe([{"id": "p1", "text": "…"}])       # after every search
    prompt = f"{belief.render()}\\n\\nQuestion: …"          # in place of the history

A model reads each new observation together with the belief so far, never the history, so the cost of a step does not grow.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from suffice import settings
from suffice.errors import InputError, ModelError
from suffice.memory.base import BeliefLimits, MemoryContext
from suffice.memory.evidence import Evidence
from suffice.memory.freeform import FreeformMemory
from suffice.memory.open_questions import OpenQuestions
from suffice.memory.structured import StructuredMemory
from suffice.models.base import Model, UsageTrackingModel
from suffice.monitor import parse_hit
from suffice.prompts.base import Prompt
from suffice.types import Hits, Note, Passage, Place, Query, Round, Usage

A = TypeVar("A")
BeliefStyle = Literal["structured", "freeform"]
_STYLES: dict[str, type[StructuredMemory] | type[FreeformMemory]] = {
    "structured": StructuredMemory,
    "freeform": FreeformMemory,
}


class BeliefState:
    """The belief of one search loop. Make a new one for each question.

    ``structured`` keeps facts with their sources and open questions; more than ``trigger`` facts are curated down to
    ``target``. ``freeform`` keeps a paragraph that is rewritten each time, with sentences word for word. ``problems`` lists
    what was not believed, and why; a failed model call leaves the belief as it was. ``model`` is a ``Model`` or its name, such
    as ``ollama:qwen3``.
    """

    def __init__(
        self,
        question: str,
        model: str | Model,
        *,
        style: BeliefStyle = "structured",
        trigger: int = 10,
        target: int = 6,
    ) -> None:
        if style not in _STYLES:
            raise InputError(f"There is no style {style!r} of a belief; choose structured or freeform")
        self.problems: list[str] = []
        if isinstance(model, str):
            from suffice.models.choose import choose_model

            model = choose_model(model, settings.load(), lambda message: None)(None)
        self._model = UsageTrackingModel(model)
        self._evidence = Evidence()
        self._questions = OpenQuestions()
        context = MemoryContext(self._ask, self._questions, self.problems.append, limits=BeliefLimits(trigger, target))
        self._memory = _STYLES[style](question, self._evidence, context)
        self._rounds = 0
        self._lock = asyncio.Lock()

    async def observe(self, passages: Sequence[Mapping[str, Any]]) -> str:
        """Take in what a search returned, and return the belief as text. Passages that were seen before cost nothing."""
        found = {passage.id: passage for passage in map(_parse_passage, passages)}
        async with self._lock:  # Searches of one turn may return at the same time; each builds on the last.
            new = tuple(passage for passage in found.values() if passage.id not in self._evidence)
            for passage in new:
                self._evidence.add(passage)
            self._rounds += 1
            if new:
                await self._memory.update(Round(self._rounds, (Hits(Query("")),), tuple(found.values()), new))
            return self.render()

    def render(self) -> str:
        """Return the belief as text for a prompt: JSON if it is structured, else notes. Empty before the first observation."""
        return self._memory.render_text() if self._rounds else ""

    @property
    def facts(self) -> tuple[Note, ...]:
        """What is believed, with the sources as numbers in the order of observation (``[1]``)."""
        if isinstance(self._memory, StructuredMemory):
            return self._memory.facts
        notes = (Note(self._memory.text, ()),) if self._memory.text else ()
        return (*notes, *self._memory.memories)

    @property
    def open_questions(self) -> tuple[str, ...]:
        """What must still be found out."""
        return self._questions.open

    @property
    def usage(self) -> Usage:
        """What the model calls cost so far."""
        return self._model.total

    def find_source(self, handle: str) -> str | None:
        """Return the id of the passage that a handle such as ``[2]`` stands for; ``None`` for an unknown one."""
        passage = self._evidence.find_passage(handle)
        return None if passage is None else passage.id

    async def _ask(self, prompt: Prompt[A]) -> A | None:
        try:
            return (await self._model(prompt)).answer
        except ModelError as error:
            self.problems.append(f"The model gave no answer: {error}")
            return None


def _parse_passage(item: Mapping[str, Any]) -> Passage:
    hit = parse_hit(item)
    if hit.text is None:
        raise InputError('A passage of a belief must have "id" and "text"')
    return Passage(hit.id, str(hit.text), str(hit.title or ""), Place(hit.id), score=hit.score)
