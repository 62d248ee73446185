"""Render the web sources of a report for reference managers: BibTeX and CSL-JSON."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from suffice.report.answer_html import is_http_url
from suffice.text.plain import to_one_line
from suffice.types import Report, Source

_LATEX_SPECIAL = re.compile(r"[\\{}$&#_%~^]")
_LATEX_WORDS = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def render_bibtex(report: Report) -> str:
    """Return a BibTeX entry for each web source; empty if there is none."""
    accessed = _get_date(report)
    return "\n".join(
        f"@misc{{{key},\n  title = {{{_escape_latex(source.title or url)}}},\n  url = {{{_escape_url(url)}}},\n"
        f"  urldate = {{{accessed}}}\n}}\n"
        for key, url, source in _list_web_sources(report)
    )


def build_csl(report: Report) -> list[dict[str, Any]]:
    """Return a CSL-JSON item for each web source."""
    date = [int(part) for part in _get_date(report).split("-") if part]
    return [
        {
            "id": key,
            "type": "webpage",
            "title": to_one_line(source.title or url),
            "container-title": urlsplit(url).hostname or "",
            "URL": url,
            **({"accessed": {"date-parts": [date]}} if date else {}),
        }
        for key, url, source in _list_web_sources(report)
    ]


def _list_web_sources(report: Report) -> Iterable[tuple[str, str, Source]]:
    for position, source in enumerate(report.sources, start=1):
        if is_http_url(source.url):
            url = to_one_line(source.url)
            host = re.sub(r"[^a-z0-9]+", "-", (urlsplit(url).hostname or "web").lower().removeprefix("www."))
            yield f"{host}-{position}", url, source


def _get_date(report: Report) -> str:
    """Return the day on which the report was written; empty if it does not say."""
    timestamp = report.metadata.get("timestamp")
    return timestamp[:10] if isinstance(timestamp, str) and re.match(r"\d{4}-\d\d-\d\d", timestamp) else ""


def _escape_latex(text: str) -> str:
    return _LATEX_SPECIAL.sub(lambda match: _LATEX_WORDS.get(match[0], f"\\{match[0]}"), to_one_line(text))


def _escape_url(url: str) -> str:
    return url.replace("{", "%7B").replace("}", "%7D").replace("\\", "%5C")
