"""Let every pattern of the package meet strings built from itself, and print those whose time grows faster than the string.

    python tests/pattern_scan.py

A string repeats what a part of the pattern matches (its literals, its classes, the bodies of its repeats, what stands before
them) and ends in something that the pattern does not expect. One long string is compared with several shorter ones of the same
length in all, for which a linear pattern takes as long. Time is processor time, and a match that takes too much is ended.
"""

import ast
import importlib
import json
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import suffice

LENGTHS = (500, 2_000, 8_000)
MAX_SECONDS = 0.3  # A quadratic pattern takes 0.1 s for the longest string, a linear one less than 0.005 s.
FLOOR_SECONDS = 0.015  # What is faster with the longest string cannot be quadratic.
MAX_GROWTH = 2.0  # For one string instead of four of a quarter of its length; 1 is linear, 4 is quadratic.
MAX_UNITS = 60
ENDS = ("\0", "\n!")
SAMPLES = "a1 A_-.,\n\t*'\"(<[é"
ANCHORED = {"match", "fullmatch"}
METHODS = {*ANCHORED, "search", "finditer", "findall", "sub", "subn", "split"}


# -- Finding the patterns ----------------------------------------------------------------------------------------------


def list_patterns() -> "dict[str, re.Pattern[str]]":
    """Return all patterns of the package by place: those of modules and classes, and texts given to functions of ``re``."""
    found: dict[str, re.Pattern[str]] = {}
    seen: set[tuple[str, int]] = set()
    for module in _import_modules():
        for name, value in vars(module).items():
            for place, pattern in _find_in_value(f"{module.__name__}.{name}", value, module.__name__):
                _add(found, seen, place, pattern)
        for line, method, text, flags in _find_texts(module):
            _add(found, seen, f"{module.__name__}:{line}.{method}", re.compile(text, flags))
    return found


def _add(found: "dict[str, re.Pattern[str]]", seen: set[tuple[str, int]], place: str, pattern: Any) -> None:
    if isinstance(pattern.pattern, str) and (pattern.pattern, pattern.flags) not in seen:
        seen.add((pattern.pattern, pattern.flags))
        found[place] = pattern


def _import_modules() -> Iterator[Any]:
    yield suffice
    for info in pkgutil.walk_packages(suffice.__path__, "suffice."):
        if info.name.endswith(".__main__"):
            continue
        try:
            yield importlib.import_module(info.name)
        except ImportError as error:
            if (error.name or "").startswith("suffice"):
                raise  # Only packages of extras may be missing.


def _find_in_value(place: str, value: Any, module: str, depth: int = 3) -> "Iterator[tuple[str, re.Pattern[str]]]":
    if isinstance(value, re.Pattern):
        yield place, value
    elif depth and isinstance(value, dict):
        for key, each in value.items():
            yield from _find_in_value(f"{place}[{key!r:.20}]", each, module, depth - 1)
            yield from _find_in_value(f"{place}[{key!r:.20}]", key, module, 0)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for i, each in enumerate(value):
            yield from _find_in_value(f"{place}[{i}]", each, module, depth - 1)
    elif depth and (isinstance(value, type) and value.__module__ == module):
        for name, each in vars(value).items():
            yield from _find_in_value(f"{place}.{name}", each, module, depth - 1)
    elif depth and type(value).__module__ == module:  # A value of a class of ours that holds patterns.
        names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
        for name in names:
            yield from _find_in_value(f"{place}.{name}", getattr(value, name, None), module, depth - 1)


def _find_texts(module: Any) -> Iterator[tuple[int, str, str, int]]:
    """Yield the texts that functions of ``re`` are given: written there, or a constant of the module."""
    for node in ast.walk(ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            function, first = node.func, node.args[0]
            if isinstance(function.value, ast.Name) and function.value.id == "re":
                flags = sum(
                    getattr(re, each.attr)
                    for each in ast.walk(node)
                    if isinstance(each, ast.Attribute) and each.attr.isupper() and hasattr(re, each.attr)
                )
                text = vars(module).get(first.id) if isinstance(first, ast.Name) else getattr(first, "value", None)
                if isinstance(text, str) and function.attr in {*METHODS, "compile"}:
                    yield node.lineno, function.attr, text, flags


def find_uses() -> dict[str, set[str]]:
    """Return the methods that the package calls on patterns, by the name of the pattern.

    A name that begins with an underscore has its module in front: other modules have patterns of the same name.
    """
    uses: dict[str, set[str]] = {method: {method} for method in METHODS}  # Of texts given to functions of ``re``.
    root = Path(suffice.__file__).parent
    for path in root.rglob("*.py"):
        module = ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                owners = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
                for owner in owners:
                    name = getattr(owner, "id", getattr(owner, "attr", ""))
                    uses.setdefault(f"{module}.{name}" if name.startswith("_") else name, set()).add(node.attr)
    return uses


def get_methods(place: str, uses: dict[str, set[str]]) -> set[str]:
    """Return the methods that are called on the pattern at the place; none where that is not known."""
    place = re.sub(r"\[.*", "", place)
    return uses.get(place) or uses.get(place.rpartition(".")[2], set())


# -- Building the strings ----------------------------------------------------------------------------------------------


def build_units(pattern: "re.Pattern[str]") -> list[tuple[str, str]]:
    """Return what is repeated, each with what stands before it."""
    tree = _parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    units: dict[tuple[str, str], None] = {}
    for prefix, body in _walk_repeats(list(tree), ""):
        for sample in body:
            units[prefix, sample] = units["", sample] = None
        if prefix and body:
            units["", prefix + body[0] + " "] = (
                None  # Opened again and again: a space often may not stand before the end.
            )
        if prefix:
            units["", prefix] = units["", prefix[-1]] = None
    for sample in _sample(list(tree)):
        units["", sample] = None
    for character in _list_characters(list(tree)):
        units["", character] = None
    return [unit for unit in units if unit[1]][:MAX_UNITS]


def _walk_repeats(items: Sequence[Any], before: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each repeat without a low limit as what stands before it and what its body matches."""
    for i, (kind, value) in enumerate(items):
        prefix = before + _first(items[:i])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            _, most, body = value
            if most is op.MAXREPEAT or most > 20:
                yield prefix, _sample(list(body))
                after = _first(items[i + 1 :])
                if after:
                    yield prefix, [each + after for each in _sample(list(body))[:2]]
            yield from _walk_repeats(list(body), prefix)
        else:
            for branch in _list_bodies(kind, value):
                yield from _walk_repeats(branch, prefix)


def _list_bodies(kind: Any, value: Any) -> list[list[Any]]:
    if kind is op.BRANCH:
        return [list(branch) for branch in value[1]]
    if kind is op.SUBPATTERN:
        return [list(value[3])]
    if kind is op.ATOMIC_GROUP:
        return [list(value)]
    if kind in (op.ASSERT, op.ASSERT_NOT):
        return [list(value[1])] if value[0] > 0 else []
    if kind is op.GROUPREF_EXISTS:
        return [list(part) for part in value[1:] if part]
    return []


def _first(items: Sequence[Any]) -> str:
    return next(iter(_sample(items)), "")


def _sample(items: Sequence[Any]) -> list[str]:
    """Return a few texts that the items match."""
    texts = [""]
    for kind, value in items:
        if kind is op.LITERAL:
            parts = [chr(value)]
        elif kind in (op.IN, op.NOT_LITERAL, op.ANY):
            parts = [each for each in SAMPLES if _is_in(kind, value, each)][:6] or _list_literals(kind, value)[:1]
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, body = value
            parts = [part * max(least, min(1, most)) for part in _sample(list(body))]
        elif kind in (op.ASSERT, op.ASSERT_NOT, op.AT, op.GROUPREF):
            continue
        else:
            parts = [text for body in _list_bodies(kind, value) for text in _sample(body)[:3]]
        if parts:
            # Not every combination: the first of all others with each of these.
            texts = [texts[0] + part for part in parts[:6]] + [text + parts[0] for text in texts[1:]]
    return list(dict.fromkeys(texts))[:8]


def _is_in(kind: Any, value: Any, character: str) -> bool:
    code = ord(character)
    if kind is op.ANY:
        return character != "\n"
    if kind is op.NOT_LITERAL:
        return bool(code != value)
    is_negated = value[0][0] is op.NEGATE
    return is_negated != any(_is_in_item(item, argument, character) for item, argument in value)


def _is_in_item(kind: Any, value: Any, character: str) -> bool:
    if kind is op.LITERAL:
        return bool(ord(character) == value)
    if kind is op.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    tests: dict[Any, Callable[[str], bool]] = {
        op.CATEGORY_DIGIT: str.isdigit,
        op.CATEGORY_SPACE: str.isspace,
        op.CATEGORY_WORD: lambda each: each.isalnum() or each == "_",
    }
    opposites = {
        op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
        op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
        op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
    }
    if kind is not op.CATEGORY:
        return False
    return tests[value](character) if value in tests else not tests[opposites[value]](character)


def _list_literals(kind: Any, value: Any) -> list[str]:
    if kind is not op.IN:
        return ["a"]
    return [chr(each if item is op.LITERAL else each[0]) for item, each in value if item in (op.LITERAL, op.RANGE)]


def _list_characters(items: Sequence[Any]) -> list[str]:
    """Return the characters of the pattern that are no letters, and one for each class."""
    found: dict[str, None] = {}

    def visit(items: Iterable[Any]) -> None:
        for kind, value in items:
            if kind is op.LITERAL and not chr(value).isalnum():
                found[chr(value)] = None
            elif kind in (op.IN, op.NOT_LITERAL, op.ANY):
                found.update(dict.fromkeys([each for each in SAMPLES if _is_in(kind, value, each)][:3]))
            elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
                visit(value[2])
            else:
                for body in _list_bodies(kind, value):
                    visit(body)

    visit(items)
    return list(found)


# -- Measuring ---------------------------------------------------------------------------------------------------------


class _TooSlow(Exception):
    pass


_is_matching = False


def _stop(*_: object) -> None:
    if _is_matching:  # The signal may come when the match has just ended.
        raise _TooSlow


def measure(pattern: "re.Pattern[str]", text: str, methods: set[str]) -> float:
    """Return the seconds of processor time that the pattern needs for the text, at most ``MAX_SECONDS``."""
    global _is_matching
    started = time.process_time()
    try:
        _is_matching = True
        signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
        if methods and methods <= ANCHORED:
            for method in methods:
                getattr(pattern, method)(text)
        else:
            for _ in pattern.finditer(text):
                pass
        _is_matching = False
    except _TooSlow:
        return MAX_SECONDS
    finally:
        _is_matching = False
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - started


def find_attack(pattern: "re.Pattern[str]", methods: set[str]) -> str | None:
    """Return a description of a string for which the time grows faster than its length; ``None`` if none was found."""
    for prefix, unit in build_units(pattern):
        for end in ENDS:

            def make(length: int, prefix: str = prefix, unit: str = unit, end: str = end) -> str:
                return prefix + unit * (length // len(unit) + 1) + end

            longest = measure(pattern, make(LENGTHS[-1]), methods)
            if longest < FLOOR_SECONDS:
                continue
            attack = f"{prefix!r} + {unit!r} * n + {end!r}"
            if longest >= MAX_SECONDS and measure(pattern, make(LENGTHS[-1]), methods) >= MAX_SECONDS:
                return f"{attack}: more than {MAX_SECONDS} s for {LENGTHS[-1]} characters"
            # As many characters each time, in one string or in several: a linear pattern takes as long for all three.
            times = [
                min(
                    sum(measure(pattern, make(length), methods) for _ in range(LENGTHS[-1] // length))
                    for _ in range(3)  # The best of three: other processes disturb a measurement.
                )
                for length in reversed(LENGTHS)
            ]
            if times[0] > max(FLOOR_SECONDS, MAX_GROWTH * times[1], 2 * MAX_GROWTH * times[2]):
                spent = ", ".join(f"{1000 * each:.0f}" for each in times)
                shape = ", ".join(f"{LENGTHS[-1] // length} x {length}" for length in reversed(LENGTHS))
                return f"{attack}: {spent} ms for {shape} characters"
    return None


def main() -> None:
    signal.signal(signal.SIGPROF, _stop)
    patterns, uses = list_patterns(), find_uses()
    slow = {}
    for place, pattern in patterns.items():
        attack = find_attack(pattern, get_methods(place, uses))
        if attack is not None:
            slow[place] = attack
    json.dump({"patterns": len(patterns), "slow": slow}, sys.stdout, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
