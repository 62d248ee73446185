"""Manual pages (roff with the macros ``man`` or ``mdoc``) as light Markdown with one line for each line of the source.

Python has no parser for roff, and the programs that format it lose the lines. A page uses few requests: headings, paragraphs,
tagged and bulleted items, filled and literal text, fonts. Other requests are layout and are dropped.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from suffice.search.files.prose import Heading, Prose, format_term, to_character
from suffice.text.chunks import split_lines

_TITLE = re.compile(r"^[.'][ \t]*(?:TH|Dd)\s", re.MULTILINE)
_SECTION = re.compile(r"^[.'][ \t]*S[hH]\s", re.MULTILINE)
_REQUEST = re.compile(r"[.'][ \t]*(?P<name>[^\s\\\"]+|\\[\"}].*)?[ \t]*(?P<args>.*)$", re.DOTALL)
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:[^\s"\\]|\\.|(?<!^)")+)')
_CONDITION = re.compile(r"(?P<not>!?)(?P<what>[nt]|'[^']*'[^']*'|\"[^\"]*\"[^\"]*\"|\S+)\s*(?P<rest>.*)$")
_BULLET = re.compile(r"(?:[•*o+-]|--)$")
_NUMBER = re.compile(r"\(?(?P<number>\d{1,3}|[a-z])[.)]+$")
_SENTENCE_END = re.compile(r"[.:;?!]\W*$")
_MAX_TERM_CHARS = 160
_MAX_TERMS = 50  # That share an explanation.
_MAX_DEPTH = 40  # Nested lists; deeper ones are read as if they were not.

_GLYPHS = {
    "aq": "'", "dq": '"', "lq": "“", "rq": "”", "oq": "‘", "cq": "’", "bu": "•", "co": "©", "rg": "®", "tm": "™", "em": "—",
    "en": "–", "hy": "-", "mi": "-", "ga": "`", "ha": "^", "ti": "~", "rs": "\\", "ba": "|", "bv": "|", "at": "@", "sh": "#",
    "Do": "$", "->": "→", "<-": "←", "<=": "≤", ">=": "≥", "!=": "≠", "mu": "×", "+-": "±", "de": "°", "sc": "§", "ff": "ff",
    "fi": "fi", "fl": "fl", "Fi": "ffi", "or": "|", "lB": "[", "rB": "]", "lC": "{", "rC": "}", "la": "<", "ra": ">",
    "Fo": "«", "Fc": "»", "*a": "α", "*b": "β", "if": "∞", "sl": "/", "ul": "_", "eu": "€", "12": "½", "pl": "+", "eq": "=",
    ":a": "ä", ":o": "ö", ":u": "ü", ":A": "Ä", ":O": "Ö", ":U": "Ü", "ss": "ß", "'e": "é", "`e": "è", "'a": "á", "'o": "ó",
    "/o": "ø", "oa": "å", "~n": "ñ", ",c": "ç",
}  # fmt: skip
_STRINGS = {"Aq": "'", "R": "®", "Tm": "™", "lq": "“", "rq": "”", "--": "—"}
_ESCAPE = re.compile(
    r"""\\(?:
      (?P<comment>["#].*)
    | f(?:\(..|\[[^\]]*\]|.)
    | s(?:\(..|\[[^\]]*\]|'[^']*'|[+-]?\d)
    | [hvwlLDobXZk]'[^']*'
    | [mMFgY](?:\(..|\[[^\]]*\]|.)
    | \*(?:\((?P<string2>..)|\[(?P<string>[^\]]*)\]|(?P<string1>.))
    | n[+-]?(?:\(..|\[[^\]]*\]|.)
    | \((?P<glyph2>..)
    | \[(?P<glyph>[^\]]*)\]
    | N'(?P<code>\d{1,9})'
    | \$.
    | (?P<char>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_FONT_MACROS = {"B", "I", "SM", "SB", "R", "CW"}
_ALTERNATING = {"BR", "RB", "IR", "RI", "BI", "IB"}
_PARAGRAPH = {"PP", "P", "LP", "HP", "Pp", "Lp"}
_DEFINING = {"de", "de1", "ig", "am"}

_ENCLOSURES = {
    "Op": "[]", "Bq": "[]", "Pq": "()", "Dq": '""', "Qq": '""', "Sq": "''", "Ql": "``", "Aq": "<>", "Brq": "{}", "Eq": "''",
}  # fmt: skip
_OPENING = {"Oo": "[", "Bo": "[", "Po": "(", "Do": '"', "Qo": '"', "So": "'", "Ao": "<", "Bro": "{"}
_CLOSING = {"Oc": "]", "Bc": "]", "Pc": ")", "Dc": '"', "Qc": '"', "Sc": "'", "Ac": ">", "Brc": "}"}
_PLAIN_MACROS = frozenset(
    """Ad An Ar Cd Cm Dv Em Er Ev Fa Fd Fl Fn Ft Ic In Lb Li Lk Ms Mt Nd Nm No Pa St Sx Sy Tn Va Vt Xr Ux Bx Fx Nx Ox Dx
    Ns Ap Cq""".split()
)
_INLINE_MACROS = _PLAIN_MACROS | set(_ENCLOSURES) | set(_OPENING) | set(_CLOSING)
_CLOSING_MARKS = frozenset(".,:;)]?!")


def looks_like_man(text: str) -> bool:
    """Whether a text is a manual page: it begins with its name and section, and has headings."""
    sample = text[:50_000].lstrip()
    return sample[:1] in (".", "'") and _TITLE.search(sample) is not None and _SECTION.search(sample) is not None


def convert(text: str) -> Prose:
    """Return the page as light Markdown."""
    return _ManConverter(split_lines(text)).convert()


@dataclass(slots=True)
class _ManItem:
    """An item that is being read: the index of its term, or ``None`` for a bullet, and what begins its lines."""

    term: int | None
    names: list[str]
    prefix: str
    has_text: bool = False


@dataclass(slots=True)
class _MdocList:
    """A list of ``mdoc`` that is being read."""

    style: str
    number: int = 0


class _ManConverter:
    """Converts one page. Lines are indices from 0 here; ``out`` has one line of light Markdown for each."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.out = [""] * len(lines)
        self.prose = Prose(self.out)
        self.strings = dict(_STRINGS)
        self.name = ""
        self.levels: list[_ManItem | None] = [None]  # The open item of each indented part, outermost first.
        self.lists: list[_MdocList] = []
        self.fence: int | None = None  # The line of the opening fence of literal text.
        self.mark = ""  # What the next line of text begins with: the bullet of an item.
        self.wants_term = False  # The next line of text is a term.
        self.names: list[str] = []  # Terms that share the explanation of the next.
        self.paragraph: list[int] = []  # The lines of text since the last paragraph began.
        self.skipped_branch = False

    def convert(self) -> Prose:
        index = 0
        while index < len(self.lines):
            index = self._convert_line(index)
        self._end_code(len(self.lines))
        self._close_all(len(self.lines))
        self.prose.headings.sort(key=lambda heading: heading.first)
        return self.prose

    def _convert_line(self, index: int) -> int:
        """Convert a line, or the lines of a table or definition; return the next."""
        line = self.lines[index]
        if line[:1] not in (".", "'"):
            if line.strip() or self.fence is not None:
                self._write_text(index, self._unescape(line))
            return index + 1
        found = _REQUEST.match(line)
        name = (found["name"] or "") if found else ""
        if not name or name.startswith("\\"):
            return index + 1
        if name in _DEFINING:
            end = _skip_definition(self.lines, index)
            return end
        if name == "TS":
            return self._convert_table(index)
        args = found["args"] if found else ""
        if name in ("if", "ie", "el"):
            return self._convert_condition(index, name, args)
        self._convert_request(index, name, args)
        return index + 1

    def _convert_condition(self, index: int, name: str, args: str) -> int:
        """Convert the branch for a terminal; skip the one for a typesetter, and the other one of two."""
        condition = _CONDITION.match(args) if name != "el" else None
        rest = args if name == "el" else condition["rest"] if condition else ""
        is_taken = name != "el" and condition is not None and (condition["what"] == "n") != bool(condition["not"])
        if name == "el":
            is_taken = self.skipped_branch
        self.skipped_branch = name == "ie" and not is_taken
        if is_taken:
            branch = rest.removeprefix("\\{").removesuffix("\\}").strip()
            if branch[:1] in (".", "'") and (request := _REQUEST.match(branch)):
                self._convert_request(index, request["name"] or "", request["args"])
            elif branch:
                self._write_text(index, self._unescape(branch))
            return index + 1  # Other lines of the branch follow as usual; its closing mark is no text.
        depth, end = rest.count("\\{") - rest.count("\\}"), index + 1
        while end < len(self.lines) and depth > 0:
            depth += self.lines[end].count("\\{") - self.lines[end].count("\\}")
            end += 1
        return end

    def _convert_request(self, index: int, name: str, args: str) -> None:
        if name in ("nf", "EX", "Vb"):
            self._begin_code(index)
        elif name in ("fi", "EE", "Ve"):
            self._end_code(index)
        elif name in ("TH", "Dt"):
            words = self._split(args)
            self.name = words[0].lower() if words else ""
            self._add_heading(index, 1, f"{self.name}({words[1]})" if len(words) > 1 else self.name)
        elif name in ("SH", "Sh", "SS", "Ss"):
            self._end_code(index)
            self._close_all(index)
            self._add_heading(index, 2 if name in ("SH", "Sh") else 3, " ".join(self._split(args)))
        elif name in _PARAGRAPH:
            if self.fence is None and not self.lists:
                self._close_item(index)
            self.paragraph.clear()
        elif name in ("TP", "TQ"):
            self._end_tagged(index)
            self.wants_term = True
        elif name == "IP":
            self._begin_tagged(index, self._split(args)[:1])
        elif name in ("RS", "INDENT"):
            self._indent(index)
        elif name in ("RE", "UNINDENT"):
            self._close_item(index)
            if len(self.levels) > 1:
                self.levels.pop()
            self.paragraph.clear()
        elif name in ("Bl", "El", "It", "Bd", "Ed", "Dl", "D1"):
            self._convert_mdoc_block(index, name, args)
        elif name == "ds":
            key, _, value = args.partition(" ")
            self.strings[key] = self._unescape(value.removeprefix('"'))
        else:
            self._convert_words(index, name, args)

    def _convert_words(self, index: int, name: str, args: str) -> None:
        """Convert a request whose arguments are text."""
        words = self._split(args)
        if name in _FONT_MACROS:
            self._write_text(index, " ".join(words))
        elif name in _ALTERNATING:
            self._write_text(index, "".join(words))
        elif name == "OP":
            self._write_text(index, f"[{' '.join(words)}]")
        elif name == "SY":
            self._write_text(index, " ".join(words))
        elif name in ("URL", "MTO") and words:
            self._write_text(index, words[1] if len(words) > 1 else words[0])
        elif name in ("UR", "MT") and words and re.match(r"[.'][ \t]*(?:UE|ME)", self._get_line(index + 1)):
            self._write_text(index, words[0])
        elif name == "MR" and len(words) > 1:
            self._write_text(index, f"{words[0]}({words[1]}){''.join(words[2:])}")
        elif name == "Nm" and words and not self.name:
            self.name = words[0]
        elif name == "Nd":
            self._write_text(index, f"- {' '.join(words)}" if not self.paragraph else f"– {' '.join(words)}")
        elif name in _INLINE_MACROS:
            self._write_text(index, _join_words(self._render([name, *words])))
        elif name.startswith("%"):
            self._write_text(index, " ".join(words))

    # -- items ---------------------------------------------------------------------------------------------------------

    @property
    def prefix(self) -> str:
        return "".join("  " for item in self.levels if item is not None)

    def _open_item(self, item: _ManItem) -> None:
        self.levels[-1] = item
        self.paragraph.clear()

    def _close_item(self, index: int) -> None:
        self._end_code(index)
        item, self.levels[-1] = self.levels[-1], None
        self.wants_term, self.mark = False, ""
        if item is not None and item.term is not None:
            depth = sum(level is not None for level in self.levels)
            self.prose.end_definition(item.term, index, ", ".join(item.names), depth, item.prefix)

    def _end_tagged(self, index: int) -> None:
        """Close the item before another one; a term without an explanation shares that of the next."""
        item = self.levels[-1]
        if item is None or item.term is None or item.has_text or len(item.names) >= _MAX_TERMS:
            self._close_item(index)
            self.names = []
        else:
            self.out[item.term], self.levels[-1], self.names = "", None, item.names

    def _close_all(self, index: int) -> None:
        while self.levels:
            self._close_item(index)
            self.levels.pop()
        self.levels = [None]
        self.lists.clear()
        self.paragraph.clear()

    def _begin_tagged(self, index: int, tag: Sequence[str]) -> None:
        """Begin ``.IP``: an item with a bullet or a number, a term, or without a tag a paragraph of the item above."""
        if not tag or not tag[0].strip():
            self.paragraph.clear()
            return
        self._end_tagged(index)
        words = tag[0].strip()
        if _BULLET.match(words) or (number := _NUMBER.match(words)):
            self._begin_bullet("- " if _BULLET.match(words) else f"{number['number']}. ")  # type: ignore[index]
        else:
            self._write_term(index, words)

    def _begin_bullet(self, mark: str) -> None:
        prefix = self.prefix
        self._open_item(_ManItem(None, [], prefix))
        self.mark = f"{prefix}{mark}"

    def _write_term(self, index: int, words: str) -> None:
        prefix = self.prefix
        names, self.names = [*self.names, words], []
        self.out[index] = f"{prefix}- {', '.join(map(format_term, names))}:"
        self.prose.block_starts.add(index + 1)
        self._open_item(_ManItem(index, names, prefix))
        self.wants_term = False

    def _indent(self, index: int) -> None:
        """Begin an indented part. DocBook writes a term as a paragraph of one line above it."""
        if len(self.paragraph) == 1 and self.levels[-1] is None and self.fence is None:
            line = self.paragraph[0]
            words = self.out[line].strip()
            if words and len(words) <= _MAX_TERM_CHARS and not _SENTENCE_END.search(words):
                self._write_term(line, words)
        if len(self.levels) < _MAX_DEPTH:
            self.levels.append(None)
        self.paragraph.clear()

    # -- text ----------------------------------------------------------------------------------------------------------

    def _write_text(self, index: int, text: str) -> None:
        if text.strip() and not self.wants_term:
            for item in filter(None, self.levels):
                item.has_text = True
        if self.fence is not None:
            self.out[index] = self.prefix + text.rstrip() if text.strip() else ""
            return
        words = " ".join(text.split())
        if not words:
            return
        if words in ("•", "·"):  # A bullet of its own, as DocBook writes it.
            self._begin_bullet("- ")
            return
        if self.wants_term:
            self._write_term(index, words)
            return
        if self.mark:
            self.out[index], self.mark = self.mark + words, ""
            self.prose.block_starts.add(index + 1)
        else:
            self.out[index] = self.prefix + words
        self.paragraph.append(index)

    def _begin_code(self, index: int) -> None:
        if self.fence is None:
            self.fence = index
            self.wants_term, self.mark = False, ""

    def _end_code(self, index: int) -> None:
        """Write the fences around literal text; text that has none gets no fences."""
        opening, self.fence = self.fence, None
        if opening is None:
            return
        filled = [line for line in range(opening + 1, index) if self.out[line].strip()]
        if not filled:
            return
        opening, index = filled[0] - 1, filled[-1] + 1
        has_closing = index < len(self.lines)
        self.out[opening] = f"{self.prefix}```"
        if has_closing:
            self.out[index] = f"{self.prefix}```"
        self.prose.add_fence(opening + 1, index + 1 if has_closing else None, index)
        self.paragraph.clear()

    def _add_heading(self, index: int, level: int, words: str) -> None:
        if words:
            self.out[index] = f"{'#' * level} {words}"
            self.prose.headings.append(Heading(index + 1, index + 1, level, words))

    def _get_line(self, index: int) -> str:
        return self.lines[index] if index < len(self.lines) else ""

    def _split(self, args: str) -> list[str]:
        """Return the arguments of a request, without escapes."""
        found = [
            (match[1] or "").replace('""', '"') if match[2] is None else match[2] for match in _ARGUMENT.finditer(args)
        ]
        return [self._unescape(argument) for argument in found]

    def _unescape(self, text: str) -> str:
        return _ESCAPE.sub(self._replace_escape, text.removesuffix("\\")) if "\\" in text else text

    def _replace_escape(self, match: re.Match[str]) -> str:
        if (name := match["glyph2"] or match["glyph"]) is not None:
            if name.startswith("u") and re.fullmatch(r"u[\dA-F]{4,5}", name):
                return _read_character(int(name[1:], 16))
            return _GLYPHS.get(name, "")
        if (name := match["string2"] or match["string"] or match["string1"]) is not None:
            return self.strings.get(name, "")
        if match["code"]:
            return _read_character(int(match["code"]))
        char = match["char"]
        if char is None:
            return ""
        return {"e": "\\", "E": "\\", "-": "-", " ": " ", "~": " ", "0": " ", "t": "\t", "'": "'", "`": "`"}.get(
            char, char if char in '\\._"' else ""
        )

    # -- tables --------------------------------------------------------------------------------------------------------

    def _convert_table(self, index: int) -> int:
        """Convert the table of ``tbl`` between ``.TS`` and ``.TE``."""
        end = next((i for i in range(index + 1, len(self.lines)) if self.lines[i].startswith(".TE")), len(self.lines))
        separator, formats, in_formats, line = "\t", [], True, index + 1
        rows: list[tuple[int, int, list[str]]] = []
        while line < end:
            text = self.lines[line].strip()
            if in_formats:
                if text.endswith(";"):
                    found = re.search(r"tab\s*\((.)\)", text)
                    separator = found[1] if found else separator
                else:
                    formats.append(text)
                    in_formats = not text.endswith(".")
                line += 1
            elif text == ".T&":
                in_formats = True
                line += 1
            else:
                line = self._read_row(line, end, separator, rows)
        has_header = len(rows) > 1 and len(formats) > 1 and re.search(r"[bB]", formats[0]) is not None
        header = rows.pop(0)[2] if has_header else []
        self.prose.write_records(rows, header, self.prefix)
        return end + 1

    def _read_row(self, line: int, end: int, separator: str, rows: list[tuple[int, int, list[str]]]) -> int:
        """Read a row and return the line after it; a cell between ``T{`` and ``T}`` has several lines."""
        first, cells, is_open = line, [""], False
        while line < end:
            text = self.lines[line]
            line += 1
            if is_open and not text.startswith("T}"):
                if text[:1] in (".", "'"):
                    text = text.partition(" ")[2]
                cells[-1] = f"{cells[-1]} {self._unescape(text)}".strip()
                continue
            parts = (text[2:] if is_open else text).split(separator)
            cells[-1] = f"{cells[-1]} {self._unescape(parts[0].removesuffix('T{'))}".strip()
            cells += [self._unescape(part.removesuffix("T{")).strip() for part in parts[1:]]
            is_open = parts[-1].strip() == "T{"
            if not is_open:
                break
        if any(cell.strip("_=- ") for cell in cells) and self.lines[first][:1] != ".":
            rows.append((first, line, cells))
        return line

    # -- mdoc ----------------------------------------------------------------------------------------------------------

    def _convert_mdoc_block(self, index: int, name: str, args: str) -> None:
        words = self._split(args)
        if name == "Bd":
            if {"-literal", "-unfilled"} & set(words):
                self._begin_code(index)
            self.paragraph.clear()
        elif name == "Ed":
            self._end_code(index)
        elif name in ("Dl", "D1"):
            self.out[index] = f"{self.prefix}    {_join_words(self._render(words))}"
        elif name == "Bl":
            if len(self.levels) < _MAX_DEPTH:
                self.lists.append(_MdocList(next((word for word in words if word.startswith("-")), "-item")))
                self.levels.append(None)
        elif name == "El":
            self._close_item(index)
            if self.lists and len(self.levels) > 1:
                self.lists.pop()
                self.levels.pop()
        elif self.lists:
            self._begin_mdoc_item(index, words)

    def _begin_mdoc_item(self, index: int, words: Sequence[str]) -> None:
        self._end_tagged(index)
        current = self.lists[-1]
        current.number += 1
        text = _join_words(self._render(words))
        if current.style in ("-bullet", "-dash", "-hyphen", "-item", "-enum"):
            self._begin_bullet(f"{current.number}. " if current.style == "-enum" else "- ")
        elif current.style == "-column":
            self.out[index] = f"{self.prefix}- {text}"
        elif text:
            self._write_term(index, text)

    def _render(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the words of a line of ``mdoc``; ``\\0`` joins two words without a space."""
        position, closers = 0, []
        while position < len(words):
            word = words[position]
            position += 1
            arguments = _take_arguments(words, position)
            if word in _ENCLOSURES:
                yield from (_ENCLOSURES[word][0], "\0")
                closers.append(_ENCLOSURES[word][1])
            elif word in _OPENING:
                yield from (_OPENING[word], "\0")
            elif word in _CLOSING:
                yield from ("\0", _CLOSING[word])
            elif word == "Ns":
                yield "\0"
            elif word == "Ap":
                yield from ("\0", "'", "\0")
            elif word == "Fl":
                position += len(arguments)
                yield " ".join(f"-{argument}" for argument in arguments) or "-"
            elif word == "Xr" and len(arguments) > 1:
                position += 2
                yield f"{arguments[0]}({arguments[1]})"
            elif word == "Nm" and not arguments:
                yield self.name
            elif word == "Ar" and not arguments:
                yield "file ..."
            elif word == "Ux":
                yield "UNIX"
            elif word in _PLAIN_MACROS:
                pass
            else:
                if len(word) == 1 and word in _CLOSING_MARKS and position == len(words):
                    while closers:
                        yield from ("\0", closers.pop())
                yield word
        while closers:
            yield from ("\0", closers.pop())


def _read_character(number: int) -> str:
    return " " if number in (10, 13) else to_character(number)


def _take_arguments(words: Sequence[str], position: int) -> list[str]:
    found = []
    for word in words[position:]:
        if word in _INLINE_MACROS or word in _CLOSING_MARKS or word == "|":
            break
        found.append(word)
    return found


def _join_words(words: Iterable[str]) -> str:
    """Return words with spaces between them, but none around a joint and before a closing mark."""
    text, is_joined = "", True
    for word in words:
        if word == "\0":
            is_joined = True
            continue
        text += word if is_joined or (len(word) == 1 and word in _CLOSING_MARKS) else f" {word}"
        is_joined = word in ("(", "[")
    return text


def _skip_definition(lines: Sequence[str], index: int) -> int:
    """Return the line after the definition of a macro."""
    words = lines[index].split()
    end = f".{words[2]}" if len(words) > 2 else ".."
    return next((i + 1 for i in range(index + 1, len(lines)) if lines[i].rstrip() == end), len(lines))
