"""Where the definitions of a Python source begin, by its syntax."""

import ast
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suffice.search.files.outline import Symbol

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
