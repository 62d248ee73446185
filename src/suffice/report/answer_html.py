"""Render Markdown that a model wrote, and excerpts of sources, as safe HTML, with citations as links and with marks.

Three protections, each sufficient against a script: the parser has HTML turned off, links remain only if they lead to a
cited source, and the result is sanitised. This module does not know about pages or styles.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import TypeGuard

import nh3
from markdown_it.token import Token

from suffice.answers import DraftTable, Paragraph, Part, Statement, list_statements
from suffice.claims.split import strip_claim_markup
from suffice.claims.verbatim import find_words
from suffice.text.citations import find_citation_groups, parse_handle
from suffice.text.markdown import get_parser
from suffice.text.parts import parse_parts, render_parts
from suffice.text.plain import replace_spans, strip_control_chars
from suffice.types import Claim, ClosestPassage, Excerpt, Source, SupportLabel

SUPPORT_SYMBOLS: dict[SupportLabel, str] = {"supported": "✓", "contradicted": "✗", "unsupported": "○", "unknown": "?"}

_TAG = re.compile(r"(<[^<>]*>)")
# Marks a bracket that the Markdown escaped: it belongs to quoted text (``argv\\[1\\]``) and is not a citation. The code point
# is a Unicode noncharacter, so no text contains it.
_ESCAPED_BRACKET = "\ufdd0"
_ALLOWED_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "blockquote", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td", "a"),
}
# More noncharacters: they carry marks through the parser. A space beside them lets emphasis begin and end there.
_BEGIN, _END = "\ufdd1", "\ufdd2"
_MARKERS = re.compile(f"({_BEGIN}\u200a?|\u200a?{_END})")
# The readers make Markdown of the office files and books.
MARKDOWN_FILE = re.compile(
    r"\.(?:md|markdown|mdx|mkd|qmd|rmd|docx|docm|dotx|pptx|pptm|ppsx|potx|od[tp]|ot[tp]|rtf|epub)(?:[:#]|$)",
    re.IGNORECASE,
)
_BLANK_LINES = re.compile(r"\n\s*\n")
# A line of prose that goes on in the next one: PDF pages and text files are wrapped at a fixed width.
_WRAPPED = re.compile(rf"(?<=[^\s.:;!?])[ \t]*\n(?=[{_BEGIN}{_END}]?[^\W\dA-Z_])")
_MAX_EXCERPT_CHARS = 6000


class MarkdownRenderer:
    """Render the texts of one report; its sources decide which citations and links are valid."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._anchors = {source.id: f"source-{position}" for position, source in enumerate(sources, start=1)}
        self._allowed_urls = {get_parser().normalizeLink(source.url) for source in sources if is_http_url(source.url)}

    def render_block(self, markdown: str, *, has_citations: bool = True) -> str:
        """Render paragraphs, lists and tables; headings start at ``h3``. In the text of a source brackets cite nothing."""
        return self._render_tokens(get_parser().parse(strip_control_chars(markdown)), has_citations=has_citations)

    def render_inline(self, markdown: str) -> str:
        return self._render_tokens(get_parser().parseInline(" ".join(strip_control_chars(markdown).split())))

    def render_citation(self, handle: str) -> str:
        """Return a link to a source, or the bare handle if the report has no such source."""
        anchor = self._anchors.get(handle)
        return f'<a class="cite" href="#{anchor}">{escape(handle)}</a>' if anchor else escape(handle)

    def _render_tokens(self, tokens: list[Token], *, has_citations: bool = True) -> str:
        _shift_headings(tokens)
        for token in tokens:
            if token.type == "inline":
                token.children = list(self._filter_links(token.children or []))
        html = get_parser().renderer.render(tokens, get_parser().options, {})
        safe = nh3.clean(
            html,
            tags=_ALLOWED_TAGS,
            attributes={"a": {"href"}, "ol": {"start"}},
            url_schemes={"http", "https"},
            link_rel="noopener noreferrer nofollow",
        )
        return (self._link_citations(safe) if has_citations else safe).replace(_ESCAPED_BRACKET, "")

    def _filter_links(self, children: list[Token]) -> Iterable[Token]:
        """Yield the inline tokens without images and without links that do not lead to a source."""
        position = 0
        while position < len(children):
            token = children[position]
            if token.type == "image":
                yield Token("text", "", 0, content=token.content)
            elif token.type == "text_special":
                marker = _ESCAPED_BRACKET if token.markup == "\\[" else ""
                yield Token("text", "", 0, content=token.content + marker)
            elif token.type == "link_open":
                end = next(i for i in range(position, len(children)) if children[i].type == "link_close")
                inner = list(self._filter_links(children[position + 1 : end]))
                shown = "".join(part.content for part in inner).strip()
                if handle := parse_handle(shown):
                    yield Token("text", "", 0, content=handle)
                elif str(token.attrGet("href")) in self._allowed_urls:
                    yield from (token, *inner, children[end])
                else:
                    yield from inner
                position = end
            else:
                yield token
            position += 1

    def _link_citations(self, html: str) -> str:
        """Turn the citations of the text into links, except inside links and code."""
        depth = 0
        parts = []
        for part in _TAG.split(html):
            if part.startswith("<"):
                depth += bool(re.match(r"<(a|code|pre)\b", part)) - bool(re.match(r"</(a|code|pre)\b", part))
            elif depth == 0:
                part = self._link_text_citations(part)
            parts.append(part)
        return "".join(parts)

    def _link_text_citations(self, text: str) -> str:
        spans = []
        for start, end, handles in find_citation_groups(text):
            # A narrow no-break space keeps the citation on the line of the statement.
            is_joined = text[start - 1 : start].isspace() and handles[0] in self._anchors
            links = "".join(map(self.render_citation, handles))
            spans.append((start - is_joined, end, "\u202f" * is_joined + links))
        return replace_spans(text, spans)


def is_http_url(url: str | None) -> TypeGuard[str]:
    """Return whether the page may link to the address."""
    return url is not None and url.lower().startswith(("http://", "https://"))


def _shift_headings(tokens: Sequence[Token]) -> None:
    """Renumber the headings to an outline below the page's own headings that starts at ``h3`` and skips no level."""
    open_levels: list[int] = []
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
            open_levels = [*(above for above in open_levels if above < level), level]
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, len(open_levels) + 2)}"


# -- Excerpts ----------------------------------------------------------------------------------------------------------


def render_excerpt_text(excerpt: Excerpt | ClosestPassage, renderer: MarkdownRenderer) -> str:
    """Return the text of an excerpt laid out as in its source."""
    spans = merge_spans((*excerpt.highlight, *excerpt.headings), min(len(excerpt.text), _MAX_EXCERPT_CHARS))
    text = _insert_markers(excerpt.text, spans)

    def mark(html: str) -> str:
        kinds = ("heading" if span in excerpt.headings else "hit" for span in spans)
        return _place_marks(html, ((f'<mark class="{kind}">', "") for kind in kinds))

    if excerpt.format == "code":
        return f'<pre tabindex="0"><code>{mark(escape(text.strip(chr(10)), quote=False))}</code></pre>'
    is_markdown = bool(MARKDOWN_FILE.search(excerpt.location))
    if excerpt.format == "table" and (is_markdown or text.lstrip(f"{_BEGIN} ").startswith("|")):
        # An excerpt may leave rows out, and a blank line would end the table.
        table = mark(renderer.render_block(_BLANK_LINES.sub("\n", text), has_citations=False))
        return f'<div class="scroll" role="group" tabindex="0" aria-label="Table">{table}</div>'
    if is_markdown:
        shown = mark(renderer.render_block(text, has_citations=False))
        return f'<div class="quoted" dir="auto">{shown}</div>'
    lines = _WRAPPED.sub(" ", text.strip()) if excerpt.format in ("prose", "list") else text.strip()
    return f'<div class="quoted plain" dir="auto">{mark(escape(lines, quote=False))}</div>'


def _insert_markers(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return the cleaned text with a marker at each end of a span."""
    text = _MARKERS.sub(" ", text)
    marked = ((start, end, f"{_BEGIN}{text[start:end]}{_END}") for start, end in spans)
    return strip_control_chars(
        replace_spans(text[:_MAX_EXCERPT_CHARS], marked) + (" …" if len(text) > _MAX_EXCERPT_CHARS else "")
    )


def merge_spans(spans: Iterable[tuple[int, int]], length: int) -> Sequence[tuple[int, int]]:
    """Return the spans inside ``0..length`` in order, joined where they overlap or touch."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(end, length)) for start, end in spans):
        if start >= end:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


# -- Marks -------------------------------------------------------------------------------------------------------------


def mark_claims(answer: str, claims: Sequence[Claim], renderer: MarkdownRenderer) -> tuple[str, frozenset[int]]:
    """Return the answer as HTML with its claims marked, and the numbers (from 1) of those that it has.

    The answer is read into the parts that it was rendered from. A claim is a statement of them, or what a paragraph or a cell
    quotes.
    """
    if not claims:
        return renderer.render_block(answer), frozenset()
    parts = parse_parts(_MARKERS.sub("", answer))
    stated = {_read_words(one.text) for part in parts for one in list_statements(part)}
    waiting = {number: strip_claim_markup(claim.text) for number, claim in enumerate(claims, start=1)}
    marked: list[list[int]] = []

    def is_claim(text: str) -> bool:
        return _read_words(text) in waiting.values()

    def mark(text: str) -> str:
        said = _read_words(text)
        own = [number for number, words in waiting.items() if words == said][:1]
        own = own or [number for number, words in waiting.items() if words not in stated and find_words(words, said)]
        if not own:
            return text
        marked.append(own)
        for number in own:
            del waiting[number]
        return f"{_BEGIN}\u200a{text}\u200a{_END}"

    def mark_part(part: Part) -> Part:
        texts = [one.text for one in list_statements(part)]
        if isinstance(part, Paragraph):
            texts = texts if any(map(is_claim, texts)) else [" ".join(texts)]
            return replace(part, statements=tuple(Statement(mark(text)) for text in texts))
        if isinstance(part, DraftTable):
            rows = ([text] if is_claim(text) else text.split(" | ") for text in texts)
            return replace(part, rows=tuple(Statement(" | ".join(map(mark, cells))) for cells in rows))
        return part

    html = renderer.render_block(render_parts([*map(mark_part, parts)], lambda quotation: ""))
    opened = (f'<mark class="claim {claims[own[0] - 1].support}" data-claim="{own[0]}">' for own in marked)
    marks = zip(opened, ("".join(_render_verdict(one, claims) for one in own) for own in marked), strict=True)
    return _place_marks(html, marks), frozenset(number for own in marked for number in own)


def _read_words(text: str) -> str:
    """Return the words of a statement as those of a claim are read, which a report holds without markup already."""
    return strip_claim_markup(strip_claim_markup(text))


def _render_verdict(number: int, claims: Sequence[Claim]) -> str:
    support = claims[number - 1].support
    return (
        f'<a class="verdict {support}" href="#claim-{number}" data-claim="{number}" '
        f'aria-describedby="evidence-{number}" aria-label="Claim {number}: {support}">{SUPPORT_SYMBOLS[support]}</a>'
    )


def _place_marks(html: str, marks: Iterator[tuple[str, str]]) -> str:
    """Turn the markers into ``<mark>`` elements, one for each text between tags, so that elements stay nested.

    ``marks`` are the start tag of each mark and what stands behind it, outside of links.
    """
    start_tag = behind = link = held = ""
    parts = []
    for part in _TAG.split(html):
        if part.startswith("<"):
            parts.append(_MARKERS.sub("", part))
            if part.startswith("<a "):
                link = part
            elif part.startswith("</a"):
                parts.append(held)
                link = held = ""
            continue
        for piece in _MARKERS.split(part):
            if _BEGIN in piece:
                start_tag, behind = next(marks)
            elif _END in piece:
                parts.append("" if link else behind)
                held += behind if link else ""
                start_tag = ""
            else:
                is_marked = start_tag and piece.strip() and not link.startswith('<a class="cite"')
                parts.append(f"{start_tag}{piece}</mark>" if is_marked else piece)
    return "".join(parts)
