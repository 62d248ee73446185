"""A MemGPT-style agent: it decides itself what to keep in a small core memory (S3).

Archival memory is what the run can search; a search makes a round. Editing core memory and recalling what was admitted cost no
round, so there are at most five tool calls between two searches. Core memory is the agent's own note-paper: the writer never
sees it. A malformed call is asked for again once, with the reason, then its monologue is searched for.
"""

import re
from collections import deque

from suffice.asks import Step, StepResponse
from suffice.run import STATE_TOKENS, Run
from suffice.strategies.core_memory import PAGE, CoreMemory, recalled
from suffice.strategies.harness import ask_for, ask_twice, finish, way_on
from suffice.text.tokens import estimate_tokens
from suffice.types import Note, Query

CALLS = 5  # Tool calls between two searches.
PRESSURE = 0.75  # Where the warnings begin.
_STEPS = 10  # What the prompt shows of the steps before.
_MONOLOGUE = 400  # Characters that are kept: fewer than 50 words were asked for.
_PAGE_NUMBER = re.compile(r"[1-9][0-9]{0,3}")
_NEEDS = {
    "core_memory_append": ("content",),
    "core_memory_replace": ("old",),
    "archival_search": ("query",),
    "recall": ("query",),
    "send_message": (),
}


class MemGPTStrategy:
    def __init__(self) -> None:
        self._core = CoreMemory()
        self._steps: deque[str] = deque(maxlen=_STEPS)
        self._page: tuple[Note, ...] = ()
        self._done = False

    async def propose(self, run: Run) -> list[Query]:
        for _ in range(CALLS):
            if self._done:
                return []
            answer = await ask_twice(run, lambda complaint: self._ask(run, complaint), lambda given: fault(given, run))
            if answer is None:
                break
            monologue = " ".join(answer.inner_monologue.split())[:_MONOLOGUE]
            if fault(answer, run):
                return self._search(run, monologue, monologue)
            if answer.tool == "archival_search":
                return self._search(run, monologue, text(answer, "query"))
            if answer.tool == "send_message":
                self._done = True
                return finish(run, text(answer, "message"))
            self._steps.append(f"{monologue} {answer.tool}: {self._use(run, answer)}")
        return way_on(run)

    def _ask(self, run: Run, complaint: str) -> Step:
        notes = run.notes()
        warnings = pressure(run, notes, self._core)
        return Step(run.task, self._core.notes(), notes, self._page, tuple(self._steps), warnings, complaint)

    def _search(self, run: Run, monologue: str, wanted: str) -> list[Query]:
        queries = ask_for(run, wanted, monologue)
        self._steps.extend(f"{monologue} archival_search: {query.text}" for query in queries)
        self._page = ()
        return queries

    def _use(self, run: Run, answer: StepResponse) -> str:
        """Call a tool that needs no search; what came of it, in words."""
        if answer.tool == "core_memory_append":
            return self._core.append(text(answer, "content"))
        if answer.tool == "core_memory_replace":
            return self._core.replace(text(answer, "old"), text(answer, "new"))
        number = int(text(answer, "page") or 1)
        found = recalled(run.evidence, text(answer, "query"))
        self._page = found[(number - 1) * PAGE : number * PAGE]
        return f"page {number} of {-(-len(found) // PAGE)} for {text(answer, 'query')!r}"


def text(answer: StepResponse, name: str) -> str:
    return str(answer.arguments.get(name, "")).strip()


def fault(answer: StepResponse, run: Run) -> str:
    """Why a call cannot be carried out; empty when it can."""
    if answer.tool not in _NEEDS:
        return f"there is no tool {answer.tool[:40]!r}; use one of {', '.join(_NEEDS)}"
    for name in _NEEDS[answer.tool]:
        if not text(answer, name):
            return f"{answer.tool} needs the argument {name!r}"
    page = text(answer, "page") or "1"
    if answer.tool == "recall" and not _PAGE_NUMBER.fullmatch(page):
        return f"recall takes a page number from 1 on, not {page[:40]!r}"
    if answer.tool == "send_message" and not run.records:
        return "nothing was searched for yet, and an answer needs evidence: use archival_search first"
    return ""


def pressure(run: Run, notes: tuple[Note, ...], core: CoreMemory) -> tuple[str, ...]:
    """The warnings: what is three quarters full."""
    shown = sum(estimate_tokens(note.text) + estimate_tokens(note.title) for note in notes) / STATE_TOKENS
    tokens = run.tokens / run.bounds.tokens if run.bounds.tokens else 0.0
    shares = {
        "core memory is {:.0%} full: replace what is no longer needed": core.fullness,
        "the evidence in view fills {:.0%} of its room: keep what matters in core memory": shown,
        "{:.0%} of the tokens of this run are spent: finish soon": tokens,
    }
    return tuple(words.format(share) for words, share in shares.items() if share >= PRESSURE)
