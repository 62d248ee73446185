"""The outline of a source file: where definitions begin, which of them begin a section, and what a chunk is called.

It knows no language; ``python`` and ``definitions`` find the symbols.
"""

import ast
import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import PurePath

from suffice.search.files.formats import PYTHON, get_suffix
from suffice.search.files.piece import DocumentChunk, to_document_chunk
from suffice.text.chunks import MAX_CHARS, Chunk, chunk_lines, split_lines

_MAX_NAMES = 4


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition that begins at line ``first``, comments and decorators above it included.

    ``name`` is qualified (``Class.method``); a deeper ``depth`` lies inside the definition before it.
    """

    first: int
    depth: int
    name: str


class CodeOutline:
    def __init__(self, symbols: Sequence[Symbol]) -> None:
        unique = {symbol.first: symbol for symbol in reversed(symbols)}
        self.symbols = [unique[first] for first in sorted(unique)]
        self.firsts = [symbol.first for symbol in self.symbols]

    def find_section_starts(self, lines: Sequence[str]) -> set[int]:
        """Outer definitions begin sections; inner ones only where the outer is too long for one chunk."""
        before = [0, *accumulate(len(line) + 1 for line in lines)]
        heads: set[int] = set()
        todo = [(1, len(lines) + 1, self.symbols)]
        while todo:
            start, end, inner = todo.pop()
            if not inner or before[end - 1] - before[start - 1] - 1 <= MAX_CHARS:
                continue
            depth = min(symbol.depth for symbol in inner)
            starts = [symbol.first for symbol in inner if symbol.depth == depth]
            heads.update(starts)
            deeper = [symbol for symbol in inner if symbol.depth > depth]
            firsts = [symbol.first for symbol in deeper]
            for low, high in pairwise([start, *starts, end]):
                todo.append((low, high, deeper[bisect_left(firsts, low) : bisect_left(firsts, high)]))
        return heads

    def name_chunk(self, chunk: Chunk) -> list[str]:
        """What a chunk defines, outermost only; what it lies in, if it begins in the middle of a definition."""
        low, high = bisect_left(self.firsts, chunk.first), bisect_right(self.firsts, chunk.last)
        found = [self.symbols[low - 1].name] if low and self.firsts[low : low + 1] != [chunk.first] else []
        depth: int | None = None
        for symbol in self.symbols[low:high]:
            if depth is None or symbol.depth <= depth:
                found.append(symbol.name)
                depth = symbol.depth
        return list(dict.fromkeys(name for name in found if name))[:_MAX_NAMES]


_MAX_INDENT = 8
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
_MAX_LINE_CHARS = 300  # nobody's signature; generated lines would make the patterns slow


def find_definitions(lines: Sequence[str]) -> list[Symbol]:
    found: list[Symbol] = []
    for number, line in enumerate(lines, start=1):
        code = line.lstrip()
        indent = len(line[: len(line) - len(code)].expandtabs(4))
        if not code or indent > _MAX_INDENT or len(code) > _MAX_LINE_CHARS or _STATEMENT.match(code):
            continue
        match = next((match for pattern in _PATTERNS if (match := pattern.match(code))), None)
        if match is not None:
            found.append(Symbol(_find_comment_start(lines, number), indent, match.group("name").strip(':."`[]')))
    return found


def _find_comment_start(lines: Sequence[str], number: int) -> int:
    """The first of the comment, attribute and annotation lines directly above."""
    while number > 1 and _COMMENT_OR_DECORATOR.match(lines[number - 2]):
        number -= 1
    return number


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class PythonSyntax:
    """The symbols, and the lines that belong to the line above: decorators, signatures and their docstrings."""

    symbols: tuple[Symbol, ...]
    continuation_lines: frozenset[int]


def parse_python(lines: Sequence[str]) -> PythonSyntax | None:
    """``None`` if this is not Python that today's parser accepts (Python 2, a template, an unfinished file)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the file's invalid escapes are not the reader's concern
            module = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    symbols: list[Symbol] = []
    glued: set[int] = set()
    _collect_symbols(module.body, "", 0, lines, symbols, glued)
    return PythonSyntax(tuple(symbols), frozenset(glued))


def _collect_symbols(
    body: Iterable[ast.stmt], parent: str, depth: int, lines: Sequence[str], symbols: list[Symbol], glued: set[int]
) -> None:
    after_definition = False
    for node in body:
        first = _find_first_line(node, lines)
        if isinstance(node, _Definition):
            name = f"{parent}.{node.name}" if parent else node.name
            symbols.append(Symbol(first, depth, name))
            glued.update(range(first + 1, _find_signature_end(node) + 1))
            _collect_symbols(node.body, name, depth + 1, lines, symbols, glued)
        else:
            if after_definition:
                symbols.append(Symbol(first, depth, parent))
            for inner in _list_bodies(node):
                _collect_symbols(inner, parent, depth + 1, lines, symbols, glued)
        after_definition = isinstance(node, _Definition)


def _find_first_line(node: ast.stmt, lines: Sequence[str]) -> int:
    decorators = node.decorator_list if isinstance(node, _Definition) else []
    first = min([node.lineno, *[decorator.lineno for decorator in decorators]])
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first


def _find_signature_end(node: _Definition) -> int:
    opening = node.body[0]
    if (
        isinstance(opening, ast.Expr)
        and isinstance(opening.value, ast.Constant)
        and isinstance(opening.value.value, str)
    ):
        return opening.end_lineno or opening.lineno
    return max(node.lineno, opening.lineno - 1)


def _list_bodies(node: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of an ``if``, ``try`` or ``with`` that may hold definitions."""
    handlers = [handler.body for handler in getattr(node, "handlers", [])]
    return [*[getattr(node, name, []) for name in ("body", "orelse", "finalbody")], *handlers]


def parse(text: str, name: str) -> list[DocumentChunk]:
    """Titles read ``module.Class.method`` for Python and ``file.js: Class, method`` for the rest."""
    lines = split_lines(text)
    syntax = parse_python(lines) if get_suffix(name) in PYTHON else None
    outline = CodeOutline(syntax.symbols if syntax is not None else find_definitions(lines))
    file = _module_name(name) if syntax is not None else PurePath(name).name
    found = []
    for chunk in chunk_lines(
        lines,
        section_starts=outline.find_section_starts(lines),
        no_break_before=syntax.continuation_lines if syntax is not None else (),
    ):
        names = outline.name_chunk(chunk)
        if syntax is not None:
            title = ", ".join(f"{file}.{symbol}" for symbol in names) or file
        else:
            title = f"{file}: {', '.join(names)}" if names else file
        found.append(to_document_chunk(chunk, title, "code"))
    return found


def _module_name(name: str) -> str:
    path = PurePath(name)
    return path.parent.name if path.stem == "__init__" and path.parent.name else path.stem
