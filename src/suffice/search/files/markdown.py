"""Markdown as light Markdown: without front matter, link targets, HTML, anchors and the extensions' own syntax.

The blocks come from markdown-it-py, whose block rules alone read about 3 MB a second; inline markup is handled by patterns, so
that every line stays where it is. The usual extensions are turned into plain Markdown first: admonitions of MkDocs,
containers of Docusaurus and MyST.
"""

import re
from dataclasses import replace
from typing import Any

from suffice.search.files import rst
from suffice.search.files.prose import Heading, Prose, Table, to_lead_in
from suffice.text.chunks import split_lines
from suffice.text.markdown import get_block_parser, split_row

_MIN_CAPTION_WORDS = 4  # A shorter text of an image is a label, such as "Logo" or "build passing".
_FENCE = re.compile(r"(?P<indent>[\s>]*)(?P<marks>`{3,}|~{3,})(?:\{(?P<name>[\w:-]+)\}\s*(?P<args>[^`]*)|[^`]*)$")
_ADMONITION = re.compile(
    r"(?P<indent>\s*)(?:!!!|\?\?\?\+?)\s+(?P<kind>[\w-]+)(?P<more>[^\"]*)(?:\"(?P<title>.*)\")?\s*$"
)
_CONTAINER = re.compile(r"\s*:{3,}\s*(?:\{?(?P<kind>[A-Za-z][\w-]*)\}?\s*(?P<title>.*))?$")
_SNIPPET = re.compile(r"\s*(?:-{1,2}8<-{1,2}.*+|\{%.*%\}|\{\{.*\}\}|\[(?:TOC|\[_TOC_\])\]|\([\w:.-]+\)=)\s*$")
_ATTRIBUTES = r"\s*\{:?\s*(?:[#.][\w:-]|[\w-]+=)[^{}\n]*\}"
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_LINK_TEXT = r"(?:[^\[\]\\`]|\\.|`[^`]*`|\[[^\[\]]*\])*"
_TARGET = r"\(\s*(?:<[^<>\n]*>|[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*\)"
_INLINE = re.compile(
    rf"""
      (?P<code>(?<![`}}])(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))
    | (?P<escape>\\[^\w\s])
    | \[!\[(?P<badge>[^\[\]]*)\](?:{_TARGET}|\[[^\]]*\])\](?:{_TARGET}|\[[^\]]*\])
    | !\[(?P<image>[^\[\]]*)\](?:{_TARGET}|\[[^\]]*\])(?:{_ATTRIBUTES})?
    | \[(?P<link>{_LINK_TEXT})\](?:{_TARGET}|[ ]?\[(?P<label>[^\]\n]*)\])(?:{_ATTRIBUTES})?
    | <(?P<address>(?:https?|ftp|mailto):[^<>\s]+|[^<>\s@]+@[^<>\s@]+\.[^<>\s@]+)>
    | (?P<comment><!--.*?(?:-->|\Z))
    | (?P<tag></?[A-Za-z][\w.:-]*(?:\s[^<>]*|/)?>)
    | \[\^[^\]\s]+\](?!:)
    | (?P<attributes>{_ATTRIBUTES})
    | \{{(?P<role>[\w:+-]+)\}}`(?P<content>[^`]+)`
    | ¶
    """,
    re.VERBOSE | re.DOTALL,
)
_MAY_HAVE_MARKUP = re.compile(r"[\[<\\{¶&]")
_FRONT_MATTER = re.compile(r"(title|date|updated)\s*[:=]\s*(.*\S)")
_HEADING_MARKS = re.compile(r"^\s*#{1,6}\s+|(?<!\s)\s++#+\s*$")
_EMPHASIS = re.compile(r"(\*\*|__|\*|(?<!\w)_)(?=\S)((?:(?!\1).)++)(?<=\S)\1")
# What tells Markdown without a telling name: subheadings, fences or links.
MARKDOWN_MARKUP = re.compile(r"^(?:#{2,6} +\S|```[\w-]*$)|\]\(https?://", re.MULTILINE)


def convert(text: str) -> Prose:
    lines = split_lines(text)
    title, date, body_start = _read_front_matter(lines)
    lines[:body_start] = [""] * body_start
    _convert_extensions(lines)
    prose = Prose(lines)
    env: dict[str, Any] = {}
    tokens = get_block_parser(is_source=True).parse("\n".join(lines), env)
    for reference in [*env.get("references", {}).values(), *env.get("duplicate_refs", [])]:
        first, stop = reference["map"]
        lines[first:stop] = [""] * (stop - first)
    for token in tokens:
        if token.map is None:
            continue
        first, stop = token.map
        if token.type in ("fence", "code_block"):
            _record_code(prose, first, stop, token.markup)
        elif token.type == "html_block":
            lines[first:stop] = [line.strip() for line in clean_inline("\n".join(lines[first:stop])).split("\n")]
        elif token.type == "heading_open" and token.level == 0:
            _record_heading(prose, first, stop, int(token.tag[1]))
        elif token.type in ("paragraph_open", "heading_open", "tr_open"):
            # All lines of a paragraph together, because a link may run from one into the next.
            lines[first:stop] = clean_inline("\n".join(lines[first:stop])).split("\n")
        elif token.type == "table_open":
            _record_table(prose, first, stop)
        elif token.type == "hr":
            lines[first] = ""
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            prose.kept_with_previous.add(first + 1)
        elif token.type == "list_item_open":
            prose.unbroken.discard(first + 1)  # An item inside an item may begin a chunk.
            prose.unbroken.update(range(first + 2, stop + 1))
    lines[:] = [line if line.strip() else "" for line in lines]
    if title and not any(heading.level == 1 for heading in prose.headings):
        prose.headings.insert(0, Heading(1, body_start, 0, title))
    for number, heading in enumerate(prose.headings):
        if date and heading.level <= 1 and date not in heading.text:
            prose.headings[number] = replace(heading, text=f"{heading.text} ({date})")
    return prose


def _read_front_matter(lines: list[str]) -> tuple[str, str, int]:
    """Return the title and the date in a leading YAML or TOML block, and the number of its lines."""
    if not lines or lines[0].rstrip() not in ("---", "+++"):
        return "", "", 0
    marks = ("---", "...") if lines[0].rstrip() == "---" else ("+++",)
    stop = next((index + 1 for index, line in enumerate(lines) if index and line.rstrip() in marks), 0)
    found = {
        match[1]: match[2].strip("\"' ") for line in reversed(lines[:stop]) if (match := _FRONT_MATTER.match(line))
    }
    date = re.match(r"\d{4}-\d{2}-\d{2}", found.get("updated", found.get("date", "")))
    return found.get("title", ""), date[0] if date else "", stop


def _convert_extensions(lines: list[str]) -> None:
    """Replace the syntax of extensions by plain Markdown, line by line."""
    fence = ""
    directives: list[str] = []  # The fences of MyST directives around a line.
    margins: list[int] = []  # The indents of the admonitions around a line, which move its text to the left.
    is_dropped = False
    for index, line in enumerate(lines):
        if margins and line.strip():
            indent = len(line) - len(line.lstrip())
            while margins and indent <= margins[-1]:
                margins.pop()
            line = lines[index] = line[min(indent, 4 * len(margins)) :]
        words = line.strip()
        if fence:
            lines[index] = "" if is_dropped else line
            if words.startswith(fence) and not words.strip("`~"):
                fence, is_dropped = "", False
        elif directives and words.startswith(directives[-1]) and not words.strip("`~:"):
            lines[index] = ""
            directives.pop()
        elif mark := _FENCE.match(line):
            fence = mark["marks"]
            if mark["name"] in ("code-block", "code", "code-cell", "sourcecode", "eval-rst"):
                lines[index] = f"{mark['indent']}{fence}{mark['args']}"
            elif mark["name"] in rst.DROPPED_DIRECTIVES:
                lines[index], is_dropped = "", True
            elif mark["name"]:
                directives.append(fence)
                lines[index], fence = _format_label(mark["name"], mark["args"]), ""
        elif found := _ADMONITION.match(line):
            lines[index] = found["indent"] + _format_label(found["kind"], found["title"] or "")
            margins.append(len(found["indent"]) + 4 * len(margins))
        elif words.startswith(":::") and (found := _CONTAINER.match(line)):
            # The docstrings' "::: package.module" has no text of its own.
            is_label = found["kind"] is not None and not found["title"].startswith(".")
            lines[index] = _format_label(found["kind"], found["title"]) if is_label else ""
        elif _SNIPPET.match(line):
            lines[index] = ""


def _format_label(kind: str, title: str) -> str:
    return to_lead_in((title or kind.replace("-", " ").capitalize()).strip())


def _record_code(prose: Prose, first: int, stop: int, markup: str) -> None:
    if not markup:  # Indented code.
        prose.unbroken.update(range(first + 2, stop + 1))
        return
    opening = prose.lines[first]
    head = opening.index(markup) if markup in opening else 0
    # Only the language stays of what follows the fence: titles, highlighted lines and tests are markup.
    language = re.match(r"[`~]+\s*\{?\.?([\w+#-]*)", opening[head:])
    prose.lines[first] = f"{opening[:head]}{markup}{language[1] if language else ''}"
    is_closed = stop - first > 1 and prose.lines[stop - 1].strip(" >\t").startswith(markup)
    prose.add_fence(first + 1, stop if is_closed else None, stop - 1 if is_closed else stop)


def _record_heading(prose: Prose, first: int, stop: int, level: int) -> None:
    written = prose.lines[first : max(first + 1, stop - 1)]  # The last of several lines is the underline.
    raw = " ".join(map(str.strip, written))
    words = clean_inline(_HEADING_MARKS.sub("", raw)).strip()
    prose.lines[first:stop] = ["#" * level + " " + words if words else "", *[""] * (stop - first - 1)]
    title = _EMPHASIS.sub(r"\2", words.replace("`", ""))
    if title:
        prose.headings.append(Heading(first + 1, stop, level, title))


def _record_table(prose: Prose, first: int, stop: int) -> None:
    header = [clean_inline(cell) for cell in split_row(prose.lines[first])]
    if stop - first > 2:
        prose.tables.append(Table(tuple(header), first + 3, stop))
    prose.unbroken.update((first + 2, first + 3))
    prose.kept_with_previous.add(first + 1)


def clean_inline(text: str) -> str:
    """Return the text without link targets, images' addresses, tags and anchors; its lines stay."""
    if not _MAY_HAVE_MARKUP.search(text):
        return text
    return _INLINE.sub(_replace_inline, text)


def _replace_inline(match: re.Match[str]) -> str:
    if match["code"]:
        return match.group()
    words = match["escape"] or match["address"] or ""
    if match["image"] and len(match["image"].split()) >= _MIN_CAPTION_WORDS:
        words = match["image"]
    if match["role"]:
        words = rst.read_role(match["role"], match["content"])
    elif match["link"] is not None and match["link"].isdigit() and (match["label"] or "").isdigit():
        return match.group()  # Two footnote marks, as in "tall.[12][13]".
    elif match["link"] is not None:
        words = clean_inline(match["link"])
    elif match["tag"] and _LINE_BREAK.match(match["tag"]):
        words = " "
    return words + "\n" * (match.group().count("\n") - words.count("\n"))
