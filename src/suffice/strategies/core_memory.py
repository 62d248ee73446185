"""The memory of a MemGPT-style agent: one block it writes itself, and pages of what was admitted."""

from suffice.memory.evidence import Evidence
from suffice.text.tokens import content_words
from suffice.types import Note

MAX_CORE_CHARS = 2_000  # Characters of the block (S3).
PAGE_SIZE = 5  # Passages a page (S3) …
_MAX_PAGE_CHARS = 3_000  # … and characters.


class CoreMemory:
    """It never holds more than ``ROOM`` characters: what does not fit is refused, and the agent is told."""

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
        """As a note: what was copied from a source stays fenced as data."""
        return (Note(self._text, ()),) if self._text else ()

    def _write(self, text: str, done: str) -> str:
        if len(text) > MAX_CORE_CHARS:
            return f"refused: it would hold {len(text)} of {MAX_CORE_CHARS} characters; replace something first"
        self._text = text
        return done


def search_evidence(evidence: Evidence, query: str) -> tuple[Note, ...]:
    """The admitted passages that share words with the query, most of them first."""
    wanted = set(content_words(query))
    shared = [(len(wanted & set(content_words(f"{item.title} {item.text}"))), item) for item in evidence]
    ranked = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])
    return tuple(
        Note(item.text[: _MAX_PAGE_CHARS // PAGE_SIZE], (evidence.get_handle(item),), item.title, item.kind, False)
        for _, item in ranked
    )
