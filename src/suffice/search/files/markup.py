"""AsciiDoc as light Markdown, and LaTeX, manual pages and others as headed plain text, one line for each line of the source.

The pattern for lines of AsciiDoc tells by its last group what a line is:

    title      a heading; ``level`` has as many marks
    code       begins verbatim lines, which end at the same mark; ``skipped`` lines that are no text
    bullet     an item; ``term`` is what the text below it explains, a heading of its own
    row        cells of a table
    dropped    markup only

What a document includes, defines or tests (macros, conditions) is not followed.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial

from suffice.search.files.prose import OBJECT_LEVEL, Heading, Prose, find_titles, format_row, to_code
from suffice.text.chunks import split_lines

_UNDERLINES = "=-~^+"  # The marks below titles of two lines, one for each level.
_LANGUAGE = re.compile(r"(?:source, ?|`{3})([\w+#-]+)")
_LINE = re.compile(
    r"""
          (?P<level>={1,6}|\#{1,6})[ ]+(?P<title>\S.*)
        | (?P<code>-{4,}|\.{4,}|\+{4,}|`{3,})[\w-]*\s*$
        | (?P<skipped>/{4,})\s*$
        | (?P<dropped>:!?[\w-]+!?:(?:[ ]|$)|\[[^\[\]]*\]$|\[\[.*\]\]$|//(?!/)|(?:ifn?def|ifeval|endif|include|image|toc)::
          |[+=*_|'<-]+\s*$)
        | [ ]*(?P<bullet>\*{1,5}|-|\.{1,5}|\d+[.)])[ ]+(?=\S)
        | \|(?P<row>.*)
        | [ ]*(?P<term>\S.*?)(?::{2,4}|;;)$
        """,
    re.VERBOSE,
)
_INLINE = re.compile(
    r"""
      `\+?(?P<code>[^`+][^`]*?)\+?`
    | footnote:\[(?P<footnote>[^\[\]]*)\]
    | [a-z]{3,8}:(?=[^\s:])(?P<link>(?://)?[^\s\[\]<>,;]{1,500}\[[^\[\]]*\])
    | <<(?:[^<>,]+,[ ]*)?(?P<label>[^<>]+)>>
    """,
    re.VERBOSE,
)
_LOOKS_LIKE_ASCIIDOC = re.compile(
    r"^\[(?:source|verse|quote|listing|horizontal|discrete|NOTE|TIP|WARNING|IMPORTANT|CAUTION|(?:cols|options|subs)=)[^\[\]\n]*\]\s*$"
    r"|^(?:ifn?def|endif|include|image)::\S*\[.*\]\s*$|^\|={3,}\s*$|\b(?:xref|linkgit):[\w./#-]+\[[^\]\n]*\]",
    re.MULTILINE,
)
_MAN_PAGE = re.compile(r"[.'][ \t]*(?:TH|Dd)\s|[.'][ \t]*S[hH]\s")
_LEVELS = {
    **{name: level for level, name in enumerate("title part chapter section subsection subsubsection".split())},
    **{"TH": 1, "Dt": 1, "SH": 2, "Sh": 2, "SS": 3, "Ss": 3},
}
# Formats of which only the headings are read; all else is text as it is.
_HEADINGS = {
    "latex": r"\\(?P<level>(?:sub){0,2}section|part|chapter|title)\*?(?:\[[^\]]*\])?\{(?P<title>[^{}]*)",
    "man": r"[.'] *(?P<level>TH|Dt|S[HhSs]) +(?P<title>.*)",
    "org": r"(?P<level>\*+) +(?P<title>.*)",
    "pod": r"=head(?P<level>\d)\s+(?P<title>.*)",
    "wiki": r"(?P<level>={1,6})(?P<title>[^=].*=)\s*$",
}


def _read_asciidoc(text: str) -> Prose:
    source = [line.expandtabs(8) for line in split_lines(text)]
    prose = Prose([""] * len(source))
    underlined = {title.first - 1: title.text for title in find_titles(source) if _is_underlined(title, source)}
    index = 0
    while index < len(source):
        line, stop = source[index], index + 1
        found = _LINE.match(line)
        kind = found.lastgroup if found is not None else None
        if words := underlined.get(index):
            _add_heading(prose, index, 2, _UNDERLINES.index(source[stop][0]) + 1, words)
            stop += 1
        elif found is None or kind is None:
            prose.lines[index] = _convert_inline(line.strip())
        elif kind in ("code", "skipped"):
            stop = _read_block(prose, source, index, found[kind], kind)
        elif kind in ("title", "term"):
            _add_heading(prose, index, 1, len(found["level"]) if kind == "title" else OBJECT_LEVEL, found[kind])
        elif kind == "bullet":
            marks = found["bullet"]
            label = f"{marks[:-1]}. " if marks[:1].isdigit() else "1. " if marks[0] == "." else "- "
            depth = len(marks) - 1 if len(set(marks)) == 1 < len(marks) else (len(line) - len(line.lstrip())) // 2
            prose.lines[index] = "  " * depth + label + _convert_inline(line[found.end() :])
            prose.block_starts.add(index + 1)
        elif kind == "row":
            prose.lines[index] = format_row(_convert_inline(cell.strip()) for cell in found["row"].split("|"))
        index = stop
    return prose


def _is_underlined(title: Heading, source: list[str]) -> bool:
    """Whether it is a title of two lines, and not a line above a block."""
    under = source[title.first].rstrip()
    return under[:1] in _UNDERLINES and title.text[0] != "[" and abs(len(title.text) - len(under)) <= 2


def _add_heading(prose: Prose, index: int, count: int, level: int, text: str) -> None:
    """Add a heading of ``count`` lines."""
    if words := _convert_inline(text).strip("= "):
        prose.lines[index] = f"{'#' * min(level, 6)} {words}"
        title = words.replace("`", "").replace("*", "")
        prose.headings.append(Heading(index + 1, index + count, level, title))


def _read_block(prose: Prose, source: list[str], index: int, mark: str, kind: str) -> int:
    """Read a block up to the mark that ends it, or to the end of the document; return the line after it."""
    stop = index + 1
    while stop < len(source) and not source[stop].startswith(mark):
        stop += 1
    if kind == "code":
        language = _LANGUAGE.search(f"{source[index - 1] if index else ''} {source[index]}")
        source[stop : stop + 1] = [""] * (stop < len(source))
        prose.write_code(source, index + 1, stop, language[1] if language else "")
    return stop + 1


def _convert_inline(text: str) -> str:
    return _INLINE.sub(_replace_inline, text)


def _replace_inline(match: re.Match[str]) -> str:
    if match["code"]:
        return to_code(match["code"])
    if match["link"] is None:
        return f" ({match['footnote']})" if match["footnote"] else match["label"] or ""
    target, _, label = match["link"].rstrip("]").partition("[")
    if label.isdigit():  # The section of a manual page.
        return f"{target}({label})"
    return label.partition(",")[0].strip('"^ ') or target


def _read_headings(heading: re.Pattern[str], text: str) -> Prose:
    prose = Prose([line.strip() for line in split_lines(text)])
    for index, line in enumerate(prose.lines):
        if (found := heading.match(line)) and (words := found["title"].strip('"= ')):
            marks = found["level"]
            level = _LEVELS.get(marks, int(marks) if marks.isdigit() else len(marks))
            prose.lines[index] = f"{'#' * max(1, min(level, 6))} {words}"
            prose.headings.append(Heading(index + 1, index + 1, level, words))
    return prose


READERS: Mapping[str, Callable[[str], Prose]] = {
    "asciidoc": _read_asciidoc,
    **{name: partial(_read_headings, re.compile(heading)) for name, heading in _HEADINGS.items()},
}


def looks_like_asciidoc(text: str) -> bool:
    """Whether a text without a telling name has block attributes, conditions, tables or references of AsciiDoc."""
    return _LOOKS_LIKE_ASCIIDOC.search(text[:200_000]) is not None


def looks_like_man(text: str) -> bool:
    """Whether a text is a manual page: it begins with a request, and has its name and section, and headings."""
    sample = text[:50_000].lstrip()
    found = {match[0][1:].strip()[:1] for match in map(_MAN_PAGE.match, split_lines(sample)) if match}
    return sample[:1] in (".", "'") and len(found) > 1
