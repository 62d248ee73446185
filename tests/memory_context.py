"""What a memory needs outside of a run."""

from suffice.errors import ModelError
from suffice.memory.base import MemoryContext
from suffice.memory.open_questions import OpenQuestions
from suffice.testing import ScriptedModel


def make_memory_context(model=None, *, refused=None, grounded=False):
    """Return the context; ``refused`` collects rejected notes. Without a model every prompt is answered with ``None``."""
    answering_model = model or ScriptedModel({})

    async def ask(prompt):
        try:
            return (await answering_model(prompt)).answer
        except ModelError:
            return None

    return MemoryContext(ask, OpenQuestions(), ([] if refused is None else refused).append, grounded)
