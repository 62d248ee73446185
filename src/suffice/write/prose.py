"""Markdown of a model as safe HTML whose citations lead to their sources.

Three fences, each enough on its own for a script: the parser has HTML off, links survive only to a cited source, and
the outcome is sanitised. It knows nothing of claims, pages or styles.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, TypeGuard

from suffice.types import Source
from suffice.write.plain import strip_control_chars

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_TAG = re.compile(r"(<[^>]*>)")
_CITATION = re.compile(r"(\s?)\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]")
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
        self._allowed_urls = {_get_parser().normalizeLink(source.url) for source in sources if is_http_url(source.url)}

    def render_block(self, markdown: str) -> str:
        """Paragraphs, lists, tables; headings begin at ``h3``."""
        return self._render_tokens(_get_parser().parse(strip_control_chars(markdown)))

    def render_inline(self, markdown: str) -> str:
        """One line of text."""
        return self._render_tokens(_get_parser().parseInline(" ".join(strip_control_chars(markdown).split())))

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
        html = _get_parser().renderer.render(tokens, _get_parser().options, {})
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
                if re.fullmatch(r"\[?\d{1,4}\]?", shown):
                    yield Token("text", "", 0, content=f"[{shown.strip('[]')}]")
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
                part = _CITATION.sub(self._replace_citation, part)
            parts.append(part)
        return "".join(parts)

    def _replace_citation(self, found: re.Match[str]) -> str:
        handles = [f"[{digits}]" for digits in re.findall(r"\d+", found[2])]
        # A narrow space that does not break keeps a citation on the line of what it backs.
        space = "\u202f" if found[1] and handles[0] in self.anchors else found[1]
        return space + "".join(map(self.render_citation, handles))


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


@cache
def _get_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Reference definitions are off: "[1]: https://…" in an answer would take the citation [1] over.
    # So is the joining of texts: it would forget which brackets were escaped.
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser.disable(["reference", "text_join"])
