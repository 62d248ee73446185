"""Collect the papers, and enrich them with authors, year, DOI and citations of one another."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from suffice.errors import InputError
from suffice.screening.filter import remove_injected_lines
from suffice.search.base import Search
from suffice.search.files.chunk import Document
from suffice.search.files.isolated import read_documents
from suffice.search.files.walk import list_files
from suffice.skills.activate import Workspace
from suffice.skills.sentences import find_head
from suffice.text.entities import content_stems, strip_parenthetical
from suffice.text.tokens import tokenize
from suffice.types import Passage, Place, Query

MAX_PAPERS = 60
PAPER_SUFFIXES = frozenset(".pdf .txt .md .rst .html .htm .tex .docx .odt .epub .rtf".split())
_MIN_CHARS = 200  # A shorter document is not a paper.
_MAX_PASSAGES = 60  # Passages read of one paper.
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}]+[^\s\"<>{}.,;)\]]")
_HEAD_CHARS = 160  # A year further down, in a sentence, is one that the paper speaks of, not its own.
_YEAR = re.compile(r"\b(?:19[5-9]\d|20[0-4]\d)\b")
_COPYRIGHT = re.compile(r"(?:©|\(c\)|copyright)[^\n]{0,20}?\d{4}\s*[-–]\s*(?P<last>\d{4})\b", re.IGNORECASE)
_REFERENCES = re.compile(
    r"^[ \t]*+(?:\d++\.?[ \t]++)?(?:references|bibliography)[ \t]*+$", re.IGNORECASE | re.MULTILINE
)
_LATEX = re.compile(r"[{}]|\\[a-zA-Z]+\s*|\\.")
_BAD_TITLE = re.compile(
    r"^(?:untitled|microsoft word|page \d+|abstract|arxiv|draft|copyright)\b.*$|.*(?:©|rights reserved).*|\W*\Z"
    r"|.*\.(?:dvi|docx?|tex|pdf)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Paper:
    """A paper: its metadata, and its text as passages. ``cites`` are the keys of other papers of the review."""

    key: str
    title: str
    passages: tuple[Passage, ...]
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    cites: tuple[str, ...] = ()
    references: str = field(default="", repr=False)

    @property
    def text(self) -> str:
        return "\n".join(passage.text for passage in self.passages)

    @property
    def label(self) -> str:
        """How the review names the paper: first author and year where known."""
        if not self.authors:
            return self.title
        named = self.authors if len(self.authors) == 2 else self.authors[:1]
        names = " and ".join(one.split(",")[0].split()[-1] for one in named) + " et al." * (len(self.authors) > 2)
        return f"{names} ({self.year})" if self.year else names


async def collect_papers(space: Workspace, search: Search, topic: str) -> tuple[list[Paper], list[str]]:
    """Return the papers, each once, and what could not be read."""
    papers: dict[str, Paper] = {}
    problems: list[str] = []
    files = list_space_files(space)
    texts = [path for path in files if path.suffix.lower() in PAPER_SUFFIXES][:MAX_PAPERS]
    for path, document in zip(texts, read_documents(texts), strict=True):
        if not isinstance(document, Document):
            problems.append(str(document))
        elif (paper := _make_paper(path, document)) is not None:
            papers.setdefault(paper.key, paper)
    for path in files:
        if path.suffix.lower() == ".bib":
            _merge_bibliography(papers, path, problems)
    if space.uses_web:
        for passage in await search(Query(topic), 20):
            key = passage.url or passage.id
            known = papers.get(key)
            own = (*(known.passages if known else ()), passage)
            papers[key] = Paper(key, passage.title, own, year=_first_year(passage.text))
    if not papers:
        advice = (
            "found no papers; name a folder with PDF, BibTeX or text files with --docs, or search with --provider arxiv"
        )
        raise InputError(f"/lit-review {f'can read none of the papers: {problems[0]}' if problems else advice}")
    return list(papers.values())[:MAX_PAPERS], problems


def list_space_files(space: Workspace) -> Sequence[Path]:
    docs = [Path(path) for path in space.docs if path != "-"]
    return list_files(docs, space.include, space.exclude).files if docs else ()


def enrich_papers(papers: Sequence[Paper]) -> list[Paper]:
    """Return the papers with the papers of the review that their references name."""
    titles = {paper.key: " ".join(tokenize(paper.title)) for paper in papers}
    enriched = []
    for paper in papers:
        references = f" {' '.join(tokenize(paper.references))} "
        cites = tuple(
            other.key
            for other in papers
            if other.key != paper.key and len(titles[other.key]) > 15 and f" {titles[other.key]} " in references
        )
        enriched.append(replace(paper, cites=cites))
    return enriched


def _make_paper(path: Path, document: Document) -> Paper | None:
    passages = []
    for number, chunk in enumerate(document.chunks[:_MAX_PASSAGES]):
        text = remove_injected_lines(chunk.text).text
        if text.strip():
            place = Place(str(path), chunk.lines, chunk.page, section=chunk.section)
            passages.append(Passage(f"{path}#{number}", text, "", place, chunk.kind))
    whole = "\n".join(passage.text for passage in passages)
    if len(whole) < _MIN_CHARS:
        return None
    title = _find_title(path, document, whole)
    body, references = _split_references(whole)
    kept = [one for one in passages if one.text.strip()[:80] in body] or passages[:1]
    doi, head = _DOI.search(whole[:6000]), whole[: max(_HEAD_CHARS, len(find_head(whole)))]
    return Paper(
        key=str(path),
        title=title,
        passages=tuple(replace(one, title=title) for one in kept),
        authors=_find_authors(head, title),
        year=_first_year(head),
        doi=doi.group().lower() if doi else "",
        references=references,
    )


def _find_title(path: Path, document: Document, text: str) -> str:
    """Return the title that the reader found, else the first line that reads like one, else the name of the file."""
    candidates = [document.chunks[0].title.split(" > ")[0], *(line.strip("# *=") for line in text.splitlines()[:12])]
    for position, candidate in enumerate(candidates):
        words = candidate.split()
        is_file_name = path.name in candidate or candidate.strip() == path.stem
        is_long_enough = len(words) > 1 or (position < 3 and len(candidate) > 3)
        is_bad = is_file_name or len(words) > 25 or "@" in candidate or _BAD_TITLE.match(candidate)
        if is_long_enough and not is_bad:
            return " ".join(words)
    return path.stem.replace("_", " ").replace("-", " ")


def _find_authors(head: str, title: str) -> tuple[str, ...]:
    """Return the names in the line below the title, if it is a list of names and perhaps a year; else none."""
    lines = [line for part in head.splitlines() if (line := strip_parenthetical(part).strip("# *="))]
    below = next((after for line, after in pairwise(lines) if line == title), "").rpartition(":")[2]
    names = below.replace(" and ", ",").replace("&", ",").replace(";", ",").split(",")
    known = [name for one in names if (name := one.strip(" *†0123456789"))]
    are_names = len(names) > 1 and all(len(one.split()) < 5 for one in known)
    return tuple(known) if are_names and all(word[0].isupper() for one in known for word in one.split()) else ()


def _split_references(text: str) -> tuple[str, str]:
    found = list(_REFERENCES.finditer(text))
    if not found or found[-1].start() < len(text) / 3:
        return text, ""
    return text[: found[-1].start()], text[found[-1].start() :]


def _first_year(text: str) -> int | None:
    found = _COPYRIGHT.search(text) or _YEAR.search(text)
    return int(found[found.lastindex or 0]) if found else None


# -- BibTeX ------------------------------------------------------------------------------------------------------------


def _merge_bibliography(papers: dict[str, Paper], path: Path, problems: list[str]) -> None:
    """Give papers the metadata of their entries; an entry without a file is a paper if it has an abstract."""
    from bibtexparser.entrypoint import parse_string

    logging.getLogger("bibtexparser").setLevel(logging.ERROR)  # What it could not read is told below.
    library = parse_string(path.read_text(encoding="utf-8", errors="replace"))
    problems += [f"{path}: an entry cannot be read and is left out" for _ in library.failed_blocks]
    for entry in library.entries:
        values = {name.lower(): _clean(str(one.value)) for name, one in entry.fields_dict.items()}
        title = values.get("title", "")
        if not title:
            continue
        names = " ".join(values.get("author", "").split()).split(" and ")
        authors = tuple(filter(None, map(_clean, names)))
        doi, year = values.get("doi", "").lower(), _first_year(values.get("year", values.get("date", "")))
        key = next((key for key, paper in papers.items() if _is_same(paper, title, doi)), None)
        if key is not None:
            known = papers[key]
            passages = tuple(replace(one, title=title) for one in known.passages)
            papers[key] = replace(
                known, title=title, authors=authors, year=year or known.year, doi=doi or known.doi, passages=passages
            )
        elif abstract := values.get("abstract", ""):
            place = Place(str(path), record=entry.key)
            text = remove_injected_lines(abstract).text
            passage = Passage(f"{path}#{entry.key}", text, title, place, "record")
            papers[f"{path}#{entry.key}"] = Paper(f"{path}#{entry.key}", title, (passage,), authors, year, doi)


def _is_same(paper: Paper, title: str, doi: str) -> bool:
    if doi and paper.doi:
        return doi == paper.doi
    wanted = content_stems(title)
    head = content_stems(f"{paper.title} {paper.text[:600]}")
    return len(wanted) >= 2 and wanted <= head


def _clean(text: str) -> str:
    return " ".join(_LATEX.sub("", text).split())
