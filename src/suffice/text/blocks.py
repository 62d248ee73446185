"""Split a passage into its blocks: paragraphs, lists, tables, code and records, as offsets.

Passages are light Markdown, source code or rows. Underlines and rules are no blocks, and a heading is a block that states
nothing but may hold a date or a version. A list, a table or code carries the offset of the paragraph that introduces it
("The options are:").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from suffice.text.sentences import Offsets, docstring_spans, split_sentences
from suffice.types import ExcerptFormat

FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_RULE = re.compile(r"\s*([=\-~^\"'*+#_.:])\1{2,}\s*$")
_MARKER = r"(?:[-*+•]|\d{1,3}[.)]|\d{1,2}(?:\.\d{1,2}){1,3}\.?(?=\s+[A-Z])|\(?[a-z]\)|\((?:\d{1,3}|[ivx]{1,4})\))"
ITEM_MARKER = re.compile(rf"\s*{_MARKER}\s+")
_LIST_ITEM = re.compile(rf"(\s*){_MARKER}\s+\S")
_BULLET = re.compile(r"\s*[-*+•]\s+")
_PROMPT = re.compile(r"\s*(?:>>>|\.\.\.|\$|In \[\d+\]:)\s")
_DEFINITION = re.compile(r"\s*(?:async\s+)?(?:def|class|func|function|fn|struct|interface|enum)\s+\w|\s*@\w")
# A line of example code in a manual that is not marked as code: a call, a definition, an assignment, a shell prompt.
_CODE_EXAMPLE = re.compile(
    r"\s*(?:>>> |\$ |@\w|(?:async )?def \w+\(|class \w+[(:]|from [\w.]+ import |import [\w.]+$|await \w|[\w.\[\]]+ = "
    r"|[\w.]+\(\S*\)*;?$)"
)
# Only the name of what is explained below, as in a reference. A value after it would be a statement.
_TERM_LINE = re.compile(r"\s*`[^`\n=]{2,120}`(?:, `[^`\n=]{2,120}`)*\s*")
_QUOTES = ('"""', "'''")
_MAX_LONE_LEAD_CHARS = 160
_MAX_TITLE_CHARS = 60
MAX_ITEM_CHARS = 600  # A longer item, such as a clause of a contract, is prose: one sentence of it may be the answer.
_MAX_CODE_LINES = 14  # Longer code without a blank line is split here.


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A block of a passage: ``text[start:end]``. ``units`` are its sentences, items, rows or lines."""

    start: int
    end: int
    format: ExcerptFormat
    units: tuple[Offsets, ...]
    lead: Offsets | None = None
    """The paragraph that introduces it."""
    head: Offsets | None = None
    """The header rows of a table."""
    is_heading: bool = False


@lru_cache(maxsize=1024)
def split_blocks(text: str, kind: str = "text") -> tuple[TextBlock, ...]:
    """Return the blocks of a passage in reading order.

    >>> [block.format for block in split_blocks("The options are:\\n\\n- fast\\n- slow\\n\\nThat is all.")]
    ['prose', 'list', 'prose']
    """
    if kind == "csv":
        rows = tuple((start, end) for start, end in _lines(text, 0, len(text)) if text[start:end].strip())
        return (TextBlock(rows[0][0], rows[-1][1], "table", rows),) if rows else ()
    blocks = _split_code(text) if kind == "code" else _split_markdown(text, 0, len(text))
    return tuple(_attach_leads(text, list(blocks)))


def _lines(text: str, start: int, end: int) -> list[Offsets]:
    """Return the offsets of the lines, without their line ends."""
    found, position = [], start
    while position < end:
        stop = text.find("\n", position, end)
        stop = end if stop < 0 else stop
        found.append((position, stop))
        position = stop + 1
    return found


def _split_code(text: str) -> Iterator[TextBlock]:
    """Yield code up to each blank line or definition as blocks, and the blocks of docstrings between them."""
    position = 0
    for start, end in [*docstring_spans(text), (len(text), len(text))]:
        before = start - 3 if text[start - 3 : start] in _QUOTES else start
        yield from _group_code_lines(text, position, max(position, before))
        yield from (block for block in _split_markdown(text, start, end, in_docstring=True) if block.end > block.start)
        position = end + 3 if text[end : end + 3] in _QUOTES else end


def _group_code_lines(text: str, start: int, end: int) -> Iterator[TextBlock]:
    group: list[Offsets] = []
    for line in [*_lines(text, start, end), None]:
        content = "" if line is None else text[line[0] : line[1]]
        is_break = not content.strip() or len(group) >= _MAX_CODE_LINES
        starts_definition = group and _DEFINITION.match(content) and not _DEFINITION.match(text[slice(*group[-1])])
        if group and (is_break or starts_definition):
            yield TextBlock(group[0][0], group[-1][1], "code", tuple(group))
            group = []
        if line is not None and any(map(str.isalnum, content)):
            group.append(line)


def _split_markdown(text: str, start: int, end: int, in_docstring: bool = False) -> Iterator[TextBlock]:
    lines = _lines(text, start, end)
    contents = (text[slice(*line)] for line in lines[in_docstring:])
    base = min((len(content) - len(content.lstrip()) for content in contents if content.strip()), default=0)
    i = 0
    while i < len(lines):
        content = text[slice(*lines[i])]
        fence = FENCE.match(content)
        if not content.strip() or _RULE.match(content):
            i += 1
        elif fence:
            j = i + 1
            while j < len(lines) and not text[slice(*lines[j])].strip().startswith(fence[1]):
                j += 1
            inside = tuple(line for line in lines[i + 1 : j] if text[slice(*line)].strip())
            if inside:
                yield TextBlock(inside[0][0], inside[-1][1], "code", inside)
            i = j + 1
        elif (marker := _HEADING.match(content)) or _is_underlined(text, lines, i) or _is_bare_title(text, lines, i):
            words = (lines[i][0] + (len(marker[0]) if marker else 0), lines[i][1])
            yield TextBlock(*words, "prose", (words,), is_heading=True)
            i += 1
        elif _is_row(content):
            i, block = _take_table(text, lines, i)
            yield block
        elif _LIST_ITEM.match(content):
            i, found = _take_list(text, lines, i)
            yield from found
        elif (
            _is_code_line(content, base)
            and (i == 0 or not text[slice(*lines[i - 1])].strip() or _PROMPT.match(content))
            and not _reads_as_sentences(text, lines, i)
        ):
            i, block = _take_code(text, lines, i, base)
            yield block
        else:
            i, found = _take_paragraph(text, lines, i, in_docstring)
            yield from found


def _is_row(content: str) -> bool:
    cells = content.strip()
    return len(cells) > 1 and cells[0] == cells[-1] == "|"


def _is_code_line(content: str, base: int) -> bool:
    return content[base:].startswith(("    ", "\t")) or _PROMPT.match(content) is not None


def _reads_as_sentences(text: str, lines: list[Offsets], i: int) -> bool:
    """Whether an indented paragraph is prose: it begins and ends like a sentence and is made of words."""
    paragraph = text[lines[i][0] : lines[_take_paragraph(text, lines, i, False)[0] - 1][1]].strip()
    words = [word.strip(".,;:!?()\"'“”") for word in paragraph.split()]
    return paragraph[0].isupper() and paragraph[-1] in ".!?:" and sum(map(str.isalnum, words)) >= 0.8 * len(words)


def _is_underlined(text: str, lines: list[Offsets], i: int) -> bool:
    """Whether the line is a title with an underline below it."""
    if i + 1 >= len(lines):
        return False
    below = text[slice(*lines[i + 1])]
    title = text[slice(*lines[i])].strip()
    return bool(_RULE.match(below)) and len(below.strip()) >= min(3, len(title)) and not title.endswith((".", ":"))


def _is_bare_title(text: str, lines: list[Offsets], i: int) -> bool:
    """Whether a line is a title without marks: short and no sentence, it begins a paragraph, and a full line follows."""
    above, title, below = (text[slice(*lines[j])] if 0 <= j < len(lines) else "" for j in (i - 1, i, i + 1))
    is_title = (title[:1].isupper() or title[:1].isdigit()) and title.rstrip(") ")[-1:].isalnum()
    return not above.strip() and is_title and len(title) <= _MAX_TITLE_CHARS < len(below)


def _take_table(text: str, lines: list[Offsets], i: int) -> tuple[int, TextBlock]:
    j = i
    while j < len(lines) and _is_row(text[slice(*lines[j])]):
        j += 1
    has_head = j - i > 2 and not text[slice(*lines[i + 1])].strip(" |:+=-\t")
    rows = tuple(lines[i + 2 : j] if has_head else lines[i:j])
    head = (lines[i][0], lines[i + 1][1]) if has_head else None
    return j, TextBlock(lines[i][0], lines[j - 1][1], "table", rows, head=head)


def _take_list(text: str, lines: list[Offsets], i: int) -> tuple[int, list[TextBlock]]:
    """Take a list: items with their continued lines; a blank line ends it unless an item or deeper text follows.

    A long item comes as paragraphs with lists of their own.
    """
    indent = len(_LIST_ITEM.match(text[slice(*lines[i])])[1])  # type: ignore[index]
    items: list[Offsets] = []
    fence = ""
    j = i
    while j < len(lines):
        content = text[slice(*lines[j])]
        marker = _LIST_ITEM.match(content)
        depth = len(content) - len(content.lstrip())
        if items and (fence or depth > indent) and (found := FENCE.match(content)):
            fence = "" if fence and content.strip().startswith(fence) else fence or found[1]
            items[-1] = (items[-1][0], lines[j][1])
        elif fence:
            items[-1] = (items[-1][0], lines[j][1])
        elif not content.strip():
            rest = (text[slice(*line)] for line in lines[j + 1 :])
            following = next(filter(str.strip, rest), "")  # A line of markup leaves a blank line behind.
            is_deeper = bool(following.strip()) and len(following) - len(following.lstrip()) > indent
            if not (_LIST_ITEM.match(following) or is_deeper) or _is_bare_title(text, lines, j + 1):
                break
        elif marker and len(marker[1]) <= indent:
            items.append(lines[j])
        elif _HEADING.match(content) or (depth <= indent and not text[slice(*lines[j - 1])].strip()):
            break
        else:
            items[-1] = (items[-1][0], lines[j][1])
        j += 1
    blocks: list[TextBlock] = []
    for is_long, group in groupby(items, key=lambda item: item[1] - item[0] > MAX_ITEM_CHARS):
        taken = tuple(group)
        if is_long:
            blocks += [block for item in taken for block in _split_item(text, *item)]
        else:
            blocks.append(TextBlock(taken[0][0], taken[-1][1], "list", taken))
    return j, blocks


def _split_item(text: str, start: int, end: int) -> list[TextBlock]:
    """Return the blocks of one item; its number stays in the text."""
    bullet = _BULLET.match(text, start, end)
    lines = _lines(text, bullet.end() if bullet else start, end)
    i, blocks = _take_paragraph(text, lines, 0, in_docstring=True)
    return [*blocks, *(_split_markdown(text, lines[i][0], end) if i < len(lines) else ())]


def _take_code(text: str, lines: list[Offsets], i: int, base: int) -> tuple[int, TextBlock]:
    taken: list[Offsets] = []
    j = i
    while j < len(lines):
        content = text[slice(*lines[j])]
        following = text[slice(*lines[j + 1])] if j + 1 < len(lines) else ""
        if not content.strip():
            if not _is_code_line(following, base):
                break
        elif not _is_code_line(content, base) and not (taken and _PROMPT.match(text[slice(*taken[0])])):
            break
        else:
            taken.append(lines[j])
        j += 1
    return j, TextBlock(taken[0][0], taken[-1][1], "code", tuple(taken))


def _take_paragraph(text: str, lines: list[Offsets], i: int, in_docstring: bool) -> tuple[int, list[TextBlock]]:
    j = i
    while j < len(lines):
        content = text[slice(*lines[j])]
        if not content.strip() or _HEADING.match(content) or _is_row(content) or FENCE.match(content):
            break
        if j > i and (_LIST_ITEM.match(content) or _is_underlined(text, lines, j) or _PROMPT.match(content)):
            break
        j += 1
    start, end = lines[i][0], lines[j - 1][1]
    if all(_CODE_EXAMPLE.match(text[slice(*line)]) for line in lines[i:j]):
        return j, [TextBlock(start, end, "code", tuple(lines[i:j]))]
    if _TERM_LINE.fullmatch(text, start, end) and not in_docstring and j < len(lines):
        return j, [TextBlock(start, end, "prose", ((start, end),), is_heading=True)]
    units = tuple(split_sentences(text, start, end))
    return j, [TextBlock(units[0][0], units[-1][1], "prose", units)] if units else []


def _attach_leads(text: str, blocks: list[TextBlock]) -> list[TextBlock]:
    """Give each list, table and code the last sentence before it, if that ends with a colon; a list also a lone sentence."""
    found = list(blocks)
    for i in range(1, len(blocks)):
        before, block = blocks[i - 1], blocks[i]
        if (
            block.format != "prose"
            and before.format == "prose"
            and not text[before.end : block.start].strip("`~\n \tabcdefghijklmnopqrstuvwxyz-")
        ):
            lead = before.units[-1]
            is_lone = block.format == "list" and len(before.units) == 1 and not before.is_heading
            if text[slice(*lead)].rstrip("*_` \n").endswith(":") or (
                is_lone and lead[1] - lead[0] <= _MAX_LONE_LEAD_CHARS
            ):
                found[i] = replace(block, lead=lead)
    return found
