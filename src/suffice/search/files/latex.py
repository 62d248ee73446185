"""LaTeX as light Markdown with one line for each line of the source.

The text is converted line by line: commands become their arguments, environments for code and formulas become fences, and the
preamble but for title, author and date is dropped. What macros of the document itself stand for is not known.
"""

import re
import unicodedata

from suffice.search.files.prose import Heading, Prose, to_code
from suffice.text.chunks import split_lines

_SECTIONS = {
    "part": 1,
    "chapter": 2,
    "section": 3,
    "subsection": 4,
    "subsubsection": 5,
    "paragraph": 6,
    "subparagraph": 7,
}
_SECTION = re.compile(r"\s*\\(?P<name>(?:sub){0,2}section|part|chapter|(?:sub)?paragraph)\*?\s*(?:\[[^\]]*\])?\{")
_ENVIRONMENT = re.compile(r"\\(?P<which>begin|end)\s*\{(?P<name>\w+)\*?\}(?:\[[^\]]*\])?(?P<args>(?:\{[^{}]*\})*)")
_CODE = frozenset("verbatim Verbatim lstlisting minted alltt code console".split())
_MATH = frozenset("equation align gather multline displaymath eqnarray math flalign alignat".split())
_DROPPED = frozenset("tikzpicture pgfpicture comment filecontents picture".split())
_LISTS = frozenset("itemize enumerate description".split())
_TABLES = frozenset("tabular tabularx longtable tabulary".split())
_LAYOUT = frozenset(
    "minipage multicols figure table wrapfigure center thebibliography tabbing document quote frame".split()
)
_LABELS = {
    name: name.capitalize()
    for name in "abstract theorem lemma definition corollary proposition proof example remark note warning".split()
}
_ITEM = re.compile(r"\s*\\item\s*(?:\[(?P<term>[^\]]*)\])?\s*")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_HEAD = re.compile(r"\\(?P<name>title|author|date)\s*(?:\[[^\]]*\])?\{")
_INLINE = re.compile(
    r"""
      \\(?:verb|lstinline|mintinline(?:\{\w+\})?)\*?(?:\[[^\]]*\])?(?:(?P<mark>[^\w\s*{])(?P<verbatim>.*?)(?P=mark)|\{(?P<braced>[^{}]*)\})
    | \$\$(?P<display>[^$]+)\$\$ | \\\[(?P<display2>.{1,500}?)\\\]
    | \$(?P<math>(?=\s)[^$]+(?<=\s)|[^$]+(?<!\s))\$(?!\d) | \\\((?P<math2>.{1,500}?)\\\)
    | \\href\s*\{[^{}]*\}\s*\{(?P<link>[^{}]*)\}
    | \\(?P<accent>["'`^~=.]|[cHvuk](?=\{))\s*(?:\{(?P<accented>\\?[a-zA-Z])\}|(?P<accented2>[a-zA-Z]))
    | \\(?:label|index|vspace|hspace|cite[a-zA-Z]*|nocite|includegraphics|bibliography(?:style)?|input|include|pagestyle
        |usepackage|newcommand|renewcommand|setlength|addtolength|vskip|hskip|setcounter|phantomsection|centering
        |raggedright|noindent|maketitle|tableofcontents|newpage|clearpage|pagebreak|hline|toprule|midrule|bottomrule
        |cline|cmidrule|small|large|footnotesize|bfseries|itshape|ttfamily|appendix|protect)\b\*?
        (?:\s*(?:\[[^\]]*\]|\{[^{}]*\}))*
    | \\(?:autoref|cref|Cref|ref|pageref|eqref)\s*\{(?P<ref>[^{}]*)\}
    | \\footnote\s*\{(?P<note>[^{}]*)\}
    | \\(?P<code_command>texttt|code|lstset|path|file|command|url|textsf|kbd|var|samp|option)\s*\{(?P<code>[^{}]*)\}
    | \\(?P<command>[a-zA-Z]+)\*?(?:\s*\[[^\]]*\])?(?:\s*\{(?P<argument>[^{}]*)\})?
    | \\(?P<symbol>[%&_\#${}\s])
    | \\[,;:!/@-]
    | \\\\(?:\[[^\]]*\])?
    | ``(?P<quoted>[^`']*)''
    | (?P<dash>---?) | (?P<tie>~) | [{}]
    """,
    re.VERBOSE,
)
_SYMBOLS = {
    "ldots": "…", "dots": "…", "LaTeX": "LaTeX", "TeX": "TeX", "textbackslash": "\\", "textasciitilde": "~", "ss": "ß",
    "copyright": "©", "S": "§", "textgreater": ">", "textless": "<", "ae": "æ", "o": "ø", "aa": "å", "pounds": "£",
    "textbar": "|", "textunderscore": "_", "textasciicircum": "^", "quad": " ", "qquad": " ", "euro": "€", "times": "×",
}  # fmt: skip
_ACCENTS = {
    '"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "c": "\u0327", "H": "\u030b", "v": "\u030c", "u": "\u0306", "k": "\u0328",
}  # fmt: skip
_MAX_NESTING = 8


def convert(text: str) -> Prose:
    """Return the document as light Markdown."""
    return _LatexConverter(split_lines(text)).convert()


class _LatexConverter:
    """Converts one document. Lines are indices from 0 here; ``out`` has one line of light Markdown for each."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.out = [""] * len(lines)
        self.prose = Prose(self.out)
        self.lists: list[tuple[str, int]] = []  # The lists around a line, each with the number of its items.
        self.missing: set[str] = set()  # Endings that no later line has.

    def convert(self) -> Prose:
        index = self._convert_preamble()
        while index < len(self.lines):
            index = self._convert_line(index)
        return self.prose

    def _convert_preamble(self) -> int:
        """Write title, author and date; return the first line of the text."""
        start = next((i for i, line in enumerate(self.lines) if r"\begin{document}" in line), -1)
        for index in range(start + 1):
            found = _HEAD.search(_COMMENT.sub(r"\1", self.lines[index]))
            words = _convert_inline(self._read_braces(index, found.end())[0]) if found else ""
            if found and words and found["name"] == "title":
                self._add_heading(index, index + 1, 0, words)
            elif found and words:
                self.out[index] = f"{found['name'].capitalize()}: {words}"
        after = self.lines[start].partition(r"\begin{document}")[2] if start >= 0 else ""
        if after.strip() and not self.out[start]:
            self.lines[start] = after
            return start
        return start + 1

    def _convert_line(self, index: int) -> int:
        """Convert a line, or the lines of a heading, code or table; return the next."""
        line = _COMMENT.sub(r"\1", self.lines[index])
        if section := _SECTION.match(line):
            title, stop = self._read_braces(index, section.end())
            self._add_heading(index, stop, _SECTIONS[section["name"]], _convert_inline(title))
            return stop
        if line.strip() in ("\\[", "$$"):
            return self._convert_code(index, re.compile(r"\\\]" if line.strip() == "\\[" else r"\$\$"), "math")
        return self._convert_environments(index, line)

    def _convert_environments(self, index: int, line: str) -> int:
        """Convert a line without the marks of its environments, or the lines of code or a table that it begins."""
        text, start = "", 0  # The line without marks, and where what is left of it starts in the source.
        while environment := _ENVIRONMENT.search(line):
            name, content = environment["name"], start + environment.end()
            text += line[: environment.start()]
            line = line[environment.end() :]
            if environment["which"] == "begin" and name in _CODE | _MATH | _DROPPED | _TABLES:
                ending = re.compile(rf"\\end\s*\{{{name}\*?\}}")
                source = self.lines[index]
                if close := ending.search(source, content):  # All in one line.
                    text += _convert_short(name, source[content : close.start()])
                    line = _COMMENT.sub(r"\1", source[close.end() :])
                    content = close.end()
                elif (stop := self._convert_block(index, environment, ending)) is not None:
                    return stop
            else:
                self._enter(index, environment["which"], name, environment["args"])
            start = content
        self._write(index, text + line)
        return index + 1

    def _convert_block(self, index: int, environment: re.Match[str], ending: re.Pattern[str]) -> int | None:
        """Convert code, a formula or a table; return the line after it, ``None`` if it is a table or picture without end."""
        name = environment["name"]
        if name in _DROPPED | _TABLES:
            end = self._find(index + 1, ending)
            if end is None:
                return None
            if name in _TABLES:
                self._convert_table(index, end)
            return end + 1
        args = re.findall(r"\{(\w+)\}", environment["args"])
        language = "math" if name in _MATH else args[-1] if name == "minted" and args else ""
        return self._convert_code(index, ending, language)

    def _enter(self, index: int, which: str, name: str, args: str) -> None:
        """Begin or end a list; an environment that is not layout becomes a lead-in, such as ``Theorem:``."""
        if name in _LISTS:
            if which == "begin":
                self.lists.append((name, 0))
            elif self.lists:
                self.lists.pop()
        elif which == "begin" and name in _LABELS:
            self.out[index] = f"{_LABELS[name]}:"
        elif which == "begin" and name not in _LAYOUT and re.search(r"\{[A-Za-z]", args):
            self.out[index] = f"{' '.join(_convert_inline(args.replace('}{', ' ')).split())}:"

    def _write(self, index: int, line: str) -> None:
        label = self.out[index]
        item = _ITEM.match(line)
        margin = "  " * max(0, min(len(self.lists), _MAX_NESTING) - 1)
        if item is None or not self.lists:
            words = _convert_inline(line).strip()
            inside = f"{margin}  " if self.lists else ""
            if words or label:
                self.out[index] = f"{inside}{f'{label} {words}'.strip()}"
            return
        name, number = self.lists[-1]
        self.lists[-1] = (name, number + 1)
        mark = f"{number + 1}." if name == "enumerate" else "-"
        term = f"{_convert_inline(item['term']).rstrip(':')}: " if item["term"] else ""
        self.out[index] = f"{margin}{mark} {term}{_convert_inline(line[item.end() :]).strip()}".rstrip()
        self.prose.block_starts.add(index + 1)
        if number == 0:
            self.prose.kept_with_previous.add(index + 1)

    def _add_heading(self, index: int, stop: int, level: int, words: str) -> None:
        words = " ".join(words.split())
        self.out[index] = f"{'#' * max(1, min(level, 6))} {words}"
        self.prose.headings.append(Heading(index + 1, stop, level, words.replace("`", "")))

    def _read_braces(self, index: int, start: int) -> tuple[str, int]:
        """Return the text up to the closing brace, which may be in a later line, and the line after it."""
        text, depth = "", 1
        for number in range(index, min(index + 10, len(self.lines))):
            line = _COMMENT.sub(r"\1", self.lines[number])
            for position in range(start if number == index else 0, len(line)):
                depth += (line[position] == "{") - (line[position] == "}")
                if depth == 0:
                    return text, number + 1
                text += line[position]
            text += " "
        return text, index + 1

    def _find(self, index: int, ending: re.Pattern[str]) -> int | None:
        """Return the next line that has the ending."""
        if ending.pattern in self.missing:
            return None
        found = next((i for i in range(index, len(self.lines)) if ending.search(self.lines[i])), None)
        if found is None:
            self.missing.add(ending.pattern)
        return found

    def _convert_code(self, index: int, ending: re.Pattern[str], language: str) -> int:
        """Write an environment as a fenced block, up to the end of the file if it has no ending; return the line after it."""
        end = self._find(index + 1, ending)
        stop = len(self.lines) if end is None else end
        self.out[index] = f"```{language}"
        for number in range(index + 1, stop):
            text = self.lines[number].rstrip()
            self.out[number] = re.sub(r"\\label\{[^{}]*\}", "", text) if language == "math" else text
        if end is not None:
            self.out[end] = "```"
        self.prose.add_fence(index + 1, None if end is None else end + 1, stop)
        return stop + 1

    def _convert_table(self, index: int, end: int) -> None:
        """Write the rows of a table as records; the first row is the header if a rule follows it."""
        rows: list[tuple[int, int, list[str]]] = []
        first, text, has_rule = index + 1, "", False
        for number in range(index + 1, end):
            line = _COMMENT.sub(r"\1", self.lines[number])
            if len(rows) == 1 and re.search(r"\\(?:hline|midrule|endhead)", line):
                has_rule = True
            text += f"{line} "
            if re.search(r"\\\\|\\tabularnewline", line):
                cells = re.split(r"(?<!\\)&", re.sub(r"\\\\.*|\\tabularnewline.*", "", text))
                rows.append((first, number + 1, [_convert_inline(cell).strip() for cell in cells]))
                has_rule = has_rule or (len(rows) == 1 and re.search(r"\\\\\s*\\(?:hline|midrule)", line) is not None)
                first, text = number + 1, ""
        header = rows.pop(0)[2] if has_rule and len(rows) > 1 else []
        self.prose.write_records([row for row in rows if any(row[2])], header)


def _convert_short(name: str, content: str) -> str:
    """Return code, a formula or a table in one line as LaTeX for a line of text."""
    if name in _DROPPED:
        return ""
    if name in _TABLES:
        return " · ".join(filter(None, map(str.strip, re.split(r"(?<!\\)&|\\\\", content))))
    return f"\\verb\x02{content.strip()}\x02"


def _convert_inline(text: str) -> str:
    """Return the words of a line; commands are replaced from the innermost on."""
    kept: list[str] = []

    def keep(words: str) -> str:
        kept.append(words)
        return f"\x01{len(kept) - 1}\x01"

    def read(match: re.Match[str]) -> str:
        found = match.groupdict()
        if (code := found["verbatim"] or found["braced"] or found["code"]) is not None:
            return keep(to_code(code))
        if math := found["math"] or found["math2"] or found["display"] or found["display2"]:
            return keep(to_code(math.strip()))
        if letter := found["accented"] or found["accented2"]:
            return unicodedata.normalize("NFC", letter.lstrip("\\") + _ACCENTS[found["accent"]])
        if name := found["command"]:
            return found["argument"] if found["argument"] is not None else keep(_SYMBOLS.get(name, ""))
        if found["symbol"]:
            return keep(found["symbol"])
        if found["note"]:
            return f" ({found['note']})"
        if found["quoted"] is not None:
            return f'"{found["quoted"]}"'
        if found["dash"]:
            return "—" if len(found["dash"]) == 3 else "–"
        return found["link"] or found["ref"] or (" " if found["tie"] else "")

    text = text.replace("\x01", "")
    for _ in range(_MAX_NESTING):
        replaced = _INLINE.sub(read, text)
        if replaced == text:
            break
        text = replaced
    for _ in range(2):  # Code may be inside what was kept.
        text = re.sub("\x01(\\d+)\x01", lambda found: kept[int(found[1])], text)
    return text
