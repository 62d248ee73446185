"""Extract the title and the readable text of a fetched page: HTML, PDF or plain text.

``extract_isolated`` does it in a child process with limits, because a page may be made to keep a parser busy for hours.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.errors import PageError
from suffice.search.files import html, pdf
from suffice.search.files.chunk import UnreadableFile
from suffice.search.files.decode import decode
from suffice.search.isolation.jobs import IsolatedJob, JobFailed, Limits
from suffice.search.isolation.pool import get_pool
from suffice.search.pages.fetch import FetchedPage
from suffice.search.urls import shorten_url
from suffice.text.chunks import split_text
from suffice.text.plain import to_one_line

_MAX_TITLE_CHARS = 300
_MAX_MARKUP_CHARS = 3_000_000  # HTML beyond this length is not parsed.
# A page has at most 10 MB; ordinary ones take less than a second and 300 MB.
LIMITS = Limits(memory_bytes=1 << 30, cpu_seconds=10, seconds=18.0, output_bytes=4 << 20)
_HTML_START = re.compile(rb"\s*<(?:!doctype html|html|head|body|\?xml)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page in parts, each with the URL that shows it."""

    title: str
    kind: str
    parts: tuple[tuple[str, str], ...]


async def extract_isolated(page: FetchedPage, max_chars: int, limits: Limits = LIMITS) -> PageText:
    """Return the first ``max_chars`` characters of the page's text, extracted in a child process."""
    args = (page.url, page.content_type, page.charset, page.body, max_chars)
    try:
        return await get_pool().run_async(IsolatedJob(f"{__name__}:extract_fields", args, limits), PageText)
    except JobFailed as error:
        raise PageError(f"{shorten_url(page.url)} {error}") from error


def extract_fields(url: str, content_type: str, charset: str, body: bytes, max_chars: int) -> PageText:
    """Run ``extract_page`` on the fields of a page, which can be sent to another process."""
    return extract_page(FetchedPage(url, content_type, charset, body), max_chars)


def extract_page(page: FetchedPage, max_chars: int) -> PageText:
    """Return the first ``max_chars`` characters of the page's text."""
    try:
        if page.content_type == "application/pdf" or page.body.startswith(b"%PDF-"):
            return _extract_pdf(page, max_chars)
        text = decode(page.body, page.url, page.charset)
    except UnreadableFile as error:
        raise PageError(f"{page.url} cannot be read: {error}") from error
    is_html = "html" in page.content_type or (not page.content_type and _HTML_START.match(page.body) is not None)
    title, body = _extract_html(page.url, text) if is_html else ("", text.strip())
    if not body:
        raise PageError(f"{page.url} contains no text")
    parts = tuple((part, page.url) for part in split_text(_truncate(body, max_chars)))
    return PageText(to_one_line(title)[:_MAX_TITLE_CHARS], "web" if is_html else "text", parts)


def _extract_html(url: str, markup: str) -> tuple[str, str]:
    """Return the title with the date, and the main text; the whole readable text if no main text is found."""
    from trafilatura import bare_extraction

    markup = markup[:_MAX_MARKUP_CHARS]
    found: Any = bare_extraction(markup, url=url, with_metadata=True, include_comments=False)
    title, date, text = (found.title, found.date, found.text) if found is not None else (None, None, None)
    if text:
        text = text.replace("\n", "\n\n")  # Each line is a paragraph; this keeps a heading apart.
    else:
        try:
            chunks = html.parse(markup, url)
        except UnreadableFile as error:
            raise PageError(f"{url} contains no text outside of scripts and markup") from error
        text, title = "\n".join(chunk.text for chunk in chunks), title or chunks[0].title
    return " ".join(filter(None, (title, f"({date})" if title and date else ""))), text.strip()


def _extract_pdf(page: FetchedPage, max_chars: int) -> PageText:
    title, parts, left = "", [], max_chars
    for chunk in pdf.parse(page.body, Path(page.url.rpartition("/")[2] or "page.pdf"), max_chars=max_chars).chunks:
        title = title or chunk.title.rpartition(", page ")[0]
        if left <= 0:
            break
        parts.append((_truncate(chunk.text, left), f"{page.url.partition('#')[0]}#page={chunk.page}"))
        left -= len(chunk.text)
    return PageText(title[:_MAX_TITLE_CHARS], "pdf", tuple(parts))


def _truncate(text: str, max_chars: int) -> str:
    """Return the beginning of a text, cut at a word boundary if there is one in the later half."""
    if len(text) <= max_chars:
        return text
    end = max(text.rfind(" ", 0, max_chars), text.rfind("\n", 0, max_chars))
    return text[: end if end > max_chars // 2 else max_chars]
