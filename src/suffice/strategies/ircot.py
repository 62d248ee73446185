"""IRCoT: retrieval and reasoning take turns (S3).

The question is searched first. Then each round adds one sentence to the chain of reasoning, and the last sentence that states
something (one that only concludes or calculates does not) is the next query. The chain ends with "the answer is" or with an
empty sentence. A reader, the run's writer, answers from what was found; the chain itself is never quoted.
"""

import re

from suffice.asks import Thought
from suffice.run import Run
from suffice.strategies.harness import ask_for, finish, spent, way_on
from suffice.text.sentences import sentences
from suffice.types import Query

_ANSWER = re.compile(r"(?:^|.*\s)answer is:?\s*(.*)", re.IGNORECASE | re.DOTALL)
_CONCLUDES = re.compile(r"(?:thus|so|therefore|hence|that is,)(?![\w-])", re.IGNORECASE)
_CALCULATES = re.compile(r"\d[\d,.]*\s*[-+−–*×/÷]\s*\d[\d,.]*\s*=\s*\d")


class IRCoTStrategy:
    def __init__(self) -> None:
        self._chain: list[str] = []
        self._done = False

    async def propose(self, run: Run) -> list[Query]:
        if self._done:
            return []
        if not run.records or spent(run):
            return way_on(run)
        answer = await run.attempt(Thought(run.task, run.notes(), tuple(self._chain)))
        if answer is None:
            return way_on(run)
        sentence = first_sentence(answer.sentence)
        concluded = _ANSWER.fullmatch(sentence)
        if concluded or not sentence:
            self._done = True
            return finish(run, concluded.group(1) if concluded else "")
        self._chain.append(sentence)
        stated = [thought for thought in self._chain if not is_reasoning(thought)]
        return ask_for(run, stated[-1], "the last thought") if stated else way_on(run)


def first_sentence(text: str) -> str:
    """One sentence a round: what a model writes after it was not asked for."""
    found = sentences(text)
    return " ".join(text[found[0][0] : found[0][1]].split()) if found else ""


def is_reasoning(sentence: str) -> bool:
    """It concludes or calculates; as a query it would find nothing new."""
    return bool(_CONCLUDES.match(sentence) or _CALCULATES.search(sentence))
