"""AsciiDoc as light Markdown, and LaTeX, manual pages and others as headed plain text, one line for each line of the source.

The pattern for lines of AsciiDoc tells by its last group what a line is:

    title      a heading; ``level`` has as many marks
    code       begins verbatim lines; ``paragraph`` those up to a blank line; ``literal`` are indented lines
    skipped    begins lines that are no text
    bullet     an item; ``term`` is what an item explains, with its ``text``
    row        cells of a table; ``caption`` is its title
    label      the name of a remark, such as NOTE
    dropped    markup only

Rules for inline markup say which words it stands for. What a document includes, defines or tests (macros, conditions)
is not followed.
"""

import html
import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise

from suffice.search.files.prose import (
    OBJECT_LEVEL,
    Heading,
    Prose,
    find_titles,
    format_row,
    format_term,
    to_code,
    to_line,
)
from suffice.text.blocks import MAX_ITEM_CHARS
from suffice.text.chunks import split_lines

Rule = tuple[str, str | Callable[[str], str]]
"""A pattern with one group, and what it is replaced by: ``{}`` is the text of the group."""
_LANGUAGE = re.compile(r"(?:source, ?|`{3})([\w+#-]+)")
_UNDERLINES = "=-~^+"  # The marks below titles of two lines, one for each level.
_CODE = "\x01"  # Around inline code until all markup is replaced.


class _AsciiDocReader:
    """Reads one document. Lines are indices from 0 here."""

    def __init__(self, text: str) -> None:
        self.source = [line.expandtabs(8) for line in split_lines(text.replace(_CODE, ""))]
        self.prose = Prose([""] * len(self.source))
        self.out = self.prose.lines
        self.done: set[int] = set()  # Lines without inline markup.
        self.missing: set[str] = set()  # Ends of blocks that no later line has.
        self.terms: dict[int, str] = {}
        self.in_item = False

    def read(self) -> Prose:
        underlined = {title.first - 1: title for title in find_titles(self.source) if title.last == title.first + 1}
        index = 0
        while index < len(self.source):
            title, under = underlined.get(index), self.source[index + 1 : index + 2]
            level = _UNDERLINES.find(under[0][0]) + 1 if title is not None else 0
            if (
                title is not None
                and level
                and title.text[0] != "["
                and abs(len(title.text) - len(under[0].rstrip())) <= 2
            ):
                self._add_heading(index, title.last, level, self._convert_inline(title.text))
                index += 2
            else:
                index = self._read_next(index)
        self._convert_paragraphs()
        self._finish_terms()
        self.prose.headings.sort(key=lambda heading: heading.first)
        return self.prose

    def _read_next(self, index: int) -> int:
        """Read the line or the block at ``index``; return the line after it."""
        line = self.source[index]
        found = _LINE.match(line)
        kind = found.lastgroup if found is not None else None
        if found is None or kind is None:
            self._write(index, line)
        elif kind in ("code", "skipped", "paragraph"):
            return self._read_block(index, found[kind], kind)
        elif kind == "literal":
            return self._read_literal(index)
        elif kind == "title":
            words = self._convert_inline(found["title"]).strip("= ")
            self._add_heading(index, index + 1, len(found["level"]), words)
        elif kind == "bullet":
            marks, rest = found["bullet"], line[found.end() :]
            label = f"{marks[:-1]}. " if marks[:1].isdigit() else "1. " if marks[0] == "." else "- "
            depth = len(marks) - 1 if len(set(marks)) == 1 < len(marks) else (len(line) - len(line.lstrip())) // 2
            self.out[index] = "  " * depth + label + rest
            self.prose.block_starts.add(index + 1)
            self.in_item = True
        elif kind in ("term", "text"):
            self.terms[index] = " ".join(self._convert_inline(found["term"]).split())
            self.out[index] = (found["text"] or "").strip()
            self.in_item = True
        elif kind == "caption":
            self.out[index] = f"**{found['caption']}**"
        elif kind == "row":
            self.out[index] = format_row(cell.strip() for cell in found["row"].split("|"))
        elif kind == "label":
            self._write(index, f"{found['label'].capitalize()}:")
        return index + 1

    def _write(self, index: int, text: str) -> None:
        if not text.strip():
            return
        if text[0] != " " and index and not self.source[index - 1].strip():
            self.in_item = False
        margin = "  " if text[0] == " " and self.in_item else ""
        self.out[index] = margin + text.strip()

    def _add_heading(self, index: int, stop: int, level: int, words: str) -> None:
        self.in_item = False
        if words:
            self.out[index] = f"{'#' * min(level, 6)} {words}"
            self.done.add(index)
            self.prose.headings.append(Heading(index + 1, stop, level, words.replace("`", "").replace("*", "")))

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

    # -- code and blocks that are no text ------------------------------------------------------------------------------

    def _find_end(self, index: int, end: str) -> int | None:
        """Return the line that begins with ``end``, or is blank if that is empty."""
        if end in self.missing:
            return None
        for number in range(index, len(self.source)):
            line = self.source[number].strip()
            if line.startswith(end) if end else not line:
                return number
        self.missing.add(end)
        return len(self.source) if not end else None

    def _read_block(self, index: int, name: str, kind: str) -> int:
        """Read a block; return the line after it, or after its first line if it has no end."""
        below = _LINE.match(self.source[index + 1]) if index + 1 < len(self.source) else None
        has_block_below = below is not None and below.lastgroup in ("code", "skipped")
        end = "" if kind == "paragraph" else name
        stop = None if kind == "paragraph" and has_block_below else self._find_end(index + 1, end)
        if stop is None:
            return index + 1
        if kind == "skipped":
            return stop + 1
        language = _LANGUAGE.search(f"{self.source[index - 1] if index else ''} {self.source[index]}")
        self.source[stop : stop + 1] = [""] * (stop < len(self.source))
        self.prose.write_code(self.source, index + 1, stop, language[1] if language else "")
        self.done.update(range(index, stop + 1))
        return stop + 1

    def _read_literal(self, index: int) -> int:
        """Read a paragraph that is code because it is indented."""
        if (index and self.source[index - 1].strip()) or self.in_item:
            self._write(index, self.source[index])
            return index + 1
        stop = last = index
        while stop < len(self.source) and (not (words := self.source[stop].strip()) or self.source[stop][0] == " "):
            stop += 1
            last = stop if words else last
        self.prose.write_code(self.source, index, last)
        self.done.update(range(index - 1, last + 1))
        return max(last, index + 1)

    # -- inline markup -------------------------------------------------------------------------------------------------

    def _convert_paragraphs(self) -> None:
        """Replace the inline markup of lines that stand together, because it may run from one into the next."""
        start = 0
        for index in range(len(self.out) + 1):
            if index == len(self.out) or index in self.done or not self.out[index]:
                if start < index:
                    texts = self._convert_inline("\n".join(self.out[start:index])).split("\n")
                    self.out[start:index] = [text.rstrip() for text in texts]
                start = index + 1

    def _convert_inline(self, text: str) -> str:
        parts = _INLINE.sub(self._replace_inline, text).split(_CODE)
        return "".join(to_code(part) if number % 2 else part for number, part in enumerate(parts))

    def _replace_inline(self, match: re.Match[str]) -> str:
        position = match.lastindex or 1
        words, rule = match[position + 1] or "", _RULES[position // 2][1]
        replaced = rule.replace("{}", words) if isinstance(rule, str) else rule(words)
        return replaced + "\n" * (match.group().count("\n") - replaced.count("\n"))


def _mark_code(words: str) -> str:
    return f"{_CODE}{words}{_CODE}" if words.strip() else words


def _unescape(entity: str) -> str:
    return to_line(html.unescape(entity)).replace("\ufffd", "")


_ENTITY: Rule = (r"(&(?:#\d{1,7}|#x[\da-fA-F]{1,6}|\w{1,30});)", _unescape)

_CHARACTERS = {
    "nbsp": " ", "empty": "", "plus": "+", "amp": "&", "lt": "<", "gt": ">", "vbar": "|", "asterisk": "*", "tilde": "~",
    "backtick": "`", "caret": "^", "startsb": "[", "endsb": "]", "backslash": "\\", "apos": "'", "litdd": "--", "cpp": "C++",
}  # fmt: skip


def _read_link(words: str) -> str:
    """Return the label of ``target[label]``, else the target; a manual page has its section there."""
    target, _, label = words.rstrip("]").partition("[")
    return f"{target}({label})" if label.isdigit() else label.partition(",")[0].strip('"^ ') or target


_LINE = re.compile(
    r"""
          (?P<level>={1,6}|\#{1,6})[ ]+(?P<title>\S.*)
        | (?P<code>-{4,}|\.{4,}|\+{4,}|`{3,})[\w-]*\s*$
        | (?P<skipped>/{4,})\s*$
        | \[(?P<paragraph>verse|synopsis|source|listing|literal)\b[^\]]*\]\s*$
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
_RULES: tuple[Rule, ...] = (
    (r"`\+?([^`+\n][^`\n]*?)\+?`", _mark_code),
    (r"(?:link|xref|mailto|[a-z]{3,8}):(?=[^\s:])((?://)?[^\s\[\]<>,;]{1,500}\[[^\[\]\n]*\])", _read_link),
    (r"footnote:\[([^\[\]\n]*)\]", " ({})"),
    (r"(?:kbd|btn|pass|stem):\[([^\[\]\n]*)\]", "{}"),
    (r"<<[^<>,\n]+, *([^<>]+)>>", "{}"),
    (r"<<([^<>,\n]+)>>", "{}"),
    (r"\{([\w-]{1,50})\}", lambda name: _CHARACTERS.get(name, f"{{{name}}}")),
    (r"\[\[([^\[\]\n]*)\]\]", ""),
    (r"\[([.#][\w.#-]*)\](?=[#*_`])", ""),
    (r" (\+)(?=\n|$)", ""),
    _ENTITY,
)
_INLINE = re.compile("|".join(f"({pattern})" for pattern, _ in _RULES))  # Each in a group of its own.
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


def looks_like_asciidoc(text: str) -> bool:
    """Whether a text without a telling name has block attributes, conditions, tables or references of AsciiDoc."""
    return _LOOKS_LIKE_ASCIIDOC.search(text[:200_000]) is not None


def looks_like_man(text: str) -> bool:
    """Whether a text is a manual page: it begins with a request, and has its name and section, and headings."""
    sample = text[:50_000].lstrip()
    found = {match[0][1:].strip()[:1] for match in map(_MAN_PAGE.match, split_lines(sample)) if match}
    return sample[:1] in (".", "'") and len(found) > 1
