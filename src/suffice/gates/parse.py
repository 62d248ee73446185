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
from suffice.gates.base import Gate
from suffice.gates.held import GapAware, Resample

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<string>'[^']*'|\"[^\"]*\")|(?P<sign>[|&().,=]))"
)
_METHODS: dict[str, Callable[[Gate, float], Gate]] = {
    "after": lambda gate, n: gate.after(_whole(n)),
    "patience": lambda gate, p: gate.patience(_whole(p)),
    "epsilon": lambda gate, e: gate.epsilon(e),
    "floor": lambda gate, chars: gate.floor(_whole(chars, "characters")),
    "gap_aware": lambda gate, n: GapAware(gate, _whole(n, "questions")),
    "resample": lambda gate, n: Resample(gate, _whole(n)),
}
_DEEPEST = 50

Value = float | int | str | bool


def parse(text: str, *, files: bool = True) -> Gate:
    """The gate a text describes; an ``InputError`` that shows where it cannot be read.

    Without ``files`` no gate may name one: the text comes from somebody who must not read this machine's files.
    """
    return _Parser(text, files).whole()


class _Parser:
    def __init__(self, text: str, files: bool) -> None:
        self.text = text
        self.files = files
        self.tokens = self._scan(text)
        self.at = 0
        self.depth = 0
        self.methods = 0

    def whole(self) -> Gate:
        gate = self._expression()
        if self.at < len(self.tokens):
            raise self._error("expected '|', '&', '.' or the end")
        return gate

    def _scan(self, text: str) -> list[tuple[str, str, int]]:
        tokens, position = [], 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None or match.lastgroup is None:
                start = position + len(text[position:]) - len(text[position:].lstrip())
                raise InputError(f"Gate {text!r}: unexpected {text[start]!r} at character {start + 1}")
            tokens.append((match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup)))
            position = match.end()
        return tokens

    def _expression(self) -> Gate:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise InputError(f"The gate expression is nested more than {_DEEPEST} deep; simplify it")
        gate = self._term()
        while self._take("|"):
            gate = gate | self._term()
        self.depth -= 1
        return gate

    def _term(self) -> Gate:
        gate = self._factor()
        while self._take("&"):
            gate = gate & self._factor()
        return gate

    def _factor(self) -> Gate:
        gate = self._atom()
        while self._take("."):
            method = self._name("a method after the dot: after, patience, epsilon, floor, gap_aware or resample")
            if method not in _METHODS:
                raise self._error(
                    f"there is no method {method!r}; use after(n), patience(p), epsilon(e), floor(chars), gap_aware(n) or "
                    "resample(n)",
                    back=1,
                )
            self._need("(")
            value = self._value()
            self._need(")")
            self.methods += 1
            if self.methods > _DEEPEST:
                raise InputError(f"The gate expression has more than {_DEEPEST} methods; simplify it")
            if isinstance(value, str | bool):
                raise self._error(f"{method} takes a number", back=2)
            gate = self._made(partial(_METHODS[method], gate, value))
        return gate

    def _atom(self) -> Gate:
        if self._take("("):
            gate = self._expression()
            self._need(")")
            return gate
        name = self._name("the name of a gate")
        kind = plugins.find("gates", name)
        positional: list[Value] = []
        options: dict[str, Value] = {}
        if self._take("("):
            while not self._take(")"):
                if positional or options:
                    self._need(",")
                if self._kind() == "name" and self._sign(1) == "=":
                    option = self._name("an option")
                    if option in options:
                        raise self._error(f"{option!r} is given twice", back=1)
                    self._need("=")
                    options[option] = self._value()
                elif options:
                    raise self._error("a value without a name cannot follow a named one")
                else:
                    positional.append(self._value())
        if not self.files and _names_file(kind, positional, options):
            raise self._error(f"{name} may not name a file here", back=1)
        return self._made(lambda: kind(*positional, **options), name)

    def _made(self, make: Callable[[], Gate], name: str = "") -> Gate:
        try:
            return make()
        except TypeError as error:
            # Python's own words name the offending option, but speak of __init__.
            words = str(error).replace(f"{name}.__init__()", f"{name}(…)").replace("__init__()", f"{name}(…)")
            raise InputError(f"Gate {self.text!r}: {words}") from error
        except ValueError as error:
            raise InputError(f"Gate {self.text!r}: {error}") from error

    def _value(self) -> Value:
        kind, text = self._kind(), self._text()
        if kind not in ("number", "name", "string"):
            raise self._error("expected a number or a word")
        self.at += 1
        if kind == "number":
            number = float(text)
            if isinf(number):
                raise self._error("this number is too large", back=1)
            return int(number) if number.is_integer() and re.fullmatch(r"[-+]?\d+", text) else number
        if kind == "string":
            return text[1:-1]
        return {"true": True, "false": False}.get(text, text)

    def _name(self, what: str) -> str:
        if self._kind() != "name":
            raise self._error(f"expected {what}")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def _take(self, sign: str) -> bool:
        if self._sign(0) == sign:
            self.at += 1
            return True
        return False

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise self._error(f"expected {sign!r}")

    def _sign(self, ahead: int) -> str:
        where = self.at + ahead
        return self.tokens[where][1] if where < len(self.tokens) and self.tokens[where][0] == "sign" else ""

    def _kind(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else "end"

    def _text(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def _error(self, what: str, back: int = 0) -> InputError:
        where = self.at - back
        position = self.tokens[where][2] + 1 if where < len(self.tokens) else len(self.text) + 1
        return InputError(f"Gate {self.text!r}: {what} at character {position}")


def _names_file(kind: Callable[..., Gate], positional: list[Value], options: dict[str, Value]) -> bool:
    """Whether the gate's ``file`` is among what it would be made with; by position too."""
    try:
        return "file" in signature(kind).bind_partial(*positional, **options).arguments
    except TypeError:  # It cannot be made anyway, and then says why.
        return False


def _whole(value: float, what: str = "rounds") -> int:
    if value != int(value):
        raise ValueError(f"{value:g} is not a whole number of {what}")
    return int(value)
