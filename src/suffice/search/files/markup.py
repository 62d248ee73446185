"""AsciiDoc, manual pages and others as headed plain text, with one line for each line of the source.

Each format is a ``Markup`` of two patterns. The one for lines tells by its last group what a line is:

    title      a heading; ``level`` is its level, or as many marks
    code       begins verbatim lines; ``paragraph`` those up to a blank line; ``literal`` are indented lines
    skipped    begins lines that are no text
    bullet     an item; ``term`` is what an item explains, with its ``text``
    below      says that the next text is a term; ``above`` that the line above is one
    row        cells of a table; ``caption`` is its title
    request    text that ``read`` finds
    dropped    markup only

Rules for inline markup say which words it stands for. What a document includes, defines or tests (macros, conditions)
is not followed.
"""

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
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
_BULLET = re.compile(r"(?:[•*o+-]|(\d{1,3})[.)]?)?$")
_LABELS = {".": "1. "}  # Of items by their mark; else it is a dash.
_CODE = "\x01"  # Around inline code until all markup is replaced.


@dataclass(frozen=True, slots=True)
class Markup:
    """How a format is read."""

    lines: re.Pattern[str]
    inline: tuple[Rule, ...]
    levels: Mapping[str, int] = field(default_factory=dict)
    ends: Mapping[str, str] = field(default_factory=dict)
    """How the line begins that ends a block, by the first word of what begins it."""
    end: str = "{}"
    """The same for all other blocks."""
    underlines: str = ""
    """The marks below titles of two lines, one for each level."""
    has_indented_items: bool = False
    has_markup_in_code: bool = False
    read: Callable[[re.Match[str]], str] = lambda match: match[match.lastgroup or 0]
    """The words of a title, a term or a request."""


class MarkupReader:
    """Reads one document. Lines are indices from 0 here."""

    def __init__(self, text: str, markup: Markup) -> None:
        self.markup = markup
        self.source = [line.expandtabs(8) for line in split_lines(text.replace(_CODE, ""))]
        self.prose = Prose([""] * len(self.source))
        self.out = self.prose.lines
        self.done: set[int] = set()  # Lines without inline markup.
        self.missing: set[str] = set()  # Ends of blocks that no later line has.
        self.terms: dict[int, str] = {}
        self.mark = ""  # What the next text begins with: a bullet.
        self.is_term = False  # Whether the next text is a term.
        self.in_item = False

    def read(self) -> Prose:
        titles = find_titles(self.source) if self.markup.underlines else []
        underlined = {title.first - 1: title for title in titles if title.last == title.first + 1}
        index = 0
        while index < len(self.source):
            title, under = underlined.get(index), self.source[index + 1 : index + 2]
            level = self.markup.underlines.find(under[0][0]) + 1 if title is not None else 0
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
        found = self.markup.lines.match(line)
        kind = found.lastgroup if found is not None else None
        if found is None or kind is None:
            self._write(index, line)
        elif kind in ("code", "skipped", "paragraph"):
            return self._read_block(index, found[kind], kind)
        elif kind == "literal":
            return self._read_literal(index)
        elif kind == "title":
            marks = found["level"] or ""
            level = self.markup.levels.get(marks, int(marks) if marks.isdigit() else len(marks))
            self._add_heading(index, index + 1, level, self._convert_inline(self.markup.read(found)).strip("= "))
        elif kind == "bullet":
            marks, rest = found["bullet"], line[found.end() :]
            label = f"{marks[:-1]}. " if marks[:1].isdigit() else _LABELS.get(marks[-1:], "- ")
            depth = len(marks) - 1 if len(set(marks)) == 1 < len(marks) else (len(line) - len(line.lstrip())) // 2
            self.out[index] = "  " * (depth if marks else 0) + label + rest
            self.prose.block_starts.add(index + 1)
            self.in_item = True
        elif kind in ("term", "text", "number"):
            term = found["term"] if kind == "text" else self.markup.read(found)
            self._add_term(index, term, found["text"] if kind == "text" else "")
        elif kind == "below":
            self.is_term = True
        elif kind == "above":
            if index > 1 and self.source[index - 2][1:3] == "PP" and self.out[index - 1][-1:] not in (".", ":", ""):
                self._add_term(index - 1, self.out[index - 1], "")
        elif kind == "caption":
            self.out[index] = f"**{found['caption']}**"
        elif kind == "row":
            self.out[index] = format_row(cell.strip() for cell in found["row"].split("|"))
        elif kind == "request":
            self._write(index, self.markup.read(found))
        return index + 1

    def _write(self, index: int, text: str) -> None:
        if not text.strip():
            return
        if self.is_term:
            self._add_term(index, text, "")
            return
        if text[0] != " " and index and not self.source[index - 1].strip():
            self.in_item = False
        margin = "  " if text[0] == " " and self.in_item else ""
        self.out[index] = f"{self.mark or margin}{text.strip()}"
        if self.mark:
            self.prose.block_starts.add(index + 1)
        self.mark = ""

    def _add_heading(self, index: int, stop: int, level: int, words: str) -> None:
        self.in_item, self.mark, self.is_term = False, "", False
        if words:
            self.out[index] = f"{'#' * max(1, min(level, 6))} {words}"
            self.done.add(index)
            self.prose.headings.append(Heading(index + 1, stop, level, words.replace("`", "").replace("*", "")))

    def _add_term(self, index: int, term: str, text: str) -> None:
        words = " ".join(self._convert_inline(term).split())
        self.is_term, self.in_item = False, True
        if bullet := _BULLET.match(words):
            self.mark = f"{bullet[1]}. " if bullet[1] else "- "
            self._write(index, text)
            return
        self.mark, self.terms[index] = "", words.removeprefix("* ")
        self.out[index] = text.strip()

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
            line = self.source[number].strip().lower()
            if line.startswith(end) if end else not line:
                return number
        self.missing.add(end)
        return len(self.source) if not end else None

    def _read_block(self, index: int, name: str, kind: str) -> int:
        """Read a block; return the line after it, or after its first line if it has no end."""
        end = self.markup.ends.get(name.split()[0], self.markup.end.replace("{}", name)) if kind != "paragraph" else ""
        below = self.markup.lines.match(self.source[index + 1]) if index + 1 < len(self.source) else None
        has_block_below = below is not None and below.lastgroup in ("code", "skipped")
        stop = None if kind == "paragraph" and has_block_below else self._find_end(index + 1, end.lower())
        if stop is None:
            return index + 1
        if kind == "skipped":
            return stop + 1
        language = _LANGUAGE.search(f"{self.source[index - 1] if index else ''} {self.source[index]}")
        for number in range(index + 1, stop) if self.markup.has_markup_in_code else ():
            found = self.markup.lines.match(self.source[number])
            text = self.source[number] if found is None else ""
            text = self.markup.read(found) if found is not None and found.lastgroup == "request" else text
            self.source[number] = self._convert_inline(text).replace("`", "")
        self.source[stop : stop + 1] = [""] * (stop < len(self.source))
        self.prose.write_code(self.source, index + 1, stop, language[1] if language else "")
        self.done.update(range(index, stop + 1))
        return stop + 1

    def _read_literal(self, index: int) -> int:
        """Read a paragraph that is code because it is indented."""
        if (index and self.source[index - 1].strip()) or (self.in_item and self.markup.has_indented_items):
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
        parts = _compile_rules(self.markup.inline).sub(self._replace_inline, text).split(_CODE)
        return "".join(to_code(part) if number % 2 else part for number, part in enumerate(parts))

    def _replace_inline(self, match: re.Match[str]) -> str:
        position = match.lastindex or 1
        words, rule = match[position + 1] or "", self.markup.inline[position // 2][1]
        replaced = rule.replace("{}", words) if isinstance(rule, str) else rule(words)
        return replaced + "\n" * (match.group().count("\n") - replaced.count("\n"))


@cache
def _compile_rules(rules: tuple[Rule, ...]) -> re.Pattern[str]:
    """Return one pattern for all rules, each in a group of its own before its inner group; without rules it matches nothing."""
    return re.compile("|".join(f"({pattern})" for pattern, _ in rules) or r"(?!)")


def _mark_code(words: str) -> str:
    return f"{_CODE}{words}{_CODE}" if words.strip() else words


def _unescape(entity: str) -> str:
    return to_line(html.unescape(entity)).replace("\ufffd", "")


_ENTITY: Rule = (r"(&(?:#\d{1,7}|#x[\da-fA-F]{1,6}|\w{1,30});)", _unescape)

# -- AsciiDoc ----------------------------------------------------------------------------------------------------------

_CHARACTERS = {
    "nbsp": " ", "empty": "", "plus": "+", "amp": "&", "lt": "<", "gt": ">", "vbar": "|", "asterisk": "*", "tilde": "~",
    "backtick": "`", "caret": "^", "startsb": "[", "endsb": "]", "backslash": "\\", "apos": "'", "litdd": "--", "cpp": "C++",
}  # fmt: skip


def _read_link(words: str) -> str:
    """Return the label of ``target[label]``, else the target; a manual page has its section there."""
    target, _, label = words.rstrip("]").partition("[")
    return f"{target}({label})" if label.isdigit() else label.partition(",")[0].strip('"^ ') or target


_ASCIIDOC = Markup(
    lines=re.compile(
        r"""
          (?P<level>={1,6}|\#{1,6})[ ]+(?P<title>\S.*)
        | (?P<code>-{4,}|\.{4,}|\+{4,}|`{3,})[\w-]*\s*$
        | (?P<skipped>/{4,})\s*$
        | \[(?P<paragraph>verse|synopsis|source|listing|literal)\b[^\]]*\]\s*$
        | \[(?P<request>NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*$
        | (?P<dropped>:!?[\w-]+!?:(?:[ ]|$)|\[[^\[\]]*\]$|\[\[.*\]\]$|//(?!/)|(?:ifn?def|ifeval|endif|include|image|toc)::
          |[+=*_|'<-]+\s*$)
        | [ ]*(?P<bullet>\*{1,5}|-|\.{1,5}|\d+[.)])[ ]+(?=\S)
        | \|(?P<row>.*)
        | \.(?P<caption>[^\s.].*)
        | [ ]*(?P<term>\S.*?)(?::{2,4}|;;)(?:[ ]+(?P<text>\S.*))?$
        | (?P<literal>[ ])
        """,
        re.VERBOSE,
    ),
    inline=(
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
    ),
    underlines="=-~^+",
    has_indented_items=True,
    read=lambda match: f"{match['request'].capitalize()}:" if match["request"] else match[match.lastgroup or 0],
)
_LOOKS_LIKE_ASCIIDOC = re.compile(
    r"^\[(?:source|verse|quote|listing|horizontal|discrete|NOTE|TIP|WARNING|IMPORTANT|CAUTION|(?:cols|options|subs)=)[^\[\]\n]*\]\s*$"
    r"|^(?:ifn?def|endif|include|image)::\S*\[.*\]\s*$|^\|={3,}\s*$|\b(?:xref|linkgit):[\w./#-]+\[[^\]\n]*\]",
    re.MULTILINE,
)

# -- manual pages ------------------------------------------------------------------------------------------------------

_GLYPHS = {
    "aq": "'", "dq": '"', "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "bu": "•", "co": "©", "em": "—", "en": "–", "hy": "-",
    "mi": "-", "ga": "`", "ha": "^", "ti": "~", "rs": "\\", "ba": "|", "at": "@", "->": "→", "<=": "≤", ">=": "≥", "mu": "×",
    "--": "—",
}  # fmt: skip
_ESCAPES = {"e": "\\", "t": " ", "~": " ", "0": " ", **{mark: mark for mark in "-.'`\\ "}}
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')
_ENCLOSING = {"Op": "[]", "Bq": "[]", "Pq": "()", "Dq": '""', "Sq": "''", "Aq": "<>", "Brq": "{}"}


def _read_escape(words: str) -> str:
    """Return the character of ``(bu``, ``[bu]``, ``-`` … after a backslash."""
    return _ESCAPES.get(words, "") if len(words) == 1 else _GLYPHS.get(words.strip("([]").lower(), "")


def _read_man(match: re.Match[str]) -> str:
    """Return the text of a request: fonts of ``man``, or the words between the macros of ``mdoc``."""
    kind = match.lastgroup or ""
    words: list[str] = [quoted.replace('""', '"') or word for quoted, word in _ARGUMENT.findall(match[kind])]
    if kind == "title":
        is_page = match["level"] in ("TH", "Dt") and len(words) > 1
        return f"{words[0].lower()}({words[1]})" if is_page else " ".join(words)
    if kind == "term" and len(words) > 1 and words[1].rstrip("nm").replace(".", "").isdigit():
        return words[0]  # After it stands an indent.
    name = match["name"] if kind == "request" else ""
    if name.isupper():
        return ("" if len(name) == 2 and name not in ("SM", "SB", "CW") else " ").join(words)
    return _join_mdoc([name, *words] if name else words)


def _join_mdoc(words: Sequence[str]) -> str:
    """Return the words between macros: ``Op Fl o Ar file`` is ``[-o file]``."""
    text, closing, is_option = "", "", False
    for word in words:
        if word in _ENCLOSING:
            text, closing = f"{text} {_ENCLOSING[word][0]}", _ENCLOSING[word][1] + closing
        elif word == "Fl":
            is_option = True
        elif not (len(word) == 2 and word[0].isupper() and word[1].islower()):
            space = "" if text.endswith(("[", "(", "{", "<")) or word in ".,:;)" else " "
            text, is_option = f"{text}{space}{'-' if is_option else ''}{word}", False
    return (text + closing).strip()


_MAN = Markup(
    lines=re.compile(
        r"""
          \\h'-\d+'(?=\\\(bu|[ ]*\d)(?P<number>.*)
        | [.'][ ]*(?:i[ef][ ]n[ ]+[.'])?(?:
            (?P<level>TH|Dt|S[HhSs])[ ]+(?P<title>.*)
          | (?P<code>nf|EX|TS|Vb|Bd(?=.*-(?:literal|unfilled)))\b
          | (?P<skipped>de1?|ig|am|(?:i[fe][ ]+t|el)(?=\b.*\\\{))\b
          | (?P<below>T[PQ])\b
          | (?P<above>RS)\b
          | (?:It\b|IP[ ]+(?=[^\s"]|"[^"]))(?P<term>.*)
          | (?P<dropped>B[dklx]|E[dkl]|D[dt]|Os|Sm|R[se])\b
          | (?P<name>B|I|R|SM|SB|CW|BR|RB|IR|RI|BI|IB|UR|MT|[A-Z][a-z])[ ]+(?P<request>.*)
          | (?P<other>.*))
        """,
        re.VERBOSE,
    ),
    inline=(
        (r"\\[fsnmMF](?:\(..|\[[^\[\]\n]*\]|[+-]?(.))", ""),
        (r"\\[hvwlLDobXZk]'([^'\n]*)'", ""),
        (r"\\\*(\(..|\[[^\[\]\n]*\]|.)", _read_escape),
        (r"\\[\"#](.*)", ""),
        (r"\\(\(..|\[[^\[\]\n]*\]|[^\n])", _read_escape),
    ),
    levels={"TH": 1, "Dt": 1, "SH": 2, "Sh": 2, "SS": 3, "Ss": 3},
    end="..",
    ends={
        **{"nf": ".fi", "EX": ".EE", "TS": ".TE", "Vb": ".Ve", "Bd": ".Ed"},
        **dict.fromkeys(("if", "ie", "el"), ".\\}"),
    },
    has_markup_in_code=True,
    read=_read_man,
)
_MAN_PAGE = re.compile(r"[.'][ \t]*(?:TH|Dd)\s|[.'][ \t]*S[hH]\s")


_SECTIONS = {name: level for level, name in enumerate("title part chapter section subsection subsubsection".split())}
# Formats of which only the headings are read; all else is text as it is.
_HEADINGS = {
    "latex": r"\s*\\(?P<level>(?:sub){0,2}section|part|chapter|title)\*?(?:\[[^\]]*\])?\{(?P<title>[^{}]*)",
    "org": r"(?P<level>\*+) +(?P<title>.*)",
    "pod": r"=head(?P<level>\d)\s+(?P<title>.*)",
    "wiki": r"(?P<level>={1,6})(?P<title>[^=].*=)\s*$",
}


def _make_reader(markup: Markup) -> Callable[[str], Prose]:
    return lambda text: MarkupReader(text, markup).read()


READERS: Mapping[str, Callable[[str], Prose]] = {
    "asciidoc": _make_reader(_ASCIIDOC),
    "man": _make_reader(_MAN),
    **{name: _make_reader(Markup(re.compile(heading), (), _SECTIONS)) for name, heading in _HEADINGS.items()},
}


def looks_like_asciidoc(text: str) -> bool:
    """Whether a text without a telling name has block attributes, conditions, tables or references of AsciiDoc."""
    return _LOOKS_LIKE_ASCIIDOC.search(text[:200_000]) is not None


def looks_like_man(text: str) -> bool:
    """Whether a text is a manual page: it begins with a request, and has its name and section, and headings."""
    sample = text[:50_000].lstrip()
    found = {match[0][1:].strip()[:1] for match in map(_MAN_PAGE.match, split_lines(sample)) if match}
    return sample[:1] in (".", "'") and len(found) > 1
