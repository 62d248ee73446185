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
        return await get_pool().run_async(IsolatedJob(f"{__name__}:extract_page", args, limits), PageText)
    except JobFailed as error:
        raise PageError(f"{shorten_url(page.url)} {error}") from error


def extract_page(url: str, content_type: str, charset: str, body: bytes, max_chars: int) -> PageText:
    """Return the first ``max_chars`` characters of a page's text. Its fields can be sent to another process."""
    try:
        if content_type == "application/pdf" or body.startswith(b"%PDF-"):
            return _extract_pdf(url, body, max_chars)
        text = decode(body, url, charset)
    except UnreadableFile as error:
        raise PageError(f"{url} cannot be read: {error}") from error
    is_html = "html" in content_type or (not content_type and _HTML_START.match(body) is not None)
    title, words = _extract_html(url, text) if is_html else ("", text.strip())
    if not words:
        raise PageError(f"{url} contains no text")
    parts = tuple((part, url) for part in split_text(_truncate(words, max_chars)))
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


def _extract_pdf(url: str, body: bytes, max_chars: int) -> PageText:
    title, parts, left = "", [], max_chars
    for chunk in pdf.parse(body, Path(url.rpartition("/")[2] or "page.pdf"), max_chars=max_chars).chunks:
        title = title or chunk.title.rpartition(", page ")[0]
        if left <= 0:
            break
        parts.append((_truncate(chunk.text, left), f"{url.partition('#')[0]}#page={chunk.page}"))
        left -= len(chunk.text)
    return PageText(title[:_MAX_TITLE_CHARS], "pdf", tuple(parts))


def _truncate(text: str, max_chars: int) -> str:
    """Return the beginning of a text, cut at a word boundary if there is one in the later half."""
    if len(text) <= max_chars:
        return text
    end = max(text.rfind(" ", 0, max_chars), text.rfind("\n", 0, max_chars))
    return text[: end if end > max_chars // 2 else max_chars]
