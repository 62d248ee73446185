"""A gate as text: ``exhaustion(p=2) | (saturation & gain).after(2) | budget(rounds=5)``.

    expression = term { "|" term }            factor   = atom { "." method "(" number ")" }
    term       = factor { "&" factor }        atom     = "(" expression ")" | name [ "(" arguments ")" ]
    arguments  = argument { "," argument }    argument = [ name "=" ] ( number | word | 'string' )

Nothing is evaluated: names are looked up among the registered gates, values are numbers, words or strings. A gate prints
as text that parses back to the same gate.
"""

import re
from collections.abc import Callable
from functools import partial
from inspect import signature
from math import isinf

from suffice import plugins
from suffice.errors import InputError
from suffice.gates.base import GapAwareGate, Gate, ResampleGate

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<string>'[^']*'|\"[^\"]*\")|(?P<sign>[|&().,=]))"
)
_METHODS: dict[str, Callable[[Gate, float], Gate]] = {
    "after": lambda gate, n: gate.after(_to_int(n)),
    "patience": lambda gate, p: gate.patience(_to_int(p)),
    "epsilon": lambda gate, e: gate.epsilon(e),
    "floor": lambda gate, chars: gate.floor(_to_int(chars, "characters")),
    "gap_aware": lambda gate, n: GapAwareGate(gate, _to_int(n, "questions")),
    "resample": lambda gate, n: ResampleGate(gate, _to_int(n)),
}
_MAX_DEPTH = 50

GateArgument = float | int | str | bool


def parse_gate(text: str, *, files: bool = True) -> Gate:
    """The gate a text describes; an ``InputError`` that shows where it cannot be read.

    Without ``files`` no gate may name one: the text comes from somebody who must not read this machine's files.
    """
    return _Parser(text, files).parse()


class _Parser:
    def __init__(self, text: str, files: bool) -> None:
        self.text = text
        self.files = files
        self.tokens = self._tokenize(text)
        self.position = 0
        self.depth = 0
        self.method_count = 0

    def parse(self) -> Gate:
        gate = self._parse_expression()
        if self.position < len(self.tokens):
            raise self._make_error("expected '|', '&', '.' or the end")
        return gate

    def _tokenize(self, text: str) -> list[tuple[str, str, int]]:
        tokens, position = [], 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None or match.lastgroup is None:
                start = position + len(text[position:]) - len(text[position:].lstrip())
                raise InputError(f"Gate {text!r}: unexpected {text[start]!r} at character {start + 1}")
            tokens.append((match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup)))
            position = match.end()
        return tokens

    def _parse_expression(self) -> Gate:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise InputError(f"The gate expression is nested more than {_MAX_DEPTH} deep; simplify it")
        gate = self._parse_term()
        while self._accept("|"):
            gate = gate | self._parse_term()
        self.depth -= 1
        return gate

    def _parse_term(self) -> Gate:
        gate = self._parse_factor()
        while self._accept("&"):
            gate = gate & self._parse_factor()
        return gate

    def _parse_factor(self) -> Gate:
        gate = self._parse_atom()
        while self._accept("."):
            method = self._expect_name("a method after the dot: after, patience, epsilon, floor, gap_aware or resample")
            if method not in _METHODS:
                raise self._make_error(
                    f"there is no method {method!r}; use after(n), patience(p), epsilon(e), floor(chars), gap_aware(n) or "
                    "resample(n)",
                    back=1,
                )
            self._expect("(")
            value = self._parse_value()
            self._expect(")")
            self.method_count += 1
            if self.method_count > _MAX_DEPTH:
                raise InputError(f"The gate expression has more than {_MAX_DEPTH} methods; simplify it")
            if isinstance(value, str | bool):
                raise self._make_error(f"{method} takes a number", back=2)
            gate = self._build_gate(partial(_METHODS[method], gate, value))
        return gate

    def _parse_atom(self) -> Gate:
        if self._accept("("):
            gate = self._parse_expression()
            self._expect(")")
            return gate
        name = self._expect_name("the name of a gate")
        kind = plugins.load_plugin("gates", name)
        positional: list[GateArgument] = []
        options: dict[str, GateArgument] = {}
        if self._accept("("):
            while not self._accept(")"):
                if positional or options:
                    self._expect(",")
                if self._peek_kind() == "name" and self._peek_sign(1) == "=":
                    option = self._expect_name("an option")
                    if option in options:
                        raise self._make_error(f"{option!r} is given twice", back=1)
                    self._expect("=")
                    options[option] = self._parse_value()
                elif options:
                    raise self._make_error("a value without a name cannot follow a named one")
                else:
                    positional.append(self._parse_value())
        if not self.files and _uses_file(kind, positional, options):
            raise self._make_error(f"{name} may not name a file here", back=1)
        return self._build_gate(lambda: kind(*positional, **options), name)

    def _build_gate(self, make: Callable[[], Gate], name: str = "") -> Gate:
        try:
            return make()
        except TypeError as error:
            # Python's own words name the offending option, but speak of __init__.
            words = str(error).replace(f"{name}.__init__()", f"{name}(…)").replace("__init__()", f"{name}(…)")
            raise InputError(f"Gate {self.text!r}: {words}") from error
        except ValueError as error:
            raise InputError(f"Gate {self.text!r}: {error}") from error

    def _parse_value(self) -> GateArgument:
        kind, text = self._peek_kind(), self._peek_text()
        if kind not in ("number", "name", "string"):
            raise self._make_error("expected a number or a word")
        self.position += 1
        if kind == "number":
            number = float(text)
            if isinf(number):
                raise self._make_error("this number is too large", back=1)
            return int(number) if number.is_integer() and re.fullmatch(r"[-+]?\d+", text) else number
        if kind == "string":
            return text[1:-1]
        return {"true": True, "false": False}.get(text, text)

    def _expect_name(self, what: str) -> str:
        if self._peek_kind() != "name":
            raise self._make_error(f"expected {what}")
        self.position += 1
        return self.tokens[self.position - 1][1]

    def _accept(self, sign: str) -> bool:
        if self._peek_sign(0) == sign:
            self.position += 1
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._accept(sign):
            raise self._make_error(f"expected {sign!r}")

    def _peek_sign(self, ahead: int) -> str:
        where = self.position + ahead
        return self.tokens[where][1] if where < len(self.tokens) and self.tokens[where][0] == "sign" else ""

    def _peek_kind(self) -> str:
        return self.tokens[self.position][0] if self.position < len(self.tokens) else "end"

    def _peek_text(self) -> str:
        return self.tokens[self.position][1] if self.position < len(self.tokens) else ""

    def _make_error(self, what: str, back: int = 0) -> InputError:
        where = self.position - back
        position = self.tokens[where][2] + 1 if where < len(self.tokens) else len(self.text) + 1
        return InputError(f"Gate {self.text!r}: {what} at character {position}")


def _uses_file(kind: Callable[..., Gate], positional: list[GateArgument], options: dict[str, GateArgument]) -> bool:
    """Whether the gate's ``file`` is among what it would be made with; by position too."""
    try:
        return "file" in signature(kind).bind_partial(*positional, **options).arguments
    except TypeError:  # It cannot be made anyway, and then says why.
        return False


def _to_int(value: float, what: str = "rounds") -> int:
    if value != int(value):
        raise ValueError(f"{value:g} is not a whole number of {what}")
    return int(value)
