"""ReAct: a thought, then an action: Search, Lookup or Finish (Yao et al. 2023, see docs/sources.md).

A search makes a round. A lookup finds the next sentence with a keyword in the accepted passages and costs no round; after
three lookups without a search, the next one becomes a search. If an action is malformed, the model is asked again once with
the reason; if it is malformed again, its thought is searched for.
"""

import re
from typing import NamedTuple

from suffice.prompts.agents import ReActStep, ReActStepResponse
from suffice.strategies.base import RunView
from suffice.strategies.harness import (
    ask_with_retry,
    finish_with_answer,
    list_visible_passages,
    propose_fallback,
    propose_query,
)
from suffice.text.sentences import quotable_spans
from suffice.types import Note, Query

MAX_LOOKUPS = 3
_MAX_STEPS = 20  # Earlier steps that the prompt shows.
_MAX_THOUGHT_CHARS = 300
_ACTION_PATTERN = re.compile(r"(search|lookup|finish)\s*+(\[.*)?", re.IGNORECASE | re.DOTALL)


class Action(NamedTuple):
    name: str
    argument: str


class ReActStrategy:
    def __init__(self) -> None:
        self._steps: list[str] = []
        self._lookups_by_keyword: dict[str, int] = {}
        self._is_done = False

    async def propose(self, run: RunView) -> list[Query]:
        lookups: list[Note] = []
        if not run.shows_history:
            self._steps.clear()
            self._lookups_by_keyword.clear()
        while not self._is_done:
            answer = await ask_with_retry(
                run,
                lambda complaint: ReActStep(
                    run.task,
                    run.render_notes(),
                    tuple(self._steps[-_MAX_STEPS:]),
                    tuple(lookups),
                    complaint,
                    run.describe_budget_left(),
                ),
                lambda answer: find_fault(answer, run),
            )
            if answer is None:
                return propose_fallback(run)
            thought = " ".join(answer.thought.split())[:_MAX_THOUGHT_CHARS]
            action = parse_action(answer)
            if action is None or find_fault(answer, run):
                return self._propose_search(run, thought, thought)
            if action.name == "search" or (action.name == "lookup" and len(lookups) == MAX_LOOKUPS):
                return self._propose_search(run, thought, action.argument)
            if action.name == "finish":
                self._is_done = True
                return finish_with_answer(run, action.argument)
            lookups.extend(self._look_up(run, thought, action.argument))
        return []

    def _propose_search(self, run: RunView, thought: str, text: str) -> list[Query]:
        queries = propose_query(run, text, thought)
        self._steps += [f"Thought: {thought} Action: Search[{query.text}]" for query in queries]
        return queries

    def _look_up(self, run: RunView, thought: str, keyword: str) -> list[Note]:
        """Return the next sentence with the keyword, as a note with the handle of its source."""
        sentences = find_sentences(run, keyword)
        key = keyword.lower()
        position = self._lookups_by_keyword.get(key, 0)
        self._lookups_by_keyword[key] = position + 1
        outcome = f"(Result {position + 1} / {len(sentences)})" if position < len(sentences) else "no more results"
        self._steps.append(f"Thought: {thought} Action: Lookup[{keyword}] {outcome}")
        return sentences[position : position + 1] or [Note(f"{keyword}: no more results", ())]


def parse_action(answer: ReActStepResponse) -> Action | None:
    """Return the action, also if the model wrote it as ``Search[words]``; ``None`` if it is not one of the three."""
    match = _ACTION_PATTERN.fullmatch(answer.action.strip())
    if match is None:
        return None
    written = (match.group(2) or "").removeprefix("[").removesuffix("]")
    return Action(match.group(1).lower(), " ".join((answer.argument or written).split()))


def find_fault(answer: ReActStepResponse, run: RunView) -> str:
    """Return why an answer cannot be used; empty if it can."""
    action = parse_action(answer)
    if action is None:
        return f"the action {answer.action[:40]!r} is none of Search, Lookup, Finish"
    if not action.argument and action.name != "finish":
        return f"the action {action.name.capitalize()} needs an argument"
    if action.name == "finish" and not run.records:
        return "nothing was searched for yet, and an answer needs evidence: Search first"
    return ""


def find_sentences(run: RunView, keyword: str) -> list[Note]:
    """Return every sentence of the evidence with the keyword, in the order in which passages were accepted.

    If the memory replaces the history, only the latest round is searched.
    """
    keyword = keyword.lower()
    return [
        run.evidence.make_note(passage, passage.text[start:end])
        for passage in list_visible_passages(run)
        if keyword in passage.text.lower()
        for start, end in quotable_spans(passage.text, passage.kind)
        if keyword in passage.text[start:end].lower()
    ]
