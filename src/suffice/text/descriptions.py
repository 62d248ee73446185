"""Find the parts of a question that describe a thing instead of naming it.

"Who is the mayor of the town where Ada Lind was born?" describes a town. The description is a question of its own, "What is
the town where Ada Lind was born?", and with its answer in its place the rest is one too: "Who is the mayor of Graz?" The
patterns know English.
"""

import re
from dataclasses import dataclass

from suffice.text.entities import content_stems

_PREPOSITION = r"(?:of|in|for|at|on|under|to|from|by|with|into|behind)"
_RELATIVE = rf"(?:{_PREPOSITION} )?(?:who|whom|whose|which|where|that)"
_NOUN = rf"(?!(?:{_PREPOSITION}|who|whom|whose|which|where|that|and|or|is|was|are|were)\b)[a-z][\w-]*"
_THING = rf"(?P<head>(?:(?!{_PREPOSITION}\b)[\w’'-]+ ){{0,4}}?{_NOUN})"
_HEAD = rf"(?:[Tt]he|[Aa]n?|[Tt]his) {_THING}"
_NO_COPULA = r"(?<!is )(?<!are )(?<!was )(?<!were )(?<!be )"  # "When is a worker called idle?" describes none.
_CAPITAL = r"(?:[A-ZÀ-ÖØ-ÞĀ-Ž\d](?:(?!['’]s\b)[\w.’'-])*\w|[A-Z])(?!\w)"
_SMALL = r"(?:of|the|and|in|an?|to|for|on|with|from|at|de|la|&)"
_NAME = rf"(?:[\"“][^\"“”]+[\"”]|{_CAPITAL}(?:,? (?:{_SMALL} ){{0,3}}{_CAPITAL})*)"
_OWNED = rf"(?:the |an? )?{_NAME}['’]s? (?P<head>{_NOUN}(?: {_NOUN}){{0,2}}(?=\W*$)|{_NOUN})"
# Each with whether it is open: a clause may end before the question does, a name ends with itself. Of several that begin at
# one place the last decides.
_PATTERNS = tuple(
    (re.compile(rf"\b{pattern}"), is_open)
    for pattern, is_open in (
        (rf"{_HEAD} (?:the )?{_NAME}(?:['’]s {_NOUN})? (?!{_SMALL}\b)[a-z]+", True),  # the country Ada Lind is from
        (
            rf"[Tt]he {_THING} {_PREPOSITION} (?:the )?(?:{_NOUN} ){{0,2}}?{_NAME}(?!['’]s|,? [A-Z])",
            False,
        ),  # the singer of Moon
        (rf"the {_NAME} (?P<head>{_NOUN}(?:er|or|ist|ress|ian))\b", False),  # the Moon singer
        (rf"{_NO_COPULA}{_HEAD} (?:[a-z]{{3,}}ing|[a-z]{{2,}}ed) (?=\w)", True),  # the county sharing a border
        (rf"{_HEAD},? {_RELATIVE}\b", True),  # the town where
    )
)
_OWNED_PATTERN = re.compile(_OWNED)  # Ada Lind's home
# What stands between such words and the end of the question is what is asked for.
_ASKS_FOR = re.compile(r"^\W*(?:who|what|which)(?: \w+)? (?:is|was|are|were) $", re.IGNORECASE)
_ASKS_HOW = re.compile(r"^\W*how \w+ (?:is|was|are|were) $", re.IGNORECASE)  # No verb follows.
_BEFORE_SUBJECT = re.compile(
    r"(?:^|\b(?:did|does|do|is|was|are|were|has|have|had|can|could|would|will)) ?$", re.IGNORECASE
)
_PERSON = re.compile(
    r"(?!river|border|\w*paper|number|letter|character|tower|theater|server|folder|parameter)"
    r"(?:person|individual|people|m[ae]n|wom[ae]n|king|queen|president|monarch|husband|wife|father|mother|spouse|son|daughter"
    r"|brother|sister|sibling|child|star|member|hero|\w+(?:er|or|ist|ress|ian|ant))$"
)
_NO_HEAD = frozenset("is was are were be did does do has have had and or not how what who which where when why".split())
_MAX_CHARS = 1_000  # A longer text is no question; the patterns would take long for it.


@dataclass(frozen=True, slots=True)
class Description:
    """``text[start:end]`` of a question describes a thing. If it is open, it may end earlier."""

    start: int
    end: int
    is_open: bool
    is_subject: bool
    """Whether a verb of the question around it follows, so that an open one ends before the last word."""
    question: str
    """The description as a question."""


def find_descriptions(text: str) -> list[Description]:
    """Return what the question describes, the last one first; a description may stand inside another.

    >>> [description.question for description in find_descriptions("Who is the mayor of the town where Ada Lind was born?")]
    ['What is the town where Ada Lind was born?']
    >>> [description.question for description in find_descriptions("When did the spouse of Ada Lind visit Rome?")]
    ['Who is the spouse of Ada Lind?']
    >>> find_descriptions("Who is the mayor of Graz?")
    []
    """
    if len(text) > _MAX_CHARS:
        return []
    found: dict[int, Description] = {}
    stop = len(text.rstrip(" ?.!\t\n"))
    for pattern, is_open in _PATTERNS:
        position = 0
        while match := pattern.search(text, position):
            position = match.start() + 1
            if _ASKS_FOR.match(text[: match.start()]):
                continue
            end = min(match.end(), stop)
            if is_open:  # A clause ends at the latest at a comma after its first words, or with the question.
                comma = text.find(", ", match.end(), stop)
                end = comma if comma > match.end() and content_stems(text[match.end() : comma]) else stop
            _add(found, text, match, end, is_open=is_open and end == stop)
    for match in _OWNED_PATTERN.finditer(text):
        if match.end() < stop or not _ASKS_FOR.match(text[: match.start()]):
            _add(found, text, match, match.end(), is_open=False)
    return sorted(found.values(), key=lambda description: -description.start)


def _add(found: dict[int, Description], text: str, match: re.Match[str], end: int, *, is_open: bool) -> None:
    nouns, start = match["head"].split(), match.start()
    if _NO_HEAD.intersection(nouns) or not content_stems(match["head"]):
        return
    words = re.sub(r"^(?:The|An?|This)\b", lambda article: article[0].lower(), text[start:end])
    asked = f"{'Who' if _PERSON.match(nouns[-1]) else 'What'} is {words}?"
    is_subject = bool(_BEFORE_SUBJECT.search(text, 0, start)) and not _ASKS_HOW.match(text[:start])
    found[start] = Description(start, end, is_open, is_subject, asked)
