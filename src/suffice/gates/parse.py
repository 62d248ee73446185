"""Parse gates written as text: ``exhaustion(p=2) | (saturation & gain).after(2) | budget(rounds=5)``.

The text is a small part of Python's expression syntax: gate names with constant arguments, ``|``, ``&``, parentheses and
the methods of ``_METHODS``. Values are numbers, words (``true``, ``neutral``) or quoted strings without escapes. Python's
own parser builds the syntax tree; nothing is evaluated. ``str(gate)`` parses back to the same gate.
"""

import ast
import re
from collections.abc import Callable
from functools import reduce
from math import isinf
from operator import and_, or_

from suffice import plugins
from suffice.errors import InputError
from suffice.gates.base import Gate
from suffice.gates.leaf import get_signature

MAX_CHARS = 4_000
MAX_DEPTH = 50

_METHODS = ("after", "patience", "epsilon", "floor", "gap_aware", "resample")
_METHOD_LIST = f"{', '.join(_METHODS[:-1])} or {_METHODS[-1]}"
_OPERATORS = {ast.BitOr: or_, ast.BitAnd: and_}
_WORDS = {"true": True, "false": False}
_TOKEN = re.compile(
    r"""(?P<space>\s+) | (?P<number>(?<![\w.])(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.]) | (?P<string>'[^']*'|"[^"]*")
      | [A-Za-z_][A-Za-z0-9_]* | [|&().,=] | [-+](?=\s*[\d.])""",
    re.VERBOSE,
)

GateArgument = float | int | str | bool


def parse_gate(text: str, *, files: bool = True) -> Gate:
    """Return the gate that a text describes. Raises ``InputError`` with the position of the first mistake.

    With ``files=False`` no gate may name a file. Use it for text from clients that must not read this machine's files.
    """
    if len(text) > MAX_CHARS:
        raise InputError(f"The gate expression is longer than {MAX_CHARS:,} characters; simplify it")
    return _Parser(text.strip(), files).parse()


def resolve_gate(value: Gate | str, *, files: bool = True) -> Gate:
    """Return a gate that is given as an object or as text; raise ``InputError`` for anything else."""
    if isinstance(value, str):
        return parse_gate(value, files=files)
    if not isinstance(value, Gate):
        raise InputError(f"A stop gate is a Gate object or a text such as 'budget(rounds=5)', not {value!r}")
    return value


def split_list(text: str) -> list[str]:
    """Split a text at commas outside brackets: ``none, exhaustion(j=0.6, u=0.3)`` has two parts."""
    return [part.strip() for part in re.split(r",(?![^()]{0,200}\))", text) if part.strip()]


class _Parser:
    def __init__(self, text: str, files: bool) -> None:
        self.text = text
        self.files = files

    def parse(self) -> Gate:
        masked = self._mask_constants()
        trailing_comma = re.search(r",\s*\)", masked)
        if trailing_comma:
            raise self._make_error("expected a value after the comma", trailing_comma.start() + 1)
        try:
            return self._build_gate(ast.parse(masked, mode="eval").body, 0)
        except SyntaxError as error:
            position = error.offset - 1 if error.offset else len(masked)  # Python reports no offset for the end.
            raise self._make_error(_describe_mistake(error.msg, masked[:position]), position) from error
        except (RecursionError, MemoryError) as error:
            raise InputError("The gate expression is nested too deeply; simplify it") from error

    def _mask_constants(self) -> str:
        """Return the text with plain spaces and dummy constants, every character at its old position.

        The values are read from the original text, so Python's escapes, comments, line ends and number formats do not apply.
        """
        masked = ""
        while len(masked) < len(self.text):
            match = _TOKEN.match(self.text, len(masked))
            if match is None:
                raise self._make_error(f"unexpected {self.text[len(masked)]!r}", len(masked))
            length = len(match[0])
            dummies = {"space": " " * length, "number": "1" * length, "string": f"'{'x' * (length - 2)}'"}
            masked += dummies.get(match.lastgroup or "", match[0])
        return masked

    def _build_gate(self, node: ast.expr, depth: int) -> Gate:
        if depth > MAX_DEPTH:
            raise InputError(f"The gate expression is nested more than {MAX_DEPTH} deep; simplify it")
        match node:
            case ast.BinOp(op=ast.BitOr() | ast.BitAnd() as operator):
                operands = [node.right]
                left = node.left
                while isinstance(left, ast.BinOp) and type(left.op) is type(operator):  # a | b | c is not nested.
                    operands.append(left.right)
                    left = left.left
                gates = [self._build_gate(operand, depth + 1) for operand in (left, *reversed(operands))]
                return reduce(_OPERATORS[type(operator)], gates)
            case ast.Name(name):
                return self._build_leaf(name, node, [], [])
            case ast.Call(ast.Name(name), arguments, keywords):
                return self._build_leaf(name, node, arguments, keywords)
            case ast.Call(ast.Attribute(inner, method), arguments, keywords):
                return self._build_wrapper(self._build_gate(inner, depth + 1), method, node, [*arguments, *keywords])
            case ast.Attribute(attr=method):
                raise self._make_error(f"expected '(' after {method!r}", node.end_col_offset or 0)
        raise self._make_error("expected gates such as budget(rounds=5), combined by '|' and '&'", node.col_offset)

    def _build_leaf(self, name: str, node: ast.expr, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Gate:
        kind = plugins.load_plugin("gates", name)
        positional = [self._read_value(argument) for argument in arguments]
        named: dict[str, GateArgument] = {}
        for keyword in keywords:
            if keyword.arg is None or keyword.arg in named:
                raise self._make_error(f"{keyword.arg!r} is given twice", keyword.col_offset)
            named[keyword.arg] = self._read_value(keyword.value)
        try:
            bound = get_signature(kind).bind(*positional, **named).arguments
        except TypeError as error:
            takes = ", ".join(get_signature(kind).parameters) or "no values"
            raise InputError(f"Gate {self.text!r}: {name}(…): {error}; it takes {takes}") from error
        if not self.files and ("file" in bound or "file" in named):
            raise self._make_error(f"{name} may not name a file here", node.col_offset)
        return self._call(kind, *positional, **named)

    def _build_wrapper(self, inner: Gate, method: str, node: ast.Call, arguments: list[ast.expr | ast.keyword]) -> Gate:
        position = (node.func.end_col_offset or 0) - len(method)
        if method not in _METHODS:
            raise self._make_error(f"there is no method {method!r}; use {_METHOD_LIST}", position)
        if not arguments and method in ("gap_aware", "resample"):  # They have a default.
            return self._call(getattr(inner, method))
        value = self._read_value(arguments[0]) if len(arguments) == 1 else ""
        if isinstance(value, str | bool):
            raise self._make_error(f"{method} takes one number", position)
        return self._call(getattr(inner, method), value)

    def _read_value(self, node: ast.expr | ast.keyword) -> GateArgument:
        """Return the value of an argument, as the original text gives it."""
        start, end = node.col_offset, node.end_col_offset or 0
        match node:
            case ast.Name(word):
                return _WORDS.get(word, word)
            case ast.Constant(bool(value)):
                return value
            case ast.Constant(str(dummy)) if len(dummy) == end - start - 2:  # One string, without a prefix.
                return self.text[start + 1 : end - 1]
            case ast.Constant(int()) | ast.UnaryOp(ast.UAdd() | ast.USub(), ast.Constant(int())):
                digits = "".join(self.text[start:end].split())
                if isinf(float(digits)):
                    raise self._make_error("this number is too large", start)
                return int(digits) if digits.lstrip("+-").isdecimal() else float(digits)
        raise self._make_error("expected a number, a word or a string", start)

    def _call(self, make: Callable[..., Gate], *arguments: GateArgument, **named: GateArgument) -> Gate:
        try:
            return make(*arguments, **named)
        except TypeError as error:
            if "not supported between" in str(error):  # A word where a number belongs.
                raise InputError(f"Gate {self.text!r}: a value has the wrong type; give a number") from error
            raise InputError(f"Gate {self.text!r}: a value has the wrong type ({error})") from error
        except ValueError as error:
            raise InputError(f"Gate {self.text!r}: {error}") from error

    def _make_error(self, what: str, position: int) -> InputError:
        return InputError(f"Gate {self.text!r}: {what} at character {position + 1}")


def _describe_mistake(message: str, before: str) -> str:
    """Say what is wrong after this beginning of an expression, given Python's message."""
    if any(words in message for words in ("never closed", "unmatched", "positional argument", "nested parentheses")):
        return message
    if "forgot a comma" in message:
        return "expected ',' between the values"
    if re.search(r"(\w\s*\(|[,=])\s*$", before):
        return "expected a number, a word or a string"
    if re.search(r"(^|[|&(])\s*$", before):
        return "expected the name of a gate"
    return (
        f"expected a method: {_METHOD_LIST}" if before.rstrip().endswith(".") else "expected '|', '&', '.' or the end"
    )
