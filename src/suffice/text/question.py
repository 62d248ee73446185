"""Read a question: its language, what kind of answer it asks for, and the things that it compares.

The kinds say how an answer is laid out: a list whole, a comparison with both sides. Nothing is decided by them.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from suffice.text.descriptions import find_descriptions
from suffice.text.entities import content_stems, extract_entities, extract_facets, strip_instruction
from suffice.text.languages import ENGLISH, STEMMED_LANGUAGES, detect_language

QuestionKind = Literal["fact", "setting", "howto", "list", "comparison", "broad"]

_MANY_WORDS = 8  # A question with more content words may need several passages.
# In the order in which they are tried: the first match decides.
_KIND_PATTERNS: dict[QuestionKind, str] = {
    "comparison": r"\b(?:compare[ds]?|contrast|differences?|differs?|different from|versus|vs|unterschied\w*|vergleich\w*"
    r"|différences?|diferencias?)\b|\bboth\b",
    "setting": r"\bdefaults?\b|\b(?:setting|option|parameter|flag|environment variable)\b",
    "list": r"^(?:list|enumerate|name)\b|^(?:what|which) (?:are|were) (?:all )?the\b"
    r"|^(?:\w+ )?(?:what|which) (?:[\w-]+ ){0,3}[\w-]*[^\Wsui]s (?:are|were|does|do|can|exist|have)\b",
    "howto": r"^how (?:do|does|can|could|should|would|to)\b|^(?:wie kann|comment|cómo)\b",
}
_KINDS = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _KIND_PATTERNS.items()]
_OPENINGS = frozenset({"what", "who", "whose", "which", "when", "where", "why", "how"})
_CHOICE = re.compile(r"\s(?P<one>[^\s,?:][^,?:]{0,59}?),? (?:or|oder|ou|o) (?P<other>[^,?]{2,60})\?\s*$")
_PAIR = re.compile(
    r"\b(?:between|compare|contrast|zwischen|vergleiche|entre)\s++(?P<one>.{2,60}?)\s++(?:and|with|to|und|mit|et|y)\s+"
    r"(?P<other>[^?.,]{2,60})",
    re.IGNORECASE,
)
_VERSUS = re.compile(
    r"(?<![\w.`()-])(?P<one>[\w.`()-]++(?: [\w.`()-]++){0,2}?)\s++(?:versus|vs\.?|differs? from|compared? (?:with|to))\s+"
    r"(?P<other>[\w.`() -]{2,60})",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"^.*\b(?:of|the|an?|does|do|is|are|der|die|das|eine?[mnr]?|le|la|les|une?|el|los|las)\s+", re.IGNORECASE
)
_TAIL = re.compile(
    r"(?<!\s)\s++(?:in|on|at|for|of|with|by|when|if|im|bei|für|dans|pour|en|para)\s.*", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the language in which its words are stemmed, its kind, and the two things that it compares, if it does.

    ``matter`` is what it compares of both, such as "the price of".
    """

    text: str
    language: str = ENGLISH
    kind: QuestionKind = "fact"
    sides: tuple[str, ...] = ()
    matter: str = ""

    @property
    def parts(self) -> list[str]:
        """The questions that an *and* joins, the things of a list or both sides, each by itself; empty for one question."""
        if self.matter:
            return [f"{self.matter}{side}?" for side in self.sides]
        first, *others = (part.strip(" ,?!.") + "?" for part in self.text.split(" and "))
        is_joined = self.kind == "list" or all(_OPENINGS & set(part.lower().split()[:2]) for part in others)
        return [first, *others] if others and is_joined and not self.sides else []


@lru_cache(maxsize=256)
def read_question(text: str, language: str | None = None) -> Question:
    """Read a question. ``language`` is that of the run, if it is known; else it is guessed, and English if it does not tell.

    >>> read_question("Which is faster, Quill or Reed?").sides
    ('Quill', 'Reed')
    >>> [read_question(text).kind for text in ("Which options exist?", "Which class does it use?", "How do I stop it?")]
    ['list', 'fact', 'howto']
    """
    wording = " ".join(text.split()).lstrip("¿¡\"'“«( ")
    language = language or detect_language(text)
    language = language if language in STEMMED_LANGUAGES else ENGLISH
    if sides := _find_choice(wording):
        return Question(text, language, "comparison", sides)
    if strip_instruction(wording) != wording:
        return Question(text, language, "broad")
    kind: QuestionKind = next((kind for kind, pattern in _KINDS if pattern.search(wording)), "fact")
    matter, sides = _find_sides(wording) if kind == "comparison" else ("", ())
    return Question(text, language, kind if sides or kind != "comparison" else "fact", sides, matter)


def asks_in_steps(text: str) -> bool:
    """Whether an English question describes a thing instead of naming it, or has many conditions: it may need several steps.

    >>> asks_in_steps("Who is the mayor of the town where Ada Lind was born?"), asks_in_steps("Who is the mayor of Graz?")
    (True, False)
    """
    question = read_question(text)
    if question.kind != "fact" or question.language != ENGLISH:
        return False
    return bool(find_descriptions(text)) or len(content_stems(text)) >= _MANY_WORDS


def _find_choice(wording: str) -> tuple[str, ...]:
    """Return the two things of "Which is older, A or B?"; empty for other questions."""
    match = _CHOICE.search(wording)
    if match is None:
        return ()
    before, after = extract_entities(match["one"]), extract_entities(match["other"])
    return (before[-1], after[0]) if before and after else ()


def _find_sides(wording: str) -> tuple[str, tuple[str, ...]]:
    """Return the two things that are compared, "A and B", "A with B", "A versus B", else the first two names, and what of them.

    >>> _find_sides("Compare the notice periods of the lease and the hosting contract")
    ('the notice periods of the ', ('lease', 'hosting contract'))
    """
    match = _PAIR.search(wording) or _VERSUS.search(wording)
    if match is None:
        names = [facet.text for facet in extract_facets(wording) if facet.is_named]
        return "", tuple(names[:2]) if len(names) > 1 else ()
    matter = _ARTICLE.match(match["one"])
    found = match["one"], _TAIL.sub("", match["other"])
    sides = (_ARTICLE.sub("", side.strip(" `'\"")).strip(" `'\"") for side in found)
    return matter[0] if matter and " of " in matter[0] else "", tuple(side for side in sides if side)
