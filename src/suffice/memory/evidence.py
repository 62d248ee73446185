"""The evidence of a run: every admitted passage, once, under a handle such as ``[3]``."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from suffice.text.tokens import tokenize
from suffice.types import Note, Passage

RUN_WORDS = 5  # Words in a row by which texts are compared; one other figure makes a stretch new.
_TRUTH_WORDS = {"yes": "true", "no": "false"}  # So reads a sheet, of which the copy as CSV has the words of a program.


class Evidence:
    """An append-only list of passages. Handles number them from 1 and do not change."""

    def __init__(self) -> None:
        self._by_handle: dict[str, Passage] = {}
        self._handles: dict[str, str] = {}

    def add(self, passage: Passage) -> str:
        """Add a passage and return its handle. A passage that was added before has its old handle."""
        if passage.id not in self._handles:
            self._handles[passage.id] = f"[{len(self._handles) + 1}]"
            self._by_handle[self._handles[passage.id]] = passage
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
        return self._by_handle.get(f"[{handle.strip('[]')}]")

    @property
    def by_handle(self) -> dict[str, Passage]:
        return dict(self._by_handle)

    def resolve_citation(self, citation: str) -> str | None:
        """Return the handle of a citation: a handle itself, or the anchor of a typed source, which is its passage's id."""
        return citation if self.find_passage(citation) is not None else self._handles.get(citation.strip("[]"))

    def __contains__(self, passage_id: object) -> bool:
        return passage_id in self._handles

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._by_handle.values())

    def __len__(self) -> int:
        return len(self._by_handle)


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


def refer_to_copies(notes: Sequence[Note]) -> tuple[Note, ...]:
    """Return the notes with a paragraph that an earlier one has replaced by its handle: "(as in [3])"."""
    seen: dict[tuple[str, ...], str] = {}
    texts: dict[str, str] = {}
    short: list[Note] = []
    for note in notes:
        paragraphs = note.text.split("\n\n")
        for number, paragraph in enumerate(paragraphs):
            earlier = {seen.get(run) for run in list_runs(tokenize(paragraph))}
            if len(earlier) == 1 and (first := earlier.pop()) and _unwrap(paragraph) in texts[first]:
                paragraphs[number] = f"(as in {first})"
        short.append(replace(note, text="\n\n".join(paragraphs)))
        handle = "".join(note.handles[:1])
        texts.setdefault(handle, _unwrap(note.text))
        for run in list_runs(tokenize(note.text)):
            seen.setdefault(run, handle)
    return tuple(short)


def _unwrap(text: str) -> str:
    """Return a text in one line, without the marks of a quoted mail."""
    return " ".join(word for line in text.split("\n") for word in line.lstrip("> ").split())


def list_runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return all stretches of a few words in a row."""
    words = [_TRUTH_WORDS.get(word, word) for word in words]
    return zip(*(words[n:] for n in range(RUN_WORDS)), strict=False)
