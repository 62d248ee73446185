"""MemGPT: an agent that manages its own memory with tool calls (Packer et al. 2023, see docs/sources.md).

The agent edits a core memory of 2,000 characters and pages through the evidence (``recall``) without a round.
``archival_search`` makes a round, ``send_message`` ends the search. Between two searches it may make five calls. If a call is
malformed, the model is asked again once with the reason; if it is malformed again, its monologue is searched for.
"""

from collections import deque
from collections.abc import Sequence

from suffice.prompts.agents import MemGPTStep, MemGPTStepResponse
from suffice.state.prompting import MAX_EVIDENCE_TOKENS
from suffice.strategies.base import RunView
from suffice.strategies.harness import (
    ask_with_retry,
    finish_with_answer,
    list_visible_passages,
    propose_fallback,
    propose_query,
)
from suffice.text.tokens import content_words, estimate_tokens
from suffice.types import Note, Passage, Query

MAX_CORE_CHARS = 2_000  # Size of the core memory. Value of the source system, see docs/sources.md.
PAGE_SIZE = 5  # Passages on a page of results. Value of the source system, see docs/sources.md.
MAX_CALLS = 5  # Tool calls between two searches.
PRESSURE_THRESHOLD = 0.75  # Share of a limit from which the agent is warned.
_MAX_PAGE_CHARS = 3_000
_MAX_STEPS = 10  # Earlier steps that the prompt shows.
_MAX_MONOLOGUE_CHARS = 400  # The prompt asks for fewer than 50 words.
_REQUIRED_ARGUMENTS = {
    "core_memory_append": ("content",),
    "core_memory_replace": ("old",),
    "archival_search": ("query",),
    "recall": ("query",),
    "send_message": (),
}


class MemGPTStrategy:
    def __init__(self) -> None:
        self._core = CoreMemory()
        self._steps: deque[str] = deque(maxlen=_MAX_STEPS)
        self._page: tuple[Note, ...] = ()
        self._is_done = False

    async def propose(self, run: RunView) -> list[Query]:
        monologue = ""
        if not run.shows_history:
            self._core, self._page = CoreMemory(), ()
            self._steps.clear()
        for _ in range(MAX_CALLS):
            if self._is_done:
                return []
            answer = await ask_with_retry(
                run, lambda complaint: self._build_prompt(run, complaint), lambda answer: find_fault(answer, run)
            )
            if answer is None:
                return propose_fallback(run)
            monologue = " ".join(answer.inner_monologue.split())[:_MAX_MONOLOGUE_CHARS]
            if find_fault(answer, run):
                return self._propose_search(run, monologue, monologue)
            if answer.tool == "archival_search":
                return self._propose_search(run, monologue, get_argument(answer, "query"))
            if answer.tool == "send_message":
                self._is_done = True
                return finish_with_answer(run, get_argument(answer, "message"))
            self._steps.append(f"{monologue} {answer.tool}: {self._call_tool(run, answer)}")
        if run.is_faithful and monologue:  # Too many calls without a search: its own last words are searched for.
            return self._propose_search(run, monologue, monologue)
        return propose_fallback(run)

    def _build_prompt(self, run: RunView, complaint: str) -> MemGPTStep:
        notes = run.render_notes()
        warnings = build_pressure_warnings(run, notes, self._core)
        core, steps, left = self._core.render_notes(), tuple(self._steps), run.describe_budget_left()
        return MemGPTStep(run.task, core, notes, self._page, steps, warnings, complaint, left)

    def _propose_search(self, run: RunView, monologue: str, text: str) -> list[Query]:
        queries = propose_query(run, text, monologue)
        self._steps.extend(f"{monologue} archival_search: {query.text}" for query in queries)
        self._page = ()
        return queries

    def _call_tool(self, run: RunView, answer: MemGPTStepResponse) -> str:
        """Call a tool that needs no search, and return its outcome for the list of steps."""
        if answer.tool == "core_memory_append":
            return self._core.append(get_argument(answer, "content"))
        if answer.tool == "core_memory_replace":
            return self._core.replace(get_argument(answer, "old"), get_argument(answer, "new"))
        number = int(get_argument(answer, "page") or 1)
        found = search_passages(list_visible_passages(run), get_argument(answer, "query"))
        page = found[(number - 1) * PAGE_SIZE : number * PAGE_SIZE]
        self._page = tuple(run.evidence.make_note(one, one.text[: _MAX_PAGE_CHARS // PAGE_SIZE]) for one in page)
        return f"page {number} of {-(-len(found) // PAGE_SIZE)} for {get_argument(answer, 'query')!r}"


class CoreMemory:
    """A text that the agent edits. It holds at most ``MAX_CORE_CHARS`` characters; a longer edit is refused."""

    def __init__(self) -> None:
        self._text = ""

    @property
    def fullness(self) -> float:
        return len(self._text) / MAX_CORE_CHARS

    def append(self, content: str) -> str:
        return self._write(f"{self._text}\n{content}".strip(), "appended")

    def replace(self, old: str, new: str) -> str:
        if old not in self._text:
            return "refused: core memory does not hold the old text, nothing was changed"
        return self._write(self._text.replace(old, new, 1).strip(), "replaced")

    def render_notes(self) -> tuple[Note, ...]:
        """Return the text as a note, so that a prompt fences it as data: parts may be copied from a source."""
        return (Note(self._text, ()),) if self._text else ()

    def _write(self, text: str, outcome: str) -> str:
        if len(text) > MAX_CORE_CHARS:
            return f"refused: it would hold {len(text)} of {MAX_CORE_CHARS} characters; replace something first"
        self._text = text
        return outcome


def search_passages(passages: Sequence[Passage], query: str) -> list[Passage]:
    """Return the passages that share words with the query, those that share most first."""
    words = set(content_words(query))
    shared = [len(words & set(content_words(f"{passage.title} {passage.text}"))) for passage in passages]
    ranked = sorted(range(len(passages)), key=lambda i: -shared[i])
    return [passages[i] for i in ranked if shared[i]]


def get_argument(answer: MemGPTStepResponse, name: str) -> str:
    return str(answer.arguments.get(name, "")).strip()


def find_fault(answer: MemGPTStepResponse, run: RunView) -> str:
    """Return why a call cannot be carried out; empty if it can."""
    if answer.tool not in _REQUIRED_ARGUMENTS:
        return f"there is no tool {answer.tool[:40]!r}; use one of {', '.join(_REQUIRED_ARGUMENTS)}"
    for name in _REQUIRED_ARGUMENTS[answer.tool]:
        if not get_argument(answer, name):
            return f"{answer.tool} needs the argument {name!r}"
    page = get_argument(answer, "page") or "1"
    if answer.tool == "recall" and not (page.isdecimal() and len(page) < 5 and int(page)):
        return f"recall takes a page number from 1 on, not {page[:40]!r}"
    if answer.tool == "send_message" and not run.records:
        return "nothing was searched for yet, and an answer needs evidence: use archival_search first"
    return ""


def build_pressure_warnings(run: RunView, notes: tuple[Note, ...], core: CoreMemory) -> tuple[str, ...]:
    """Return a warning for each limit that is at least three quarters used."""
    shown = sum(estimate_tokens(note.text) + estimate_tokens(note.title) for note in notes) / MAX_EVIDENCE_TOKENS
    max_tokens = run.budget.bounds.tokens
    shares = {
        "core memory is {:.0%} full: replace what is no longer needed": core.fullness,
        "the evidence in view fills {:.0%} of its room: keep what matters in core memory": shown,
        "{:.0%} of the tokens of this run are spent: finish soon": (
            run.budget.tokens_used / max_tokens if max_tokens else 0.0
        ),
    }
    return tuple(warning.format(share) for warning, share in shares.items() if share >= PRESSURE_THRESHOLD)
