"""Open the sources of a run: a cited passage with what stands around it.

A file is read only if the run cited it and it lies in one of the run's collections. The reader is the one that indexed the
file, so line numbers, pages and wording are those of the citation.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi import Path as PathParameter
from msgspec import convert
from pydantic import BaseModel

from suffice.claims.verbatim import find_words
from suffice.errors import SufficeError
from suffice.jobs.requests import parse_request, resolve_collections
from suffice.jobs.store import StoredRun
from suffice.report.answer_html import MARKDOWN_FILE, MarkdownRenderer, merge_spans, render_excerpt_text
from suffice.report.html import list_stretches
from suffice.report.markdown import render_markdown
from suffice.search.files.chunk import DocumentChunk
from suffice.search.files.isolated import draw_isolated, read_isolated
from suffice.search.urls import canonicalize_url
from suffice.server.dependencies import OwnedRunDep, Service, ServiceDep, load_report
from suffice.server.errors import ApiError, document_errors
from suffice.types import Excerpt, Passage, Place, Report, Source

router = APIRouter()

_ERRORS = document_errors(401, 404, 422, 429, 500)
_NEIGHBOURS = 1  # Chunks before and after one that has no lines, such as a slide or a message.
_MAX_LINES = 2000
_MAX_MARKED_CHARS = 400  # A longer quote is shown by its lines alone.
_LINES = re.compile(r":(\d+)-(\d+)$")
CHANGED_REMARK = "The file has changed since it was read; this is the passage as it was cited."
STORED_REMARK = "This is the passage as the run read it."


class SourceLine(BaseModel):
    """A line of a source. ``marks`` are the offsets of its deciding words."""

    number: int | None
    text: str
    cited: bool
    marks: list[tuple[int, int]]


class SourcePage(BaseModel):
    """A page as a picture. ``boxes`` are its deciding words: left, top, width and height as fractions of the page."""

    number: int
    width: int
    height: int
    image: str
    boxes: list[tuple[float, float, float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText(Source):
    """A cited passage with the lines around it; ``remark`` says why there are none.

    ``html`` is the same laid out, for a file that has no lines of its own; ``page`` is the page of a PDF file.
    """

    lines: list[SourceLine]
    html: str | None
    page: SourcePage | None
    remark: str | None


@router.get("/jobs/{job}/sources/{number}", summary="A cited passage with what stands around it", responses=_ERRORS)
def get_source(
    run: OwnedRunDep,
    service: ServiceDep,
    number: Annotated[int, PathParameter(ge=1, le=100_000, description="The number of the source in the report.")],
    context: Annotated[int, Query(ge=0, le=400, description="Lines before and after the passage.")] = 25,
    page: Annotated[bool, Query(description="Also draw the page of a PDF file.")] = False,
) -> SourceText:
    report = load_report(run)
    source = next((source for source in report.sources if source.id == f"[{number}]"), None)
    if source is None:
        raise ApiError(404, f"The report of {run.id!r} has no source [{number}]")
    stretches = list_stretches(report, source)
    passages = _find_passages(service, run, report, source)
    searched = resolve_collections(parse_request(run.request), service.worker.collections).scope.docs
    roots = [Path(path).resolve() for path in searched if "://" not in path]
    path = _resolve_inside(passages[0].place.path, roots) if passages else None
    lines, remark = _open_passage(passages, path, context)
    marked = _mark_lines(lines, stretches, passages)
    cited_page = passages[0].place.page if passages else None
    drawn = None
    if page and path is not None and cited_page is not None and remark is None:
        drawn = _draw_page(path, cited_page, stretches)
    return SourceText(**asdict(source), lines=marked, html=_lay_out(marked, source.location), page=drawn, remark=remark)


@router.get(
    "/jobs/{job}/report.md",
    summary="The report as Markdown",
    response_model=None,
    responses={200: {"content": {"text/markdown": {}}}, **_ERRORS},
)
def get_markdown(run: OwnedRunDep) -> Response:
    return Response(render_markdown(load_report(run)), media_type="text/markdown")


# -- Finding and opening the passage -----------------------------------------------------------------------------------


def _draw_page(path: Path, number: int, stretches: Sequence[Excerpt]) -> SourcePage | None:
    """Draw a page of a PDF file; ``None`` if its text is all that can be shown."""
    quotes = [(quote, stretch.text) for stretch in stretches for quote in _list_quotes(stretch) or [stretch.text]]
    try:
        drawn = draw_isolated(path, number, quotes)
    except (SufficeError, OSError):
        return None
    image = f"data:image/png;base64,{b64encode(drawn.png).decode()}"
    return SourcePage(number=number, width=drawn.width, height=drawn.height, image=image, boxes=drawn.boxes)


def _lay_out(lines: Sequence[SourceLine], location: str) -> str | None:
    """Lay out what the readers make of office files and books; ``None`` for other files."""
    if not lines or lines[0].number is not None or not MARKDOWN_FILE.search(location):
        return None
    starts = accumulate((len(line.text) + 1 for line in lines), initial=0)
    marks = tuple((at + a, at + b) for at, line in zip(starts, lines, strict=False) for a, b in line.marks)
    text = "\n".join(line.text for line in lines)
    return render_excerpt_text(Excerpt(text, "prose", marks, "", location), MarkdownRenderer(()))


def _find_passages(service: Service, run: StoredRun, report: Report, source: Source) -> list[Passage]:
    computed = report.metadata.get("computed")
    if isinstance(computed, dict) and isinstance(computed.get(source.id), str):
        return [Passage("", computed[source.id], "", Place(""))]
    events = service.worker.store.load_events(run.id, "continued", "round")
    stored = (event["passages"] if event["type"] == "round" else event["earlier"]["evidence"] for event in events)
    found = {passage["id"]: convert(passage, Passage) for passages in stored for passage in passages}
    page = canonicalize_url(source.url) if source.url else None
    return [
        passage
        for passage in found.values()
        if passage.location == source.location or (page is not None and canonicalize_url(passage.location) == page)
    ]


def _open_passage(
    passages: Sequence[Passage], path: Path | None, context: int
) -> tuple[Sequence[tuple[int | None, str]], str | None]:
    """Return numbered lines: the passage inside its file, or as it was stored with a remark."""
    if not passages:
        return [], "The passage is no longer stored."
    lines = ((each.place, i, line) for each in passages for i, line in enumerate(each.text.splitlines()))
    stored = [(place.lines[0] + i if place.lines and place.exact else None, line) for place, i, line in lines]
    if path is None:
        return stored, STORED_REMARK
    try:
        chunks = read_isolated(path).chunks
    except SufficeError:
        chunks = []
    at = _find_chunk(chunks, passages[0])
    return (stored, CHANGED_REMARK) if at is None else (_open_chunk(chunks, at, context), None)


def _resolve_inside(path: str, roots: Sequence[Path]) -> Path | None:
    """Return the file if it lies in one of the folders, after following links."""
    if not path or "://" in path:
        return None
    try:
        resolved = Path(path).resolve(strict=True)
    except OSError:
        return None
    is_inside = any(resolved == root or resolved.is_relative_to(root) for root in roots)
    return resolved if is_inside and resolved.is_file() else None


def _find_chunk(chunks: Sequence[DocumentChunk], passage: Passage) -> int | None:
    """Return the position of the chunk that the passage is; ``None`` if the file has no such chunk any more."""
    place = passage.place
    wanted = (place.lines, place.page, place.record, place.section)
    text = _squeeze(passage.text)
    for i, chunk in enumerate(chunks):
        # Screening may have removed lines from the passage, so a part of its text is enough.
        if (chunk.lines, chunk.page, chunk.record, chunk.section) == wanted and _squeeze(chunk.text)[:80] == text[:80]:
            return i
    return None


def _open_chunk(chunks: Sequence[DocumentChunk], at: int, context: int) -> Sequence[tuple[int | None, str]]:
    cited = chunks[at]
    if cited.lines is not None:
        numbered = {
            chunk.lines[0] + i: line
            for chunk in chunks
            if chunk.lines is not None
            for i, line in enumerate(chunk.text.splitlines())
        }
        first, last = cited.lines[0] - context, cited.lines[1] + context
        return [(number, numbered[number]) for number in sorted(numbered) if first <= number <= last][:_MAX_LINES]
    if cited.page is not None:
        shown: Iterable[DocumentChunk] = (chunk for chunk in chunks if chunk.page == cited.page)
    else:
        shown = chunks[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS + 1]
    return [(None, line) for chunk in shown for line in [*chunk.text.splitlines(), ""]][:_MAX_LINES]


# -- Marking -----------------------------------------------------------------------------------------------------------


def _mark_lines(
    lines: Sequence[tuple[int | None, str]], stretches: Sequence[Excerpt], passages: Sequence[Passage]
) -> list[SourceLine]:
    """Mark the cited lines and the deciding words in them."""
    text = "\n".join(line for _, line in lines)
    starts = list(accumulate((len(line) + 1 for _, line in lines), initial=0))
    cited, marked = [], []
    for stretch in stretches:
        span = _locate_stretch(text, lines, starts, stretch)
        if span is None:
            continue
        cited.append(span)
        marked += [found for quote in _list_quotes(stretch) if (found := _find_text(text, quote, *span)) is not None]
    if not cited:
        cited = [found for passage in passages if (found := _find_text(text, passage.text)) is not None]
    marks = merge_spans(marked, len(text))

    def cut(spans: Iterable[tuple[int, int]], start: int, length: int) -> list[tuple[int, int]]:
        """Return what of the spans lies in a line, as offsets in it."""
        return [(max(a - start, 0), min(b - start, length)) for a, b in spans if a < start + length and b > start]

    return [
        SourceLine(number=number, text=line, cited=bool(cut(cited, at, len(line))), marks=cut(marks, at, len(line)))
        for (number, line), at in zip(lines, starts, strict=False)
    ]


def _list_quotes(stretch: Excerpt) -> list[str]:
    """Return the deciding words of a stretch."""
    quotes = [stretch.text[start:end] for start, end in stretch.highlight]
    return quotes or [stretch.text] * (len(stretch.text) <= _MAX_MARKED_CHARS)


def _locate_stretch(
    text: str, lines: Sequence[tuple[int | None, str]], starts: Sequence[int], stretch: Excerpt
) -> tuple[int, int] | None:
    """Return where a stretch is in the text: by its line numbers, or else by its words."""
    if match := _LINES.search(stretch.location):
        first, last = int(match[1]), int(match[2])
        inside = [i for i, (number, _) in enumerate(lines) if number is not None and first <= number <= last]
        if inside:
            return starts[inside[0]], starts[inside[-1]] + len(lines[inside[-1]][1])
    return _find_text(text, stretch.text)


def _find_text(text: str, wanted: str, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
    """Return where a text stands, whatever its white space is. The document may emphasise words that an excerpt does not."""
    at = text.find(wanted, start, end)
    if at >= 0:
        return at, at + len(wanted)
    found = find_words(wanted, text[start:end])
    return None if found is None else (start + found[0], start + found[1])


def _squeeze(text: str) -> str:
    return " ".join(text.split())
