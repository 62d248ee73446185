"""The values that an answer is made of, on its way from the evidence to the report.

    evidence ─▶ Finding ─▶ Draft (parts) ─▶ Checked (parts with verdicts) ─▶ Report

A part knows what it is: a quotation knows its passage, a statement the passages it rests on, a heading that it is one. So no
later stage has to read that back out of text. Handles such as ``[3]`` name passages of the run's evidence.
"""

from dataclasses import dataclass
from typing import Literal

from suffice.types import ExcerptFormat, Passage, Sufficiency

Offsets = tuple[int, int]
Role = Literal["stated", "joined", "conclusion", "advice", "absence", "label"]
"""What a statement is: a fact of one source or of several, a conclusion, advice, that no source says something, or a label."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Stretches of one passage, verbatim and laid out as there. It is its own evidence, so its words need no check.

    ``spans`` are the offsets of its stretches in the passage's text, ``highlight`` those of the deciding words. ``title`` is
    the heading path above it.
    """

    passage: Passage
    spans: tuple[Offsets, ...]
    format: ExcerptFormat = "prose"
    highlight: tuple[Offsets, ...] = ()
    title: str = ""

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
    """A sentence in the writer's words, as Markdown without its citations, and the handles of the passages it rests on."""

    text: str
    handles: tuple[str, ...] = ()
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the answer."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences that belong together. ``marker`` is ``-`` or ``1.`` for an item of a list, ``depth`` its nesting."""

    statements: tuple[Statement, ...]
    marker: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its header, and rows that each rest on passages."""

    header: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    """Each row: its cells, and the handles that it cites."""


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text that makes no claim and is shown as it is, such as a code block."""

    text: str


Part = Heading | Paragraph | Quotation | Table | Verbatim


@dataclass(frozen=True, slots=True)
class Closest:
    """A quotation that is near the question and does not answer it, and the words of the question that it lacks."""

    quotation: Quotation
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """What the sources say to a question in their own words, best first; without quotations, the closest passages.

    ``probability`` is how likely the evidence answers the question, ``short_span`` where the short answer stands in the first
    quotation's passage, and ``restated`` the question with names for what it describes.
    """

    quotations: tuple[Quotation, ...] = ()
    closest: tuple[Closest, ...] = ()
    sufficiency: Sufficiency = "unknown"
    probability: float | None = None
    short_answer: str = ""
    short_span: Offsets | None = None
    restated: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What sources say on one matter of the question, as a quotation or a statement; ``aspect`` is its place in the report.

    ``others`` are further quotations of the same fact; ``against`` are those that give another value.
    """

    text: Quotation | Statement
    aspect: str = ""
    others: tuple[Quotation, ...] = ()
    against: tuple[Quotation, ...] = ()
    salience: float = 0.0
