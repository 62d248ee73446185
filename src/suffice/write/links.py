"""Links and pictures in an answer: what leads to a retrieved source stays, everything else becomes plain text.

A model that a page talked into linking somewhere, or into showing a picture whose address carries the user's words away, has
said nothing that leads anywhere. Code is left as it is: nobody follows it.
"""

import re
from collections.abc import Collection
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_MAY_CONTAIN_LINK = re.compile(r"\]\s*[(:\[]|://|www\.|<[A-Za-z/!?]|mailto:", re.IGNORECASE)
_CODE_SPAN_OR_FENCE = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(?<!\\)(`+)(?!`).+?(?<!`)\2(?!`))", re.DOTALL)
_LINK_TEXT = r"((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)"
_IMAGE = re.compile(rf"!\[{_LINK_TEXT}\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(rf"(?<!\\)\[{_LINK_TEXT}\]\(\s*<?([^)\s>]*)>?[^)]*\)")
_DEFINITION_LINE = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*\S.*(?:\n|\Z)", re.MULTILINE)
_AUTOLINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]*|[^<>\s@]+@[^<>\s]+)>")
_BARE_URL = re.compile(r"(?<![\w(<\[/.@:])(?:https?://|www\.)[^\s<>\[\]`]*[^\s<>\[\]`.,;:!?'\")*_]", re.IGNORECASE)
_CITATION = re.compile(r"\[?(\d{1,4})\]?")


def neutralize_links(markdown: str, allowed_urls: Collection[str]) -> str:
    """The text in which only addresses among ``sources`` can be followed.

    >>> tamed("See [here](https://evil.example/?q=1) and ![](https://evil.example/p.png) [1].", ())
    'See here and  [1].'
    """
    if not _MAY_CONTAIN_LINK.search(markdown):
        return markdown
    known = {_normalize_url(url) for url in allowed_urls}
    pieces = _CODE_SPAN_OR_FENCE.split(markdown)
    # Three to a match: the text before it, the code, its ticks.
    text = "".join(
        _neutralize_text(piece, known) if number % 3 == 0 else piece
        for number, piece in enumerate(pieces)
        if piece is not None and number % 3 != 2
    )
    return _escape_active(text) if _has_active_content(text, known) else text


def _neutralize_text(text: str, known: Collection[str]) -> str:
    text = _DEFINITION_LINE.sub("", _IMAGE.sub(lambda found: found[1], text))
    text = _LINK.sub(lambda found: found[0] if _normalize_url(found[2]) in known else _link_text(found[1]), text)
    text = _AUTOLINK.sub(lambda found: found[0] if _normalize_url(found[1]) in known else f"`{found[1]}`", text)
    return _BARE_URL.sub(lambda found: found[0] if _is_known_url(found[0], known) else f"`{found[0]}`", text)


def _link_text(words: str) -> str:
    citation = _CITATION.fullmatch(words.strip())
    return f"[{citation[1]}]" if citation else words


def _is_known_url(address: str, known: Collection[str]) -> bool:
    """Also when a full stop or bracket of the sentence clings to it."""
    return _normalize_url(address) in known or _normalize_url(address.rstrip(")")) in known


def _has_active_content(markdown: str, known: Collection[str]) -> bool:
    """Asked of a parser: whether anything is left that a viewer would follow, fetch or run."""
    for token in _get_parser().parse(markdown):
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline", "image"):
                return True
            if part.type == "link_open" and str(part.attrGet("href")) not in known:
                return True
    return False


def _escape_active(markdown: str) -> str:
    """Entities and not backslashes: a backslash already there would turn ours into a pair and free the character."""
    return markdown.replace("<", "&lt;").replace("![", "!&#91;").replace("](", "]&#40;").replace("]:", "]&#58;")


def _normalize_url(url: str) -> str:
    return _get_parser().normalizeLink(url)


@cache
def _get_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
