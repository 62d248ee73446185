"""Markdown of a model as safe HTML whose citations lead to their sources.

Three fences, each enough on its own for a script: the parser has HTML off, links survive only to a cited source, and
the outcome is sanitised. It knows nothing of claims, pages or styles.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape, unescape
from typing import TYPE_CHECKING, TypeGuard

from suffice.text.citations import find_citation_groups, parse_handle
from suffice.text.markdown import get_parser
from suffice.text.plain import strip_control_chars
from suffice.types import Source, SupportLabel

if TYPE_CHECKING:
    from markdown_it.token import Token

_TAG = re.compile(r"(<[^>]*>)")
# Stands behind a bracket that the text escaped, which is a bracket of a source (``argv\\[1\\]``) and no citation.
_ESCAPED_BRACKET = "\ufdd0"
_ALLOWED_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "ul", "ol", "li", "blockquote", "h3", "h4", "h5", "h6"),
    *("table", "thead", "tbody", "tr", "th", "td", "a"),
}


class MarkdownRenderer:
    """Renders the texts of one report, whose sources decide which citations and links exist."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.anchors = {source.id: f"source-{position}" for position, source in enumerate(sources, start=1)}
        self._allowed_urls = {get_parser().normalizeLink(source.url) for source in sources if is_http_url(source.url)}

    def render_block(self, markdown: str) -> str:
        """Paragraphs, lists, tables; headings begin at ``h3``."""
        return self._render_tokens(get_parser().parse(strip_control_chars(markdown)))

    def render_inline(self, markdown: str) -> str:
        """One line of text."""
        return self._render_tokens(get_parser().parseInline(" ".join(strip_control_chars(markdown).split())))

    def render_citation(self, handle: str) -> str:
        """A link to a source; the bare handle when the report has no such source."""
        anchor = self.anchors.get(handle)
        return f'<a class="cite" href="#{anchor}">{escape(handle)}</a>' if anchor else escape(handle)

    def _render_tokens(self, tokens: "list[Token]") -> str:
        import nh3

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
        return self._link_citations(safe).replace(_ESCAPED_BRACKET, "")

    def _filter_links(self, children: "list[Token]") -> "Iterable[Token]":
        """The inline tokens without pictures, and without links that lead anywhere but to a source."""
        from markdown_it.token import Token

        position = 0
        while position < len(children):
            token = children[position]
            if token.type == "image":
                yield Token("text", "", 0, content=token.content)
            elif token.type == "text_special":
                guard = _ESCAPED_BRACKET if token.markup == "\\[" else ""
                yield Token("text", "", 0, content=token.content + guard)
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
        closed = 0
        parts = []
        for part in _TAG.split(html):
            if part.startswith("<"):
                closed += bool(re.match(r"<(a|code|pre)\b", part)) - bool(re.match(r"</(a|code|pre)\b", part))
            elif not closed:
                part = self._link_text_citations(part)
            parts.append(part)
        return "".join(parts)

    def _link_text_citations(self, text: str) -> str:
        pieces, position = [], 0
        for start, end, handles in find_citation_groups(text):
            # A narrow space that does not break keeps a citation on the line of what it backs.
            if text[start - 1 : start].isspace() and handles[0] in self.anchors:
                pieces += [text[position : start - 1], "\u202f"]
            else:
                pieces.append(text[position:start])
            pieces += map(self.render_citation, handles)
            position = end
        return "".join([*pieces, text[position:]])


def is_http_url(url: str | None) -> TypeGuard[str]:
    """Whether a link to it may stand on the page."""
    return url is not None and re.match(r"https?://", url, re.IGNORECASE) is not None


def _shift_headings(tokens: "Sequence[Token]") -> None:
    """Headings as an outline below the page's own: the first level is ``h3``, and none is skipped on the way down."""
    open_levels: list[int] = []
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1])
            open_levels = [*(above for above in open_levels if above < level), level]
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, len(open_levels) + 2)}"


SUPPORT_SYMBOLS: dict[SupportLabel, str] = {"supported": "✓", "contradicted": "✗", "unsupported": "○", "unknown": "?"}

_HTML_TAG = re.compile(r"(<[^>]*>)")
_INLINE_TAG = re.compile(r"</?(em|strong|s|code|a|br)\b")
_CLOSING_PUNCTUATION = re.compile(r"""[.!?…,;:"'”’»)\]。！？]*""")
_BLOCK_BOUNDARY = "\n"
# Shorter texts occur by chance.
_MIN_MATCH_CHARS = 6


def highlight_claims(html: str, claims: Sequence[tuple[Sequence[str], SupportLabel]]) -> tuple[str, frozenset[int]]:
    """The HTML with each claim marked, and the numbers (from 1) of the claims that were found.

    A claim is the ways in which its text may have come out as HTML, likeliest first, and what the sources say to it.
    """
    page = _HtmlTextIndex(html)
    found = set()
    cursor = 0
    for claim, (texts, support) in enumerate(claims, start=1):
        needles = [_HtmlTextIndex(text).folded_text for text in texts]
        # A claim taken from a numbered list may carry its number, which the page shows as a marker and not as text.
        needles += [needle.lstrip("0123456789") for needle in needles]
        stretch = next(filter(None, (page.find(needle, cursor) for needle in needles)), None)
        if stretch:
            page.highlight(stretch, claim, support)
            cursor = stretch[1]
            found.add(claim)
    return page.to_html(), frozenset(found)


@dataclass(frozen=True, slots=True)
class _CharPosition:
    part: int
    offset: int
    begins_word: bool


class _HtmlTextIndex:
    """HTML as a list of parts (texts at even positions, tags at odd ones) and the letters that the texts consist of."""

    def __init__(self, html: str) -> None:
        self.parts = [part if i % 2 else unescape(part) for i, part in enumerate(_HTML_TAG.split(html))]
        self.positions: list[_CharPosition] = []
        self.folded_text = ""
        self._taken: set[int] = set()
        # What to insert into a part: where, its rank among insertions at one place (close, verdict, open), and the tag.
        self._edits: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        key: list[str] = []
        begins = True
        for i, part in enumerate(self.parts):
            if i % 2:
                if part and not _INLINE_TAG.match(part):
                    key.append(_BLOCK_BOUNDARY)
                    self.positions.append(_CharPosition(i, 0, True))
                    begins = True
                continue
            if self._is_citation(i):
                continue
            for offset, char in enumerate(part):
                folded = [c for c in unicodedata.normalize("NFKD", char).casefold() if c.isalnum()]
                for c in folded:
                    key.append(c)
                    self.positions.append(_CharPosition(i, offset, begins))
                    begins = False
                begins = begins or not folded
        self.folded_text = "".join(key)

    def find(self, needle: str, cursor: int) -> tuple[int, int] | None:
        """The first free stretch of whole words that reads like the needle, from the cursor on, then before it."""
        if len(needle) < _MIN_MATCH_CHARS:
            return None
        for begin in (cursor, 0):
            start = self.folded_text.find(needle, begin)
            while start >= 0:
                end = start + len(needle)
                whole = self.positions[start].begins_word and (
                    end == len(self.folded_text) or self.positions[end].begins_word
                )
                if whole and self._taken.isdisjoint(range(start, end)):
                    return start, end
                start = self.folded_text.find(needle, start + 1)
        return None

    def highlight(self, stretch: tuple[int, int], claim: int, support: SupportLabel) -> None:
        self._taken.update(range(*stretch))
        first, last = self.positions[stretch[0]], self.positions[stretch[1] - 1]
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
        return "".join(part if i % 2 else self._apply_edits(i, part) for i, part in enumerate(self.parts))

    def _is_citation(self, part: int) -> bool:
        return part > 0 and self.parts[part - 1].startswith('<a class="cite"')

    def _find_verdict_position(self, last: _CharPosition) -> tuple[int, int]:
        """Where the verdict goes: behind the sentence's closing marks and citations, and never inside a link."""
        part, offset = last.part, last.offset + 1
        depth = sum(tag.startswith("<a ") - tag.startswith("</a") for tag in self.parts[1:part:2])
        while depth > 0:
            depth -= self.parts[part + 1].startswith("</a")
            part, offset = part + 2, 0
        while True:
            text = self.parts[part]
            closing = _CLOSING_PUNCTUATION.match(text, offset)
            offset = closing.end() if closing else offset
            if text[offset:].strip() or part + 4 >= len(self.parts) or not self._is_citation(part + 2):
                return part, offset
            part, offset = part + 4, 0

    def _apply_edits(self, i: int, text: str) -> str:
        pieces, position = [], 0
        for offset, _, insertion in sorted(self._edits.get(i, []), key=lambda edit: edit[:2]):
            pieces += [escape(text[position:offset], quote=False), insertion]
            position = offset
        return "".join([*pieces, escape(text[position:], quote=False)])
