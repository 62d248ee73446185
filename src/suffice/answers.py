"""The values that an answer is made of, on its way from the evidence to the report.

    evidence ─▶ Finding ─▶ Draft (parts) ─▶ Checked (parts with verdicts) ─▶ Report

A part knows what it is: a quotation knows its passage, a statement the passages it rests on, a heading that it is one. So no
later stage has to read that back out of text. Handles such as ``[3]`` name passages of the run's evidence.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from suffice.types import ExcerptFormat, Notice, Passage, Sufficiency

Offsets = tuple[int, int]
Role = Literal["stated", "joined", "conclusion", "advice", "absence", "label"]
"""What a statement is: a fact of one source or of several, a conclusion, advice, that no source says something, or a label."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Stretches of one passage, verbatim and laid out as there. It is its own evidence, so its words need no check.

    ``spans`` are the offsets of its stretches in the passage's text, ``highlight`` those of the deciding words. ``title`` is
    the heading path above it, as a heading of the answer or, without ``is_section``, as a bold line. ``marked`` are the
    offsets of what is shown in bold: the deciding words if they are known for sure, or the sentence that has them.
    """

    passage: Passage
    spans: tuple[Offsets, ...]
    format: ExcerptFormat = "prose"
    highlight: tuple[Offsets, ...] = ()
    title: str = ""
    is_section: bool = True
    marked: tuple[Offsets, ...] = ()

    @property
    def text(self) -> str:
        """The quoted stretches, one below the other."""
        return "\n".join(self.passage.text[start:end] for start, end in self.spans)

    @property
    def location(self) -> str:
        """Where the quoted stretches stand."""
        start, end = self.spans[0][0], self.spans[-1][1]
        return str(self.passage.place.narrowed(self.passage.text, start, end))


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence in the writer's words: Markdown with its citations where the writer put them, such as ``It is old [1].``

    ``role`` is what the check found it to be, ``mark`` what is shown behind it, such as that no source supports it.
    ``columns`` are the names above a row of a table.
    """

    text: str
    handles: tuple[str, ...] = ()
    role: Role | None = None
    mark: str = ""
    columns: tuple[str, ...] = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class SectionHeading:
    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences that belong together. ``marker`` is ``-`` or ``1.`` for an item of a list, ``depth`` its nesting."""

    statements: tuple[Statement, ...]
    marker: str = ""
    depth: int = 0
    quoted: bool = False
    """Whether the writer set it as a quotation."""


@dataclass(frozen=True, slots=True)
class DraftTable:
    """A table: the cells of its header, and its rows as statements whose cells are separated by ``|``."""

    header: tuple[str, ...]
    rows: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that makes no claim and is shown as it is, such as a code block."""

    text: str
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """What sources say on one matter of the question, as a quotation; ``aspect`` is its place in the report.

    ``others`` are further quotations of the same fact; ``against`` are those that give another value.
    """

    text: Quotation
    aspect: str = ""
    others: tuple[Quotation, ...] = ()
    against: tuple[Quotation, ...] = ()
    salience: float = 0.0

    @property
    def quotations(self) -> tuple[Quotation, ...]:
        """All its quotations, the one that is shown first."""
        return (self.text, *self.others, *self.against)


@dataclass(frozen=True, slots=True)
class FindingList:
    """Findings as items of a list, or, with ``columns``, records as rows of a table that has these columns."""

    items: tuple[Finding, ...]
    columns: tuple[str, ...] = ()


Part = SectionHeading | Paragraph | Quotation | DraftTable | Verbatim | FindingList


Origin = Literal["written", "sentence", "quoted", "skill"]
"""Who wrote a draft: a model, a small model that wrote one sentence above quotations, only the sources, or a skill."""


@dataclass(frozen=True, slots=True)
class Closest:
    """A quotation that is near the question and does not answer it, and the words of the question that it lacks."""

    quotation: Quotation
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as it was written.

    ``lists`` are the lists below it that are not empty, by their titles (``WRITTEN_SECTIONS``); ``sufficiency`` is the writer's
    judgement of the evidence; ``closest`` is shown where it has no parts; ``restated`` is the question with names for what it
    describes; ``raw`` is what a model wrote, unparsed.
    """

    parts: tuple[Part, ...] = ()
    origin: Origin = "written"
    lists: Mapping[str, tuple[Statement, ...]] = field(default_factory=dict)
    open_questions: tuple[str, ...] = ()
    short_answer: str = ""
    sufficiency: Sufficiency = "unknown"
    closest: tuple[Closest, ...] = ()
    restated: str = ""
    notices: tuple[Notice, ...] = ()
    raw: str | None = None
    aspects: tuple[str, ...] = ()
    """The aspects of a broad question, also those on which nothing was found."""

    @property
    def listed(self) -> tuple[Finding, ...]:
        """The findings of its lists, in reading order, each once."""
        found = (item for part in self.parts if isinstance(part, FindingList) for item in part.items)
        return tuple(dict.fromkeys(found))

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The sentences of its text, in reading order."""
        return tuple(statement for part in self.parts for statement in list_statements(part))

    @property
    def written(self) -> tuple[Statement, ...]:
        """The sentences of its text and of the lists below it."""
        return (*self.statements, *(line for lines in self.lists.values() for line in lines))

    @property
    def handles_beside(self) -> Mapping[object, tuple[str, ...]]:
        """For each sentence of a paragraph, what the paragraph cites."""
        paragraphs = [part.statements for part in self.parts if isinstance(part, Paragraph)]
        cited = [tuple(dict.fromkeys(handle for one in own for handle in one.handles)) for own in paragraphs]
        return {one: handles for own, handles in zip(paragraphs, cited, strict=True) for one in own}

    def narrow(self, statements: Collection[object]) -> "Draft":
        """Return the parts and lines that hold the statements, each part with its heading and the part before it."""
        held = [any(one in statements for one in list_statements(part)) for part in self.parts]
        near = zip(self.parts, held, (*held[1:], False), strict=True)
        parts = tuple(part for part, here, after in near if here or after or isinstance(part, SectionHeading))
        return self._change(drop_bare_headings(parts), lambda line: (line,) if line in statements else ())

    def replace_statements(
        self,
        mend: Callable[[Statement], tuple[Statement, ...]],
        rename: Callable[[Statement], Statement] = lambda statement: statement,
    ) -> "Draft":
        """Return the draft with each statement of its text and lists replaced, as ``replace_statements`` does."""
        return self._change(replace_statements(self.parts, mend, rename), mend)

    def _change(self, parts: tuple[Part, ...], mend: Callable[[Statement], tuple[Statement, ...]]) -> "Draft":
        """Return the draft with these parts, and with each line of its lists replaced."""
        lists = {name: tuple(new for line in lines for new in mend(line)) for name, lines in self.lists.items()}
        return replace(self, parts=parts, lists={name: lines for name, lines in lists.items() if lines})

    @property
    def quotations(self) -> tuple[Quotation, ...]:
        """The quotations of its text, in reading order."""
        return tuple(part for part in self.parts if isinstance(part, Quotation))

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing."""
        return not (self.statements or self.quotations or self.listed)


def list_statements(part: Part) -> tuple[Statement, ...]:
    """Return the statements of a part: the sentences of a paragraph, the rows of a table."""
    if isinstance(part, Paragraph):
        return part.statements
    return part.rows if isinstance(part, DraftTable) else ()


def replace_statements(
    parts: tuple[Part, ...],
    mend: Callable[[Statement], tuple[Statement, ...]],
    rename: Callable[[Statement], Statement] = lambda statement: statement,
) -> tuple[Part, ...]:
    """Return the parts with each statement replaced by what ``mend`` gives for it; nothing drops it.

    The first statement that stays after dropped ones passes ``rename``. A paragraph, item or table that has no statement left
    goes, and so does a heading with nothing left below it.
    """
    kept: list[Part] = []
    for part in parts:
        if not isinstance(part, Paragraph | DraftTable):
            kept.append(part)
            continue
        left: list[Statement] = []
        has_dropped = False
        for statement in list_statements(part):
            mended = mend(statement)
            if mended and has_dropped:
                mended = (rename(mended[0]), *mended[1:])
            has_dropped = not mended
            left += mended
        if left:
            new = tuple(left)
            kept.append(replace(part, statements=new) if isinstance(part, Paragraph) else replace(part, rows=new))
    return drop_bare_headings(tuple(kept), keep=find_bare_headings(parts))


def find_bare_headings(parts: tuple[Part, ...]) -> frozenset[SectionHeading]:
    """Return the headings with nothing below them before the next heading of their level or above."""
    bare: list[SectionHeading] = []
    open_headings: list[SectionHeading] = []
    for part in parts:
        if isinstance(part, SectionHeading):
            bare += [heading for heading in open_headings if heading.level >= part.level]
            open_headings = [*(heading for heading in open_headings if heading.level < part.level), part]
        else:
            open_headings = []
    return frozenset((*bare, *open_headings))


def drop_bare_headings(parts: tuple[Part, ...], keep: Collection[SectionHeading] = ()) -> tuple[Part, ...]:
    """Return the parts without headings that have nothing below them."""
    bare = find_bare_headings(parts) - frozenset(keep)
    return tuple(part for part in parts if part not in bare)
