"""Org mode as light Markdown with one line for each line of the source."""

import re
from bisect import bisect_right

from suffice.search.files.prose import Heading, Prose, format_row, split_row, to_code, to_lead_in
from suffice.text.chunks import split_lines

_HEADING = re.compile(
    r"(?P<stars>\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELL?ED)\s+)?(?:\[#\w\]\s+)?(?P<title>.*?)(?:\s+:[\w@#%:]+:)?\s*$"
)
_KEYWORD = re.compile(r"\s*#\+(?P<name>[\w-]+)(?:\[[^\]]*\])?:\s*(?P<value>.*?)\s*$")
_BEGIN = re.compile(r"\s*#\+begin_(?P<name>\w+)(?:\s+(?P<language>[\w+#-]+))?", re.IGNORECASE)
_DRAWER = re.compile(r"\s*:[\w-]+:\s*$")
_DRAWER_END = re.compile(r"\s*:END:\s*$", re.IGNORECASE)
_PLANNING = re.compile(r"\s*(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):\s*[<\[]")
_FIXED = re.compile(r"\s*:(?: |$)")
_ITEM = re.compile(
    r"(?P<indent>\s*)(?P<mark>[-+]|\*(?<!^\*)|\d+[.)])\s+(?:\[@\d+\]\s+)?(?:\[[ xX-]\]\s+)?(?P<text>.*)$"
)
_TERM = re.compile(r"(?P<term>.*?\S)\s+::(?:\s+(?P<text>.*)|$)")
_TABLE_RULE = re.compile(r"\s*\|[-+:|]+\|?\s*$")
_COOKIES = re.compile(r"\s*\|(?:\s*(?:<[lcr]?\d*>\s*)?\|)+\s*$")
_FOOTNOTE = re.compile(r"\[fn:[^\]\s:]+\]\s+")
_MAX_DRAWER_LINES = 200
_CODE_BLOCKS = frozenset("src example verbatim".split())
_DROPPED_BLOCKS = frozenset("comment export html latex".split())
_INLINE = re.compile(
    r"""
      \[\[(?P<target>[^\[\]]+)\](?:\[(?P<text>[^\[\]]+)\])?\]
    | (?<![\w=~])(?P<mark>[=~])(?P<code>[^\s=~](?:[^\n]{0,200}?[^\s])??)(?P=mark)(?![\w=~])
    | (?<![\w/:<])/(?P<italic>[^\s/](?:[^/\n]*[^\s/])?)/(?![\w/])
    | \[fn:[^\]\s:]{0,100}(?::(?P<note>[^\]]{0,1000}))?\]
    | [<\[](?P<date>\d{4}-\d{2}-\d{2})(?:\s[^\]>\n]*)?[>\]]
    | \{\{\{(?P<macro>\w+)(?:\((?P<argument>[^{}]*)\))?\}\}\}
    | <<<?[^<>\n]+>>>?
    | \\\\[ ]*(?=\n|\Z)
    """,
    re.VERBOSE,
)


_LONG_LINK = re.compile(r"\[\[(?:[^\[\]\n]+\]\[)?(?P<text>[^\[\]\n]*\n[^\[\]\n]*)\]\]")  # From one line into the next.


def convert(text: str) -> Prose:
    """Return the document as light Markdown."""
    lines = [line.expandtabs(8) for line in split_lines(text)]
    ends = _find_block_ends(lines)
    lines = _join_links(lines, ends)
    prose = Prose([""] * len(lines))
    index, base = 0, -1  # The column of the bullets of the list that a line stands in; -1 outside.
    while index < len(lines):
        line = lines[index]
        begin = _BEGIN.match(line)
        if begin is not None:
            end = _find_block_end(ends, begin["name"], index, len(lines))
            index = _convert_block(prose, lines, range(index, end), begin, max(base, 0))
        elif heading := _HEADING.match(line):
            _add_heading(prose, index, len(heading["stars"]), heading["title"])
            base = -1
        elif _DRAWER.match(line) and (end := _find_line(lines, index, _DRAWER_END)):
            index = end
        elif keyword := _KEYWORD.match(line):
            _convert_keyword(prose, index, keyword["name"].lower(), keyword["value"])
        elif _PLANNING.match(line) or re.match(r"\s*#(?:\s|$|\+)", line):
            pass
        elif _FIXED.match(line):
            index = _convert_fixed(prose, lines, index)
        elif line.lstrip().startswith("|"):
            index = _convert_table(prose, lines, index)
        elif (item := _ITEM.match(line)) is not None:
            indent = len(item["indent"])
            base = indent if base < 0 else min(base, indent)
            _write_item(prose, index, indent - base, item["mark"], item["text"])
        elif line.strip():
            indent = len(line) - len(line.lstrip())
            base = base if indent > base >= 0 else -1
            margin = indent - base if base >= 0 else 0
            words = _convert_inline(_FOOTNOTE.sub("", line.strip()) if not indent else line.strip())
            prose.lines[index] = " " * margin + words if words else ""
        index += 1
    return prose


def _find_block_ends(lines: list[str]) -> dict[str, list[int]]:
    """Return the lines that end a block, by the name of the block."""
    ends: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        if line.lstrip()[:6].lower() == "#+end_":
            ends.setdefault(line.strip()[6:].lower(), []).append(index)
    return ends


def _find_block_end(ends: dict[str, list[int]], name: str, index: int, default: int) -> int:
    """Return the line that ends the block of this name that begins at ``index``."""
    found = ends.get(name.lower(), [])
    position = bisect_right(found, index)
    return found[position] if position < len(found) else default


def _join_links(lines: list[str], ends: dict[str, list[int]]) -> list[str]:
    """Return the lines with the words of links that run into the next line; in code such brackets are no link."""
    joined: list[str] = []
    start = index = 0
    while index <= len(lines):
        begin = _BEGIN.match(lines[index]) if index < len(lines) else None
        if index < len(lines) and (begin is None or begin["name"].lower() not in _CODE_BLOCKS):
            index += 1
            continue
        if start < index:
            joined += _LONG_LINK.sub(_read_long_link, "\n".join(lines[start:index])).split("\n")
        if begin is None:
            break
        start = index
        index = min(_find_block_end(ends, begin["name"], index, len(lines)) + 1, len(lines))
        joined += lines[start:index]
        start = index
    return joined


def _find_line(lines: list[str], index: int, pattern: re.Pattern[str]) -> int:
    """Return the next line that matches before the next heading; 0 if there is none."""
    for number in range(index + 1, min(index + _MAX_DRAWER_LINES, len(lines))):
        if pattern.match(lines[number]):
            return number
        if lines[number].startswith("* "):
            break
    return 0


def _add_heading(prose: Prose, index: int, level: int, title: str) -> None:
    words = _convert_inline(title)
    if words:
        has_title = bool(prose.headings) and prose.headings[0].level == 0
        prose.lines[index] = f"{'#' * max(1, min(level + has_title, 6))} {words}"
        prose.headings.append(Heading(index + 1, index + 1, level, words.replace("`", "").replace("*", "")))


def _convert_keyword(prose: Prose, index: int, name: str, value: str) -> None:
    if name == "title" and value and not prose.headings:
        _add_heading(prose, index, 0, value)
    elif name in ("author", "date") and value:
        prose.lines[index] = f"{name.capitalize()}: {_convert_inline(value)}"
    elif name == "caption" and value:
        prose.lines[index] = to_lead_in(_convert_inline(value))
        prose.kept_with_previous.add(index + 2)


def _convert_block(prose: Prose, lines: list[str], span: range, begin: re.Match[str], column: int) -> int:
    """Convert a block between ``#+begin_name`` and ``#+end_name``; return its last line, or its first if text follows."""
    name = begin["name"].lower()
    index, end = span.start, span.stop
    if name in _DROPPED_BLOCKS:
        return end
    if name not in _CODE_BLOCKS:
        if name in ("note", "warning", "tip", "important", "caution"):
            prose.lines[index] = f"{name.capitalize()}:"
        return index  # Its text is converted line by line, and its end is a comment.
    body = range(index + 1, end)
    filled = [len(lines[i]) - len(lines[i].lstrip()) for i in body if lines[i].strip()]
    margin = min(filled, default=0)
    indent = len(lines[index]) - len(lines[index].lstrip())
    prefix = " " * max(0, indent - column) if column else ""
    prose.lines[index] = f"{prefix}```{begin['language'] or ''}"
    for number in body:
        text = re.sub(r"^(\s*),(?=[*#,])", r"\1", lines[number][margin:]).rstrip()
        prose.lines[number] = prefix + text if text else ""
    if end < len(lines):
        prose.lines[end] = f"{prefix}```"
    prose.add_fence(index + 1, end + 1 if end < len(lines) else None, end)
    return end


def _convert_fixed(prose: Prose, lines: list[str], index: int) -> int:
    stop = index
    while stop < len(lines) and _FIXED.match(lines[stop]):
        stop += 1
    lines[index:stop] = [re.sub(r"^(\s*): ?", r"\1", line) for line in lines[index:stop]]
    prose.write_code(lines, index, stop)
    return stop - 1


def _convert_table(prose: Prose, lines: list[str], index: int) -> int:
    """Convert a table; return its last line. The row above the first rule is its header."""
    stop = index
    while stop < len(lines) and lines[stop].lstrip().startswith("|"):
        stop += 1
    rules = [i for i in range(index, stop) if _TABLE_RULE.match(lines[i])]
    dropped = {*rules, *(i for i in range(index, stop) if _COOKIES.match(lines[i]))}
    rows = [
        (i, [_convert_inline(cell) for cell in split_row(lines[i])]) for i in range(index, stop) if i not in dropped
    ]
    inner = [rule for rule in rules if rows and rows[0][0] < rule < rows[-1][0]]
    is_plain = inner and inner[0] == rows[0][0] + 1 and len(inner) == 1 and len(rows) == rows[-1][0] - rows[0][0]
    if is_plain:
        prose.write_table(rows[0][0], rows[0][1], rows[1:], "")
    elif inner and rows[0][0] + 1 == inner[0]:
        prose.write_records([(i, i + 1, cells) for i, cells in rows[1:]], rows[0][1])
    else:
        for i, cells in rows:
            prose.lines[i] = format_row(cells)
    return stop - 1


def _write_item(prose: Prose, index: int, margin: int, mark: str, text: str) -> None:
    label = f"{mark[:-1]}." if mark[0].isdigit() else "-"
    if term := _TERM.match(text):
        text = f"{term['term']}: {term['text'] or ''}".rstrip()
    prose.lines[index] = f"{' ' * margin}{label} {_convert_inline(text)}".rstrip()
    prose.block_starts.add(index + 1)
    if margin == 0 and index and not prose.lines[index - 1].lstrip().startswith("-"):
        prose.kept_with_previous.add(index + 1)


def _convert_inline(text: str) -> str:
    return _INLINE.sub(_replace_inline, text).strip()


def _read_long_link(match: re.Match[str]) -> str:
    return match["text"].removeprefix("*")


def _replace_inline(match: re.Match[str]) -> str:
    if match["target"]:
        return match["text"] or match["target"].removeprefix("file:").removeprefix("*")
    if match["code"] or match["macro"] == "kbd":
        return to_code(match["code"] or match["argument"] or "")
    return match["italic"] or match["note"] or match["date"] or match["argument"] or ""
