"""The evidence of a run: every admitted passage, once, under a handle such as ``[3]``."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from suffice.text.tokens import tokenize
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
        return Note(
            shown, (self.get_handle(passage),), passage.title, passage.kind, shown == passage.text, passage.place
        )

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

    def __contains__(self, passage_id: object) -> bool:
        return passage_id in self._handles

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._passages)

    def __len__(self) -> int:
        return len(self._passages)


def drop_repeated_titles(notes: Sequence[Note]) -> tuple[Note, ...]:
    """Return the notes without what their titles repeat: the document, a heading of the text, who wrote a message and when."""
    documents = [(note.place and note.place.path, note.title.split(" > ")[0]) for note in notes]
    short: list[Note] = []
    for note, document, before in zip(notes, documents, (None, *documents), strict=False):
        headings = note.title.split(" > ")[document == before :]
        title = " > ".join(one for one in headings if f"# {one}\n" not in f"{note.text}\n")
        subject, _, who = title.rpartition(" (")
        is_repeated = subject and set(tokenize(who)) <= set(tokenize(note.text.partition("\n")[0]))
        short.append(replace(note, title=subject if is_repeated else title))
    return tuple(short)


def drop_repeated_columns(note: Note) -> Note:
    """Return a note in which a row of a table names its columns only if the row before has other ones."""
    lines: list[str] = []
    before: list[str] = []
    for line in note.text.split("\n"):
        cells = [cell.partition(": ") for cell in line.split(" · ")]
        columns = [name for name, colon, _ in cells if colon]
        is_repeated = len(cells) == len(columns) > 1 and columns == before
        lines.append(" · ".join(value for *_, value in cells) if is_repeated else line)
        before = columns
    return replace(note, text="\n".join(lines))
