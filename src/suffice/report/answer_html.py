"""Render Markdown that a model wrote as safe HTML, link its citations to the sources, and highlight its claims.

Three protections, each sufficient against a script: the parser has HTML turned off, links remain only if they lead to a
cited source, and the result is sanitised. This module does not know about pages or styles.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape, unescape
from typing import TypeGuard

import nh3
from markdown_it.token import Token

from suffice.text.citations import find_citation_groups, parse_handle
from suffice.text.markdown import get_parser
from suffice.text.plain import replace_spans, strip_control_chars
from suffice.types import Source, SupportLabel

SUPPORT_SYMBOLS: dict[SupportLabel, str] = {"supported": "✓", "contradicted": "✗", "unsupported": "○", "unknown": "?"}

TAG = re.compile(r"(<[^<>]*>)")
# Marks a bracket that the Markdown escaped: it belongs to quoted text (``argv\\[1\\]``) and is not a citation. The code point
# is a Unicode noncharacter, so no text contains it.
_ESCAPED_BRACKET = "\ufdd0"
_ALLOWED_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "blockquote", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td", "a"),
}
_INLINE_TAG = re.compile(r"</?(em|strong|s|code|a|br)\b")
# A unit belongs to the figure before it, as in ``85 %``.
_CLOSING_PUNCTUATION = re.compile(r"""(?:\s?[%‰°′″€$£¥]\w?)?[.!?…,;:"'”’»)\]。！？]*""")
_CLOSING_TAGS = (["</code>"], ["</em>"], ["</strong>"], ["</s>"])
_BLOCK_BOUNDARY = "\n"
_MIN_MATCH_CHARS = 6  # Letters and digits of a claim; shorter texts match by chance.


class MarkdownRenderer:
    """Render the texts of one report; its sources decide which citations and links are valid."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._anchors = {source.id: f"source-{position}" for position, source in enumerate(sources, start=1)}
        self._allowed_urls = {get_parser().normalizeLink(source.url) for source in sources if is_http_url(source.url)}

    def render_block(self, markdown: str, *, has_citations: bool = True) -> str:
        """Render paragraphs, lists and tables; headings start at ``h3``. In the text of a source brackets cite nothing."""
        return self._render_tokens(get_parser().parse(strip_control_chars(markdown)), has_citations=has_citations)

    def render_inline(self, markdown: str) -> str:
        """Render one line of text."""
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
        for part in TAG.split(html):
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


# -- Highlighting claims -----------------------------------------------------------------------------------------------


def highlight_claims(html: str, claims: Sequence[tuple[Sequence[str], SupportLabel]]) -> tuple[str, frozenset[int]]:
    """Return the HTML with each claim marked, and the numbers (from 1) of the claims that were found.

    Each claim is given as the HTML forms that its text may have, the most likely first, and its support label.
    """
    index = _HtmlTextIndex(html)
    found = set()
    cursor = 0
    for number, (forms, support) in enumerate(claims, start=1):
        needles = [_HtmlTextIndex(form).folded_text for form in forms]
        # A claim from a numbered list may start with its number, which HTML shows as a marker and not as text.
        needles += [needle.lstrip("0123456789") for needle in needles]
        span = next(filter(None, (index.find(needle, cursor) for needle in needles)), None)
        if span:
            index.highlight(span, number, support)
            cursor = span[1]
            found.add(number)
    return index.to_html(), frozenset(found)


@dataclass(frozen=True, slots=True)
class _CharPosition:
    part: int
    offset: int
    begins_word: bool


class _HtmlTextIndex:
    """HTML split into texts (even positions) and tags (odd positions), with a searchable string of its letters and digits.

    ``positions`` maps each character of ``folded_text`` to its place in ``parts``. Citations are not part of the text.
    """

    def __init__(self, html: str) -> None:
        self.parts = [part if i % 2 else unescape(part) for i, part in enumerate(TAG.split(html))]
        self.positions: list[_CharPosition] = []
        self._taken: set[int] = set()
        # Insertions by part: offset, order among insertions at the same offset (0 close, 1 verdict, 2 open), HTML.
        self._edits: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        chars: list[str] = []
        begins_word = True
        for i, part in enumerate(self.parts):
            if i % 2:
                if part and not _INLINE_TAG.match(part):
                    chars.append(_BLOCK_BOUNDARY)
                    self.positions.append(_CharPosition(i, 0, True))
                    begins_word = True
                continue
            if self._is_citation(i):
                continue
            for offset, char in enumerate(part):
                folded = [c for c in unicodedata.normalize("NFKD", char).casefold() if c.isalnum()]
                for c in folded:
                    chars.append(c)
                    self.positions.append(_CharPosition(i, offset, begins_word))
                    begins_word = False
                begins_word = begins_word or not folded
        self.folded_text = "".join(chars)

    def find(self, needle: str, cursor: int) -> tuple[int, int] | None:
        """Return the span of the first unmarked occurrence as whole words, searching from the cursor, then from the start."""
        if len(needle) < _MIN_MATCH_CHARS:
            return None
        for begin in (cursor, 0):
            start = self.folded_text.find(needle, begin)
            while start >= 0:
                end = start + len(needle)
                is_whole = self.positions[start].begins_word and (
                    end == len(self.folded_text) or self.positions[end].begins_word
                )
                if is_whole and self._taken.isdisjoint(range(start, end)):
                    return start, end
                start = self.folded_text.find(needle, start + 1)
        return None

    def highlight(self, span: tuple[int, int], claim: int, support: SupportLabel) -> None:
        """Mark a span of the text and put the claim's verdict after it."""
        self._taken.update(range(*span))
        first, last = self.positions[span[0]], self.positions[span[1] - 1]
        for i in range(first.part, last.part + 1, 2):
            begin = first.offset if i == first.part else 0
            end = last.offset + 1 if i == last.part else len(self.parts[i])
            if self.parts[i][begin:end].strip() and not self._is_citation(i):
                self._edits[i].append((begin, 2, f'<mark class="claim {support}" data-claim="{claim}">'))
                self._edits[i].append((end, 0, "</mark>"))
        part, offset = self._find_verdict_position(last)
        verdict = (
            f'<a class="verdict {support}" href="#claim-{claim}" data-claim="{claim}" '
            f'aria-describedby="evidence-{claim}" aria-label="Claim {claim}: {support}">{SUPPORT_SYMBOLS[support]}</a>'
        )
        self._edits[part].append((offset, 1, verdict))

    def to_html(self) -> str:
        pieces = []
        for i, part in enumerate(self.parts):
            edits = sorted(self._edits.get(i, []), key=lambda edit: edit[:2])
            marks = ((offset, offset, mark) for offset, _, mark in edits)
            pieces.append(part if i % 2 else replace_spans(part, marks, partial(escape, quote=False)))
        return "".join(pieces)

    def _is_citation(self, part: int) -> bool:
        return part > 0 and self.parts[part - 1].startswith('<a class="cite"')

    def _find_verdict_position(self, last: _CharPosition) -> tuple[int, int]:
        """Return where to insert the verdict: after the sentence's punctuation and citations, and outside of links."""
        part, offset = last.part, last.offset + 1
        depth = sum(tag.startswith("<a ") - tag.startswith("</a") for tag in self.parts[1:part:2])
        while depth > 0:
            depth -= self.parts[part + 1].startswith("</a")
            part, offset = part + 2, 0
        while True:
            text = self.parts[part]
            closing = _CLOSING_PUNCTUATION.match(text, offset)
            offset = closing.end() if closing else offset
            if not text[offset:] and self.parts[part + 1 : part + 2] in _CLOSING_TAGS:
                part, offset = part + 2, 0
                continue
            if text[offset:].strip() or part + 4 >= len(self.parts) or not self._is_citation(part + 2):
                return part, offset
            part, offset = part + 4, 0
