"""Source files as chunks titled by what they define, and configuration files titled by their keys.

Python is parsed with ``ast``; in other languages regular expressions find the definitions. An outline of the definitions then
decides where chunks begin and what they are called. The outline of YAML, TOML, INI and JSON has the keys with others below.
"""

import ast
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from os.path import commonprefix
from pathlib import Path, PurePath

from suffice.search.files.chunk import DocumentChunk, get_suffix, parse_suffixes, to_document_chunk
from suffice.text.chunks import MAX_CHARS, Chunk, Structure, chunk_lines, split_lines
from suffice.text.plain import to_one_line

PYTHON_SUFFIXES = parse_suffixes("py pyi pyw")
SUFFIXES = PYTHON_SUFFIXES | parse_suffixes(
    """js mjs cjs jsx ts mts cts tsx java c h cc cpp cxx hh hpp hxx m mm go rs rb php cs swift kt kts scala groovy sh
    bash zsh fish ps1 sql lua r jl pl pm hs ml mli ex exs erl clj cljs el lisp dart zig nim v sv vhd f90 f95 pas d vue
    svelte proto graphql tf cu css scss less"""
)
CONFIG_SUFFIXES = parse_suffixes("yaml yml toml ini cfg conf properties json")
_MAX_NAMES = 4  # Names in the title of a chunk.
_MAX_PACKAGE_DEPTH = 6
_LONG_FUNCTION_LINES = 20
_MAX_SIGNATURE_CHARS = 160
_MAX_INDENT = 8  # Columns; deeper definitions are ignored.
_MODIFIERS = (
    r"(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|sealed|open|override"
    r"|virtual|inline|extern|unsafe|const|data|case|partial|local|readonly|suspend|companion|implicit|lazy|mutating"
    r"|fileprivate|native|synchronized|typedef|pub(?:\([^)]*\))?)\s+)*"
)
_KEYWORD = re.compile(
    _MODIFIERS
    + r"(?:function\*?|func|fn|fun|def|defp|defmodule|class|struct|enum(?:\s+class)?|interface|trait|impl(?:<[^>]*>)?"
    r"|module|namespace|type|object|protocol|extension|mod|union|record|sub|subroutine|procedure|contract|message"
    r"|service|macro_rules!)\s+(?:\([^)]*\)\s*)?(?P<name>[\w$.:~]+)"
)
_FUNCTION_ASSIGNMENT = re.compile(
    r"(?:export\s+)?(?:(?:const|let|var|val)\s+)?(?P<name>[\w$.]+)\s*(?:=|<-|:=)\s*(?:async\s+)?"
    r"(?:function\b|\([^()]*\)\s*=>|[\w$]+\s*=>)"
)
_SIGNATURE = re.compile(r"(?:[\w$:<>,~*&\[\]?@.]+\s+)+[*&]*(?P<name>[\w$:~]+)\s*\([^;=]*(?:\{\s*)?$")
_SHELL = re.compile(r"(?P<name>[\w:-]+)\s*\(\)\s*\{?\s*$")
_SQL = re.compile(
    r"create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)*"
    r"(?:table|view|function|procedure|trigger|index|type|schema)\s+(?:if\s+not\s+exists\s+)?(?P<name>[\w.\"`\[\]]+)",
    re.IGNORECASE,
)
_PATTERNS = (_KEYWORD, _FUNCTION_ASSIGNMENT, _SHELL, _SQL, _SIGNATURE)
_STATEMENT = re.compile(
    r"(?:if|for|foreach|while|switch|return|else|elif|catch|do|throw|new|await|yield|goto|case|using|import|include"
    r"|in|and|or|not)\b"
)
_COMMENT_OR_DECORATOR = re.compile(r"\s*(?://|/\*|\*|#(?!include|define|if|endif|else|pragma)|--|@|\[\w)")
_MAX_LINE_CHARS = 300  # Longer lines are generated; the patterns would be slow on them.
_TABLE_HEADER = re.compile(r"\[{1,2}\s*(?P<name>[^\[\]]+?)\s*\]{1,2}\s*(?:[#;].*)?$")
_KEY = re.compile(
    r"(?P<indent>[ \t]*)(?:- +)?[\"']?(?P<name>[\w.$/@-][^\"':{}\[\]#]*)[\"']?\s*:\s*(?:[|>][+-]?|[\[{]|&\w+)?\s*(?:#.*)?$"
)
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def parse(text: str, name: str) -> list[DocumentChunk]:
    """Return the chunks of a source file, titled ``package.module > Class > method`` or ``file.js > Class``.

    The later parts of a long function have its signature in their title.
    """
    lines = split_lines(text)
    syntax = _parse_python(lines) if get_suffix(name) in PYTHON_SUFFIXES else None
    find_symbols = _find_keys if get_suffix(name) in CONFIG_SUFFIXES else _find_definitions
    outline = _Outline(syntax.symbols if syntax is not None else find_symbols(lines))
    file = _module_name(name) if syntax is not None else PurePath(name).name
    constants = syntax.constants if syntax is not None else {}
    structure = Structure(outline.find_section_starts(lines), unbroken=syntax.continued if syntax is not None else ())
    found = []
    for chunk in chunk_lines(lines, structure):
        assigned = [constants[n] for n in range(chunk.first, chunk.last + 1) if n in constants]
        found.append(to_document_chunk(chunk, _make_title(file, outline.name_chunk(chunk), assigned), "code"))
    return found


def _make_title(file: str, names: Sequence[str], assigned: Sequence[str]) -> str:
    """Return what a chunk defines and assigns: the path that its names share, then the rest of each name."""
    names = [name for name in names if not any(other.startswith(f"{name}.") for other in names)]
    names += [name for name in dict.fromkeys(assigned) if not {name, name.rpartition(".")[0]}.intersection(names)]
    names = names[:_MAX_NAMES]
    parents = [name.partition("(")[0].split(".")[:-1] for name in names]
    shared = commonprefix(parents)  # noqa: RUF071  It compares lists item by item.
    skipped = sum(len(part) + 1 for part in shared)
    return " > ".join(filter(None, [file, *shared, ", ".join(name[skipped:] for name in names)]))


def _module_name(name: str) -> str:
    """Return the dotted name of a Python module; a folder with an ``__init__.py`` is a package."""
    path = Path(name)
    path = path.parent if path.stem == "__init__" and path.parent.name else path.with_suffix("")
    parts, folder = [path.name], path.parent
    while folder.name and len(parts) < _MAX_PACKAGE_DEPTH and (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)


@dataclass(frozen=True, slots=True)
class _Symbol:
    """A definition that begins at line ``first``, including comments and decorators above it.

    ``name`` is qualified (``Class.method``). A symbol with a greater ``depth`` lies inside the definition before it.
    """

    first: int
    depth: int
    name: str
    signature: str = ""
    """The name with the parameters, for a definition that may be longer than a chunk."""


class _Outline:
    """The definitions of a file in order, at most one for each line."""

    def __init__(self, symbols: Sequence[_Symbol]) -> None:
        unique = {symbol.first: symbol for symbol in reversed(symbols)}
        self.symbols = [unique[first] for first in sorted(unique)]
        self.firsts = [symbol.first for symbol in self.symbols]

    def find_section_starts(self, lines: Sequence[str]) -> set[int]:
        """Return the lines that begin a section: outer definitions, and inner ones if the outer is too long for one chunk."""
        before = [0, *accumulate(len(line) + 1 for line in lines)]
        section_starts: set[int] = set()
        pending = [(1, len(lines) + 1, self.symbols)]
        while pending:
            start, end, inner = pending.pop()
            if not inner or before[end - 1] - before[start - 1] - 1 <= MAX_CHARS:
                continue
            depth = min(symbol.depth for symbol in inner)
            starts = [symbol.first for symbol in inner if symbol.depth == depth]
            section_starts.update(starts)
            deeper = [symbol for symbol in inner if symbol.depth > depth]
            firsts = [symbol.first for symbol in deeper]
            for low, high in pairwise([start, *starts, end]):
                pending.append((low, high, deeper[bisect_left(firsts, low) : bisect_left(firsts, high)]))
        return section_starts

    def name_chunk(self, chunk: Chunk) -> list[str]:
        """Return the outermost definitions of a chunk, after the one it begins in the middle of."""
        low, high = bisect_left(self.firsts, chunk.first), bisect_right(self.firsts, chunk.last)
        above = self.symbols[low - 1] if low and self.firsts[low : low + 1] != [chunk.first] else None
        found = [above.signature or above.name] if above is not None else []
        depth: int | None = None
        for symbol in self.symbols[low:high]:
            if depth is None or symbol.depth <= depth:
                found.append(symbol.name)
                depth = symbol.depth
        return list(dict.fromkeys(name for name in found if name))[:_MAX_NAMES]


def _find_definitions(lines: Sequence[str]) -> list[_Symbol]:
    """Find the definitions of a file in any language but Python by regular expressions."""
    found: list[_Symbol] = []
    for number, line in enumerate(lines, start=1):
        code = line.lstrip()
        indent = len(line[: len(line) - len(code)].expandtabs(4))
        if not code or indent > _MAX_INDENT or len(code) > _MAX_LINE_CHARS or _STATEMENT.match(code):
            continue
        match = next((match for pattern in _PATTERNS if (match := pattern.match(code))), None)
        if match is not None:
            found.append(_Symbol(_find_comment_start(lines, number), indent, match.group("name").strip(':."`[]')))
    return found


def _find_keys(lines: Sequence[str]) -> list[_Symbol]:
    """Find the tables and the keys with others below them in a configuration file."""
    found: list[_Symbol] = []
    above: list[tuple[int, str]] = []  # The keys that a line stands below, with their indents.
    for number, line in enumerate(lines, start=1):
        if len(line) > _MAX_LINE_CHARS:
            continue
        table = _TABLE_HEADER.match(line)
        key = None if table else _KEY.match(line)
        if table is not None:
            found.append(_Symbol(_find_comment_start(lines, number), 0, table["name"]))
        elif key is not None:
            indent = len(key["indent"].expandtabs(8))
            above = [(column, name) for column, name in above if column < indent]
            name = ".".join([*(name for _, name in above), key["name"].strip()])
            above.append((indent, key["name"].strip()))
            found.append(_Symbol(_find_comment_start(lines, number), indent, name))
    return found


def _find_comment_start(lines: Sequence[str], number: int) -> int:
    """Return the first of the comment, attribute and annotation lines directly above."""
    while number > 1 and _COMMENT_OR_DECORATOR.match(lines[number - 2]):
        number -= 1
    return number


def _parse_python(lines: Sequence[str]) -> "_PythonSyntax | None":
    """Parse Python; return ``None`` if the parser does not accept it (Python 2, a template, an unfinished file)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Such as invalid escapes in the file.
            module = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    syntax = _PythonSyntax(lines)
    syntax.visit(module.body, "", 0, in_function=False)
    return syntax


class _PythonSyntax:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.symbols: list[_Symbol] = []
        self.continued: set[int] = set()  # Lines that continue the one above: decorators, signatures and docstrings.
        self.constants: dict[int, str] = {}  # Names that a module or class assigns, by line.

    def visit(self, body: Iterable[ast.stmt], parent: str, depth: int, in_function: bool) -> None:
        after_definition = False
        for node in body:
            decorators = node.decorator_list if isinstance(node, _Definition) else []
            first = min([node.lineno, *[decorator.lineno for decorator in decorators]])
            first = _find_comment_start(self.lines, first)
            if isinstance(node, _Definition):
                name = f"{parent}.{node.name}" if parent else node.name
                self.symbols.append(_Symbol(first, depth, name, _format_signature(node, name)))
                self.continued.update(range(first + 1, _find_signature_end(node) + 1))
                self.visit(node.body, name, depth + 1, in_function or not isinstance(node, ast.ClassDef))
            else:
                if after_definition:
                    self.symbols.append(_Symbol(first, depth, parent))
                if not in_function:
                    self._add_constants(node, parent)
                # The blocks of an if, try or with may contain definitions.
                for inner in (node, *getattr(node, "handlers", ())):
                    for name in ("body", "orelse", "finalbody"):
                        self.visit(getattr(inner, name, ()), parent, depth + 1, in_function)
            after_definition = isinstance(node, _Definition)

    def _add_constants(self, node: ast.stmt, parent: str) -> None:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and not target.id.startswith("__"):
                self.constants[node.lineno] = f"{parent}.{target.id}" if parent else target.id


def _format_signature(node: _Definition, name: str) -> str:
    """Return the name with the parameters of a long function; a short one fits into a chunk with its signature."""
    if isinstance(node, ast.ClassDef) or (node.end_lineno or node.lineno) - node.lineno < _LONG_FUNCTION_LINES:
        return ""
    return to_one_line(f"{name}({ast.unparse(node.args)})", _MAX_SIGNATURE_CHARS)


def _find_signature_end(node: _Definition) -> int:
    """Return the last line of a signature and of the docstring below it."""
    opening = node.body[0]
    has_docstring = ast.get_docstring(node, clean=False) is not None
    return opening.end_lineno or opening.lineno if has_docstring else max(node.lineno, opening.lineno - 1)
