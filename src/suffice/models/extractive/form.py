"""How well the form of a unit suits a question: below which name it stands, and whether it looks like such an answer.

Words alone do not find ``cache_size: int = 400`` for "How many templates does the cache keep by default?", or the sentence
below ``class ReadTimeout`` for a question about ReadTimeout.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from suffice.text.answer_spans import find_spans
from suffice.text.blocks import TextBlock, split_blocks
from suffice.text.date_events import DateEvent, find_asked_event, list_dates_of
from suffice.text.entities import content_stems
from suffice.text.languages import get_language
from suffice.text.question import Question
from suffice.text.sentences import Offsets, docstring_spans
from suffice.types import Note

# What is written as in code: snake_case, CamelCase, dotted.name, --option, `quoted`.
_CODE_NAME = re.compile(
    r"`([^`\s]+)`|(--?[a-z][\w-]+)|\b(\w*[a-z\d]_\w+|\w*_[a-z\d]\w*|[A-Z\d]+_[A-Z\d_]+|[A-Z]?[a-z\d]+[A-Z]\w*|[A-Z]{2,}[a-z]\w+"
    r"|[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+)\b"
)
_DEFINED = re.compile(
    r"^[ \t]*(?:async\s+)?(?:def|class|func|function|fn|struct|interface|enum)\s+([\w.]+)", re.MULTILINE
)
_TERM = re.compile(r"\s*(?:[-*+•]\s+)?[`*'\"]*(?P<term>-{0,2}[\w.:-]*\w)[`*'\"]*(?:\([^)]*\))?\s*(?:[:=]| - | – | — )")
_NAMED_ITEM = re.compile(r"\s*[-*+•]\s+(?P<names>`[^`\n]+`(?:, `[^`\n]+`)*):")
_TERMS = re.compile(r"`[^`]+`(?:, `[^`]+`)*")  # The heading of an explanation: one or more names.
_ASSIGNED = re.compile(
    r"\b(?P<name>[A-Za-z_]\w*)(?:\s*:\s*[^=,()\n]{1,60}?(?:\[[^\]\n]*\])?[^=,()\n]{0,30}?)?\s*=(?!=)\s*"
    r"(?P<value>[-+]?\d[\w.]*|\"[^\"\n]*\"|'[^'\n]*'|[A-Za-z_][\w.]*(?:\([^\n]*\))?|[\[({][^\n]*?[\])}])"
)
_BARE_NUMBER = re.compile(r"(?<![\w./-])\d+(?:\.\d+)?(?![\w/-]|[.,]\d)")
_NUMBERED = re.compile(r"\b[^\W\d_]{3,} \d+\b(?![.,]\d)")
_PRECISE_NUMBER = re.compile(r"\d+(?:[./-]\d+)+")
_HEADING_WEIGHT = 0.8
_SIGNATURE = re.compile(r"^[ \t]*(?:async\s+)?def\s", re.MULTILINE)
# Parts of a name that say which bound of a thing it is, not what the thing is.
_BOUND_WORDS = frozenset("max min num number default size count limit total initial maximum minimum".split())
_COUNTED = re.compile(
    r"\bhow (?:many|much|long|often|wide|big|large|deep|high|far|fast|old)\b|\bwie(?: ?viele?| lang| oft| gro)"
    r"|\bcombien\b|\bcu[áa]nt",
    re.IGNORECASE,
)
_MAKER = re.compile(
    r"\b(?:authors?|wr[io]tt?e(?:n|s)?|creat\w+|maintain\w+|copyright|invent\w+|autor\w*|verfass\w+|geschrieben|erstellt|betreut"
    r"|auteurs?|écrit\w*|escri[bt]\w+)\b",
    re.IGNORECASE,
)
# In "Karl von Frisch" no one acts: other words than "by" follow a participle.
_AGENT = re.compile(
    r"(?:\bby|\b[a-zà-ÿ]+(?:t|en|ée?s?|[ai]d[oa]s?|[ct]h?[oa]s?)\s+(?:von|par|por))\s+"
    r"(?P<agent>@[\w-]*\w|[A-ZÀ-ÖØ-Þ][\w'’-]*\w(?:\s+(?:&\s+)?[A-ZÀ-ÖØ-Þ](?:\.|[\w'’-]*\w|(?![\w.])))*)"
)
_MAKER_LINE = re.compile(
    r"__author__|\bauthors?\s*[:=]|\bautor\w*\b|\bauteurs?\b|copyright|©|\(c\)|\b(?:written|created|maintained|designed|invented)\s+by\b"
    r"|(?-i:\bby\s+@?[A-Z])|verfasst|geschrieben von|betreut von|erstellt .{0,20}von|écrit par|escrito por",
    re.IGNORECASE,
)


_COUNTED_ROWS = re.compile(r"^(?:(?P<name>[^:·]+): (?P<value>[^·]+?) · )?rows: (?P<count>\d+)\b")
_LISTED_VALUES = re.compile(r"^(?P<name>[^:·]+), \d+ values: ")
_COUNTED_TITLE = re.compile(r" > (?:all rows counted|rows counted by .+)$")
_EXTREME = re.compile(
    r"\b(?:highest|lowest|largest|smallest|maximum|minimum|biggest|greatest|least|most|höchste\w*|niedrigste\w*|größte\w*|kleinste\w*"
    r"|plus (?:haut|grand|élevé)\w*|mayor|menor|máxim\w+|mínim\w+)\b",
    re.IGNORECASE,
)


# "Who is the treasurer of the club?" asks for the holder of a role.
_ASKED_ROLE = re.compile(
    r"\b(?:who(?:['’]s| is| was| are| were)|wer (?:ist|war|sind)|qui (?:est|était|sont)|quién(?:es)? (?:es|era|son))"
    r"(?: (?:the|our|your|current|first|der|die|unser\w*|le|la|les|el|los))* (?:l['’])?(?P<role>[\w-]+(?: [\w-]+){0,2}?)"
    r"(?= (?:of|in|at|for|on|from|von|des|der|im|bei|de|du|del)\b| ?\?|$)",
    re.IGNORECASE,
)
# "Who founded it?" asks for its founder.
_ASKED_DEED = re.compile(r"\bwho (?:has |had |have |first )?(?P<stem>[a-z]{3,}?)(?:e?d|e?s)\b", re.IGNORECASE)
_MAKER_HEADING = re.compile(
    r"\b(?:authors?|maintainers?|contributors?|autor(?:in|en|es)?|verfasser\w*|auteurs?)\b", re.IGNORECASE
)
_PERSON = r"[A-ZÀ-ÖØ-Þ][\w'’-]*\w(?:\s+(?:(?:de|la|du|von|van|der|den)\s+){0,2}[A-ZÀ-ÖØ-Þ](?:[\w'’-]*\w|\.)?)*"
# "What happens if …?" is answered by a sentence that says "if".
_CONDITION = re.compile(r"\b(?:if|unless|wenn|falls|si)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """What the form of an answer is compared with: the names in a question that are written as in code, and its words."""

    question: Question
    names: frozenset[str]
    words: frozenset[str]
    stems: frozenset[str]
    asks_maker: bool
    asks_number: bool
    numbers: tuple[str, ...] = ()
    """Versions and dates in the question, which the answer's place has too."""
    bare_numbers: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    """A word and its number in the question, as in "status 3"."""
    asks_condition: bool = False
    role: str = ""
    """A pattern for the role whose holder the question asks for."""
    event: DateEvent | None = None
    """What happened on the date that the question asks for."""


def analyze_form(question: Question, stems: frozenset[str]) -> QuestionForm:
    """Return what to compare the form of units with; ``stems`` are those of the question."""
    text = question.text
    return QuestionForm(
        question,
        frozenset(find_code_names(text)),
        frozenset(word.lower() for word in re.findall(r"[\w.]*\w", text)),
        # In code "keep-alive" is written as one word.
        stems
        | frozenset[str]().union(*(content_stems(word.replace("-", "")) for word in re.findall(r"\w+-\w+", text))),
        question.kind == "who" and _MAKER.search(text) is not None,
        question.kind in ("count", "amount") or _COUNTED.search(text) is not None,
        tuple(_PRECISE_NUMBER.findall(text)),
        tuple(_BARE_NUMBER.findall(text)),
        tuple(_NUMBERED.findall(text)),
        question.kind != "default" and _CONDITION.search(text) is not None,
        _find_role(text) if question.kind == "who" else "",
        find_asked_event(text) if question.kind == "when" else None,
    )


def _find_role(text: str) -> str:
    """Return a pattern for the role whose holder a question asks for, or whose holder does what it asks about."""
    asked = _ASKED_ROLE.search(text)
    if asked is not None and (asked["role"][0].islower() or get_language() == "german"):  # Not "Who is Ada Lovelace?"
        return rf"{re.escape(asked['role'].removesuffix('s'))}s?"
    deed = _ASKED_DEED.search(text)
    return rf"{deed['stem']}[eo]rs?" if deed is not None else ""


def find_code_names(text: str) -> list[str]:
    """Return the names in a text that are written as in code, in lower case.

    >>> find_code_names("Does heapq.merge of Python use MAX_SIZE or maxSize?")
    ['heapq.merge', 'max_size', 'maxsize']
    """
    return [next(filter(None, match.groups())).lower().rstrip("()") for match in _CODE_NAME.finditer(text)]


def find_agents(text: str) -> list[Offsets]:
    """Return the offsets of those by whom something was done.

    >>> find_agents("Rename it, #915 by @ann")
    [(19, 23)]
    """
    return [match.span("agent") for match in _AGENT.finditer(text)]


def find_holders(text: str, role: str) -> list[Offsets]:
    """Return the offsets of those whom a text gives a role: "Ann Lee (chair)", "the chair Ann Lee", "Ann Lee is the chair".

    >>> find_holders("Bo Hall (clerk), Ann Lee (chair)", "chair")
    [(17, 24)]
    """
    return [match.span(match.lastgroup or 0) for match in _compile_holder(role).finditer(text)] if role else []


@lru_cache(maxsize=64)
def _compile_holder(role: str) -> re.Pattern[str]:
    named = rf"(?i:\b{role}\b)"
    article = r"(?:(?:the|our|a|an|new|der|die|unser\w*|le|la|el)\s+)*"
    verb = r"(?:is|was|becomes|became|as|ist|war|wird|est|devient|es)"
    field = r"(?:\s+(?:of|von|de|du|del)\s+[\w\s()-]{1,60}?)?"
    return re.compile(
        rf"(?P<before>{_PERSON})(?:\s*\(|,\s+|(?:\s+[a-zà-ÿ]+){{0,2}}?\s+{verb}\s+){article}{named}"
        rf"|{named}(?:{field}(?:\s*[:,]|\s+{verb}))?\s+(?P<after>{_PERSON})"
    )


def find_scope(note: Note, start: int) -> tuple[str, ...]:
    """Return the names that a place in a note stands below: a definition or heading in the note, else the end of its title."""
    if note.kind == "code":
        defined = [match[1] for match in _DEFINED.finditer(note.text, 0, _line_end(note.text, start))]
        if defined and defined[-1] != "__init__":
            return (defined[-1].lower(),)
        if defined:  # What makes an object is asked for by the name of its class.
            parts = [*note.title.split(" > "), *defined]
            return ("__init__", next((part.lower() for part in reversed(parts) if not part.startswith("__init__")), ""))
    else:
        headings = [block for block in split_blocks(note.text, note.kind) if block.is_heading and block.start <= start]
        if headings:
            heading = note.text[headings[-1].start : headings[-1].end]
            return _split_names(heading) if _TERMS.fullmatch(heading.strip()) else (_clean_name(heading),)
    return _split_names(note.title.rpartition(" > ")[2])


def _split_names(text: str) -> tuple[str, ...]:
    return tuple(_clean_name(name) for name in re.split(r",\s(?![^(]*\))", text))


def find_terms(text: str) -> tuple[str, ...]:
    """Return what an item or line explains: ``-t`` and ``--timeout`` of "- `-t`, `--timeout=<s>`: how long to wait"."""
    if named := _NAMED_ITEM.match(text):
        return _split_names(named["names"])
    match = _TERM.match(text)
    return (match["term"].lower(),) if match else ()


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end


def _clean_name(name: str) -> str:
    """Return a name without markup, parameters and the value of an option: ``--jobs`` of "`--jobs=<n>`"."""
    words = name.partition("(")[0].strip(" `*'\":#=").lower()
    return re.split(r"[ =\[<]", words)[0] if words.startswith("-") else words


def is_named(names: Sequence[str], wanted: frozenset[str]) -> bool:
    """Whether one of the names, whole or without what precedes its last dot, is wanted."""
    return any(name in wanted or name.rpartition(".")[2] in wanted for name in names if name)


def measure_form(form: QuestionForm, note: Note, block: TextBlock, span: Offsets) -> float:
    """Return the bonus of a unit for its form: for the name it stands below, an assigned default, a line about the maker."""
    start, end = span
    text = note.text[start:end]
    if note.kind == "csv":
        return _measure_counted(form, note, text)
    scope = find_scope(note, start)
    terms = find_terms(text) if block.format != "prose" or block.is_heading else ()
    wanted = form.names | {name.rpartition(".")[2] for name in form.names}
    # The title of a record is a name, not a heading: the record of a name in the question is often only the first step.
    headings = () if note.kind == "record" else scope
    bonus = _HEADING_WEIGHT * max((_compare_heading(form, name) for name in headings), default=0.0)
    if wanted and (is_named(scope, wanted) or not wanted.isdisjoint(terms)):
        bonus += 0.9
    elif wanted and any(name in wanted for name in find_code_names(text)):
        bonus += 0.2
    if form.numbers and _holds_numbers(form, text):
        bonus += 0.6
    elif form.numbers and any(_holds_numbers(form, name) for name in scope):
        bonus += 0.4
    if any(re.search(rf"\b{re.escape(phrase)}\b(?!\.\d)", text, re.IGNORECASE) for phrase in form.phrases):
        bonus += 0.5  # "Exit status 1" is not about exit status 3.
    if form.question.kind == "default" and (value := find_default(form, note, block, span)):
        bonus += value[1]
    is_maker = form.asks_maker and _MAKER_LINE.search(text) is not None
    if is_maker or find_maker_entry(form, scope, text) or find_holders(text, form.role):
        bonus += 0.6
    elif form.question.span == "name" and form.question.kind == "who" and find_agents(text):
        bonus += 0.4
    if form.asks_condition and _CONDITION.search(text):
        bonus += 0.3
    if form.event is not None and list_dates_of(text, find_spans(text, "date"), form.event):
        bonus += 0.6
    return bonus


def find_maker_entry(form: QuestionForm, scope: Sequence[str], text: str) -> list[Offsets]:
    """Return the name of several words with which a text below a heading such as "Authors" begins; empty without one."""
    is_below = form.asks_maker and any(_MAKER_HEADING.search(name) for name in scope)
    names = find_spans(text, "name")[:1] if is_below else []
    return [(start, end) for start, end in names if start == 0 and " " in text[:end]]


def _holds_numbers(form: QuestionForm, text: str) -> bool:
    return all(re.search(rf"(?<![\d.]){re.escape(number)}(?!\d|\.\d)", text) for number in form.numbers)


def _measure_counted(form: QuestionForm, note: Note, row: str) -> float:
    """Return the bonus of a row of a table: what was counted over all rows answers how many, which, or the highest."""
    if not _COUNTED_TITLE.search(note.title):
        # A number of the question picks the row: "aged 87" is the row with the age 87.
        return 0.5 if any(re.search(rf": {re.escape(number)}(?= ·|$)", row) for number in form.bare_numbers) else 0.0
    kind = form.question.kind
    if (listed := _LISTED_VALUES.match(row)) is not None:
        return 1.2 if kind == "list" and content_stems(listed["name"]) & form.stems else -0.5
    counted = _COUNTED_ROWS.match(row)
    is_about = counted is not None and (counted["value"] is None or _holds_value(form, counted["value"]))
    if kind == "count" and is_about:
        return 1.2 if counted is not None and counted["value"] else 0.6
    has_extreme = _EXTREME.search(form.question.text) is not None and not re.search(r"\d", form.question.text)
    return 0.8 if has_extreme and (is_about or counted is None) else -0.5


def _holds_value(form: QuestionForm, value: str) -> bool:
    stems = content_stems(value) or frozenset({value.strip().lower()})
    return stems <= form.stems | form.words


def find_counted(form: QuestionForm, note: Note, row: str) -> str:
    """Return the number of rows that a row gives which was counted over a whole table; empty if it is no such row."""
    counted = _COUNTED_ROWS.match(row) if note.kind == "csv" and _COUNTED_TITLE.search(note.title) else None
    if counted is None or form.question.kind != "count":
        return ""
    if counted["value"] is None:
        return f"{counted['count']} (rows of the table)"
    return (
        f"{counted['count']} (rows with {counted['name']}: {counted['value']})"
        if _holds_value(form, counted["value"])
        else ""
    )


def _compare_heading(form: QuestionForm, name: str) -> float:
    """Return how much of a heading and of the question is the same; 1 for "How fast is it?" below the heading "How fast?"."""
    stems = content_stems(name)
    return len(stems & form.stems) / len(stems | form.stems) if stems else 0.0


def _iter_assigned(text: str) -> Iterator[re.Match[str]]:
    """Yield what a line of code assigns, and the arguments of a call that it assigns."""
    for match in _ASSIGNED.finditer(text):
        yield match
        if "=" in match["value"]:
            yield from _ASSIGNED.finditer(text, match.start("value"), match.end("value"))


def find_default(form: QuestionForm, note: Note, block: TextBlock, span: Offsets) -> tuple[Offsets, float] | None:
    """Return the value that a line of code gives to what the question asks for, with how sure that is.

    All parts of the assigned name must be words of the question, apart from such as ``max``; in the signature of a function
    that the question names, the only number will do if a number is asked for.
    """
    start, end = span
    is_documentation = note.kind != "code" or any(a <= start < b for a, b in docstring_spans(note.text))
    if is_documentation:  # There an assignment is an example, and often of another value than the default.
        return None
    text = note.text[start:end]
    found: tuple[Offsets, float] | None = None
    numbers: list[Offsets] = []
    for match in _iter_assigned(text):
        value = (start + match.start("value"), start + match.end("value"))
        has_digit = re.search(r"\d", match["value"]) is not None
        # A name says nothing about the value behind it.
        is_literal = has_digit or match["value"][0] in "\"'[({" or match["value"] in ("None", "True", "False")
        if not is_literal or (form.asks_number and not has_digit):
            continue
        numbers += [value] if has_digit else []
        parts = [part for part in re.split(r"_|(?<=[a-z])(?=[A-Z])", match["name"]) if part]
        named = [part for part in parts if part.lower() not in _BOUND_WORDS]
        matched = [part for part in named if content_stems(part) & form.stems]
        is_called_default = "default" in (part.lower() for part in parts)
        is_exact = match["name"].lower() in form.names
        if is_exact or (matched and (len(matched) == len(named) or is_called_default)):
            sure = 0.5 + 0.25 * min(len(matched), 3) + 0.5 * (is_called_default or is_exact)
            sure -= 0.5 * (match["value"] == "None")  # The value is chosen later.
            if found is None or sure > found[1]:
                found = (value, sure)
    if found is not None or not form.asks_number or len(numbers) != 1:
        return found
    is_signature = block.format == "code" and _SIGNATURE.search(note.text, block.start, block.end) is not None
    return (numbers[0], 0.7) if is_signature and is_named(find_scope(note, start), form.names) else None
