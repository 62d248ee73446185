"""AsciiDoc as light Markdown, and LaTeX, manual pages and others as headed plain text, one line for each line of the source.

The pattern for lines of AsciiDoc tells by its last group what a line is:

    title      a heading; ``level`` has as many marks
    code       begins verbatim lines, which end at the same mark; ``skipped`` lines that are no text
    verbatim   begins verbatim lines up to a blank one; ``literal`` are indented lines
    bullet     an item; ``term`` is what an item explains, with its ``text``
    row        cells of a table; ``caption`` is its title
    label      the name of a remark, such as NOTE
    dropped    markup only

What a document includes, defines or tests (macros, conditions) is not followed.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

from suffice.search.files.prose import OBJECT_LEVEL, Heading, Prose, find_titles, format_row, format_term, to_code
from suffice.text.blocks import MAX_ITEM_CHARS
from suffice.text.chunks import split_lines

_UNDERLINES = "=-~^+"  # The marks below titles of two lines, one for each level.
_LANGUAGE = re.compile(r"(?:source, ?|`{3})([\w+#-]+)")
_LINE = re.compile(
    r"""
          (?P<level>={1,6}|\#{1,6})[ ]+(?P<title>\S.*)
        | (?P<code>-{4,}|\.{4,}|\+{4,}|`{3,})[\w-]*\s*$
        | (?P<skipped>/{4,})\s*$
        | \[(?P<verbatim>verse|synopsis|source|listing|literal)\b[^\]]*\]\s*$
        | \[(?P<label>NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*$
        | (?P<dropped>:!?[\w-]+!?:(?:[ ]|$)|\[[^\[\]]*\]$|\[\[.*\]\]$|//(?!/)|(?:ifn?def|ifeval|endif|include|image|toc)::
          |[+=*_|'<-]+\s*$)
        | [ ]*(?P<bullet>\*{1,5}|-|\.{1,5}|\d+[.)])[ ]+(?=\S)
        | \|(?P<row>.*)
        | \.(?P<caption>[^\s.].*)
        | [ ]*(?P<term>\S.*?)(?::{2,4}|;;)(?:[ ]+(?P<text>\S.*))?$
        | (?P<literal>[ ])
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
# What tells AsciiDoc without a telling name: block attributes, conditions, tables or references.
ASCIIDOC_MARKUP = re.compile(
    r"^\[(?:source|verse|quote|listing|horizontal|discrete|NOTE|TIP|WARNING|IMPORTANT|CAUTION|(?:cols|options|subs)=)[^\[\]\n]*\]\s*$"
    r"|^(?:ifn?def|endif|include|image)::[^\s\[]*+\[.*\]\s*$|^\|={3,}\s*$|\b(?:xref|linkgit):[\w./#-]+\[[^\]\n]*\]",
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


class _AsciiDocReader:
    """Reads one document. Lines are indices from 0 here."""

    def __init__(self, text: str) -> None:
        self.source = [line.expandtabs(8) for line in split_lines(text)]
        self.prose = Prose([""] * len(self.source))
        self.out = self.prose.lines
        self.terms: dict[int, str] = {}
        self.in_item = False

    def read(self) -> Prose:
        underlined = {title.first - 1: title.text for title in find_titles(self.source) if self._is_underlined(title)}
        index = 0
        while index < len(self.source):
            if words := underlined.get(index):
                level = _UNDERLINES.index(self.source[index + 1][0]) + 1
                index = self._add_heading(index, index + 2, level, words)
            else:
                index = self._read_next(index)
        self._finish_terms()
        self.prose.headings.sort(key=lambda heading: heading.first)
        return self.prose

    def _is_underlined(self, title: Heading) -> bool:
        """Whether it is a title of two lines, and not a line above a block."""
        under = self.source[title.first].rstrip()
        return under[:1] in _UNDERLINES and title.text[0] != "[" and abs(len(title.text) - len(under)) <= 2

    def _read_next(self, index: int) -> int:
        """Read the line or the block at ``index``; return the line after it."""
        line = self.source[index]
        found = _LINE.match(line)
        kind = found.lastgroup if found is not None else None
        if found is None or kind is None:
            self._write(index, line)
        elif kind in ("code", "skipped"):
            return self._read_block(index, found[kind], kind)
        elif kind in ("verbatim", "literal"):
            return self._read_verbatim(index, kind)
        elif kind == "title":
            return self._add_heading(index, index + 1, len(found["level"]), found["title"])
        elif kind == "bullet":
            marks, rest = found["bullet"], line[found.end() :]
            label = f"{marks[:-1]}. " if marks[:1].isdigit() else "1. " if marks[0] == "." else "- "
            depth = len(marks) - 1 if len(set(marks)) == 1 < len(marks) else (len(line) - len(line.lstrip())) // 2
            self.out[index] = "  " * depth + label + _convert_inline(rest)
            self.prose.block_starts.add(index + 1)
            self.in_item = True
        elif kind in ("term", "text"):
            self.terms[index] = " ".join(_convert_inline(found["term"]).split())
            self.out[index] = _convert_inline(found["text"] or "").strip()
            self.in_item = True
        elif kind == "caption":
            self.out[index] = f"**{_convert_inline(found['caption'])}**"
        elif kind == "row":
            self.out[index] = format_row(_convert_inline(cell.strip()) for cell in found["row"].split("|"))
        elif kind == "label":
            self.out[index] = f"{found['label'].capitalize()}:"
        return index + 1

    def _write(self, index: int, text: str) -> None:
        if not text.strip():
            return
        if text[0] != " " and index and not self.source[index - 1].strip():
            self.in_item = False
        margin = "  " if text[0] == " " and self.in_item else ""
        self.out[index] = margin + _convert_inline(text.strip())

    def _add_heading(self, index: int, stop: int, level: int, text: str) -> int:
        self.in_item = False
        if words := _convert_inline(text).strip("= "):
            self.out[index] = f"{'#' * level} {words}"
            self.prose.headings.append(Heading(index + 1, stop, level, words.replace("`", "").replace("*", "")))
        return stop

    def _finish_terms(self) -> None:
        """Write the terms before their explanations; those that follow each other share one.

        A long explanation is a section, so that each of its chunks is titled by the term.
        """
        bounds = sorted({*self.terms, *(heading.first - 1 for heading in self.prose.headings), len(self.out)})
        names: list[str] = []
        for index, stop in pairwise(bounds):
            if index not in self.terms:
                names = []
                continue
            names.append(self.terms[index])
            size = sum(len(line.strip()) for line in self.out[index:stop])
            if size or stop not in self.terms:
                words = ", ".join(map(format_term, names))
                is_long = size > MAX_ITEM_CHARS and not self.out[index]
                self.out[index] = f"###### {words}" if is_long else f"- {words}: {self.out[index]}".rstrip()
                if is_long:
                    title = ", ".join(names).replace("`", "")
                    self.prose.headings.append(Heading(index + 1, index + 1, OBJECT_LEVEL, title, stop))
                self.prose.block_starts.add(index + 1)
                names = []

    def _read_block(self, index: int, mark: str, kind: str) -> int:
        """Read a block up to the mark that ends it, or to the end of the document; return the line after it."""
        stop = index + 1
        while stop < len(self.source) and not self.source[stop].startswith(mark):
            stop += 1
        if kind == "code":
            language = _LANGUAGE.search(f"{self.source[index - 1] if index else ''} {self.source[index]}")
            self.source[stop : stop + 1] = [""] * (stop < len(self.source))
            self.prose.write_code(self.source, index + 1, stop, language[1] if language else "")
        return stop + 1

    def _read_verbatim(self, index: int, kind: str) -> int:
        """Read a paragraph that is code because of its attribute or its indent."""
        if kind == "literal" and ((index and self.source[index - 1].strip()) or self.in_item):
            self._write(index, self.source[index])
            return index + 1
        first = stop = index + (kind == "verbatim")
        if (below := _LINE.match("".join(self.source[first : first + 1]))) and below.lastgroup in ("code", "skipped"):
            return first
        while stop < len(self.source) and self.source[stop].strip():
            stop += 1
        self.prose.write_code(self.source, first, stop)
        return max(stop, index + 1)


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
    "asciidoc": lambda text: _AsciiDocReader(text).read(),
    **{name: partial(_read_headings, re.compile(heading)) for name, heading in _HEADINGS.items()},
}


def looks_like_man(text: str) -> bool:
    """Whether a text is a manual page: it begins with a request, and has its name and section, and headings."""
    sample = text[:50_000].lstrip()
    found = {match[0][1:].strip()[:1] for match in map(_MAN_PAGE.match, split_lines(sample)) if match}
    return sample[:1] in (".", "'") and len(found) > 1
