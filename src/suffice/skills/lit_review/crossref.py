"""Look up the metadata of papers at Crossref: authors, year, DOI, references, and how often each was cited.

A paper with a DOI is looked up by it, any other by its title; a found work counts only if it has the same title. Used only if
the run may search the web. The service is free and needs no key: https://api.crossref.org, or ``CROSSREF_BASE_URL``;
``CROSSREF_MAILTO`` tells it whom to write to, for which it answers faster.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from suffice.errors import SearchError
from suffice.search.web.http import ProviderRequest, fetch_json
from suffice.search.web.provider import clean_text, get_base_url
from suffice.settings import Settings
from suffice.skills.lit_review.papers import Paper
from suffice.text.entities import content_stems
from suffice.text.tokens import jaccard

_MIN_SAME_TITLE = 0.8  # Share of words that two titles of one paper have in common.
_MAX_FAILURES = 2  # In a row; after that the service is not asked about the other papers.
_FIELDS = "DOI,title,author,issued,is-referenced-by-count,reference"


async def add_metadata(papers: Sequence[Paper], config: Settings) -> tuple[list[Paper], list[str]]:
    """Return the papers with what Crossref knows about them, and what went wrong."""
    base = get_base_url(config, "CROSSREF_BASE_URL", "https://api.crossref.org")
    mail = config.environment.get("CROSSREF_MAILTO", "").strip()
    problems: list[str] = []
    found: list[Paper] = []
    failures = 0
    for paper in papers:
        if failures >= _MAX_FAILURES:
            found.append(paper)
            continue
        try:
            found.append(await _look_up(paper, base, {"mailto": mail} if mail else {}))
            failures = 0
        except SearchError as error:
            found.append(paper)
            problems.append(f"no metadata for {paper.title!r}: {error}")
            failures += 1
    return found, problems


async def _look_up(paper: Paper, base: str, params: Mapping[str, str]) -> Paper:
    if paper.doi:
        request = ProviderRequest(f"{base}/works/{quote(paper.doi, safe='')}", params, empty_statuses=(404,))
        return await fetch_json("Crossref", request, lambda answer: _merge(paper, answer and answer["message"]))
    query: dict[str, str | int] = {"query.bibliographic": paper.title, "rows": 1, "select": _FIELDS, **params}
    request = ProviderRequest(f"{base}/works", query)
    return await fetch_json("Crossref", request, lambda answer: _merge_first(paper, answer["message"]["items"]))


def _merge_first(paper: Paper, works: Sequence[dict[str, Any]]) -> Paper:
    for work in works:
        title = content_stems(" ".join(work.get("title") or ()))
        if jaccard(title, content_stems(paper.title)) >= _MIN_SAME_TITLE:
            return _merge(paper, work)
    return paper


def _merge(paper: Paper, work: dict[str, Any] | None) -> Paper:
    """Return the paper with the metadata of a work. What its file or BibTeX entry says stays."""
    if work is None:
        return paper
    names = (f"{author.get('given', '')} {author.get('family', '')}" for author in work.get("author") or ())
    authors = tuple(name for name in map(clean_text, names) if name)
    year = ((work.get("issued") or {}).get("date-parts") or [[None]])[0][0]
    cited = (str(reference.get("DOI", "")).lower() for reference in work.get("reference") or ())
    count = work.get("is-referenced-by-count")
    return replace(
        paper,
        authors=paper.authors or authors,
        year=paper.year if year is None else int(year),
        doi=paper.doi or str(work.get("DOI", "")).lower(),
        cited_dois=tuple(doi for doi in cited if doi),
        cited_by=None if count is None else int(count),
    )
