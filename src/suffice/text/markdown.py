"""All Markdown syntax is defined here: blocks, headings and sections as offsets, fences, links, escapes and plain text.

Block structure is read by markdown-it-py, with the settings that ``report`` renders with. Offsets count characters of the
text as given. Inline markup is handled by patterns that keep every offset.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt

from suffice.text.citations import has_citation, parse_handle, strip_citations
from suffice.text.plain import replace_spans
from suffice.text.sections import WRITTEN_SECTIONS, ReportSection
from suffice.text.sentences import Offsets

# -- headings, sections, fences ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it: ``text[start:end]`` begins with the heading, its body at ``body_start``."""

    title: str
    level: int
    start: int
    body_start: int
    end: int


def find_headings(markdown: str, *, bold_lines: bool = False) -> list[Section]:
    """Return every heading written with ``#``, each with the text up to the next one of any level.

    Underlined headings are left out: a model that writes dashes under a paragraph means a rule. ``bold_lines``: a line that
    is nothing but bold counts as a heading of level 6.
    """
    if "#" not in markdown and not (bold_lines and "**" in markdown):
        return []
    document = _parse_blocks(markdown)
    found: list[tuple[str, int, int, int]] = []
    for block in document.blocks:
        if block.is_nested:
            continue
        if block.kind == "heading" and block.markup.startswith("#"):
            title = strip_markdown(block.content)
            found.append((title, block.level, document.starts[block.first], document.starts[block.last]))
        elif block.kind == "paragraph" and bold_lines:
            for number in range(block.first, block.last):
                if title := _parse_bold_line(document.line(number)):
                    found.append((title, _BOLD_LEVEL, document.starts[number], document.starts[number + 1]))
    ends = [*(start for _, _, start, _ in found), len(markdown)][1:]
    return [Section(*heading, end) for heading, end in zip(found, ends, strict=True)]


def find_sections(markdown: str, level: int) -> list[Section]:
    """Return the headings of one level, each with everything up to the next heading of that level or above."""
    above = [heading for heading in find_headings(markdown) if heading.level <= level]
    ends = [*(heading.start for heading in above), len(markdown)][1:]
    return [replace(heading, end=end) for heading, end in zip(above, ends, strict=True) if heading.level == level]


def drop_empty_headings(markdown: str, keep: Collection[str] = ()) -> str:
    """Return the text without headings that have nothing under them, unless they cite a source or are to be kept."""
    next_level = 0
    for heading in reversed(find_headings(markdown)):
        has_body = bool(markdown[heading.body_start : heading.end].strip())
        line = markdown[heading.start : heading.body_start]
        if has_body or next_level > heading.level or has_citation(line) or line.strip() in keep:
            next_level = heading.level
        else:
            markdown = markdown[: heading.start] + markdown[heading.end :]
    return markdown


def find_open_fence(markdown: str) -> str:
    """Return the marks of a code block that is never closed; empty when all are."""
    if "```" not in markdown and "~~~" not in markdown:
        return ""
    document = _parse_blocks(markdown)
    last = document.blocks[-1] if document.blocks else None
    if last is None or last.kind != "code" or not last.markup or last.is_nested:
        return ""
    closing = rf" {{0,3}}{last.markup}{last.markup[0]}*[ \t]*"
    is_closed = last.last - last.first > 1 and re.fullmatch(closing, document.line(last.last - 1).rstrip("\r\n"))
    return "" if is_closed else last.markup


# Models write fences on one line and leave them open, which CommonMark does not know.
_WRAPPING_FENCE = re.compile(r"(`{3,}|~{3,})([\w-]*)[ \t]*\n?")


def unwrap_fence(text: str, languages: Collection[str] | None = None) -> str | None:
    """Return what stands inside the code fence around a whole text; ``None`` when no fence wraps it.

    The fence may be on one line or left open. ``languages`` limits which fences count; an empty name is a fence without one.

    >>> unwrap_fence("```python\\nprint(1)\\n```"), unwrap_fence("```\\na\\n```\\n\\nMore text.")
    ('print(1)', None)
    """
    text = text.strip()
    opening = _WRAPPING_FENCE.match(text)
    if opening is None or (languages is not None and opening[2].lower() not in languages):
        return None
    wrapped = text[opening.end() :].removesuffix(opening[1]).rstrip(" \t").removesuffix("\n")
    return None if find_open_fence(wrapped) else wrapped


# -- prose -------------------------------------------------------------------------------------------------------------

# Begins an item for readers where CommonMark continues the paragraph: another bullet, or a number that is not 1.
_LOOSE_ITEM_MARKER = re.compile(r"\s*(?:>\s*)*(?:•|\d{1,2}[.)])\s")
_LINE_PREFIX = re.compile(r"\s*(?:>\s*)*(?:#{1,6}\s+)?(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,9}[.)]\s+)?")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*$")
_LINK_DEFINITION = re.compile(r"\s{0,3}\[\^?[^\]]+\]:\s")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_COMMENT_BLOCK = re.compile(r"^(?P<indent> {0,3})<!-(?P<rest>-(?:(?!-->).)*-->[ \t]*\r?)$", re.DOTALL | re.MULTILINE)
# Keys and values. Lines that cite a source or are no keys are text between two rules.
_FRONT_MATTER = re.compile(
    r"\A---\r?\n(?:[\w-]++:(?!.*\[\d+\]).*+\n(?:(?:[ \t]++|-[ \t])(?!.*\[\d+\]).*+\n)*+)++(?:---|\.\.\.)\r?\n"
)
_BOLD_LINE = re.compile(r" {0,3}\*\*([^*\n]{1,80}?):?\*\*[\s:#]*")
_BOLD_LEVEL = 6
_SOURCE_LIST_HEADINGS = frozenset(
    "sources|source list|references|bibliography|works cited|citations|footnotes".split("|")
)
# Sections that state nothing about the world: lists of sources, and what our own report says about itself.
_NON_CLAIM_HEADINGS = _SOURCE_LIST_HEADINGS | {
    "further reading",
    "see also",
    *(title.lower() for title in ReportSection if title not in WRITTEN_SECTIONS),
}
_FENCE_LINE = re.compile(r"^[ \t>*+-]*(?:`{3}|~{3}).*", re.MULTILINE)


def find_prose_blocks(markdown: str) -> list[Offsets]:
    """Return the offsets of the paragraphs, list items and table rows in reading order, without their markers.

    Headings, code, comments, link definitions and sections that state nothing, such as a list of sources, are no prose, but
    a heading that cites a source is.
    """
    text = _mask_comments(markdown)
    document = _parse_blocks(text)
    found: list[Offsets] = []
    aside = 0  # The level of the heading above, where it opens such a section.
    for block in document.blocks:
        begin = -1
        for number in range(block.first, block.last):
            start, line = document.starts[number], document.line(number)
            heading = _parse_heading(block, line)
            if heading and (not aside or heading[0] <= aside):
                aside = heading[0] if heading[1] in _NON_CLAIM_HEADINGS else 0
            is_prose = not (heading or aside) and _is_prose(block, line)
            is_row = block.kind in ("table_head", "table_row") or _TABLE_ROW.match(line) is not None
            if begin >= 0 and (not is_prose or is_row or _LOOSE_ITEM_MARKER.match(line)):
                _append_block(found, text, begin, start)
                begin = -1
            if is_prose and is_row:
                bars = len(line) - len(line.lstrip(" \t|>"))
                _append_block(found, text, start + bars, start + len(line.rstrip(" \t|\n\r")))
            elif is_prose and begin < 0:
                begin = start + len(_LINE_PREFIX.match(line)[0])  # type: ignore[index]
        if begin >= 0:
            _append_block(found, text, begin, document.starts[block.last])
    return found


def iter_source_lines(markdown: str) -> Iterator[str]:
    """Yield the lines of sections that list sources, and link definitions anywhere."""
    document = _parse_blocks(_mask_comments(markdown))
    inside = 0
    for block in document.blocks:
        for number in range(block.first, block.last):
            line = document.line(number)
            heading = _parse_heading(block, line)
            if heading:
                if not inside or heading[0] <= inside:
                    inside = heading[0] if heading[1] in _SOURCE_LIST_HEADINGS | {"notes"} else 0
            elif (inside and _has_words(line)) or _LINK_DEFINITION.match(line):
                yield line.strip()


def _parse_heading(block: "_Block", line: str) -> tuple[int, str] | None:
    """Return level and words of a heading, which may be a bold line; ``None`` for one that cites a source."""
    if block.kind == "heading":
        is_title = not block.is_nested and "\n" not in block.content and not has_citation(block.content)
        return (block.level, re.sub(r"[*_:`]", "", block.content).strip().lower()) if is_title else None
    if block.kind == "paragraph" and (title := _parse_bold_line(line)):
        return _BOLD_LEVEL, title.lower()
    return None


def _parse_bold_line(line: str) -> str:
    """Return the words of a line that is nothing but bold and no sentence; empty for any other line."""
    bold = _BOLD_LINE.fullmatch(line) if "**" in line else None
    title = bold[1].strip() if bold else ""
    return "" if title.endswith(".") or has_citation(title) else title


def _is_prose(block: "_Block", line: str) -> bool:
    if block.kind == "code" or not _has_words(line) or _LINK_DEFINITION.match(line):
        return False
    return block.kind != "table_head" or has_citation(line)


def _has_words(text: str) -> bool:
    return any(map(str.isalnum, text))


def _mask_comments(text: str) -> str:
    """Return the text with comments and front matter blanked at the same offsets."""
    text = _FRONT_MATTER.sub(lambda match: _blank(match.group()), text)
    # A comment on lines of its own ends a list and a paragraph, as a rule does.
    text = _COMMENT_BLOCK.sub(lambda match: f"{match['indent']}***{_blank(match['rest'])}", text)
    # Behind a fence it is no comment, and the fence closes no block.
    text = _FENCE_LINE.sub(lambda match: match.group().replace("<!--", "xxxx"), text)
    return _COMMENT.sub(lambda match: _blank(match.group()), text)


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)


def _append_block(found: list[Offsets], text: str, start: int, end: int) -> None:
    if _has_words(text[start:end]):
        found.append((start, start + len(text[start:end].rstrip())))


# -- the parser --------------------------------------------------------------------------------------------------------

_LINE_END = re.compile(r"\r\n?|\n")
_MAX_NESTING = 100  # Levels of quotes and lists; deeper text is read as one paragraph.


class _Block(NamedTuple):
    """Lines ``first`` to ``last`` (exclusive) of a document."""

    kind: Literal["heading", "paragraph", "code", "table_head", "table_row"]
    first: int
    last: int
    is_nested: bool
    """Inside a list or a quote."""
    markup: str = ""
    """The marks of a heading or fence; empty for indented code."""
    content: str = ""
    """The words of a heading."""

    @property
    def level(self) -> int:
        return {"=": 1, "-": 2}.get(self.markup, len(self.markup))


class _Document(NamedTuple):
    text: str
    starts: tuple[int, ...]
    """Offsets at which the lines begin, and the text's end."""
    blocks: tuple[_Block, ...]

    def line(self, number: int) -> str:
        """The line with its line end."""
        return self.text[self.starts[number] : self.starts[number + 1]]


@lru_cache(maxsize=16)
def _parse_blocks(text: str) -> _Document:
    """Parse a text into its blocks. The latest texts are cached: a draft is looked at several times."""
    tokens = get_block_parser().parse(text)
    starts = (0, *(match.end() for match in _LINE_END.finditer(text)), len(text))
    blocks: list[_Block] = []
    in_head = False
    for number, token in enumerate(tokens):
        if token.map is None:
            continue
        first, last = token.map
        is_nested = token.level > 0
        if token.type == "heading_open":
            blocks.append(_Block("heading", first, last, is_nested, token.markup, tokens[number + 1].content))
        elif token.type == "paragraph_open":
            blocks.append(_Block("paragraph", first, last, is_nested))
        elif token.type in ("fence", "code_block"):
            blocks.append(_Block("code", first, last, is_nested, token.markup))
        elif token.type in ("thead_open", "tbody_open"):
            in_head = token.type == "thead_open"
        elif token.type == "tr_open":
            blocks.append(_Block("table_head" if in_head else "table_row", first, last, is_nested))
    return _Document(text, starts, tuple(_fill_gaps(text, starts, blocks)))


def _fill_gaps(text: str, starts: tuple[int, ...], blocks: list[_Block]) -> Iterator[_Block]:
    """Yield the blocks, and a paragraph for each gap with words in it: what the parser gave up on is read nevertheless."""
    reached = 0
    for block in [*blocks, None]:
        first = block.first if block else len(starts) - 1
        if _has_words(text[starts[reached] : starts[first]]):
            yield _Block("paragraph", reached, first, True)
        if block:
            yield block
            reached = block.last


@cache
def get_parser() -> MarkdownIt:
    """Return the parser for what we render.

    Raw HTML is off. So are reference definitions: ``[1]: https://…`` in an answer would take the citation ``[1]`` over. So
    is the joining of texts, which would forget which brackets were escaped.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    return parser.disable(["reference", "text_join"])


@cache
def get_block_parser(*, is_source: bool = False) -> MarkdownIt:
    """Return a parser of blocks alone; a document that is searched may have raw HTML and reference definitions."""
    parser = MarkdownIt("commonmark", {"html": is_source, "maxNesting": _MAX_NESTING}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser if is_source else parser.disable("reference")


# -- inline markup -----------------------------------------------------------------------------------------------------

# A bracket that would pass for a citation, a footnote or a link; not that of a date before a chat message.
_BRACKET = (
    r"\[(?!\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?\]\s[^\s(\[:])"
    r"(?!(?:(?![^\W\d_])[^\[\]\n:^])*+[^\W\d_][^\[\]\n:^]*+\](?![(\[:]))"
)
# Only what CommonMark may take for markup.
_SPECIAL = re.compile(
    rf"{_BRACKET}|\\(?=[!-/:-@\[-`{{-~]|\n|$)|`|(?<!\s)\*|\*(?!\s)|<(?=[A-Za-z/!?])|~(?=~)|(?<=~)~"
    r"|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|^(?:>|(?:#{1,6}|[-+*])(?=\s|$)|(?:-{2,}|=+)$)"
)
# A call, or a name or path such as ``*args`` or ``src/__init__.py:10``.
_NAME = re.compile(
    r"(?<![\w./*`\\\x01])(?:[A-Za-z_][\w.]*+\((?:[^()`\n]|\((?:[^()`\n]|\([^()`\n]*+\))*+\)){0,200}+\)"
    r"|(?:\*{0,2}|[./~]*/)\w(?:[\w./-]*\w)?(?::\d+(?:-\d+)?)?)(?![\w*`(\x01])"
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS_ESCAPES = (r"\*", r"\_", r"\`")
# An escaped character is passed over, so that an escaped tick opens no code.
_CODE = re.compile(r"\\[!-/:-@\[-`{-~]|(?:(?<!`)|(?<=\\`))(?P<ticks>`++)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)")
# Each ends at the next mark that is not escaped or inside a word, so that many open marks do not take long.
_STRONG = re.compile(r"(?<!\\)(\*\*|__)(?=\S)((?:\\.|(?!\1)[^\\\n])++)(?<!\s)\1")
_EMPHASIS = re.compile(r"(?<![\\\w*])([*_])(?=\S)((?:\\.|(?!\1)[^\\\n]|(?<=\w)\1(?=\w))++)(?<!\s)\1(?!\w)")
_QUOTE_MARKER = re.compile(r"\n[ \t]*(?:>[ \t]*)+")
_LIST_MARKER = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)


def escape_markdown(text: str) -> str:
    r"""Return the text so that Markdown shows it as it is: names and calls as code where needed, the rest escaped.

    >>> escape_markdown("__init__(*args) of lru_cache in a[1] [optional]")
    '`__init__(*args)` of lru_cache in a\\[1] [optional]'
    >>> escape_markdown("[2025-03-17 16:45] Ann: Yes.")
    '[2025-03-17 16:45] Ann: Yes.'
    """
    pieces, position = [], 0
    for match in _NAME.finditer(text) if _SPECIAL.search(text) else ():
        if _SPECIAL.search(match.group()) and re.search(r"[^\W_]", match.group()):
            pieces += [_escape(text, position, match.start()), to_inline_code(match.group())]
            position = match.end()
    return _NUMBERED.sub(r"\1\\\2", "".join([*pieces, _escape(text, position, len(text))]))


def _escape(text: str, start: int, end: int) -> str:
    """Return a part of the text with its special characters escaped; what stands around the part counts."""
    pieces = []
    for match in _SPECIAL.finditer(text, start, end):
        pieces += [text[start : match.start()], "\\", match.group()]
        start = match.end()
    return "".join([*pieces, text[start:end]])


def split_row(line: str) -> list[str]:
    row = line.strip().removeprefix("|").removesuffix("|").replace("\\|", "\0")
    return [cell.strip().replace("\0", "|") for cell in row.split("|")]


def escape_line(line: str) -> str:
    r"""Return a whole line as Markdown that shows it as it is: unchanged if possible, else escaped.

    >>> escape_line("merge(*iterables)"), escape_line("__init__.py"), escape_line("2*3*4")
    ('merge(*iterables)', '`__init__.py`', '2\\*3\\*4')
    """
    if not _SPECIAL.search(line):
        return escape_markdown(line)
    tokens = [] if re.search(_BRACKET, line) or "~~" in line else _get_strict_parser().parse(line)
    is_plain = len(tokens) == 3 and [(part.type, part.content) for part in tokens[1].children or ()] == [("text", line)]
    return line if is_plain else drop_needless_escapes(escape_markdown(line))


def drop_needless_escapes(block: str) -> str:
    r"""Return a block of Markdown without the escapes of emphasis, if it renders the same.

    >>> drop_needless_escapes(r"Price\* in euros"), drop_needless_escapes(r"2\*3\*4")
    ('Price* in euros', '2\\*3\\*4')
    """
    bare = _CODE.sub(lambda match: match.group()[match.group() in _EMPHASIS_ESCAPES :], block)
    render = _get_strict_parser().render
    return bare if bare == block or render(bare) == render(block) else block


def to_inline_code(text: str) -> str:
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if text.startswith("`") or text.endswith("`") else f"{ticks}{text}{ticks}"


def strip_markdown(markdown: str, *, keep_citations: bool = False) -> str:
    r"""Return the words of a line: no citations, code ticks, emphasis or escapes, and single spaces.

    >>> strip_markdown(r"The `x_y` is **not** \*kept\* [2].")
    'The x_y is not *kept*.'
    """

    def strip_text(text: str) -> str:
        text = text if keep_citations else strip_citations(text)
        return _ESCAPED.sub(r"\1", _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", text)))

    code = ((*match.span(), match["code"].strip()) for match in _CODE.finditer(markdown) if match["ticks"])
    return " ".join(replace_spans(markdown, code, strip_text).split())


def find_inline_code(text: str) -> list[Offsets]:
    """Return the offsets of the inline code in a text, with its ticks."""
    return [match.span() for match in _CODE.finditer(text) if match["ticks"] is not None]


def strip_links(text: str) -> str:
    """Return the text with every link and image replaced by its words.

    >>> strip_links("See [the docs](https://example.org/a) first.")
    'See the docs first.'
    """
    return _LINK.sub(lambda found: found[1], _IMAGE.sub(lambda found: found[1], text)) if "](" in text else text


def mask_inline_code(text: str) -> str:
    """Return the text with its inline code replaced by ``x`` at the same offsets: a full stop in code ends no sentence.

    The ticks stay: a sentence may begin with code, but not with a small letter.
    """

    def mask(match: re.Match[str]) -> str:
        ticks = match["ticks"]
        return match.group() if ticks is None else f"{ticks}{'x' * len(match['code'])}{ticks}"

    return _CODE.sub(mask, text)


def mask_quote_markers(text: str) -> str:
    """Return the text with the ``>`` at the start of its later lines blanked at the same offsets."""
    return _QUOTE_MARKER.sub(lambda match: "\n" + " " * (len(match.group()) - 1), text)


def has_list_marker(text: str) -> bool:
    """Whether the text begins with a list item."""
    return _LIST_MARKER.match(text) is not None


def strip_list_marker(line: str) -> str:
    """Return the line without the marker of a list item."""
    return _LIST_MARKER.sub("", line, count=1)


def split_list_items(text: str) -> list[str]:
    """Return the items of a list; a text without list markers is split into its paragraphs."""
    return _LIST_MARKER.split(text)[1:] if _LIST_MARKER.search(text) else text.split("\n\n")


# -- links -------------------------------------------------------------------------------------------------------------

_MAY_CONTAIN_LINK = re.compile(r"\]\s*[(:\[]|://|www\.|<[A-Za-z/!?]|mailto:", re.IGNORECASE)
_CODE_SPAN_OR_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|(?<!\\)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK_TEXT = r"((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)"
_IMAGE = re.compile(rf"!\[{_LINK_TEXT}\](?:\((?:(?!\]\()[^)])*+\)|\[[^\]]*\])?")
_LINK = re.compile(rf"(?<!\\)\[{_LINK_TEXT}\]\(\s*+<?((?:(?!\]\()[^)\s>])*+)>?(?:(?!\]\()[^)])*+\)")
_DEFINITION_LINE = re.compile(r"^ {0,3}\[[^\]\n]+\]:[ \t]*\S.*(?:\n|\Z)", re.MULTILINE)
_AUTOLINK = re.compile(r"(?<!\\)<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]*|[^<>\s@]+@[^<>\s]+)>")
_BARE_URL = re.compile(r"(?<![\w(<\[/.@:])(?:https?://|www\.)[^\s<>\[\]`]*[^\s<>\[\]`.,;:!?'\")*_]", re.IGNORECASE)


def neutralize_links(markdown: str, allowed_urls: Collection[str]) -> str:
    """Return the text with every link as plain text, unless it leads to one of the allowed addresses.

    >>> neutralize_links("See [here](https://evil.example/?q=1) and ![](https://evil.example/p.png) [1].", ())
    'See here and  [1].'
    """
    if not _MAY_CONTAIN_LINK.search(markdown):
        return markdown
    known = {_normalize_url(url) for url in allowed_urls}
    code = ((*match.span(), match[0]) for match in _CODE_SPAN_OR_FENCE.finditer(markdown))
    text = replace_spans(markdown, code, lambda part: _neutralize_text(part, known))
    if _has_active_content(text, known):
        # What opens links and tags becomes entities. A backslash could be undone by another one in front of it.
        text = text.replace("<", "&lt;").replace("![", "!&#91;").replace("](", "]&#40;").replace("]:", "]&#58;")
    return text


def _neutralize_text(text: str, known: Collection[str]) -> str:
    text = _DEFINITION_LINE.sub("", _IMAGE.sub(lambda found: found[1], text))
    # Of a link its words stay. A number is a citation that was written as a link.
    text = _LINK.sub(
        lambda found: found[0] if _normalize_url(found[2]) in known else parse_handle(found[1]) or found[1], text
    )
    text = _AUTOLINK.sub(lambda found: _neutralize_autolink(found, known), text)
    return _BARE_URL.sub(lambda found: found[0] if _is_known_url(found[0], known) else f"`{found[0]}`", text)


def _neutralize_autolink(found: re.Match[str], known: Collection[str]) -> str:
    if _normalize_url(found[1]) in known:
        return found[0]
    # An e-mail address keeps its angle brackets, as text.
    return f"`{found[1]}`" if ":" in found[1] else f"\\{found[0]}"


def _is_known_url(address: str, known: Collection[str]) -> bool:
    """Whether the address is allowed, also with the closing bracket of a sentence at its end."""
    return _normalize_url(address) in known or _normalize_url(address.rstrip(")")) in known


def _has_active_content(markdown: str, known: Collection[str]) -> bool:
    """Whether a full CommonMark parser finds anything that a viewer would follow, fetch or run."""
    for token in _get_strict_parser().parse(markdown):
        for part in (token, *(token.children or ())):
            if part.type in ("html_block", "html_inline", "image"):
                return True
            if part.type == "link_open" and str(part.attrGet("href")) not in known:
                return True
    return False


def _normalize_url(url: str) -> str:
    return _get_strict_parser().normalizeLink(url)


@cache
def _get_strict_parser() -> MarkdownIt:
    """Return a parser that sees everything another viewer may act on: raw HTML and reference definitions too."""
    return MarkdownIt("commonmark")
