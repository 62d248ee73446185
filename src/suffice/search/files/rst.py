"""reStructuredText, also as Sphinx extends it, as light Markdown with one line for each line of the source.

docutils reads this markup thoroughly, but it gives lines only to blocks, knows no directive or role of Sphinx, and takes
about ten times as long as this reader (docs/decisions.md). What matters here is which lines are text, code, table or markup,
and that follows from indentation and the first characters of a block.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.search.files.prose import OBJECT_LEVEL, Heading, Prose, to_code, to_lead_in
from suffice.text.chunks import split_lines

_MAX_DEPTH = 40  # Nested blocks; deeper text is read as it stands.
_MAX_ANCHOR_LINES = 20  # Lines between an anchor and its title.

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+\s*$")
_DIRECTIVE = re.compile(r"\.\. +(?:\|(?P<sub>[^|]+)\| +)?(?P<name>[A-Za-z][\w:.+-]*?) ?::(?: +(?P<args>.*))?$")
_FOOTNOTE = re.compile(r"\.\. +\[[^\]\s]+\](?: +|$)")
_TARGET = re.compile(r"\.\. +_(?P<name>`[^`]+`|(?:[^:\\]|\\.|:(?!\s|$))+):(?:\s|$)")
_OPTION = re.compile(r"\s+:(?P<name>[\w-]+):(?:\s+(?P<value>.*))?$")
_BULLET = re.compile(r"[-*+•‣](?: +|$)")
_ENUMERATOR = re.compile(r"(?:\((?:\d+|#|[A-Za-z]|[ivxl]+)\)|(?:\d+|#|[A-Za-z]|[ivxl]+)[.)])(?: +|$)")
_FIELD = re.compile(r":(?P<name>[^\s:`](?:[^:`\n]|:(?=\w))*):(?: +|$)")
_COMMAND_OPTION = re.compile(
    r"(?P<option>(?:--?|/)\w[\w-]*(?:[ =]<?[\w-]+>?)?(?:, (?:--?|/)[\w-]+(?:[ =]<?[\w-]+>?)?)*)(?:  +|$)"
)
_GRID_BORDER = re.compile(r"\+(?:[-=]+\+)+\s*$")
_SIMPLE_BORDER = re.compile(r"=+(?: +=+)+\s*$")

_CODE = frozenset(
    """code code-block sourcecode parsed-literal prompt console doctest testcode testoutput ipython ipython3 pycon
    math productionlist jinja terminal code-tab""".split()
)
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
    "deprecated-removed": "Deprecated since version",
}
_ADMONITIONS = {
    **{
        name: name.capitalize()
        for name in "note warning tip hint important caution danger error attention todo".split()
    },
    "seealso": "See also",
    "impl-detail": "Implementation detail",
}
_TITLED = frozenset("admonition topic sidebar tab group-tab tab-item dropdown collapse card details".split())
DROPPED_DIRECTIVES = frozenset(
    """index toctree contents include literalinclude raw meta highlight default-role role sectionauthor moduleauthor
    codeauthor tabularcolumns testsetup testcleanup sectnum target-notes header footer title currentmodule
    py:currentmodule program graphviz digraph inheritance-diagram plot bibliography autosummary changelog_imports""".split()
)
_UNTITLED = frozenset("image rst-class cssclass".split())  # Their argument is no text, but their content may be.
_TRANSPARENT = frozenset(
    """figure container only compound epigraph highlights pull-quote tabs tab-set grid
    grid-item-card glossary hlist ifconfig centered rubric table""".split()
)
_CODE_ROLES = frozenset(
    """class func meth method mod module attr data exc obj const constant type var member macro function struct enum
    enumerator setting ttag tfilter djadmin djadminopt lookup option envvar file program command kbd samp code literal
    keyword regexp mimetype makevar token cmdoption default exception attribute decorator paramref binary any
    confval opcode pdbcmd""".split()
)
_CALL_ROLES = frozenset("func meth function method".split())
_ROLE_PREFIXES = {"pep": "PEP ", "rfc": "RFC ", "ticket": "#", "issue": "#", "cve": "CVE-", "bpo": "bpo-", "gh": "gh-"}
_FIELD_NAMES = {
    **dict.fromkeys(("return", "returns"), "Returns"),
    "rtype": "Return type",
    **dict.fromkeys(("raises", "raise", "except", "exception"), "Raises"),
    "yields": "Yields",
}
_PARAMETER_FIELDS = frozenset("param parameter arg argument key keyword kwarg kwparam var ivar cvar".split())
_DROPPED_FIELDS = frozenset("orphan nosearch tocdepth nocomments noindex no-index no-index-entry".split())

_INLINE = re.compile(
    r"""
      ``(?P<literal>\S(?:.*?\S)??)``(?!`)
    | :(?P<role>[A-Za-z][\w:.+-]*):`(?P<content>[^`]+)`
    | `(?P<phrase>[^`]+)`(?P<suffix>__?(?!\w)|:[A-Za-z][\w:.+-]*:)?
    | [ ]?\[(?:\#[\w.-]*|\*|\d+)\]_(?!\w)
    | \[(?P<citation>[\w.-]+)\]_(?!\w)
    | \|(?P<substitution>[^|\s](?:[^|\n]*[^|\s])?)\|(?:__?(?!\w))?
    | \\(?P<escaped>\s?)
    """,
    re.VERBOSE | re.DOTALL,
)
_LITERAL = re.compile(r"(?<!`)``[^`\n]+``(?!`)")
_MAY_HAVE_MARKUP = re.compile(r"[`|\\]|\]_")
_EXPLICIT_LINK = re.compile(r"(?P<text>.*?)\s*<(?P<target>[^<>]*)>", re.DOTALL)
_LOOKS_LIKE_RST = re.compile(
    r"^\.\. (?:[\w:-]+::(?:\s|$)|_[^:\n]+:(?:\s|$))|:(?:ref|doc|class|func|meth|mod|term|attr|setting|ticket):`[^`]+`",
    re.MULTILINE,
)


def looks_like_rst(text: str) -> bool:
    """Whether a text without a telling name has directives, targets, roles, or literals below adorned titles."""
    sample = text[:200_000]
    if _LOOKS_LIKE_RST.search(sample):
        return True
    return _LITERAL.search(sample) is not None and bool(find_titles(split_lines(sample)))


def convert(text: str) -> Prose:
    """Return the document as light Markdown."""
    return _Converter([line.expandtabs(8) if "\t" in line else line for line in split_lines(text)]).convert()


def find_titles(lines: Sequence[str]) -> list[Heading]:
    """Return the adorned titles. As in docutils, the level of a style is the order in which styles first occur."""
    headings: list[Heading] = []
    styles: list[tuple[str, bool]] = []
    index = 0
    while index + 1 < len(lines):
        has_overline = False
        title, under = lines[index], lines[index + 1]
        if _is_adornment(title) and index + 2 < len(lines) and lines[index + 2].rstrip() == title.rstrip():
            has_overline, title, under = True, lines[index + 1], lines[index + 2]
        if _is_title(title, under, has_overline) and (index == 0 or has_overline or not lines[index - 1].strip()):
            style = (under[0], has_overline)
            if style not in styles:
                styles.append(style)
            last = index + 2 + has_overline
            headings.append(Heading(index + 1, last, styles.index(style) + 1, title.strip()))
            index = last
        else:
            index += 1
    return headings


def _is_adornment(line: str) -> bool:
    return _ADORNMENT.match(line) is not None


def _is_title(title: str, under: str, has_overline: bool) -> bool:
    if not title.strip() or _is_adornment(title) or not _is_adornment(under):
        return False
    if title[0].isspace() and not has_overline:
        return False
    return len(under.rstrip()) >= min(len(title.rstrip()), 4)


@dataclass(frozen=True, slots=True)
class _Directive:
    """A directive at line ``index``: what stands on its line, below it, its options, and the lines of its content."""

    index: int
    name: str
    args: str
    arg_lines: range
    options: dict[str, tuple[int, str]]
    content: range
    end: int


class _Converter:
    """Converts one document. Lines are indices from 0 here; ``out`` has one line of light Markdown for each."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.out = [""] * len(lines)
        self.prose = Prose(self.out)
        self.language = ""
        self.depth = 0  # Of described objects.
        self.titles = {heading.first - 1: heading for heading in find_titles(lines)}
        self.substitutions: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        names: list[str] = []
        pending: list[str] = []  # Labels that wait for the title they stand above.
        for index, line in enumerate(lines):
            if line.startswith(".. ") and (target := _TARGET.match(line)):
                name = target["name"].strip("`")
                names.append(name)
                pending.append(name.lower())
                continue
            if line.startswith(".. |") and (found := _DIRECTIVE.match(line)) and found["sub"]:
                self.substitutions[found["sub"]] = found["args"] or "" if found["name"] == "replace" else ""
            if line.strip() and pending:
                if title := self.titles.get(index):
                    self.labels.update(dict.fromkeys(pending, title.text))
                pending.clear()
        simple = [re.escape(name) for name in names if re.fullmatch(r"[\w.+-]*\w", name)]
        self.references = re.compile(rf"(?<![\w`.])({'|'.join(simple)})__?(?!\w)", re.IGNORECASE) if simple else None

    def convert(self) -> Prose:
        self._convert_block(0, len(self.lines), 0, "", 0)
        return self.prose

    # -- blocks --------------------------------------------------------------------------------------------------------

    def _convert_block(self, start: int, end: int, column: int, prefix: str, depth: int) -> None:
        """Convert the lines from ``start`` to ``end``, whose text begins at ``column``; ``prefix`` begins their output."""
        index, previous = start, ""
        while index < end:
            if not self.lines[index].strip():
                index += 1
                continue
            begin = index
            index, kind = self._convert_next(index, end, column, prefix, depth)
            if previous and ((kind in ("list", "code") and previous == "paragraph") or (prefix and begin > start)):
                self.prose.kept_with_previous.add(begin + 1)
            previous = kind
        if prefix:
            self.prose.unbroken.update(range(start + 2, end + 1))

    def _convert_next(self, index: int, end: int, column: int, prefix: str, depth: int) -> tuple[int, str]:
        """Convert the block at ``index``; return the line after it and what it was."""
        indent = self._indent(index)
        text = self.lines[index][indent:].rstrip()
        if depth > _MAX_DEPTH:
            self.out[index] = prefix + text
            return index + 1, "paragraph"
        if indent > column:
            stop = self._end_of_body(index, end, indent - 1)
            self._convert_block(index, stop, indent, prefix, depth + 1)
            return stop, "paragraph"
        if depth == 0 and index in self.titles:
            return self._convert_title(index), "heading"
        if text == ".." or text.startswith(".. "):
            return self._convert_explicit(index, end, indent, prefix, depth), "directive"
        if text.startswith("__ "):
            return index + 1, "directive"
        for convert in (self._convert_item, self._convert_field, self._convert_table, self._convert_doctest):
            found = convert(index, end, indent, prefix, depth)
            if found is not None:
                return found
        if len(text) >= 4 and _is_adornment(text):
            return index + 1, "directive"
        return self._convert_paragraph(index, end, indent, prefix, depth)

    def _convert_title(self, index: int) -> int:
        heading = self.titles[index]
        words = self._convert_inline(heading.text)
        number = heading.last - 1  # The line of the title, from 1: above its underline.
        self.out[number - 1] = f"{'#' * min(heading.level, 6)} {words}"
        plain = words.replace("`", "").replace("**", "")
        self.prose.headings.append(Heading(heading.first, heading.last, heading.level, plain))
        return heading.last

    def _convert_paragraph(self, index: int, end: int, indent: int, prefix: str, depth: int) -> tuple[int, str]:
        stop = index + 1
        while stop < end and self.lines[stop].strip() and self._indent(stop) == indent:
            if self.lines[stop].startswith(".. ", indent):
                break  # Markup whose author forgot the blank line.
            stop += 1
        if stop == index + 1 and stop < end and self.lines[stop].strip() and self._indent(stop) > indent:
            return self._convert_definition(index, end, indent, prefix, depth), "list"
        texts = [line.strip() for line in self.lines[index:stop]]
        has_literal = texts[-1].endswith("::")
        if has_literal:
            words = texts[-1][:-2]
            texts[-1] = words.rstrip() if not words or words[-1].isspace() else f"{words}:"
        if texts[0].startswith("| "):
            texts = [text.removeprefix("|").strip() for text in texts]
        self._write(index, texts, prefix)
        if has_literal:
            first = self._skip_blank(stop, end)
            if first < end and self._indent(first) > indent:
                last = self._end_of_body(first, end, indent)
                self._write_code(first, last, self.language, prefix)
                return last, "code"
        return stop, "paragraph"

    def _convert_definition(self, index: int, end: int, indent: int, prefix: str, depth: int) -> int:
        stop = self._end_of_body(index, end, indent)
        term, _, kind = self.lines[index].strip().partition(" : ")
        self._write(index, [f"- {term} ({kind}):" if kind else f"- {term.rstrip(':')}:"], prefix)
        self._convert_block(index + 1, stop, self._indent(index + 1), prefix + "  ", depth + 1)
        self.prose.block_starts.add(index + 1)
        self.prose.unbroken.add(index + 2)
        return stop

    def _convert_item(self, index: int, end: int, indent: int, prefix: str, depth: int) -> tuple[int, str] | None:
        text = self.lines[index][indent:]
        bullet = _BULLET.match(text)
        mark = bullet or _ENUMERATOR.match(text)
        if mark is None:
            return None
        below = index + 1
        if below < end and self.lines[below].strip() and self._indent(below) <= indent:
            is_item = _BULLET if bullet else _ENUMERATOR
            if self._indent(below) == indent and not is_item.match(self.lines[below][indent:]):
                return None
        stop = self._end_of_body(index, end, indent)
        label = "- " if bullet else f"{mark.group().strip(' ().')}. "
        if label == "#. ":
            label = "1. "
        rest = text[mark.end() :]
        inner = indent + mark.end()
        if not rest.strip():
            first = self._skip_blank(below, stop)
            inner = self._indent(first) if first < stop else inner
        self.lines[index] = " " * inner + rest
        self._convert_block(index, stop, inner, prefix + " " * len(label), depth + 1)
        if self.out[index].strip():
            self.out[index] = prefix + label + self.out[index][len(prefix) + len(label) :]
        self.prose.unbroken.discard(index + 1)
        return stop, "list"

    def _convert_field(self, index: int, end: int, indent: int, prefix: str, depth: int) -> tuple[int, str] | None:
        text = self.lines[index][indent:]
        option = _COMMAND_OPTION.match(text) if text[0] in "-/" else None
        mark = option or _FIELD.match(text)
        if mark is None:
            return None
        stop = self._end_of_body(index, end, indent)
        rest = text[mark.end() :].strip()
        if option is None and mark["name"].split()[0] in _DROPPED_FIELDS:
            return stop, "directive"
        if option is None and not prefix and indent == 0 and not rest and stop == index + 1:
            return stop, "directive"
        label = f"`{option['option']}`" if option else _name_field(mark["name"])
        self._write(index, [f"- {label}: {rest}".rstrip()], prefix)
        below = self._skip_blank(index + 1, stop)
        if below < stop:
            self._convert_block(index + 1, stop, self._indent(below), prefix + "  ", depth + 1)
        return stop, "list"

    def _convert_doctest(self, index: int, end: int, indent: int, prefix: str, depth: int) -> tuple[int, str] | None:
        if not self.lines[index][indent:].startswith(">>>"):
            return None
        stop = index
        while stop < end and self.lines[stop].strip():
            stop += 1
            if stop + 1 < end and not self.lines[stop].strip() and self.lines[stop + 1].strip().startswith(">>>"):
                stop += 1
        self._write_code(index, stop, "pycon", prefix)
        return stop, "code"

    # -- explicit markup -----------------------------------------------------------------------------------------------

    def _convert_explicit(self, index: int, end: int, indent: int, prefix: str, depth: int) -> int:
        text = self.lines[index][indent:].rstrip()
        stop = self._end_of_body(index, end, indent)
        if text == ".." and (index + 1 >= end or not self.lines[index + 1].strip()):
            return index + 1
        if footnote := _FOOTNOTE.match(text):
            self.lines[index] = " " * (indent + footnote.end()) + text[footnote.end() :]
            body = self._skip_blank(index, stop)
            if body < stop:
                inner = min(self._indent(line) for line in range(body, stop) if self.lines[line].strip())
                self.lines[index] = " " * inner + text[footnote.end() :]
                self._convert_block(body, stop, inner, prefix, depth + 1)
            return stop
        found = _DIRECTIVE.match(text)
        if found is None or found["sub"] or _TARGET.match(text):
            return stop  # A target, a substitution or a comment.
        self._convert_directive(self._parse_directive(index, stop, found["name"], found["args"] or ""), prefix, depth)
        return stop

    def _parse_directive(self, index: int, stop: int, name: str, args: str) -> _Directive:
        line = index + 1
        while line < stop and self.lines[line].strip() and not _OPTION.match(self.lines[line]):
            line += 1
        arg_lines = range(index + 1, line)
        options: dict[str, tuple[int, str]] = {}
        while line < stop and self.lines[line].strip():
            if option := _OPTION.match(self.lines[line]):
                options[option["name"]] = (line, option["value"] or "")
            line += 1
        return _Directive(
            index, name, args.strip(), arg_lines, options, range(self._skip_blank(line, stop), stop), stop
        )

    def _convert_directive(self, directive: _Directive, prefix: str, depth: int) -> None:
        name, index = directive.name.lower(), directive.index
        short = name.rpartition(":")[2]
        self.prose.block_starts.add(index + 1)
        if name in _CODE:
            first = directive.arg_lines.start if directive.arg_lines else directive.content.start
            self._write_code(first, directive.end, directive.args.split(" ")[0] or self._name_language(name), prefix)
        elif name in _VERSIONS:
            self._convert_admonition(directive, _format_version(name, directive.args), prefix, depth)
        elif name in _ADMONITIONS:
            self._convert_admonition(directive, to_lead_in(_ADMONITIONS[name], directive.args), prefix, depth)
        elif name in _TITLED:
            self._convert_admonition(directive, to_lead_in(directive.args), prefix, depth)
        elif name == "highlight":
            self.language = directive.args
        elif short == "module":
            self._convert_module(directive, prefix)
        elif name == "changelog":
            self._convert_changelog(directive, prefix, depth)
        elif name == "change":
            if tags := directive.options.get("tags"):
                self.out[tags[0]] = f"{prefix}Tags: {tags[1]}"
            self._convert_content(directive, prefix, depth)
            self.prose.unbroken.update(range(index + 2, directive.end + 1))
        elif name == "csv-table":
            self._convert_csv_table(directive, prefix)
        elif name == "list-table":
            self._convert_list_table(directive, prefix)
        elif ":" in name and not directive.args and directive.content:
            self._write_code(directive.content.start, directive.end, "", prefix)  # An extension's example.
        elif name in DROPPED_DIRECTIVES:
            pass
        elif name in _UNTITLED or name.startswith("auto") or _is_style(name, directive.args):
            self._convert_content(directive, prefix, depth)
        elif name in _TRANSPARENT:
            if name in ("rubric", "centered", "table") and directive.args:
                self._write(index, [f"**{directive.args}**"], prefix)
            self._convert_content(directive, prefix, depth)
        else:
            self._convert_object(directive, prefix, depth)

    def _convert_content(self, directive: _Directive, prefix: str, depth: int) -> None:
        if directive.content:
            self._convert_block(
                directive.content.start, directive.end, self._indent(directive.content.start), prefix, depth + 1
            )

    def _convert_admonition(self, directive: _Directive, lead: str, prefix: str, depth: int) -> None:
        """Write a lead-in such as ``Note:`` in place of the directive, then its content."""
        texts = [lead, *[self.lines[line].strip() for line in directive.arg_lines]]
        if len(texts) == 1 and not directive.content:
            texts[0] = re.sub(r":$", ".", lead)
        self._write(directive.index, texts, prefix)
        if directive.content:
            self.prose.kept_with_previous.add(directive.content.start + 1)
        if texts[-1].endswith("::") and directive.content:
            self.out[directive.index + len(texts) - 1] = self.out[directive.index + len(texts) - 1][:-1]
        self._convert_content(directive, prefix, depth)

    def _convert_object(self, directive: _Directive, prefix: str, depth: int) -> None:
        """Convert the description of a function, class, option …: its signature is code, its name a heading."""
        index = directive.index
        signatures = [directive.args, *[self.lines[line].strip() for line in directive.arg_lines]]
        if not signatures[0]:
            self._convert_content(directive, prefix, depth)
            return
        if not directive.content and self._is_anchor(directive.end):
            return
        for offset, signature in enumerate(signatures):
            self.out[index + offset] = f"{prefix}`{signature.rstrip(chr(92)).strip().replace('`', '')}`"
        level, name = OBJECT_LEVEL + self.depth, _name_object(signatures[0])
        # Without content of its own it is followed by its description.
        end = directive.end if directive.content else None
        self.prose.headings.append(Heading(index + 1, index + len(signatures), level, name, end))
        self.depth += 1
        self._convert_content(directive, prefix, depth)
        self.depth -= 1

    def _is_anchor(self, index: int) -> bool:
        """Whether only markup stands between a line and the next title; Django marks its settings and tags so."""
        for line in range(index, min(index + _MAX_ANCHOR_LINES, len(self.lines))):
            if self.lines[line].strip() and not self.lines[line].startswith(".. "):
                return line in self.titles
        return False

    def _convert_module(self, directive: _Directive, prefix: str) -> None:
        synopsis = directive.options.get("synopsis")
        if synopsis is not None:
            self._write(synopsis[0], [f"`{directive.args}`: {synopsis[1]}"], prefix)
        self._convert_content(directive, prefix, 1)

    def _convert_changelog(self, directive: _Directive, prefix: str, depth: int) -> None:
        """Convert SQLAlchemy's changelog directive, whose options are the version and its date."""
        version = directive.options.get("version")
        if version is not None:
            released = directive.options.get("released", (0, ""))[1]
            title = f"{version[1]} ({released})" if released else version[1]
            self.out[version[0]] = f"{prefix}Version {title}"
            self.prose.headings.append(
                Heading(directive.index + 1, version[0] + 1, OBJECT_LEVEL + self.depth, version[1], directive.end)
            )
        self.depth += 1
        self._convert_content(directive, prefix, depth)
        self.depth -= 1

    # -- code and tables -----------------------------------------------------------------------------------------------

    def _name_language(self, name: str) -> str:
        return {"console": "console", "doctest": "pycon", "testcode": "python", "math": "math"}.get(name, self.language)

    def _write_code(self, first: int, stop: int, language: str, prefix: str) -> None:
        self.prose.write_code(self.lines, first, stop, language, prefix)

    def _convert_table(self, index: int, end: int, indent: int, prefix: str, depth: int) -> tuple[int, str] | None:
        text = self.lines[index][indent:]
        if _GRID_BORDER.match(text):
            return self._convert_grid_table(index, end, prefix)
        if _SIMPLE_BORDER.match(text):
            return self._convert_simple_table(index, end, indent, prefix)
        return None

    def _convert_grid_table(self, index: int, end: int, prefix: str) -> tuple[int, str]:
        stop = index
        while stop < end and self.lines[stop].strip()[:1] in ("+", "|"):
            stop += 1
        count = self.lines[index].count("+") - 1
        header: list[str] = []
        rows: list[tuple[int, int, list[str]]] = []
        begin, cells = index + 1, [""] * count
        for line in range(index + 1, stop):
            text = self.lines[line].strip()
            if text.startswith("+"):
                if "=" in text and not header:
                    header = cells
                else:
                    rows.append((begin, line, cells))
                begin, cells = line + 1, [""] * count
                continue
            found = [cell.strip() for cell in text.strip("|").split("|")]
            if len(found) == count:
                cells = [f"{cell} {more}".strip() for cell, more in zip(cells, found, strict=True)]
            else:
                cells[0] = f"{cells[0]} {' '.join(found)}".strip()
        self._write_records(rows, header, prefix)
        return stop, "table"

    def _convert_simple_table(self, index: int, end: int, indent: int, prefix: str) -> tuple[int, str] | None:
        border = self.lines[index].rstrip()
        borders = [index]
        stop = index + 1
        while stop < end and (not self.lines[stop].strip() or self._indent(stop) >= indent):
            if _SIMPLE_BORDER.match(self.lines[stop].strip()):
                borders.append(stop)
                if stop + 1 >= end or not self.lines[stop + 1].strip():
                    break
            stop += 1
        if len(borders) < 2:
            return None
        starts = [match.start() for match in re.finditer(r"(?<!=)=", border)]
        slices = [slice(low, high) for low, high in zip(starts, [*starts[1:], None], strict=True)]
        slices[-1] = slice(starts[-1], None)

        def split(line: int) -> list[str]:
            return [self.lines[line][part].strip() for part in slices]

        def is_line(line: int) -> bool:  # Not blank, and no rule below cells that span columns.
            return re.fullmatch(r"[-\s]*", self.lines[line]) is None

        head = [split(line) for line in range(index + 1, borders[1]) if is_line(line)] if len(borders) > 2 else []
        header = [" ".join(filter(None, cells)) for cells in zip(*head, strict=True)] if head else []
        body = range((borders[1] if head else borders[0]) + 1, borders[-1])
        rows = [(line, split(line)) for line in body if is_line(line)]
        last = borders[-1]
        if len(head) == 1 and all(cells[0] for _, cells in rows) and len(rows) == len(body):
            self._write_table(borders[1] - 1, header, rows, prefix)
            return last + 1, "table"
        records: list[tuple[int, int, list[str]]] = []
        for line, cells in rows:
            if cells[0] or not records:
                records.append((line, line + 1, cells))
            else:
                begin, _, above = records[-1]
                records[-1] = (begin, line + 1, [f"{a} {b}".strip() for a, b in zip(above, cells, strict=True)])
        self._write_records(records, header, prefix)
        return last + 1, "table"

    def _convert_csv_table(self, directive: _Directive, prefix: str) -> None:
        rows = [
            (line, next(csv.reader([self.lines[line].strip()], skipinitialspace=True), []))
            for line in directive.content
        ]
        found = directive.options.get("header")
        header = next(csv.reader([found[1]], skipinitialspace=True), []) if found else []
        rows = [row for row in rows if row[1]]
        if not rows:
            return
        if header and rows[0][0] - directive.index >= 2 and len(rows) == rows[-1][0] - rows[0][0] + 1:
            self._write_table(rows[0][0] - 2, header, rows, prefix)
        else:
            self._write_records([(line, line + 1, cells) for line, cells in rows], header, prefix)
        if directive.args and not self.out[directive.index]:
            self._write(directive.index, [f"**{directive.args}**"], prefix)

    def _convert_list_table(self, directive: _Directive, prefix: str) -> None:
        rows: list[tuple[int, int, list[str]]] = []
        for line in directive.content:
            text = self.lines[line].strip()
            if text.startswith(("* - ", "* -")):
                rows.append((line, line + 1, [text[3:].strip()]))
            elif rows and re.match(r"-(?: |$)", text):
                rows[-1] = (rows[-1][0], line + 1, [*rows[-1][2], text[1:].strip()])
            elif rows and text:
                cells = rows[-1][2]
                rows[-1] = (rows[-1][0], line + 1, [*cells[:-1], f"{cells[-1]} {text}".strip()])
        count = directive.options.get("header-rows", (0, "0"))[1]
        header = rows.pop(0)[2] if rows and count.isdigit() and int(count) else []
        if directive.args:
            self._write(directive.index, [f"**{directive.args}**"], prefix)
        self._write_records(rows, header, prefix)

    def _write_table(
        self, head: int, header: Sequence[str], rows: Sequence[tuple[int, list[str]]], prefix: str
    ) -> None:
        converted = [(line, [self._convert_inline(cell) for cell in cells]) for line, cells in rows]
        self.prose.write_table(head, [self._convert_inline(cell) for cell in header], converted, prefix)

    def _write_records(self, rows: Sequence[tuple[int, int, list[str]]], header: Sequence[str], prefix: str) -> None:
        converted = [(first, stop, [self._convert_inline(cell) for cell in cells]) for first, stop, cells in rows]
        self.prose.write_records(converted, [self._convert_inline(cell) for cell in header], prefix)

    # -- lines and inline markup ---------------------------------------------------------------------------------------

    def _indent(self, index: int) -> int:
        line = self.lines[index]
        return len(line) - len(line.lstrip())

    def _skip_blank(self, index: int, end: int) -> int:
        while index < end and not self.lines[index].strip():
            index += 1
        return index

    def _end_of_body(self, index: int, end: int, indent: int) -> int:
        """Return the line after the last one that is indented deeper than ``indent``, from the line below ``index`` on."""
        stop = last = index + 1
        while stop < end:
            if self.lines[stop].strip():
                if self._indent(stop) <= indent:
                    break
                last = stop + 1
            stop += 1
        return last

    def _write(self, index: int, texts: Sequence[str], prefix: str) -> None:
        """Write the lines of a paragraph; markup may run from one line into the next."""
        for offset, line in enumerate(self._convert_inline("\n".join(texts)).split("\n")):
            self.out[index + offset] = prefix + line.strip() if line.strip() else ""

    def _convert_inline(self, text: str) -> str:
        if _MAY_HAVE_MARKUP.search(text):
            text = _INLINE.sub(self._replace_inline, text)
        if self.references is not None and "_" in text:
            text = self.references.sub(r"\1", text)
        return text

    def _replace_inline(self, match: re.Match[str]) -> str:
        words = self._read_inline(match)
        # The number of lines must not change.
        return words + "\n" * (match.group().count("\n") - words.count("\n"))

    def _read_inline(self, match: re.Match[str]) -> str:
        if match["literal"]:
            return to_code(match["literal"])
        if match["role"]:
            return self._read_role(match["role"], match["content"])
        if match["phrase"]:
            suffix = match["suffix"] or ""
            if suffix.startswith(":"):
                return self._read_role(suffix.strip(":"), match["phrase"])
            link = _EXPLICIT_LINK.fullmatch(match["phrase"])
            if link and (suffix or link["text"]):
                return link["text"] or link["target"]
            return match["phrase"] if suffix else f"`{match['phrase']}`"
        if match["citation"]:
            return match["citation"]
        if name := match["substitution"]:
            if name in self.substitutions:
                return self.substitutions[name] or name
            return name if name in ("version", "release", "today") else match.group()
        if match["escaped"] is not None:
            return "" if match["escaped"] else "\\"
        return ""  # A reference to a footnote.

    def _read_role(self, role: str, content: str) -> str:
        title = self.labels.get(content.lower()) if role in ("ref", "numref", "std:ref") else None
        return title or read_role(role, content)


def read_role(role: str, content: str) -> str:
    """Return what a reader sees of ``:role:`content```, as far as this file alone can tell."""
    name = role.rpartition(":")[2].lower()
    link = _EXPLICIT_LINK.fullmatch(content)
    if link and link["text"]:
        words = link["text"]
        return to_code(words) if name in _CODE_ROLES and re.fullmatch(r"[\w.()]+", words) else words
    words = content.strip("<>") if link else content
    if name in ("ref", "numref"):
        return words.rpartition(":")[2].replace("-", " ").replace("_", " ")
    if name == "doc":
        return words.rpartition("/")[2].replace("-", " ") or words
    if name in _ROLE_PREFIXES:
        return _ROLE_PREFIXES[name] + words.lstrip("!")
    if name not in _CODE_ROLES:
        return words.lstrip("!~")
    words = words.removeprefix("!")
    if words.startswith("~"):
        words = words[1:].rpartition(".")[2]
    words = re.sub(r"^(?:\.|_[a-z]+\.(?=\w))", "", words)  # A leading alias of a private module is not rendered.
    return to_code(f"{words}()" if name in _CALL_ROLES and not words.endswith(")") else words)


def _is_style(name: str, args: str) -> bool:
    """Whether a ``class`` directive names a style, as docutils has it, and not a class, as Sphinx has it."""
    return name == "class" and re.fullmatch(r"[a-z][a-z\d-]*(?: [a-z][a-z\d-]*)*", args) is not None


def _format_version(name: str, args: str) -> str:
    version, _, rest = args.partition(" ")
    if name == "deprecated-removed" and rest:
        removed, _, rest = rest.partition(" ")
        version = f"{version}, removed in version {removed}"
    return f"{_VERSIONS[name]} {version}: {rest}".rstrip()


def _name_field(name: str) -> str:
    kind, _, rest = name.partition(" ")
    if kind in _PARAMETER_FIELDS and rest:
        words = rest.split()
        return f"`{words[-1]}`" + (f" ({' '.join(words[:-1])})" if len(words) > 1 else "")
    if kind == "type" and rest:
        return f"`{rest}` (type)"
    return f"{_FIELD_NAMES.get(kind, kind)} {rest}".strip()


def _name_object(signature: str) -> str:
    """Return the name in a signature: ``QuerySet.filter`` of ``QuerySet.filter(*args)``; an option keeps its dashes."""
    name = re.sub(r"^(?:async|static|class|classmethod|abstract|final|property) ", "", signature)
    return name.partition("(")[0].strip() or signature
