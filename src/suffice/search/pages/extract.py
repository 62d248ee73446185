"""The readable text of a page that was fetched, whatever its format, and what it is called."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.errors import PageError
from suffice.search.files import html, pdf
from suffice.search.files.decode import decode
from suffice.search.files.piece import UnreadableFile, collapse_whitespace
from suffice.search.pages.fetch import FetchedPage
from suffice.text.chunks import split_text

_MAX_TITLE_CHARS = 300
_MAX_MARKUP_CHARS = 3_000_000  # Characters of HTML that are parsed; the text of a page stands long before that.
_HTML_START = re.compile(rb"\s*<(?:!doctype html|html|head|body|\?xml)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's text in stretches, each with the address a reader opens to see it."""

    title: str
    kind: str
    parts: tuple[tuple[str, str], ...]


def extract_page(page: FetchedPage, max_chars: int) -> PageText:
    """At most ``most`` characters of the page's text, from its beginning."""
    try:
        if page.content_type == "application/pdf" or page.body.startswith(b"%PDF-"):
            return _extract_pdf(page, max_chars)
        text = decode(page.body, page.url, page.charset)
    except UnreadableFile as error:
        raise PageError(f"{page.url} holds nothing to read: {error}") from error
    is_html = "html" in page.content_type or (not page.content_type and _HTML_START.match(page.body) is not None)
    title, body = _extract_html(page.url, text) if is_html else ("", text.strip())
    if not body:
        raise PageError(f"{page.url} holds no text")
    parts = tuple((part, page.url) for part in split_text(_truncate(body, max_chars)))
    return PageText(collapse_whitespace(title)[:_MAX_TITLE_CHARS], "web" if is_html else "text", parts)


def _extract_html(url: str, markup: str) -> tuple[str, str]:
    """Title with date, and the main text without navigation; the whole readable text where no main text is found."""
    from trafilatura import bare_extraction

    markup = markup[:_MAX_MARKUP_CHARS]
    found: Any = bare_extraction(markup, url=url, with_metadata=True, include_comments=False)
    title, date, text = (found.title, found.date, found.text) if found is not None else (None, None, None)
    if text:
        text = text.replace("\n", "\n\n")  # Each line is a paragraph; a heading must not run into what follows it.
    else:
        try:
            pieces = html.parse(markup, url)
        except UnreadableFile as error:
            raise PageError(f"{url} holds no text outside of scripts and markup") from error
        text, title = "\n".join(piece.text for piece in pieces), title or pieces[0].title
    return " ".join(filter(None, (title, f"({date})" if title and date else ""))), text.strip()


def _extract_pdf(page: FetchedPage, most: int) -> PageText:
    title, parts, left = "", [], most
    for piece in pdf.parse(page.body, Path(page.url.rpartition("/")[2] or "page.pdf")):
        title = title or piece.title.rpartition(", page ")[0]
        if left <= 0:
            break
        parts.append((_truncate(piece.text, left), f"{page.url.partition('#')[0]}#page={piece.page}"))
        left -= len(piece.text)
    return PageText(title[:_MAX_TITLE_CHARS], "pdf", tuple(parts))


def _truncate(text: str, most: int) -> str:
    """The beginning of a text, without half a word at its end."""
    if len(text) <= most:
        return text
    border = max(text.rfind(" ", 0, most), text.rfind("\n", 0, most))
    return text[: border if border > most // 2 else most]
