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

_ACTIVE = re.compile(r"\]\s*[(:\[]|://|www\.|<[A-Za-z/!?]|mailto:", re.IGNORECASE)
_CODE = re.compile(r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(?<!\\)(`+)(?!`).+?(?<!`)\2(?!`))", re.DOTALL)
_INSIDE = r"((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)"
_PICTURE = re.compile(rf"!\[{_INSIDE}\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(rf"(?<!\\)\[{_INSIDE}\]\(\s*<?([^)\s>]*)>?[^)]*\)")
_DEFINED = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*\S.*(?:\n|\Z)", re.MULTILINE)
_BRACKETED = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]*|[^<>\s@]+@[^<>\s]+)>")
_BARE = re.compile(r"(?<![\w(<\[/.@:])(?:https?://|www\.)[^\s<>\[\]`]*[^\s<>\[\]`.,;:!?'\")*_]", re.IGNORECASE)
_CITATION = re.compile(r"\[?(\d{1,4})\]?")


def tamed(markdown: str, sources: Collection[str]) -> str:
    """The text in which only addresses among ``sources`` can be followed.

    >>> tamed("See [here](https://evil.example/?q=1) and ![](https://evil.example/p.png) [1].", ())
    'See here and  [1].'
    """
    if not _ACTIVE.search(markdown):
        return markdown
    known = {_address(url) for url in sources}
    pieces = _CODE.split(markdown)
    # Three to a match: the text before it, the code, its ticks.
    text = "".join(
        _plain(piece, known) if number % 3 == 0 else piece
        for number, piece in enumerate(pieces)
        if piece is not None and number % 3 != 2
    )
    return _inert(text) if _leads_away(text, known) else text


def _plain(text: str, known: Collection[str]) -> str:
    text = _DEFINED.sub("", _PICTURE.sub(lambda found: found[1], text))
    text = _LINK.sub(lambda found: found[0] if _address(found[2]) in known else _shown(found[1]), text)
    text = _BRACKETED.sub(lambda found: found[0] if _address(found[1]) in known else f"`{found[1]}`", text)
    return _BARE.sub(lambda found: found[0] if _known(found[0], known) else f"`{found[0]}`", text)


def _shown(words: str) -> str:
    citation = _CITATION.fullmatch(words.strip())
    return f"[{citation[1]}]" if citation else words


def _known(address: str, known: Collection[str]) -> bool:
    """Also when a full stop or bracket of the sentence clings to it."""
    return _address(address) in known or _address(address.rstrip(")")) in known


def _leads_away(markdown: str, known: Collection[str]) -> bool:
    """Asked of a parser: whether anything is left that a viewer would follow, fetch or run."""
    for token in _parser().parse(markdown):
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline", "image"):
                return True
            if part.type == "link_open" and str(part.attrGet("href")) not in known:
                return True
    return False


def _inert(markdown: str) -> str:
    """Entities and not backslashes: a backslash already there would turn ours into a pair and free the character."""
    return markdown.replace("<", "&lt;").replace("![", "!&#91;").replace("](", "]&#40;").replace("]:", "]&#58;")


def _address(url: str) -> str:
    return _parser().normalizeLink(url)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")
