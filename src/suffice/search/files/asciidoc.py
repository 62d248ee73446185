"""AsciiDoc as light Markdown with one line for each line of the source.

No maintained Python package parses AsciiDoc and tells the lines, so this reader knows the blocks that a document is made of:
titles, paragraphs, lists with their continuations, delimited blocks, tables and admonitions. Attribute entries, comments,
conditions and includes are not text; what they exclude or insert is not decided here, so all branches of a condition stay.
"""

import csv
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from suffice.search.files.prose import Heading, Prose, format_term, to_code, to_lead_in, to_line
from suffice.text.chunks import split_lines

_MAX_DEPTH = 40  # Nested blocks; deeper text is read as it stands.
_MIN_CAPTION_WORDS = 4  # A shorter text of an image is a label.
_MAX_UNDERLINE_DIFFERENCE = 2  # Between the length of a title and of its underline.

_PREPROCESSOR = re.compile(r"(?:ifn?def|ifeval|endif|include)::\S*?\[(?P<text>.*)\]\s*$")
_ATTRIBUTE_ENTRY = re.compile(r":!?(?P<name>\w[\w-]*)!?:(?:\s+(?P<value>.*?))?\s*$")
_TITLE = re.compile(r"(?P<marks>={1,6}|#{1,6})\s+(?P<title>\S.*?)(?:\s+(?P=marks))?\s*$")
_UNDERLINE = re.compile(r"(?:={2,}|-{2,}|~{2,}|\^{2,}|\+{2,})\s*$")
_UNDERLINE_LEVELS = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_BLOCK_ATTRIBUTES = re.compile(
    r"\[(?P<list>(?:(?=[\w.#%,*=\"'!:<>^{-])(?:[^\[\]\"]|\"[^\"]*\"|\"(?![^\"]*\"))*)?)\]\s*$"
)
_ATTRIBUTE = re.compile(r"(?:^|,)((?:[^,\"]|\"[^\"]*\")*)")
_ANCHOR = re.compile(r"\[\[(?P<id>[^\[\],]+)(?:,[^\]]*)?\]\]\s*$")
_BLOCK_TITLE = re.compile(r"\.(?P<title>[^\s.].*)$")
_BLOCK_MACRO = re.compile(r"(?P<name>[a-z]\w*)::(?P<target>\S*?)\[(?P<text>.*)\]\s*$")
_BREAK = re.compile(r"(?:'{3,}|<{3,}|-{3}|\*{3}|- - -|\* \* \*)\s*$")
_DELIMITER = re.compile(
    r"(?:-{4,}|={4,}|\.{4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|[|,:!]={3,}|(?P<fence>`{3,})(?P<language>[\w-]*))\s*$"
)
_ADMONITION = re.compile(r"(?P<kind>NOTE|TIP|IMPORTANT|WARNING|CAUTION):\s+(?P<text>.*)$")
_ADMONITIONS = frozenset("NOTE TIP IMPORTANT WARNING CAUTION".split())
_CODE_STYLES = frozenset(
    "source listing literal verse synopsis console ditaa plantuml mermaid graphviz latexmath stem".split()
)
_ITEM = re.compile(r"\s*(?P<mark>\*{1,5}|-|•|\.{1,5}|\d+[.)]|[a-zA-Z][.)]|[ivx]+\)|<(?:\d+|\.)>)\s+(?P<text>\S.*)$")
_TERM = re.compile(r"\s*(?!//)(?P<term>\S.*?)(?P<mark>:{2,4}|;;)(?:\s+(?P<text>\S.*)?)?$")
_CHECKBOX = re.compile(r"\[[ xX*]\]\s+")
_AUTHOR = re.compile(r"(?P<name>[^\W\d_][\w.'-]*(?: [\w.'-]+){1,3})(?: <(?P<mail>[^<>]+)>)?\s*$")
_CELL = re.compile(r"(?:(?<=\s)|^)(?:\d+(?:\.\d+)?[+*]|\.\d+\+)?[<^>]?(?:\.[<^>])?[aehlmdsv]?(?<!\\)\||(?<!\\)\|")
_COLUMN_REPEAT = re.compile(r"(\d+)\*")

_CHARACTERS = {
    "nbsp": " ", "sp": " ", "empty": "", "zwsp": "", "wj": "", "plus": "+", "amp": "&", "lt": "<", "gt": ">", "vbar": "|",
    "asterisk": "*", "tilde": "~", "backtick": "`", "caret": "^", "startsb": "[", "endsb": "]", "backslash": "\\",
    "apos": "'", "quot": '"', "two-colons": "::", "two-semicolons": ";;", "pp": "++", "litdd": "--", "cpp": "C++", "blank": "",
    "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "deg": "°",
}  # fmt: skip
_MACROS = (
    r"link|xref|mailto|kbd|btn|menu|image|icon|footnote|footnoteref|indexterm2?|anchor|stem|latexmath|asciimath|pass"
)
_INLINE = re.compile(
    rf"""
      \\(?P<escaped>(?:[a-z]+:\S*?\[|\{{|<<|\(\(|[*_`\#]))
    | \+\+\+(?P<raw>.*?)\+\+\+
    | ["'](?P<tick>`)(?P<quoted>[^`\n]+?)`["'](?!\w)
    | ``(?P<old_quoted>[^`'\n]+\n?[^`'\n]+)''
    | (?P<ticks>`{{1,2}})\+?(?P<code>[^`]+?)\+?(?P=ticks)(?![\w`])
    | (?<![\w+])\+(?P<literal>[^\s+](?:[^+\n]*[^\s+])?)\+(?![\w+])
    | (?:https?|ftp|irc)://(?P<host>[^\s\[\]<>]+)\[(?P<url_text>[^\]]*)\]
    | (?<![\w:])(?P<macro>{_MACROS}):(?P<options>[a-z]*(?=\[)|[^\s\[\]]+)?\[(?P<text>(?:[^\[\]\\]|\\.|\[[^\[\]]*\]){{0,1000}})\]
    | (?<![\w:])(?P<manual>[a-z]\w*):(?P<page>[\w.+{{}}-]+)\[(?P<section>\d\w*)\]
    | <<(?P<target>[^<>,]+)(?:,\s*(?P<label>[^<>]+?))?>>
    | \(\(\((?:[^()]|\([^()]*\))*\)\)\)
    | \(\((?P<index_term>[^()]+)\)\)
    | \[\[[^\[\]]+\]\]
    | \[[.\#\w][^\[\]\n]*\]\#{{1,2}}(?P<marked>[^\#\n]+)\#{{1,2}}
    | \[[.\#][\w.\#-]+\](?=[*_`])
    | (?<![\w_])_{{1,2}}(?P<emphasis>[^\s_](?:[^_\n]{{0,200}}[^\s_])?)_{{1,2}}(?![\w_])
    | (?<![\w\#])\#(?P<highlight>[^\s\#](?:[^\#\n]{{0,200}}[^\s\#])?)\#(?![\w\#])
    | \{{(?P<attribute>\w[\w-]*)\}}
    | (?P<entity>&(?:\#\d+|\#x[\da-fA-F]+|\w+);)
    | (?P<hard_break>[ ]\+(?=\n|\Z))
    """,
    re.VERBOSE | re.DOTALL,
)
_MAY_HAVE_MARKUP = re.compile(r"[`\[\]{<+\\&(_#]")
_LINK_OPTIONS = re.compile(r"\^?(?:,\s*\w+=.*)?$")
_LOOKS_LIKE_ASCIIDOC = re.compile(
    r"^\[(?:source|verse|quote|listing|horizontal|discrete|NOTE|TIP|WARNING|IMPORTANT|CAUTION|(?:cols|options|subs)=)[^\[\]\n]*\]\s*$"
    r"|^(?:ifn?def|endif|include|image)::\S*\[.*\]\s*$|^\|={3,}\s*$|\b(?:xref|linkgit):[\w./#-]+\[[^\]\n]*\]",
    re.MULTILINE,
)


def looks_like_asciidoc(text: str) -> bool:
    """Whether a text without a telling name has block attributes, conditions, tables or references of AsciiDoc."""
    return _LOOKS_LIKE_ASCIIDOC.search(text[:200_000]) is not None


def convert(text: str) -> Prose:
    """Return the document as light Markdown."""
    return _AsciiDocConverter([line.expandtabs(8) if "\t" in line else line for line in split_lines(text)]).convert()


@dataclass(slots=True)
class _Attributes:
    """What stands above a block: its style, options, and title."""

    style: str = ""
    values: list[str] = field(default_factory=list)
    title: str = ""
    title_line: int | None = None

    def has(self, *words: str) -> bool:
        return any(word in value for value in self.values for word in words)

    def get(self, name: str) -> str:
        found = (value.partition("=")[2].strip("\"' ") for value in self.values if value.strip().startswith(f"{name}="))
        return next(found, "")


class _AsciiDocConverter:
    """Converts one document. Lines are indices from 0 here; ``out`` has one line of light Markdown for each."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.out = [""] * len(lines)
        self.prose = Prose(self.out)
        self.attributes: dict[str, str] = dict(_CHARACTERS)
        self.titles: dict[str, str] = {}
        self.language = ""
        self._drop_preprocessor_lines()
        self._find_titles()

    def convert(self) -> Prose:
        self._convert_blocks(0, len(self.lines), "", 0)
        self.prose.headings.sort(key=lambda heading: heading.first)
        return self.prose

    def _drop_preprocessor_lines(self) -> None:
        """Empty the lines of conditions and includes; they count as no line, so a list goes on below one."""
        self.dropped: set[int] = set()
        for index, line in enumerate(self.lines):
            if "::" in line and (found := _PREPROCESSOR.match(line)):
                is_text = line.startswith("if") and not line.startswith("ifeval") and bool(found["text"].strip())
                self.lines[index] = found["text"] if is_text else ""
                if not is_text:
                    self.dropped.add(index)

    def _find_titles(self) -> None:
        """Note the titles that an anchor stands above, for references without a text."""
        for index, line in enumerate(self.lines):
            found = _ANCHOR.match(line) or re.match(r"\[#(?P<id>[\w:.-]+)[\],.%]", line) if line[:1] == "[" else None
            if found and (title := self._read_title(index + 1)):
                self.titles[found["id"]] = title[2]

    # -- blocks --------------------------------------------------------------------------------------------------------

    def _convert_blocks(self, start: int, end: int, prefix: str, depth: int) -> None:
        index, previous = start, ""
        while (index := self._skip_blank(index, end)) < end:
            begin = index
            index, kind = self._convert_next(index, end, prefix, depth)
            if kind in ("list", "code", "table") and previous == "paragraph":
                self.prose.kept_with_previous.add(begin + 1)
            previous = kind or previous

    def _convert_next(
        self, index: int, end: int, prefix: str, depth: int, markers: tuple[str, ...] = ()
    ) -> tuple[int, str]:
        """Convert the block at ``index`` with what stands above it; return the line after it and what it was."""
        index, above = self._read_attributes(index, end)
        if index >= end:
            return index, ""
        line = self.lines[index]
        if above.title_line is not None:
            self.out[above.title_line] = prefix + to_lead_in(self._convert_inline(above.title))
            self.prose.kept_with_previous.add(index + 1)
        if not line.strip():
            return index, ""
        if depth > _MAX_DEPTH:
            self.out[index] = prefix + line.strip()
            return index + 1, "paragraph"
        title = self._read_title(index) if not depth or line[0] in "=#" else None
        if title is not None and above.style not in _CODE_STYLES:
            return self._convert_title(index, title, above, prefix), "heading"
        if delimiter := _DELIMITER.match(line):
            return self._convert_delimited(index, end, delimiter, above, prefix, depth)
        if _BREAK.match(line) or line.rstrip() == "+":
            return index + 1, ""
        if macro := _BLOCK_MACRO.match(line):
            words = macro["text"].split(",")[0].strip('" ') if macro["name"] == "image" else ""
            if len(words.split()) >= _MIN_CAPTION_WORDS and not above.title:
                self.out[index] = prefix + words
            return index + 1, ""
        if above.style not in _CODE_STYLES and self._read_marker(index):
            return self._convert_list(index, end, prefix, depth, markers), "list"
        return self._convert_paragraph(index, end, above, prefix, is_in_list=bool(markers))

    def _read_attributes(self, index: int, end: int) -> tuple[int, _Attributes]:
        """Read the attribute lists, anchors, titles, entries and comments in front of a block."""
        above = _Attributes()
        while index < end:
            line = self.lines[index]
            if index in self.dropped:
                pass
            elif found := _BLOCK_ATTRIBUTES.match(line):
                values = [value.strip() for value in _ATTRIBUTE.findall(found["list"])]
                above.values += values
                style = re.split(r"[%#.]", values[0])[0] if values and "=" not in values[0] else ""
                above.style = style or above.style
            elif _ANCHOR.match(line):
                pass
            elif entry := _ATTRIBUTE_ENTRY.match(line):
                index = self._read_entry(index, end, entry["name"], entry["value"] or "")
            elif line.startswith("//") and not line.startswith("///"):
                pass
            elif (found := _BLOCK_TITLE.match(line)) and not _ITEM.match(line):
                above.title, above.title_line = found["title"], index
            else:
                break
            index += 1
        return index, above

    def _read_entry(self, index: int, end: int, name: str, value: str) -> int:
        while value.endswith("\\") and index + 1 < end:
            index += 1
            value = f"{value[:-1].rstrip(' +')} {self.lines[index].strip()}"
        self.attributes[name] = value
        if name == "source-language":
            self.language = value
        return index

    def _read_title(self, index: int) -> tuple[int, int, str] | None:
        """Return the level of the title at ``index``, the line after it, and its words; ``None`` if there is none."""
        if index >= len(self.lines):
            return None
        line = self.lines[index]
        if found := _TITLE.match(line):
            return len(found["marks"]), index + 1, found["title"]
        if index + 1 >= len(self.lines) or not line[:1].strip() or _DELIMITER.match(line) or line[0] in ".[|":
            return None
        under = self.lines[index + 1].rstrip()
        is_underline = _UNDERLINE.match(under) and abs(len(under) - len(line.rstrip())) <= _MAX_UNDERLINE_DIFFERENCE
        if not is_underline or not re.search(r"\w", line) or (index and self._is_paragraph_line(index - 1)):
            return None
        return _UNDERLINE_LEVELS[under[0]], index + 2, line.strip()

    def _is_paragraph_line(self, index: int) -> bool:
        line = self.lines[index]
        is_markup = _BLOCK_ATTRIBUTES.match(line) or _ANCHOR.match(line) or _ATTRIBUTE_ENTRY.match(line)
        return bool(line.strip()) and not is_markup and not line.startswith("//") and not _DELIMITER.match(line)

    def _convert_title(self, index: int, title: tuple[int, int, str], above: _Attributes, prefix: str) -> int:
        level, stop, raw = title
        words = self._convert_inline(raw)
        if prefix or above.style in ("discrete", "float"):
            self.out[index] = f"{prefix}**{words}**"
            return stop
        self.out[index] = f"{'#' * level} {words}"
        self.prose.headings.append(Heading(index + 1, stop, level, words.replace("`", "").replace("**", "")))
        is_document = level == 1 and len(self.prose.headings) == 1
        if is_document and stop < len(self.lines) and (author := _AUTHOR.match(self.lines[stop])):
            self.out[stop] = f"Author: {author['name']}"
            return stop + 1
        return stop

    def _convert_paragraph(
        self, index: int, end: int, above: _Attributes, prefix: str, is_in_list: bool
    ) -> tuple[int, str]:
        stop = self._find_paragraph_end(index, end, is_in_list)
        is_literal = self.lines[index][:1] == " " and above.style not in ("normal", "abstract")
        if above.style in _CODE_STYLES or is_literal:
            self._write_code(index, stop, above, prefix)
            return stop, "code"
        texts = [line.strip() for line in self.lines[index:stop]]
        if admonition := _ADMONITION.match(texts[0]):
            texts[0] = f"{admonition['kind'].capitalize()}: {admonition['text']}"
        elif above.style in _ADMONITIONS:
            texts[0] = f"{above.style.capitalize()}: {texts[0]}"
        self._write(index, texts, prefix)
        return stop, "paragraph"

    def _find_paragraph_end(self, index: int, end: int, is_in_list: bool) -> int:
        stop = last = index + 1
        while stop < end:
            line = self.lines[stop]
            if stop in self.dropped:
                stop += 1
                continue
            if not line.strip() or line.rstrip() == "+" or _DELIMITER.match(line):
                break
            if _BLOCK_ATTRIBUTES.match(line) and not is_in_list and not re.match(r"\[-", line):
                break
            if is_in_list and self._read_marker(stop):
                break
            stop = last = stop + 1
        return last

    # -- delimited blocks ----------------------------------------------------------------------------------------------

    def _convert_delimited(
        self, index: int, end: int, delimiter: re.Match[str], above: _Attributes, prefix: str, depth: int
    ) -> tuple[int, str]:
        line = self.lines[index].rstrip()
        closing = delimiter["fence"] or line
        close = next((i for i in range(index + 1, end) if self.lines[i].rstrip() == closing), end)
        stop = min(close + 1, end)
        if line.endswith("===") and line[0] in "|,:!":
            self._convert_table(index, close, above, prefix)
            return stop, "table"
        if line.startswith("//") or (line.startswith("++++") and above.style not in _CODE_STYLES):
            return stop, ""
        if line.startswith(("----", "....", "```", "++++")) or (line == "--" and above.style in _CODE_STYLES):
            self._write_fenced(index, close, end, delimiter["language"] or self._get_language(above), above, prefix)
            return stop, "code"
        if above.style in _ADMONITIONS:
            label = above.style.capitalize()
            if above.title_line is None:
                self.out[index] = f"{prefix}{label}:"
            else:
                self.out[above.title_line] = prefix + to_lead_in(f"{label}: {self._convert_inline(above.title)}")
            self.prose.kept_with_previous.add(self._skip_blank(index + 1, close) + 1)
        self._convert_blocks(index + 1, close, prefix, depth + 1)
        return stop, "paragraph"

    def _write_fenced(self, index: int, close: int, end: int, language: str, above: _Attributes, prefix: str) -> None:
        self.out[index] = f"{prefix}```{language}"
        has_attributes = above.has("attributes") or above.get("subs") in ("normal", "+quotes")
        for line in range(index + 1, close):
            text = self.lines[line].rstrip()
            text = self._convert_inline(text) if has_attributes and "{" in text else text
            self.out[line] = prefix + text if text else ""
        if close < end:
            self.out[close] = f"{prefix}```"
        self.prose.add_fence(index + 1, close + 1 if close < end else None, close)

    def _get_language(self, above: _Attributes) -> str:
        if above.style not in ("source", ""):
            return {"latexmath": "math", "stem": "math"}.get(above.style, "")
        return next((value for value in above.values[1:2] if re.fullmatch(r"[\w+#-]+", value)), self.language)

    def _write_code(self, index: int, stop: int, above: _Attributes, prefix: str) -> None:
        """Write a paragraph as code; its attribute list becomes the fence."""
        if above.style in ("verse", "synopsis"):
            words = [_strip_emphasis(self._convert_inline(line)) for line in self.lines[index:stop]]
            self.lines[index:stop] = words
        self.prose.write_code(self.lines, index, stop, self._get_language(above), prefix)

    # -- lists ---------------------------------------------------------------------------------------------------------

    def _read_marker(self, index: int) -> str:
        """Return what marks the item or term at ``index``: the level of a list follows from it; empty if there is none."""
        line = self.lines[index]
        if (found := _ITEM.match(line)) and not _DELIMITER.match(line):
            mark = found["mark"]
            return mark if mark[0] in "*-•." else "<>" if mark[0] == "<" else "1" if mark[0].isdigit() else "a"
        found = _TERM.match(line)
        return found["mark"] if found and not _BLOCK_MACRO.match(line) else ""

    def _convert_list(self, index: int, end: int, prefix: str, depth: int, markers: tuple[str, ...] = ()) -> int:
        """Convert the items with one marker; an item with a marker of an outer list ends it, any other is nested."""
        marker = self._read_marker(index)
        inside = (*markers, marker)
        number = 0
        while index < end and self._read_marker(index) == marker:
            number += 1
            if marker[0] in ":;":
                index = self._convert_definition(index, end, prefix, depth, inside)
            else:
                index = self._convert_item(index, end, prefix, depth, inside, number)
            index = self._skip_blank(index, end)
        return index

    def _convert_item(
        self, index: int, end: int, prefix: str, depth: int, markers: tuple[str, ...], number: int
    ) -> int:
        found = _ITEM.match(self.lines[index])
        mark, text = (found["mark"], found["text"]) if found else ("-", self.lines[index].strip())
        label = "- " if mark[0] in "*-•" else f"{number if mark[0] in '.<' else mark.strip('.)')}. "
        inner = prefix + " " * len(label)
        stop = self._find_paragraph_end(index, end, is_in_list=True)
        texts = [_CHECKBOX.sub("", text, count=1), *[line.strip() for line in self.lines[index + 1 : stop]]]
        self._write(index, texts, inner)
        self.out[index] = prefix + label + self.out[index][len(inner) :]
        self.prose.unbroken.update(range(index + 2, stop + 1))
        return self._convert_attached(stop, end, inner, depth, markers, has_text=True)

    def _convert_definition(self, index: int, end: int, prefix: str, depth: int, markers: tuple[str, ...]) -> int:
        """Convert a term, or several in a row, and its explanation; the terms stand in the last of their lines."""
        names: list[str] = []
        while True:
            found = _TERM.match(self.lines[index])
            assert found is not None
            names.append(format_term(_strip_emphasis(self._convert_inline(found["term"]))))
            following = self._skip_dropped(index + 1, end)
            if found["text"] or following >= end or self._read_marker(following) != markers[-1]:
                break
            index = following
        inner = f"{prefix}  "
        self.out[index] = f"{prefix}- {', '.join(names)}:"
        if found["text"]:
            stop = self._find_paragraph_end(index, end, is_in_list=True)
            self._write(index, [found["text"], *[line.strip() for line in self.lines[index + 1 : stop]]], inner)
            self.out[index] = f"{prefix}- {', '.join(names)}: {self.out[index].strip()}"
            self.prose.block_starts.add(index + 1)
            return self._convert_attached(stop, end, inner, depth, markers, has_text=True)
        stop = self._convert_attached(index + 1, end, inner, depth, markers, has_text=False)
        self.prose.end_definition(index, stop, ", ".join(names).replace("`", ""), len(markers), prefix)
        return stop

    def _convert_attached(
        self, index: int, end: int, prefix: str, depth: int, markers: tuple[str, ...], has_text: bool
    ) -> int:
        """Convert what belongs to an item: its text, blocks after ``+``, nested lists, and indented text below."""
        while index < end:
            following = self._skip_blank(index, end)
            if following >= end:
                break
            line, has_blank = self.lines[following], not self.dropped.issuperset(range(index, following))
            marker = self._read_marker(following)
            if line.rstrip() == "+":
                if has_blank and len(markers) > 1:
                    break  # It continues an outer item.
                index = self._convert_next(self._skip_blank(following + 1, end), end, prefix, depth + 1, markers)[0]
            elif marker and marker not in markers:
                index = self._convert_list(following, end, prefix, depth + 1, markers)
            elif marker or self._read_title(following) or (_BLOCK_ATTRIBUTES.match(line) and has_text):
                break
            elif not has_text and line[0] == " ":
                above = _Attributes("normal")  # Below a term, indented text is no code.
                index = self._convert_paragraph(following, end, above, prefix, is_in_list=True)[0]
            elif not has_text:
                index = self._convert_next(following, end, prefix, depth + 1, markers)[0]
            elif line[0] == " " and has_blank:
                stop = self._find_paragraph_end(following, end, is_in_list=True)
                self.prose.write_code(self.lines, following, stop, "", prefix)
                index = stop
            else:
                break
            has_text = True
        return index

    # -- tables --------------------------------------------------------------------------------------------------------

    def _convert_table(self, index: int, close: int, above: _Attributes, prefix: str) -> None:
        rows = self._read_rows(index, close, above)
        if not rows:
            return
        first_line = rows[0][0]
        is_implicit = first_line + 1 < close and not self.lines[first_line + 1].strip() and rows[0][1] == first_line + 1
        has_header = above.has("header") or (is_implicit and not above.has("noheader") and len(rows) > 1)
        header: Sequence[str] = []
        if has_header and len(rows) > 1:
            header, rows = rows[0][2], rows[1:]
        is_simple = header and all(stop == first + 1 for first, stop, _ in rows)
        if is_simple and rows[-1][0] - rows[0][0] == len(rows) - 1:
            head = rows[0][0] - 2
            self.prose.write_table(head, header, [(first, cells) for first, _, cells in rows], prefix)
        else:
            self.prose.write_records(rows, header, prefix)

    def _read_rows(self, index: int, close: int, above: _Attributes) -> list[tuple[int, int, list[str]]]:
        """Return the rows with their first line and the line after them."""
        cells: list[tuple[int, int, str]] = []
        count = _count_columns(above.get("cols"))
        is_csv = self.lines[index][0] == "," or above.get("format") == "csv"
        for number in range(index + 1, close):
            text = self.lines[number].rstrip()
            if not text or number in self.dropped:
                continue
            if is_csv:
                parts = next(csv.reader([text], skipinitialspace=True), [])
                cells += [(number, number + 1, part.strip()) for part in parts]
                count = count or len(parts)
                continue
            marks = list(_CELL.finditer(text))
            lead = text[: marks[0].start()] if marks else text
            if lead.strip() and cells:
                first, _, words = cells[-1]
                cells[-1] = (first, number + 1, f"{words} {lead.strip()}".strip())
            for mark, following in zip(marks, [*marks[1:], None], strict=False):
                repeat = _COLUMN_REPEAT.match(mark.group().strip())
                words = text[mark.end() : following.start() if following else None].strip().replace("\\|", "|")
                cells += [(number, number + 1, words)] * (int(repeat[1]) if repeat and int(repeat[1]) < 100 else 1)
            count = count or len(marks)
        rows = []
        for begin in range(0, len(cells), max(count, 1)):
            row = cells[begin : begin + max(count, 1)]
            rows.append(
                (row[0][0], max(stop for _, stop, _ in row), [self._convert_inline(text) for _, _, text in row])
            )
        return rows

    # -- lines and inline markup ---------------------------------------------------------------------------------------

    def _skip_blank(self, index: int, end: int) -> int:
        while index < end and not self.lines[index].strip():
            index += 1
        return index

    def _skip_dropped(self, index: int, end: int) -> int:
        while index < end and index in self.dropped:
            index += 1
        return index

    def _write(self, index: int, texts: Sequence[str], prefix: str) -> None:
        """Write the lines of a paragraph; markup may run from one line into the next."""
        for offset, line in enumerate(self._convert_inline("\n".join(texts)).split("\n")):
            is_comment = texts[offset].startswith("//") and not texts[offset].startswith("///")
            self.out[index + offset] = prefix + line.strip() if line.strip() and not is_comment else ""

    def _convert_inline(self, text: str) -> str:
        return _INLINE.sub(self._replace_inline, text) if _MAY_HAVE_MARKUP.search(text) else text

    def _replace_inline(self, match: re.Match[str]) -> str:
        words = self._read_inline(match)
        # The number of lines must not change.
        return words + "\n" * (match.group().count("\n") - words.count("\n"))

    def _read_inline(self, match: re.Match[str]) -> str:
        found = match.groupdict()
        if (words := found["escaped"]) is not None:
            return words
        if found["tick"]:
            return f'"{found["quoted"]}"'
        if found["old_quoted"]:
            return f'"{found["old_quoted"]}"'
        if (code := found["code"] or found["literal"]) is not None:
            return to_code(re.sub(r"\{(?P<attribute>\w[\w-]*)\}", self._read_attribute, code))
        if found["url_text"] is not None:
            return self._read_label(found["url_text"]) or match.group().partition("[")[0]
        if found["macro"]:
            return self._read_macro(found["macro"], found["options"] or "", found["text"] or "")
        if found["manual"]:
            return f"{self._convert_inline(found['page'])}({found['section']})"
        if target := found["target"]:
            return self._read_label(found["label"] or "") or self._name_target(target)
        if found["attribute"]:
            return self._read_attribute(match)
        if entity := found["entity"]:
            return to_line(html.unescape(entity))
        kept = ("raw", "index_term", "marked", "emphasis", "highlight")
        return next((found[name] for name in kept if found[name]), "")

    def _read_attribute(self, match: re.Match[str]) -> str:
        return self.attributes.get(match["attribute"].lower(), match.group())

    def _read_label(self, text: str) -> str:
        return self._convert_inline(_LINK_OPTIONS.sub("", text, count=1).strip('" '))

    def _read_macro(self, name: str, target: str, text: str) -> str:
        if name in ("indexterm", "anchor", "icon"):
            return ""
        if name == "footnote":
            return f" ({self._convert_inline(text)})"
        if name == "image":
            return text if len(text.split()) >= _MIN_CAPTION_WORDS else ""
        if name in ("kbd", "stem", "latexmath", "asciimath"):
            return to_code(text)
        if name == "menu":
            return " > ".join(filter(None, [target, *[part.strip() for part in re.split(r"[,>]", text)]]))
        if name == "xref":
            return self._read_label(text) or self._name_target(target)
        if name in ("link", "mailto"):
            return self._read_label(text) or target
        return text

    def _name_target(self, target: str) -> str:
        """Return the words of a reference without a text: the title that it leads to, else its name."""
        file, _, anchor = target.rpartition("#")
        if title := self.titles.get(anchor):
            return self._convert_inline(title)
        name = anchor or re.sub(r"\.\w+$", "", file.rpartition("/")[2])
        return re.sub(r"[-_]+", " ", re.sub(r"\.adoc$", "", name)).strip()


def _count_columns(spec: str) -> int:
    """Return the number of columns in ``1,2*,3``; 0 if it is not given."""
    parts = [part.strip() for part in re.split(r"[,;]", spec)] if spec else []
    return sum(int(repeat[1]) if (repeat := _COLUMN_REPEAT.match(part)) else 1 for part in parts)


def _strip_emphasis(text: str) -> str:
    """Return a term or a synopsis without the marks of emphasis around its words: ``'git add' [_<file>_]``."""
    text = re.sub(r"(?<![\w'])'([^'\n]+)'(?!\w)", r"\1", text)
    return re.sub(r"(?<![\w*_])([*_]{1,2})(?=\S)([^*_\n]+?)(?<=\S)\1(?![\w*_])", r"\2", text)
