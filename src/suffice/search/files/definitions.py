"""Where the definitions of a source begin, by the look of its lines, whatever the language.

A line at low indentation that opens with a defining word, or looks like a function's signature, begins a definition. A
miss or a false hit only moves a border between two chunks, so the patterns stay simple.
"""

import re
from collections.abc import Sequence

from suffice.search.files.outline import Symbol

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
