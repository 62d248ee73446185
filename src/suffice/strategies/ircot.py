"""IRCoT: retrieval and reasoning take turns (Trivedi et al. 2023, see docs/sources.md).

The question is searched first. Then each round adds one sentence to a chain of reasoning, and the last sentence that states
something is the next query; one that only concludes or calculates is skipped. The chain ends with "the answer is" or with an
empty sentence. The report's writer answers from what was found; the chain itself is never quoted.
"""

import re

from suffice.prompts.agents import IRCoTStep
from suffice.strategies.base import RunView
from suffice.strategies.harness import can_ask, finish_with_answer, propose_fallback, propose_query
from suffice.text.parts import split_statements
from suffice.types import Query

_ANSWER_PATTERN = re.compile(r"(?:^|.*\s)answer is:?\s*(.*)", re.IGNORECASE | re.DOTALL)
_CONCLUSION_PATTERN = re.compile(r"(?:thus|so|therefore|hence|that is,)(?![\w-])", re.IGNORECASE)
_CALCULATION_PATTERN = re.compile(r"(?<!\d)(?<!\d[,.])\d[\d,.]*+\s*+[-+−–*×/÷]\s*+\d[\d,.]*+\s*+=\s*+\d")


class IRCoTStrategy:
    def __init__(self) -> None:
        self._chain: list[str] = []
        self._is_done = False

    async def propose(self, run: RunView) -> list[Query]:
        if self._is_done:
            return []
        if not run.records or not can_ask(run):
            return propose_fallback(run)
        if not run.shows_history:
            self._chain.clear()
        answer = await run.try_ask(
            IRCoTStep(run.task, run.render_notes(), tuple(self._chain), run.describe_budget_left())
        )
        if answer is None:
            return propose_fallback(run)
        sentence = next(iter(split_statements(answer.text)), "")  # The prompt asks for one only.
        conclusion = _ANSWER_PATTERN.fullmatch(sentence)
        if conclusion or not sentence:
            self._is_done = True
            return finish_with_answer(run, conclusion.group(1) if conclusion else "")
        self._chain.append(sentence)
        statements = [thought for thought in self._chain if not is_reasoning(thought)]
        if run.is_faithful and not statements:
            statements = [sentence]
        return propose_query(run, statements[-1], "the last thought") if statements else propose_fallback(run)


def is_reasoning(sentence: str) -> bool:
    """Return whether a sentence only concludes or calculates; as a query it would find nothing new."""
    return bool(_CONCLUSION_PATTERN.match(sentence) or _CALCULATION_PATTERN.search(sentence))
