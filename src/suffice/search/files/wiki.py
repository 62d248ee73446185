"""Pages of MediaWiki as light Markdown with one line for each line of the source.

Templates are not expanded: what a template stands for is not in the page. mwparserfromhell reads this markup, but its text has
lost the lines.
"""

import html
import re

from suffice.search.files.prose import Heading, Prose, to_code, to_line
from suffice.text.chunks import split_lines

_HEADING = re.compile(r"(?P<marks>={1,6})(?P<title>.+)(?P=marks)$")
_ITEM = re.compile(r"(?P<marks>[*#:;]+)\s*(?P<text>.*)$")
_CODE_BLOCK = re.compile(r"\s*<(?P<tag>pre|syntaxhighlight|source)\b(?P<attributes>[^>]*)>(?P<rest>.*)$", re.IGNORECASE)
_LANGUAGE = re.compile(r"lang\s*=\s*[\"']?([\w+#-]+)")
_DROPPED_LINE = re.compile(r"(?:__[A-Z]+__|#REDIRECT\b.*|-{4,})\s*$", re.IGNORECASE)
_SPAN = re.compile(r"<!--|<(?P<tag>ref|gallery|pre|syntaxhighlight|source|nowiki)\b[^<>]*>", re.IGNORECASE)
_VERBATIM = frozenset("pre syntaxhighlight source nowiki".split())
_PLACEHOLDER = re.compile(r"\0(?P<number>\d+)\0(?P<lines>\n*)")
_INNER_TEMPLATE = re.compile(r"\{\{(?P<content>[^{}]*)\}\}", re.DOTALL)
_INNER_LINK = re.compile(r"\[\[(?P<content>[^\[\]]*)\]\]", re.DOTALL)
_WORD_TEMPLATES = frozenset("code tt kbd samp nowrap lang key keys ic var mono note tip warning".split())
_CELL_ATTRIBUTES = re.compile(r"^\s*(?:[\w-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s|\"']+)(?:\s+|(?=\|)))+\|(?!\|)")
_INLINE = re.compile(
    r"""
      <nowiki>(?P<raw>.{0,2000}?)</nowiki>
    | <(?P<code_tag>code|tt|kbd|samp|var|syntaxhighlight|source)\b[^<>]*>(?P<code>.{0,2000}?)</(?P=code_tag)>
    | \[(?:https?|ftp|mailto|irc):[^\s\[\]]+(?:\s+(?P<link>[^\[\]]*))?\]
    | (?P<line_break><br\s*/?>)
    | </?[a-zA-Z][^<>]*>
    | '{2,5}
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_MAX_NESTING = 20


def convert(text: str) -> Prose:
    """Return the page as light Markdown."""
    lines = split_lines(text)
    if lines:
        lines = _strip_templates("\n".join(lines)).split("\n")
    prose = Prose([""] * len(lines))
    index = 0
    while index < len(lines):
        line = lines[index]
        if code := _CODE_BLOCK.match(line):
            index = _convert_code(prose, lines, index, code)
            continue
        if heading := _HEADING.match(line.rstrip()):
            level, words = len(heading["marks"]), _convert_inline(heading["title"].strip())
            prose.lines[index] = f"{'#' * level} {words}"
            prose.headings.append(Heading(index + 1, index + 1, level, words.replace("`", "")))
        elif line.startswith("{|"):
            index = _convert_table(prose, lines, index)
            continue
        elif line[:1] == " " and line.strip():
            stop = index
            while stop < len(lines) and lines[stop][:1] == " " and lines[stop].strip():
                stop += 1
            lines[index:stop] = [_convert_inline(text, is_code=True) for text in lines[index:stop]]
            prose.write_code(lines, index, stop)
            index = stop
            continue
        elif item := _ITEM.match(line):
            _write_item(prose, index, item["marks"], _convert_inline(item["text"]))
        elif line.strip() and not _DROPPED_LINE.match(line):
            prose.lines[index] = _convert_inline(line.strip())
        index += 1
    return prose


def _strip_templates(text: str) -> str:
    """Return the text without comments, notes, templates and link targets, which in code are no markup; its lines stay."""
    text, spans = _cut_spans(text)
    for pattern, replace in ((_INNER_TEMPLATE, _read_template), (_INNER_LINK, _read_link)):
        for _ in range(_MAX_NESTING):
            text, count = pattern.subn(replace, text)
            if not count:
                break

    def put_back(match: re.Match[str]) -> str:
        span = spans[int(match["number"])]
        return span + match["lines"][span.count("\n") :]

    return _PLACEHOLDER.sub(put_back, text)


def _cut_spans(text: str) -> tuple[str, list[str]]:
    """Return the text without comments, notes and galleries, and with placeholders for the verbatim spans; and those spans."""
    text = text.replace("\0", "")
    pieces, spans, position, missing = list[str](), list[str](), 0, set[str]()
    for match in _SPAN.finditer(text):
        tag = (match["tag"] or "").lower()
        if match.start() < position or tag in missing:
            continue
        end = match.end()
        if not tag or not match.group().endswith("/>"):
            closing = re.compile(rf"</{tag}\s*>" if tag else "-->", re.IGNORECASE).search(text, end)
            if closing is None and tag:
                missing.add(tag)
                continue
            end = closing.end() if closing else len(text)
        span = text[match.start() : end]
        pieces.append(text[position : match.start()])
        if tag in _VERBATIM:
            pieces.append(f"\0{len(spans)}\0")
            spans.append(span)
        pieces.append("\n" * span.count("\n"))
        position = end
    return "".join([*pieces, text[position:]]), spans


def _keep_lines(match: re.Match[str], words: str = "") -> str:
    return words + "\n" * (match.group().count("\n") - words.count("\n"))


def _read_template(match: re.Match[str]) -> str:
    name, _, rest = match["content"].partition("|")
    if name.strip().lower() not in _WORD_TEMPLATES or not rest:
        return _keep_lines(match)
    return _keep_lines(match, rest.rpartition("|")[2].rpartition("1=")[2] or rest)


def _read_link(match: re.Match[str]) -> str:
    target, _, label = match["content"].partition("|")
    kind = target.strip().lower().partition(":")[0]
    if kind in ("category", "kategorie", "catégorie", "categoría"):
        return _keep_lines(match)
    if kind in ("file", "image", "datei", "fichier", "archivo", "media"):
        caption = label.rpartition("|")[2].strip()
        return _keep_lines(match, caption if len(caption.split()) > 3 else "")
    return _keep_lines(match, label.rpartition("|")[2] or target.lstrip(":").replace("_", " "))


def _convert_code(prose: Prose, lines: list[str], index: int, code: re.Match[str]) -> int:
    """Convert a block of code, whose tags become fences; return the line after it."""
    closing = f"</{code['tag'].lower()}>"
    end = next((i for i in range(index, len(lines)) if closing in lines[i].lower()), len(lines) - 1)
    if end == index:  # All in one line.
        prose.lines[index] = f"    {re.split(re.escape(closing), code['rest'], flags=re.IGNORECASE)[0].strip()}"
        return index + 1
    language = _LANGUAGE.search(code["attributes"])
    if code["rest"].strip():  # The code begins beside its tag, so there is no line for a fence.
        prose.lines[index] = f"    {code['rest'].rstrip()}"
        for number in range(index + 1, end + 1):
            text = re.sub(re.escape(closing), "", lines[number], flags=re.IGNORECASE).rstrip()
            prose.lines[number] = f"    {text}" if text else ""
        prose.unbroken.update(range(index + 2, end + 2))
        return end + 1
    prose.lines[index] = f"```{language[1] if language else ''}"
    prose.lines[index + 1 : end] = [to_line(html.unescape(line.rstrip())) for line in lines[index + 1 : end]]
    last = lines[end][: lines[end].lower().find(closing)] if closing in lines[end].lower() else lines[end]
    prose.lines[end] = "```" if not last.strip() else last
    prose.add_fence(index + 1, end + 1 if not last.strip() else None, end if not last.strip() else end + 1)
    return end + 1


def _write_item(prose: Prose, index: int, marks: str, words: str) -> None:
    """Write an item; an indented line without a bullet belongs to what stands above it."""
    margin = "  " * (len(marks) - 1)
    if not words:
        return
    if marks[-1] == ";":
        term, colon, text = words.partition(" : ")
        prose.lines[index] = (
            f"{margin}- {term.rstrip(':')}: {text}".rstrip() if colon else f"{margin}- {term.rstrip(':')}:"
        )
    elif marks[-1] == ":":
        is_below = index > 0 and prose.lines[index - 1].lstrip().startswith("- ")
        prose.lines[index] = f"{margin}  {words}" if is_below else words
        prose.unbroken.add(index + 1)
        return
    else:
        prose.lines[index] = f"{margin}{'-' if marks[-1] == '*' else '1.'} {words}"
    prose.block_starts.add(index + 1)
    if index and prose.lines[index - 1] and not prose.lines[index - 1].lstrip().startswith(("-", "1.")):
        prose.kept_with_previous.add(index + 1)


def _convert_table(prose: Prose, lines: list[str], index: int) -> int:
    """Convert a table to records of ``column: value``; return the line after it."""
    end = next((i for i in range(index + 1, len(lines)) if lines[i].startswith("|}")), len(lines))
    rows: list[tuple[int, int, list[str]]] = []
    header: list[str] = []
    first, cells, is_header = index + 1, list[str](), False
    for number in range(index + 1, end + 1):
        line = lines[number].strip() if number < end else "|-"
        if line.startswith("|-"):
            if cells and is_header and not rows and not header:
                header = cells
            elif cells:
                rows.append((first, number, cells))
            first, cells, is_header = number + 1, [], False
        elif line.startswith("|+"):
            prose.lines[number] = f"**{_convert_inline(line[2:])}**" if line[2:].strip() else ""
        elif line[:1] in ("|", "!"):
            is_header = (line[0] == "!") if not cells else is_header and line[0] == "!"
            parts = re.split(r"\|\||!!" if line[0] == "!" else r"\|\|", line[1:])
            cells += [_convert_inline(_CELL_ATTRIBUTES.sub("", part).strip()) for part in parts]
        elif line and cells:
            cells[-1] = f"{cells[-1]} {_convert_inline(line.lstrip('*#:; '))}".strip()
    prose.write_records([row for row in rows if any(row[2])], header)
    return end + 1


def _convert_inline(text: str, is_code: bool = False) -> str:
    def read(match: re.Match[str]) -> str:
        if match["code"] is not None:
            words = re.sub(r"</?nowiki\s*/?>", "", match["code"], flags=re.IGNORECASE)
            if match["code_tag"].lower() not in _VERBATIM:
                words = words.replace("''", "")
            return words if is_code else to_code(words)
        if match["line_break"]:
            return " "
        return match["raw"] or match["link"] or ""

    return to_line(html.unescape(_INLINE.sub(read, text)))
