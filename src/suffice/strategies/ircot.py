"""IRCoT: retrieval and reasoning take turns (S3).

The question is searched first. Then each round adds one sentence to the chain of reasoning, and the last sentence that states
something (one that only concludes or calculates does not) is the next query. The chain ends with "the answer is" or with an
empty sentence. A reader, the run's writer, answers from what was found; the chain itself is never quoted.
"""

import re

from suffice.prompts import IRCoTStep
from suffice.state.run import RunState
from suffice.strategies.harness import finish_with_answer, is_model_budget_spent, propose_fallback, propose_query
from suffice.text.sentences import split_sentences
from suffice.types import Query

_ANSWER_PATTERN = re.compile(r"(?:^|.*\s)answer is:?\s*(.*)", re.IGNORECASE | re.DOTALL)
_CONCLUSION_PATTERN = re.compile(r"(?:thus|so|therefore|hence|that is,)(?![\w-])", re.IGNORECASE)
_CALCULATION_PATTERN = re.compile(r"\d[\d,.]*\s*[-+−–*×/÷]\s*\d[\d,.]*\s*=\s*\d")


class IRCoTStrategy:
    def __init__(self) -> None:
        self._chain: list[str] = []
        self._done = False

    async def propose(self, run: RunState) -> list[Query]:
        if self._done:
            return []
        if not run.records or is_model_budget_spent(run):
            return propose_fallback(run)
        answer = await run.try_ask(IRCoTStep(run.task, run.render_notes(), tuple(self._chain)))
        if answer is None:
            return propose_fallback(run)
        sentence = extract_first_sentence(answer.sentence)
        concluded = _ANSWER_PATTERN.fullmatch(sentence)
        if concluded or not sentence:
            self._done = True
            return finish_with_answer(run, concluded.group(1) if concluded else "")
        self._chain.append(sentence)
        stated = [thought for thought in self._chain if not is_reasoning(thought)]
        return propose_query(run, stated[-1], "the last thought") if stated else propose_fallback(run)


def extract_first_sentence(text: str) -> str:
    """One sentence a round: what a model writes after it was not asked for."""
    found = split_sentences(text)
    return " ".join(text[found[0][0] : found[0][1]].split()) if found else ""


def is_reasoning(sentence: str) -> bool:
    """It concludes or calculates; as a query it would find nothing new."""
    return bool(_CONCLUSION_PATTERN.match(sentence) or _CALCULATION_PATTERN.search(sentence))
