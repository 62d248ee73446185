"""ReAct: a thought, then an action: Search, Lookup or Finish (S3).

A search makes a round. A lookup reads on in what was admitted already and costs no round, so there are at most three between
two searches; a fourth is searched for. A malformed action is asked for again once, with the reason, then its thought is
searched for.
"""

import re
from dataclasses import dataclass

from suffice.prompts import ReActStep, ReActStepResponse
from suffice.state.run import RunState
from suffice.strategies.harness import ask_with_retry, finish_with_answer, propose_fallback, propose_query
from suffice.text.sentences import quotable_spans
from suffice.types import Note, Query

MAX_LOOKUPS = 3
_MAX_STEPS = 20  # What the prompt shows of the steps before.
_MAX_THOUGHT_CHARS = 300  # Characters of a thought that are kept.
_ACTION_PATTERN = re.compile(r"\s*(search|lookup|finish)\s*(?:\[(.*?)\]?)?\s*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    argument: str


class ReActStrategy:
    def __init__(self) -> None:
        self._steps: list[str] = []
        self._lookup_positions: dict[str, int] = {}  # How many results of a keyword were looked up.
        self._done = False

    async def propose(self, run: RunState) -> list[Query]:
        looked_up: list[Note] = []
        while not self._done:
            answer = await ask_with_retry(
                run,
                lambda complaint: ReActStep(
                    run.task, run.render_notes(), tuple(self._steps[-_MAX_STEPS:]), tuple(looked_up), complaint
                ),
                lambda answer: find_fault(answer, run),
            )
            if answer is None:
                return propose_fallback(run)
            thought = " ".join(answer.thought.split())[:_MAX_THOUGHT_CHARS]
            action = parse_action(answer)
            if action is None or find_fault(answer, run):
                return self._propose_search(run, thought, thought)
            if action.name == "search" or (action.name == "lookup" and len(looked_up) == MAX_LOOKUPS):
                return self._propose_search(run, thought, action.argument)
            if action.name == "finish":
                self._done = True
                return finish_with_answer(run, action.argument)
            looked_up.extend(self._look_up(run, thought, action.argument))
        return []

    def _propose_search(self, run: RunState, thought: str, text: str) -> list[Query]:
        queries = propose_query(run, text, thought)
        self._steps += [f"Thought: {thought} Action: Search[{query.text}]" for query in queries]
        return queries

    def _look_up(self, run: RunState, thought: str, keyword: str) -> list[Note]:
        """The next sentence with the keyword, as a note under its source's handle."""
        found = find_sentences(run, keyword)
        key = keyword.lower()
        position = self._lookup_positions.get(key, 0)
        self._lookup_positions[key] = position + 1
        outcome = f"(Result {position + 1} / {len(found)})" if position < len(found) else "no more results"
        self._steps.append(f"Thought: {thought} Action: Lookup[{keyword}] {outcome}")
        return found[position : position + 1] or [Note(f"{keyword}: no more results", ())]


def parse_action(answer: ReActStepResponse) -> Action | None:
    """The action, also when the model wrote it as ``Search[words]``; ``None`` when it is none of the three."""
    match = _ACTION_PATTERN.fullmatch(answer.action)
    if match is None:
        return None
    return Action(match.group(1).lower(), " ".join((answer.argument or match.group(2) or "").split()))


def find_fault(answer: ReActStepResponse, run: RunState) -> str:
    """Why an answer cannot be used; empty when it can."""
    action = parse_action(answer)
    if action is None:
        return f"the action {answer.action[:40]!r} is none of Search, Lookup, Finish"
    if not action.argument and action.name != "finish":
        return f"the action {action.name.capitalize()} needs an argument"
    if action.name == "finish" and not run.records:
        return "nothing was searched for yet, and an answer needs evidence: Search first"
    return ""


def find_sentences(run: RunState, keyword: str) -> list[Note]:
    """Every sentence of the admitted passages that holds the keyword, in the order of admission."""
    wanted = keyword.lower()
    return [
        Note(passage.text[start:end], (run.evidence.get_handle(passage),), passage.title, passage.kind, False)
        for passage in run.evidence
        if wanted in passage.text.lower()
        for start, end in quotable_spans(passage.text, passage.kind)
        if wanted in passage.text[start:end].lower()
    ]
