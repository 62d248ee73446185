"""POD, the documentation format of Perl, as light Markdown with one line for each line of the source."""

import html
import re
from bisect import bisect_left
from dataclasses import dataclass, replace

from suffice.search.files.prose import Heading, Prose, format_term, to_character, to_code, to_line
from suffice.text.chunks import split_lines

_COMMAND = re.compile(r"=(?P<name>[a-zA-Z]\w*)(?:\s+(?P<text>.*))?$")
_NUMBER = re.compile(r"(?P<number>\d{1,3})[.)]?$")
_OPENING = re.compile(r"(?P<code>[A-Z])(?P<marks><(?:<+(?=\s))?)")
_ENTITIES = {"lt": "<", "gt": ">", "verbar": "|", "sol": "/", "lchevron": "«", "rchevron": "»"}
_MAX_NESTING, _MAX_CODE_CHARS, _MAX_TERMS = 20, 2000, 50


def convert(text: str) -> Prose:
    """Return the document as light Markdown."""
    return _PodConverter([line.expandtabs(8) for line in split_lines(text)]).convert()


@dataclass(slots=True)
class _PodItem:
    """An item that is being read: the index of its term, or ``None`` for a bullet."""

    term: int | None
    names: list[str]
    has_text: bool = False


class _PodConverter:
    """Converts one document. Lines are indices from 0 here; ``out`` has one line of light Markdown for each."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.out = [""] * len(lines)
        self.prose = Prose(self.out)
        self.levels: list[_PodItem | None] = []  # The open item of each ``=over``.
        self.ends = [index for index, line in enumerate(lines) if re.match(r"=end\b", line)]
        self.mark = ""  # What the next paragraph begins with: the bullet of an item.

    def convert(self) -> Prose:
        index, is_code = 0, False  # Between ``=cut`` and the next command there is code.
        end = 0  # Of the paragraph that the line stands in.
        while index < len(self.lines):
            if not self.lines[index].strip():
                index += 1
                continue
            end = max(end, index)
            while end < len(self.lines) and self.lines[end].strip():
                end += 1
            stop = end
            command = _COMMAND.match(self.lines[index])
            if command is not None:
                is_code = command["name"] == "cut"
                stop = self._convert_command(index, stop, command["name"], command["text"] or "")
            elif is_code or self.lines[index][0] == " ":
                stop = self._convert_verbatim(index, is_code)
            else:
                self._write(index, stop)
            index = stop
        while self.levels:
            self._end_list(len(self.lines))
        self.prose.headings.sort(key=lambda heading: heading.first)
        self._name_page()
        return self.prose

    def _name_page(self) -> None:
        """Give all sections the name of the page, which stands below the heading NAME: ``perlsub - Perl subroutines``."""
        first = self.prose.headings[0] if self.prose.headings else None
        below = next(filter(str.strip, self.out[first.last :]), "") if first is not None else ""
        name, dash, _ = below.partition(" - ")
        if first is not None and first.text == "NAME" and dash and " " not in name:
            self.prose.headings[0] = replace(first, level=0, text=name.strip("`"))

    def _convert_command(self, index: int, stop: int, name: str, text: str) -> int:
        if name.startswith("head") and name[4:].isdigit():
            while self.levels:
                self._end_list(index)
            level = int(name[4:])
            words = _convert_inline(" ".join([text, *map(str.strip, self.lines[index + 1 : stop])])).strip()
            self.out[index] = f"{'#' * min(level, 6)} {words}"
            self.prose.headings.append(Heading(index + 1, stop, level, words.replace("`", "").replace("*", "")))
        elif name == "over":
            self.levels.append(None)
        elif name == "back" and self.levels:
            self._end_list(index)
        elif name == "item" and self.levels:
            self._begin_item(index, stop, text)
        elif name == "begin" and not text.startswith(":"):
            position = bisect_left(self.ends, index)
            return self.ends[position] + 1 if position < len(self.ends) else index + 1
        return stop

    def _convert_verbatim(self, index: int, is_code: bool) -> int:
        """Convert indented paragraphs that follow each other as one block of code; return the line after it."""
        stop = last = index
        while stop < len(self.lines):
            line = self.lines[stop]
            if line.strip() and (
                _COMMAND.match(line) or (line[0] != " " and not is_code and not self.lines[stop - 1].strip())
            ):
                break
            stop += 1
            last = stop if line.strip() else last
        self.prose.write_code(self.lines, index, last, "", self._prefix)
        self._note_text()
        return last

    # -- items ---------------------------------------------------------------------------------------------------------

    @property
    def _prefix(self) -> str:
        return "".join("  " for item in self.levels if item is not None)

    def _begin_item(self, index: int, stop: int, text: str) -> None:
        above = self.levels[-1]
        words = _convert_inline(" ".join([text, *map(str.strip, self.lines[index + 1 : stop])])).strip()
        names: list[str] = []
        if above is not None and above.term is not None and not above.has_text and len(above.names) < _MAX_TERMS:
            names, self.out[above.term] = above.names, ""  # Several terms with one explanation.
            self.levels[-1] = None
        else:
            self._end_item(index)
        prefix = self._prefix
        number = _NUMBER.match(words)
        if words in ("", "*", "-", "o") or number or words.startswith("* "):
            self.levels[-1] = _PodItem(None, [])
            self.mark = f"{prefix}{number['number']}. " if number else f"{prefix}- "
            if rest := words.removeprefix("* ").strip() if words.startswith("* ") else "":
                self.out[index], self.mark = self.mark + rest, ""
            return
        names.append(words)
        self.out[index] = f"{prefix}- {', '.join(map(format_term, names))}:"
        self.prose.block_starts.add(index + 1)
        self.levels[-1] = _PodItem(index, names)
        self.mark = ""

    def _end_item(self, index: int) -> None:
        item, self.levels[-1] = self.levels[-1], None
        if item is not None and item.term is not None:
            name = ", ".join(item.names).replace("`", "")
            self.prose.end_definition(item.term, index, name, len(self.levels), self._prefix)

    def _end_list(self, index: int) -> None:
        self._end_item(index)
        self.levels.pop()
        self.mark = ""

    def _note_text(self) -> None:
        for item in self.levels:
            if item is not None:
                item.has_text = True

    def _write(self, index: int, stop: int) -> None:
        """Write the lines of a paragraph; markup may run from one line into the next."""
        texts = _convert_inline("\n".join(map(str.strip, self.lines[index:stop]))).split("\n")
        if not any(map(str.strip, texts)):
            return
        for offset, line in enumerate(texts):
            self.out[index + offset] = self._prefix + line.strip() if line.strip() else ""
        if self.mark:
            self.out[index], self.mark = self.mark + texts[0].strip(), ""
            self.prose.block_starts.add(index + 1)
        self._note_text()


def _convert_inline(text: str, depth: int = 0) -> str:
    """Return text without its codes: ``C<x>`` is code, ``L<text|page>`` its text, ``X<x>`` nothing."""
    pieces, position = [], 0
    while match := _OPENING.search(text, position):
        marks = match["marks"]
        end = _find_closing(text, match.end(), len(marks))
        if end < 0 or depth > _MAX_NESTING:
            pieces.append(text[position : match.end()])
            position = match.end()
            continue
        content = text[match.end() : end].strip() if len(marks) > 1 else text[match.end() : end]
        words = _read_code(match["code"], content, depth)
        lost = text.count("\n", match.start(), end) - words.count("\n")
        pieces += [text[position : match.start()], words, "\n" * max(0, lost)]
        position = end + len(marks)
    return "".join([*pieces, text[position:]])


def _find_closing(text: str, start: int, width: int) -> int:
    """Return where the closing marks of a code begin; -1 if there are none."""
    if width > 1:
        found = re.compile(rf"\s>{{{width}}}(?!>)").search(text, start, start + _MAX_CODE_CHARS)
        return found.start() + 1 if found else -1
    depth = 1
    for match in re.compile(r"[A-Z]<+|>").finditer(text, start, start + _MAX_CODE_CHARS):
        depth += 1 if match.group() != ">" else -1
        if depth == 0:
            return match.start()
    return -1


def _read_code(code: str, content: str, depth: int) -> str:
    if code in "XZ":
        return ""
    if code == "E":
        if content.isdecimal():
            return to_character(int(content))
        return _ENTITIES.get(content) or to_line(html.unescape(f"&{content};"))
    if code == "L":
        label, bar, _ = content.partition("|")
        words = _convert_inline(label, depth + 1)
        if bar or "://" in label:
            return words
        page, _, section = words.replace('"', "").partition("/")
        return " section ".join(filter(None, (page, section)))
    words = _convert_inline(content, depth + 1)
    return to_code(words.replace("`", "")) if code in "CF" and words.strip() else words
