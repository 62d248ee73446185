"""The evidence of a run: every admitted passage, once, under a handle such as ``[3]``."""

from collections.abc import Iterator

from suffice.types import Note, Passage


class Evidence:
    """An append-only list of passages. Handles number them from 1 and do not change."""

    def __init__(self) -> None:
        self._passages: list[Passage] = []
        self._handles: dict[str, str] = {}

    def add(self, passage: Passage) -> str:
        """Add a passage and return its handle. A passage that was added before has its old handle."""
        if passage.id not in self._handles:
            self._passages.append(passage)
            self._handles[passage.id] = f"[{len(self._passages)}]"
        return self._handles[passage.id]

    def get_handle(self, passage: Passage) -> str:
        return self._handles[passage.id]

    def make_note(self, passage: Passage, text: str | None = None) -> Note:
        """Return a passage as a note with its handle, or only this part of its text."""
        shown = passage.text if text is None else text
        return Note(shown, (self.get_handle(passage),), passage.title, passage.kind, shown == passage.text)

    def find_passage(self, handle: str) -> Passage | None:
        """Return the passage with this handle; ``None`` for an unknown handle."""
        number = handle.strip("[]")
        if not number.isdecimal() or number != str(int(number)) or not 1 <= int(number) <= len(self._passages):
            return None
        return self._passages[int(number) - 1]

    @property
    def by_handle(self) -> dict[str, Passage]:
        return {f"[{number}]": passage for number, passage in enumerate(self._passages, 1)}

    def resolve_citation(self, citation: str) -> str | None:
        """Return the handle of a citation: a handle itself, or the anchor of a typed source, which is its passage's id."""
        return citation if self.find_passage(citation) is not None else self._handles.get(citation.strip("[]"))

    def get_passages_after(self, count: int) -> list[Passage]:
        """Return the passages after the first ``count``."""
        return self._passages[count:]

    def __contains__(self, passage_id: object) -> bool:
        return passage_id in self._handles

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._passages)

    def __len__(self) -> int:
        return len(self._passages)
