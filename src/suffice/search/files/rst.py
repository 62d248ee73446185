"""reStructuredText, also as Sphinx extends it, as light Markdown with one line for each line of the source.

Which lines are text, code, table or markup follows from indentation and the first characters of a block. docutils and the
grammar of tree-sitter read the same blocks; neither knows the directives of Sphinx (docs/decisions.md).
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.search.files.prose import OBJECT_LEVEL, Heading, Prose, find_titles, is_adornment, to_code, to_lead_in
from suffice.text.chunks import split_lines

_MAX_DEPTH = 40  # Nested blocks; deeper text is read as it stands.
_MAX_TABLE_LINES = 5000
_DIRECTIVE = re.compile(r"\.\. +(?P<name>[A-Za-z][\w:.+-]*?) ?::(?: ++(?P<args>.*+))?$")
_FOOTNOTE = re.compile(r"\.\. +\[[^\]\s]+\](?: +|$)")
_OPTION = re.compile(r" *:(?P<name>[\w-]+):(?: ++(?P<value>.*+))?$")
_ITEM = re.compile(r"(?P<bullet>[-*+•])(?: +|$)|\(?(?P<number>\d+|#|[A-Za-z]|[ivxl]+)[.)](?: +|$)")
_FIELD = re.compile(r":(?P<name>[^\s:`](?:[^:`]|:(?=\w)){0,200}):(?: +|$)")
_TABLE_BORDER = re.compile(r"\+(?:[-=]+\+)+\s*$|=+(?: +=+)+\s*$")
_CODE = frozenset(
    """code code-block sourcecode parsed-literal prompt console doctest testcode testoutput ipython pycon math productionlist
    jinja terminal code-tab""".split()
)
# What a directive's text begins with; its title stands in place of an empty one.
_LEAD_INS = {
    **{
        name: name.capitalize()
        for name in "note warning tip hint important caution danger error attention todo".split()
    },
    **dict.fromkeys(
        "admonition topic sidebar tab group-tab tab-item dropdown card details rubric centered".split(), ""
    ),
    "seealso": "See also",
    **dict.fromkeys(("versionadded", "version-added"), "Added in version"),
    **dict.fromkeys(("versionchanged", "version-changed"), "Changed in version"),
    **dict.fromkeys(("deprecated", "version-deprecated"), "Deprecated since version"),
    **dict.fromkeys(("versionremoved", "version-removed"), "Removed in version"),
}
DROPPED_DIRECTIVES = frozenset(
    """index toctree contents include literalinclude raw meta highlight default-role role sectionauthor moduleauthor
    codeauthor tabularcolumns testsetup testcleanup sectnum header footer title currentmodule program graphviz digraph
    inheritance-diagram plot bibliography autosummary""".split()
)
# Their argument is no text, but their content may be; so it is with a style, such as ``class:: small``.
_TRANSPARENT = frozenset("image figure container only grid grid-item-card ifconfig rst-class cssclass change".split())
_KEPT_OPTIONS = frozenset("synopsis version released tags".split())
_TEXT_ROLES = frozenset("term abbr guilabel menuselection download sub sup emphasis strong title dfn".split())
_ROLE_PREFIXES = {"pep": "PEP ", "rfc": "RFC ", "ticket": "#", "issue": "#", "cve": "CVE-", "bpo": "bpo-", "gh": "gh-"}
_FIELD_NAMES = {"rtype": "Return type", "returns": "Returns", "return": "Returns", "raises": "Raises"}
_PARAMETER_FIELDS = frozenset("param parameter arg argument key keyword kwarg var ivar cvar type".split())
_INLINE = re.compile(
    r"""
      ``(?P<literal>(?:[^`]|`(?!`))+`?)``(?!`)
    | :(?P<role>[A-Za-z][\w:.+-]{0,60}):`(?P<content>[^`]+)`
    | `(?P<phrase>[^`]+)`(?P<suffix>__?(?!\w))?
    | [ ]?\[(?:\#[\w.-]*|\*|\d+)\]_(?!\w)
    | \[(?P<citation>[\w.-]+)\]_(?!\w)
    | \|(?P<substitution>[^|\s][^|\n]*)\|
    | (?<![\w`./:-])(?P<reference>[A-Za-z][\w.+-]{0,60}[A-Za-z\d])__?(?![\w`*])
    | \\(?P<escaped>\s?)
    """,
    re.VERBOSE,
)
_LITERAL = re.compile(r"(?<!`)``[^`\n]+``(?!`)")
_LOOKS_LIKE_RST = re.compile(
    r"^\.\. (?:[\w:-]+::(?:\s|$)|_[^:\n]+:(?:\s|$))|:(?:ref|doc|class|func|meth|mod|term|attr|setting|ticket):`[^`]+`",
    re.MULTILINE,
)
_Row = tuple[int, int, list[str]]  # The first line of a row of a table, the line after it, and its cells.


def looks_like_rst(text: str) -> bool:
    """Whether a text without a telling name has directives, targets, roles, or literals below adorned titles."""
    if _LOOKS_LIKE_RST.search(text):
        return True
    return _LITERAL.search(text) is not None and bool(find_titles(split_lines(text)))


def convert(text: str) -> Prose:
    converter = _Converter([line.expandtabs(8) for line in split_lines(text)])
    converter.convert_block(0, len(converter.lines), "", 0)
    return converter.prose


@dataclass(frozen=True, slots=True)
class _Directive:
    """A directive at line ``index``: what stands on its line, below it, its options, and the lines of its content."""

    index: int
    name: str
    args: str
    arg_lines: range
    options: dict[str, str]
    content: range


class _Converter:
    """Converts one document. Lines are indices from 0 here; ``out`` has one line of light Markdown for each."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.out = [""] * len(lines)
        self.prose = Prose(self.out)
        self.objects = 0  # The described objects around a line.
        self.titles = {heading.first - 1: heading for heading in find_titles(lines)}

    def convert_block(self, start: int, end: int, prefix: str, depth: int) -> None:
        """Convert the lines from ``start`` to ``end``; ``prefix`` begins their output."""
        index, previous = start, ""
        while (index := self._skip_blank(index, end)) < end:
            begin = index
            index, kind = self._convert_next(index, end, prefix, depth)
            if previous and ((kind in ("list", "code") and previous == "paragraph") or (prefix and begin > start)):
                self.prose.kept_with_previous.add(begin + 1)
            previous = kind
        if prefix:
            self.prose.unbroken.update(range(start + 2, end + 1))

    def _convert_next(self, index: int, end: int, prefix: str, depth: int) -> tuple[int, str]:
        """Convert the block at ``index``; return the line after it and what it was."""
        indent = self._indent(index)
        text = self.lines[index][indent:].rstrip()
        if depth > _MAX_DEPTH:
            self.out[index] = prefix + text
            return index + 1, "paragraph"
        if depth == 0 and index in self.titles:
            return self._convert_title(index), "heading"
        if text == ".." or text.startswith(".. "):
            return self._convert_explicit(index, end, prefix, depth), "directive"
        for convert in (self._convert_item, self._convert_field, self._convert_table, self._convert_doctest):
            found = convert(index, end, prefix, depth)
            if found is not None:
                return found
        if text.startswith("__ ") or (len(text) >= 4 and is_adornment(text)):
            return index + 1, "directive"
        return self._convert_paragraph(index, end, prefix, depth)

    def _convert_title(self, index: int) -> int:
        heading = self.titles[index]
        words = self._convert_inline(heading.text)
        self.out[heading.last - 2] = f"{'#' * min(heading.level, 6)} {words}"
        plain = words.replace("`", "").replace("**", "")
        self.prose.headings.append(Heading(heading.first, heading.last, heading.level, plain))
        return heading.last

    def _convert_paragraph(self, index: int, end: int, prefix: str, depth: int) -> tuple[int, str]:
        indent, stop = self._indent(index), index + 1
        while stop < end and self.lines[stop].strip() and self._indent(stop) == indent:
            if self.lines[stop].startswith(".. ", indent):
                break  # Markup whose author forgot the blank line.
            stop += 1
        texts = [line.strip() for line in self.lines[index:stop]]
        if len(texts) == 1 and stop < end and self.lines[stop].strip() and self._indent(stop) > indent:
            term, _, kind = texts[0].partition(" : ")
            self._write(index, [f"- {term} ({kind}):" if kind else f"- {term.rstrip(':')}:"], prefix)
            stop = self._end_of_body(index, end)
            self.convert_block(index + 1, stop, f"{prefix}  ", depth + 1)
            self.prose.block_starts.add(index + 1)
            return stop, "list"
        has_literal = texts[-1].endswith("::")
        if has_literal:
            words = texts[-1][:-2]
            texts[-1] = words.rstrip() if not words or words[-1].isspace() else f"{words}:"
        if texts[0].startswith("| "):
            texts = [text.removeprefix("|").strip() for text in texts]
        self._write(index, texts, prefix)
        first = self._skip_blank(stop, end)
        if has_literal and first < end and self._indent(first) > indent:
            last = self._end_of_body(stop - 1, end)
            self.prose.write_code(self.lines, first, last, "", prefix)
            return last, "code"
        return stop, "paragraph"

    def _convert_item(self, index: int, end: int, prefix: str, depth: int) -> tuple[int, str] | None:
        indent = self._indent(index)
        text = self.lines[index][indent:]
        mark = _ITEM.match(text)
        if mark is None:
            return None
        below = self.lines[index + 1] if index + 1 < end else ""
        if below.strip() and self._indent(index + 1) == indent and not _ITEM.match(below[indent:]):
            return None
        stop = self._end_of_body(index, end)
        label = "- " if mark["bullet"] else f"{mark['number'].replace('#', '1')}. "
        self.lines[index] = " " * (indent + mark.end()) + text[mark.end() :]
        self.convert_block(index, stop, prefix + " " * len(label), depth + 1)
        if self.out[index].strip():
            self.out[index] = prefix + label + self.out[index][len(prefix) + len(label) :]
        self.prose.unbroken.discard(index + 1)
        return stop, "list"

    def _convert_field(self, index: int, end: int, prefix: str, depth: int) -> tuple[int, str] | None:
        text = self.lines[index].strip()
        mark = _FIELD.match(text)
        if mark is None:
            return None
        stop = self._end_of_body(index, end)
        rest = text[mark.end() :].strip()
        if not prefix and not rest and stop == index + 1:  # A setting of the page, such as ``:orphan:``.
            return stop, "directive"
        self._write(index, [f"- {_name_field(mark['name'])}: {rest}".rstrip()], prefix)
        self.convert_block(index + 1, stop, f"{prefix}  ", depth + 1)
        return stop, "list"

    def _convert_doctest(self, index: int, end: int, prefix: str, depth: int) -> tuple[int, str] | None:
        if not self.lines[index].lstrip().startswith(">>>"):
            return None
        stop = index
        while stop < end and self.lines[stop].strip():
            stop += 1
            if stop + 1 < end and not self.lines[stop].strip() and self.lines[stop + 1].strip().startswith(">>>"):
                stop += 1
        self.prose.write_code(self.lines, index, stop, "pycon", prefix)
        return stop, "code"

    # -- explicit markup -----------------------------------------------------------------------------------------------

    def _convert_explicit(self, index: int, end: int, prefix: str, depth: int) -> int:
        indent = self._indent(index)
        text = self.lines[index][indent:].rstrip()
        stop = self._end_of_body(index, end)
        if text == ".." and (index + 1 >= end or not self.lines[index + 1].strip()):
            return index + 1
        if footnote := _FOOTNOTE.match(text):
            below = self._skip_blank(index + 1, stop)
            self.lines[index] = " " * (self._indent(below) if below < stop else 0) + text[footnote.end() :]
            self.convert_block(index, stop, prefix, depth + 1)
        elif found := _DIRECTIVE.match(text):
            directive = self._parse_directive(index, stop, found["name"], found["args"] or "")
            self._convert_directive(directive, prefix, depth)
        return stop  # Anything else is a target, a substitution or a comment.

    def _parse_directive(self, index: int, stop: int, name: str, args: str) -> _Directive:
        line = index + 1
        while line < stop and self.lines[line].strip() and not _OPTION.match(self.lines[line]):
            line += 1
        arg_lines = range(index + 1, line)
        options: dict[str, str] = {}
        while line < stop and self.lines[line].strip():
            if option := _OPTION.match(self.lines[line]):
                options[option["name"]] = option["value"] or ""
                if option["name"] in _KEPT_OPTIONS:
                    self._write(line, [f"{option['name'].capitalize()}: {option['value']}"], "")
            line += 1
        content = range(self._skip_blank(line, stop), stop)
        if not _KEPT_OPTIONS.isdisjoint(options):
            self.prose.kept_with_previous.add(content.start + 1)
        return _Directive(index, name, args.strip(), arg_lines, options, content)

    def _convert_directive(self, directive: _Directive, prefix: str, depth: int) -> None:
        name, args, content = directive.name.lower(), directive.args, directive.content
        self.prose.block_starts.add(directive.index + 1)
        if name in DROPPED_DIRECTIVES or name.rpartition(":")[2] == "currentmodule":
            return
        if name in _CODE or (":" in name and not args and content):
            first = directive.arg_lines.start if directive.arg_lines else content.start
            self.prose.write_code(self.lines, first, content.stop, args.split(" ")[0], prefix)
        elif name in _LEAD_INS:
            self._convert_admonition(directive, prefix, depth)
        elif name in ("csv-table", "list-table"):
            self._convert_table_directive(directive, prefix)
        elif version := directive.options.get("version"):  # An entry of a changelog.
            self._convert_section(directive, directive.index + 1, version, prefix, depth)
        elif name in _TRANSPARENT or not args or name.startswith("auto") or (name == "class" and args.islower()):
            self.convert_block(content.start, content.stop, prefix, depth + 1)
        elif content or self._skip_blank(content.stop, len(self.lines)) not in self.titles:
            self._convert_object(directive, prefix, depth)  # Else it is an anchor of the title below.

    def _convert_admonition(self, directive: _Directive, prefix: str, depth: int) -> None:
        """Write a lead-in such as ``Note:`` in place of the directive, then its content."""
        label, args, content = _LEAD_INS[directive.name.lower()], directive.args, directive.content
        if label.endswith("version"):
            version, _, args = args.partition(" ")
            label = f"{label} {version}"
        texts = [to_lead_in(label, args) if label else to_lead_in(args)]
        texts += [self.lines[line].strip() for line in directive.arg_lines]
        if len(texts) == 1 and not content:
            texts[0] = re.sub(r":$", ".", texts[0])
        self._write(directive.index, texts, prefix)
        if content:
            self.prose.kept_with_previous.add(content.start + 1)
        self.convert_block(content.start, content.stop, prefix, depth + 1)

    def _convert_object(self, directive: _Directive, prefix: str, depth: int) -> None:
        """Convert the description of a function, class, option …: its signature is code, its name a heading."""
        index = directive.index
        signatures = [directive.args, *[self.lines[line].strip() for line in directive.arg_lines]]
        for offset, signature in enumerate(signatures):
            self.out[index + offset] = f"{prefix}`{signature.rstrip(chr(92)).strip().replace('`', '')}`"
        name = re.sub(r"^(?:async|static|class|classmethod|abstract|final|property) ", "", signatures[0])
        name = name.partition("(")[0].strip() or signatures[0]
        self._convert_section(directive, index + len(signatures), name, prefix, depth)

    def _convert_section(self, directive: _Directive, last: int, name: str, prefix: str, depth: int) -> None:
        content = directive.content
        # Without content of its own it is followed by its description.
        end = content.stop if content else None
        self.prose.headings.append(Heading(directive.index + 1, last, OBJECT_LEVEL + self.objects, name, end))
        self.objects += 1
        self.convert_block(content.start, content.stop, prefix, depth + 1)
        self.objects -= 1

    # -- tables --------------------------------------------------------------------------------------------------------

    def _convert_table(self, index: int, end: int, prefix: str, depth: int) -> tuple[int, str] | None:
        """Convert a table that is drawn; its columns begin where those of the border do."""
        border = self.lines[index].rstrip()
        if not _TABLE_BORDER.match(border.lstrip()):
            return None
        is_grid = border.lstrip()[0] == "+"
        stop = self._find_table_end(index, end, is_grid)
        if stop is None:
            return None
        starts = [match.start() for match in re.finditer(r"\+(?=[-=])" if is_grid else r"(?<!=)=", border)]
        columns = [slice(low + is_grid, high) for low, high in zip(starts, [*starts[1:], None], strict=True)]
        header: list[str] = []
        rows: list[_Row] = []
        is_new = True
        for line in range(index + 1, stop):
            text = self.lines[line].strip()
            cells = [self.lines[line][column].strip().removesuffix("|").strip() for column in columns]
            if text and not text.strip("+-=| "):
                if "=" in text and line < stop - 1 and not header:
                    header = [" ".join(filter(None, parts)) for parts in zip(*(row[2] for row in rows), strict=True)]
                    rows.clear()
                is_new = True
            elif text and (is_new or not rows or (not is_grid and cells[0])):
                rows.append((line, line + 1, cells))
                is_new = False
            elif text:
                first, _, above = rows[-1]
                rows[-1] = (first, line + 1, [f"{a} {b}".strip() for a, b in zip(above, cells, strict=True)])
        self._write_rows(rows, header, prefix)
        return stop, "table"

    def _find_table_end(self, index: int, end: int, is_grid: bool) -> int | None:
        """Return the line after a table. One without lines of a grid ends with a border that a blank line follows."""
        stop = index + 1
        if is_grid:
            while stop < end and self.lines[stop].strip()[:1] in ("+", "|"):
                stop += 1
            return stop
        for line in range(stop, min(end, stop + _MAX_TABLE_LINES)):
            is_last = line + 1 >= end or not self.lines[line + 1].strip()
            if is_last and _TABLE_BORDER.match(self.lines[line].strip()):
                return line + 1
        return None

    def _convert_table_directive(self, directive: _Directive, prefix: str) -> None:
        rows: list[_Row] = []
        for line in directive.content:
            text = self.lines[line].strip()
            if directive.name == "csv-table":
                rows += [(line, line + 1, cells) for cells in csv.reader([text], skipinitialspace=True) if cells]
            elif text.startswith("* -"):
                rows.append((line, line + 1, [text[3:].strip()]))
            elif rows and text:
                first, _, cells = rows[-1]
                is_cell = text == "-" or text.startswith("- ")
                cells = [*cells, text[1:].strip()] if is_cell else [*cells[:-1], f"{cells[-1]} {text}".strip()]
                rows[-1] = (first, line + 1, cells)
        header = next(csv.reader([directive.options.get("header", "")], skipinitialspace=True), [])
        if rows and directive.options.get("header-rows", "0") not in ("", "0"):
            header = rows.pop(0)[2]
        if directive.args:
            self._write(directive.index, [f"**{directive.args}**"], prefix)
        self._write_rows(rows, header, prefix)

    def _write_rows(self, rows: Sequence[_Row], header: Sequence[str], prefix: str) -> None:
        converted = [(first, stop, [self._convert_inline(cell) for cell in cells]) for first, stop, cells in rows]
        self.prose.write_records(converted, [self._convert_inline(cell) for cell in header], prefix)

    # -- lines ---------------------------------------------------------------------------------------------------------

    def _indent(self, index: int) -> int:
        line = self.lines[index]
        return len(line) - len(line.lstrip())

    def _skip_blank(self, index: int, end: int) -> int:
        while index < end and not self.lines[index].strip():
            index += 1
        return index

    def _end_of_body(self, index: int, end: int) -> int:
        """Return the line after the last one that is indented deeper than the line at ``index`` and follows it."""
        indent = self._indent(index)
        last = index + 1
        for stop in range(index + 1, end):
            if self.lines[stop].strip():
                if self._indent(stop) <= indent:
                    break
                last = stop + 1
        return last

    def _write(self, index: int, texts: Sequence[str], prefix: str) -> None:
        """Write the lines of a paragraph; markup may run from one line into the next."""
        for offset, line in enumerate(self._convert_inline("\n".join(texts)).split("\n")):
            self.out[index + offset] = prefix + line.strip() if line.strip() else ""

    def _convert_inline(self, text: str) -> str:
        return _INLINE.sub(self._replace_inline, text)

    def _replace_inline(self, match: re.Match[str]) -> str:
        words = self._read_inline(match)
        # The number of lines must not change.
        return words + "\n" * (match.group().count("\n") - words.count("\n"))

    def _read_inline(self, match: re.Match[str]) -> str:
        if match["literal"]:
            return to_code(match["literal"])
        if match["role"]:
            return read_role(match["role"], match["content"])
        if phrase := match["phrase"]:
            text, target = _split_link(phrase)
            return text or target if match["suffix"] or target else f"`{phrase}`"
        if match["escaped"] is not None:
            return "" if match["escaped"] else "\\"
        # Nothing is left of a footnote mark.
        return match["citation"] or match["substitution"] or match["reference"] or ""


def _split_link(content: str) -> tuple[str, str]:
    """Return text and target of ``text <target>``; without a target all of it is text."""
    if not content.endswith(">") or "<" not in content:
        return content, ""
    text, _, target = content[:-1].rpartition("<")
    return text.rstrip(), target


def read_role(role: str, content: str) -> str:
    """Return what a reader sees of ``:role:`content```, as far as this file alone can tell."""
    name = role.rpartition(":")[2].lower()
    text, target = _split_link(content)
    if text and target:
        return text
    words = (target or text).lstrip("!")
    if name in ("ref", "numref", "doc"):
        return re.split(r"[:/]", words)[-1].replace("-", " ").replace("_", " ") or words
    if name in _ROLE_PREFIXES:
        return _ROLE_PREFIXES[name] + words
    if name in _TEXT_ROLES:
        return words
    if words.startswith("~"):
        words = words[1:].rpartition(".")[2]
    words = re.sub(r"^(?:\.|_[a-z]+\.(?=\w))", "", words)  # A leading alias of a private module is not rendered.
    return to_code(f"{words}()" if name in ("func", "meth") and not words.endswith(")") else words)


def _name_field(name: str) -> str:
    kind, _, rest = name.partition(" ")
    if kind in _PARAMETER_FIELDS and rest:
        *types, word = rest.split()
        return f"`{word}`" + (f" ({' '.join(types)})" if types else "")
    return f"{_FIELD_NAMES.get(kind, kind)} {rest}".strip()
