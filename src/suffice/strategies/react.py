"""ReAct: a thought, then an action: Search, Lookup or Finish (S3).

A search makes a round. A lookup reads on in what was admitted already and costs no round, so there are at most three between
two searches; a fourth is searched for. A malformed action is asked for again once, with the reason, then its thought is
searched for.
"""

import re
from dataclasses import dataclass

from suffice.asks import Act, ActResponse
from suffice.run import Run
from suffice.strategies.harness import ask_for, ask_twice, finish, way_on
from suffice.text.sentences import units
from suffice.types import Note, Query

LOOKUPS = 3
_STEPS = 20  # What the prompt shows of the steps before.
_THOUGHT = 300  # Characters of a thought that are kept.
_ACTION = re.compile(r"\s*(search|lookup|finish)\s*(?:\[(.*?)\]?)?\s*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    argument: str


class ReActStrategy:
    def __init__(self) -> None:
        self._steps: list[str] = []
        self._shown: dict[str, int] = {}  # How many results of a keyword were looked up.
        self._done = False

    async def propose(self, run: Run) -> list[Query]:
        looked_up: list[Note] = []
        while not self._done:
            answer = await ask_twice(
                run,
                lambda complaint: Act(run.task, run.notes(), tuple(self._steps[-_STEPS:]), tuple(looked_up), complaint),
                lambda answer: fault(answer, run),
            )
            if answer is None:
                return way_on(run)
            thought = " ".join(answer.thought.split())[:_THOUGHT]
            action = read(answer)
            if action is None or fault(answer, run):
                return self._search(run, thought, thought)
            if action.name == "search" or (action.name == "lookup" and len(looked_up) == LOOKUPS):
                return self._search(run, thought, action.argument)
            if action.name == "finish":
                self._done = True
                return finish(run, action.argument)
            looked_up.extend(self._lookup(run, thought, action.argument))
        return []

    def _search(self, run: Run, thought: str, text: str) -> list[Query]:
        queries = ask_for(run, text, thought)
        self._steps += [f"Thought: {thought} Action: Search[{query.text}]" for query in queries]
        return queries

    def _lookup(self, run: Run, thought: str, keyword: str) -> list[Note]:
        """The next sentence with the keyword, as a note under its source's handle."""
        found = holding(run, keyword)
        key = keyword.lower()
        position = self._shown.get(key, 0)
        self._shown[key] = position + 1
        outcome = f"(Result {position + 1} / {len(found)})" if position < len(found) else "no more results"
        self._steps.append(f"Thought: {thought} Action: Lookup[{keyword}] {outcome}")
        return found[position : position + 1] or [Note(f"{keyword}: no more results", ())]


def read(answer: ActResponse) -> Action | None:
    """The action, also when the model wrote it as ``Search[words]``; ``None`` when it is none of the three."""
    match = _ACTION.fullmatch(answer.action)
    if match is None:
        return None
    return Action(match.group(1).lower(), " ".join((answer.argument or match.group(2) or "").split()))


def fault(answer: ActResponse, run: Run) -> str:
    """Why an answer cannot be used; empty when it can."""
    action = read(answer)
    if action is None:
        return f"the action {answer.action[:40]!r} is none of Search, Lookup, Finish"
    if not action.argument and action.name != "finish":
        return f"the action {action.name.capitalize()} needs an argument"
    if action.name == "finish" and not run.records:
        return "nothing was searched for yet, and an answer needs evidence: Search first"
    return ""


def holding(run: Run, keyword: str) -> list[Note]:
    """Every sentence of the admitted passages that holds the keyword, in the order of admission."""
    wanted = keyword.lower()
    return [
        Note(passage.text[start:end], (run.evidence.handle(passage),), passage.title, passage.kind, False)
        for passage in run.evidence
        if wanted in passage.text.lower()
        for start, end in units(passage.text, passage.kind)
        if wanted in passage.text[start:end].lower()
    ]
