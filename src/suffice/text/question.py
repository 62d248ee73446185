"""Tell from its wording what kind of answer a question asks for: a date, a name, yes or no, a list, a comparison.

English, German, French and Spanish. What no pattern matches is a ``lookup``.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from suffice.text.descriptions import find_descriptions
from suffice.text.entities import content_stems, extract_entities
from suffice.text.languages import ENGLISH, detect_language

QuestionKind = Literal[
    "yes_no",
    "when",
    "who",
    "where",
    "count",
    "amount",
    "version",
    "default",
    "list",
    "compare",
    "how_to",
    "definition",
    "why",
    "lookup",
]
SpanType = Literal["date", "year", "number", "name", "version", "value", "choice", "none"]
"""What a short answer consists of."""

CHAINED_KINDS = frozenset[QuestionKind]({"who", "when", "where", "count", "amount", "lookup", "definition"})
"""Kinds that ask for one thing that a chain of passages may lead to; a list, a default or instructions stand in one place."""
_MANY_WORDS = 8
# In the order in which they are tried: the first match decides.
_PATTERNS: tuple[tuple[QuestionKind, str], ...] = (
    (
        "compare",
        r"\b(?:compare|contrast|difference|differences|differ|versus|vs\.?)\b|\bvergleich\w*|\bunterschied\w*"
        r"|\bdifférences?\b|\bcompar\w+|\bdiferencias?\b",
    ),
    (
        "default",
        r"\bdefaults?\b|\bstandardwert\w*|\bvoreinstell\w+|\bvaleur par défaut\b|\bpor (?:defecto|omisión)\b"
        r"|\bpredeterminad[oa]s?\b|\bpar défaut\b|\bstandardmäßig\b"
        r"|^(?:what|which|how|where)\b.*\bif\b.*(?:\bnot|n['’]t|\bnever|\bnothing)\b.{0,20}\b(?:set|given|specif\w+|provid\w+"
        r"|configur\w+)\b",
    ),
    (
        "version",
        r"\b(?:which|what|in which|since which|as of which) (?:\w+ ){0,5}(?:version|release)\b"
        r"|\b(?:welche[rnms]?|seit welcher|ab welcher|in welcher) (?:\w+[- ]){0,2}?version\b"
        r"|\bquelle version\b|\b(?:qué|cuál|que) versi[óo]n\b",
    ),
    (
        "count",
        r"\bhow many\b|\bnumber of\b.*\?|\bcount (?:the|all|of)\b|\bwie ?viele[rn]?\b|\banzahl\b|\bcombien d[e’']"
        r"|\bcu[áa]nt[ao]s\b",
    ),
    (
        "amount",
        r"\bhow (?:much|long|far|tall|high|old|large|big|deep|fast|heavy|wide|often)\b|\bwhat (?:is|was) the (?:\w+ ){0,2}"
        r"(?:population|height|length|size|price|cost|limit|weight|area|distance|temperature|percentage|duration)\b"
        r"|\b(?:which|what) (?:\w+ ){0,2}(?:code|port|percentage|amount|price|size)\b"
        r"|\bwie (?:viel|lang|lange|hoch|groß|alt|weit|oft|schnell|schwer|teuer)\b|\bcombien\b|\bcu[áa]nto\b"
        r"|\bquel(?:le)? (?:âge|taille|prix|longueur|hauteur)\b",
    ),
    (
        "list",
        r"^(?:please )?(?:list|enumerate|name|give|show)\b.*\b(?:all|every|the|each)\b|^(?:what|which) (?:are"
        r"|were) (?:all )?the\b"
        r"|^(?:(?:for|in|on|from|with|to|by|at|of) )?(?:what|which) (?:\w+ ){0,3}\w+s (?:of (?:\w+ ){1,3})?"
        r"(?:are|were|does|do|can|exist|support|have)\b"
        r"|^(?:auf|in|für|mit|bei|von|aus|zu|unter) welchen [\w-]+\b"
        r"|^(?:nenne|liste|zähle)\b|^welche [\w-]+(?:en|e|er|s) (?:gibt|sind|werden|stehen|unterstütz\w+|hat|haben|kann"
        r"|können|soll\w*|muss|müssen|machen"
        r"|gehören|enthält|enthalten|braucht|brauchen|benötig\w+|verwende\w*)\b"
        r"|^(?:liste[rz]?|énum\w+|quels? sont|quelles? sont)\b|^(?:enumera|lista|cu[áa]les son)\b",
    ),
    (
        "when",
        r"\bwhen (?:is|was|were|did|does|do|will|has|had|are|should)\b|^when\b|\b(?:what|which) (?:year|date"
        r"|day|month|decade|century)\b"
        r"|\b(?:in|on|at|by|since) (?:what|which) (?:year|date|day|time|month)\b"
        r"|\bwann\b|\bin welchem jahr\b|\bquand\b|\ben quelle année\b|\bcu[áa]ndo\b|\ben qué año\b",
    ),
    (
        "who",
        r"\bwho(?:m|se)?\b(?! (?:is|was) the (?:difference))|\bwer\b|\bwen\b|\bwem\b|\bwessen\b"
        r"|\bqui\b(?! est-ce que)|\bqui[ée]n(?:es)?\b",
    ),
    (
        "where",
        r"\bwhere\b|\b(?:in|at|to|from|of) (?:what|which) (?:\w+ )?(?:city|country|state|county|town|place"
        r"|continent|region|province|district)\b"
        r"|\b(?:what|which) (?:city|country|state|county|town|place|continent|region|province|district)\b"
        r"|\bwo\b|\bwohin\b|\bwoher\b|^où\b|\bd[óo]nde\b",
    ),
    ("why", r"\bwhy\b|\bwarum\b|\bwieso\b|\bweshalb\b|\bpourquoi\b|\bpor qué\b|^what (?:causes|caused)\b"),
    (
        "how_to",
        r"^how (?:do|does|can|could|should|would|to|is|are)\b|\bhow (?:do|can|should) (?:i|you|we|one)\b|\bhow to\b"
        r"|^wie (?:kann|kannst|können|man|macht|werden|wird|funktioniert|lässt|soll|richte|starte"
        r"|installier\w*)\b|^comment\b|^c[óo]mo\b",
    ),
    (
        "yes_no",
        r"^(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have|had|may|must|shall|am)\b"
        r"|^(?:ist|sind|war|waren|hat|haben|hatte|kann|können|darf|dürfen|muss|müssen|wird|werden|wurde|wurden"
        r"|soll|sollte|gibt|funktioniert|unterstützt|braucht|benötigt)\b"
        r"|^est-ce\b|^(?:est|sont|peut|peut-on|faut-il|y a-t-il|a-t-on|doit-on|existe-t-il)\b"
        r"|^(?:es|son|está|están|puede|pueden|se puede|hay|tiene|tienen|debe|existe|fue|era)\b",
    ),
    (
        "definition",
        r"^what (?:is|are|was) (?:a |an |the )?[\w\s.'’`()-]{1,60}\??$|^(?:define|explain)\b|\bwhat does .{1,60} mean\b"
        r"|^was (?:ist|sind|bedeutet|versteht)\b|^qu['’]est-ce\b|^qu[ée] (?:es|son|significa)\b",
    ),
)
_COMPILED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PATTERNS)
_YES_NO = dict(_COMPILED)["yes_no"]
_CHOICE = re.compile(r"[,:]?\s(?P<one>[^,?:]{2,60}?),? (?:or|oder|ou|o) (?P<other>[^,?]{2,60})\s*\?*\s*$")
_BETWEEN = re.compile(
    r"(?:between|compare|contrast|zwischen|entre|vergleiche|comparer|compara)\s+(?P<one>.{2,60}?)\s+"
    r"(?:and|with|to|und|mit|et|y|con|versus|vs\.?)\s+(?P<other>[^?.,]{2,60})",
    re.IGNORECASE,
)
_VERSUS = re.compile(
    r"(?P<one>[\w.`()-]+(?: [\w.`()-]+){0,2})\s+(?:versus|vs\.?)\s+(?P<other>[\w.`() -]{2,60})", re.IGNORECASE
)
_DIFFER = re.compile(
    r"(?P<one>[\w.`()-]+(?: [\w.`()-]+){0,3}?)\s+(?:differs? from|(?:is )?different from|compared? (?:with|to)"
    r"|(?:im )?vergleich (?:zu|mit)|par rapport (?:à|au)|comparado con)\s+(?P<other>[\w.`() -]{2,60})",
    re.IGNORECASE,
)
_OPENING_PAIR = re.compile(
    r"^(?P<one>[\w.`()-]+(?: [\w.`()-]+)?) (?:or|and|oder|und|ou|et|o|y) (?P<other>[^:,?]{2,60})[:,?]", re.IGNORECASE
)
_OF = re.compile(r"^.*\b(?:of|von|de|del|du|der|des|the|an?|eine[mnr]?|le|la|el|une?|los)\s+(?=\S)", re.IGNORECASE)
_TAIL = re.compile(r"\s+(?:in|on|at|for|of|with|by|when|if|im|am|bei|für|von|dans|pour|en|para|de)\s.*$", re.IGNORECASE)
_COMPOUND = re.compile(
    r",?\s+(?:and|und|et|y)\s+(?=(?:who|what|when|where|which|how|why|is|are|does|do|can|wer|was|wann|wo|wie|warum|welche\w*|qui"
    r"|que|quand|où|comment|pourquoi|quién|qué|cuándo|dónde|cómo)\b)|\?\s+(?=\w)",
    re.IGNORECASE,
)
_COMPARING = re.compile(
    r"\b(?:differences?|differ\w*|compar\w+|contrast|versus|vs)\b|\bunterschied\w*|\bvergleich\w*|\bdifférences?\b"
    r"|\bdiferencias?\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:year|jahr|année|año)\b", re.IGNORECASE)
_OPENING = re.compile(r"^[\s¿¡\"'“«(]+")
# Asks for a rule ("when must I renew it?", "who may upload?"), which no date or name answers.
_RULE = re.compile(
    r"\b(?:when|who) (?:may|must|can|should|ought|shall|need|needs|to)\b|\b(?:wann|wer) (?:darf|muss|kann|soll)\b"
    r"|\bwhen (?:is|are) [^?]{1,60}? (?:considered|regarded|treated|deemed|counted|marked)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|an?|der|die|das|eine[mnr]?|einem|le|la|les|une?|el|los|las)\s+", re.IGNORECASE)
_CLAUSE_TAIL = re.compile(r"^(?:and|or|than|the|a|an)\s+", re.IGNORECASE)
_SPAN_TYPES: dict[QuestionKind, SpanType] = {
    "when": "date", "who": "name", "where": "name", "count": "number", "amount": "number", "version": "version",
    "default": "value",
}  # fmt: skip


# "In which version was X dropped?" is answered by the heading of a release, "Which version of X is needed?" by a sentence.
_RELEASE_EVENT = re.compile(
    r"\b(?:in|since|as of|from|with|by|until|seit|ab|in|mit|depuis|desde|en|dans) (?:which|what|welche[rnms]?|quelle|qué) "
    r"|\b(?:version|release)s? (?:\w+ )?(?:\w+ed|brought|made|\w+te|\w+ó|a \w+é)\b|\bfirst (?:version|release)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """What a question asks for. ``sides`` are the two things that it compares, or chooses between."""

    text: str
    kind: QuestionKind
    span: SpanType
    sides: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def analyze_question(text: str) -> Question:
    """Return the kind of a question, the type of its short answer and the things it compares.

    >>> [analyze_question(text).kind for text in ("When was it built?", "Ist das erlaubt?", "List all the options")]
    ['when', 'yes_no', 'list']
    """
    wording = _OPENING.sub("", " ".join(text.split()))
    sides = _find_choice(wording)
    if sides:
        return Question(text, "compare", "choice", sides)
    kind: QuestionKind = next((kind for kind, pattern in _COMPILED if pattern.search(wording)), "lookup")
    if kind == "compare":
        return Question(text, kind, "none", _find_sides(wording))
    if kind in ("when", "who") and _RULE.search(wording):
        return Question(text, kind, "none")
    if kind == "when" and _YEAR.search(wording):
        return Question(text, kind, "year")
    return Question(text, kind, _SPAN_TYPES.get(kind, "none"))


def asks_in_steps(text: str) -> bool:
    """Whether an English question describes a thing instead of naming it, or has many conditions: it may need several steps.

    >>> asks_in_steps("Who is the mayor of the town where Ada Lind was born?"), asks_in_steps("Who is the mayor of Graz?")
    (True, False)
    """
    if (detect_language(text) or ENGLISH) != ENGLISH or analyze_question(text).kind not in CHAINED_KINDS:
        return False
    return bool(find_descriptions(text)) or len(content_stems(text)) >= _MANY_WORDS


def asks_yes_no(question: Question) -> bool:
    """Return whether a question can be answered with yes or no, whatever else it asks for.

    >>> [asks_yes_no(analyze_question(text)) for text in ("Is it on by default?", "What is the default?")]
    [True, False]
    """
    if question.kind in ("yes_no", "compare"):
        return question.kind == "yes_no"
    return _YES_NO.search(_OPENING.sub("", question.text)) is not None


def asks_release(question: Question) -> bool:
    """Return whether a question asks in which release something happened, and not for a version that a sentence states.

    >>> [asks_release(analyze_question(text)) for text in ("Which version dropped it?", "Which version does it need?")]
    [True, False]
    """
    return question.kind == "version" and _RELEASE_EVENT.search(question.text) is not None


def strip_comparing(text: str) -> str:
    """Return a question without the words that only say that it compares; no source need have them.

    >>> strip_comparing("What is the difference between a chain and a group?")
    'What is the   between a chain and a group?'
    """
    return _COMPARING.sub(" ", text) if analyze_question(text).sides else text


def split_compound(text: str) -> list[str]:
    """Return the questions of a question that asks two things at once; empty for a single question.

    >>> split_compound("When was it built, and who designed it?")
    ['When was it built', 'who designed it?']
    """
    parts = [part.strip() for part in _COMPOUND.split(text) if part.strip()]
    return parts if len(parts) > 1 else []


def _find_choice(wording: str) -> tuple[str, ...]:
    """Return the two things of "Which is older, A or B?"; empty for other questions."""
    match = _CHOICE.search(wording)
    if match is None or not wording.rstrip().endswith("?"):
        return ()
    one = _shorten_side(match["one"], from_end=True)
    other = _shorten_side(match["other"], from_end=False)
    return (one, other) if one and other else ()


def _shorten_side(side: str, *, from_end: bool) -> str:
    """Return the name in a side of a choice; empty if it has none."""
    names = extract_entities(_CLAUSE_TAIL.sub("", side.strip(" ?.\"'")))
    return (names[-1] if from_end else names[0]) if names else ""


def _find_sides(wording: str) -> tuple[str, ...]:
    """Return the two things that are compared: "A and B", "A with B", "A versus B"."""
    match = next(
        (
            found
            for pattern in (_BETWEEN, _VERSUS, _DIFFER, _OPENING_PAIR)
            if (found := pattern.search(wording)) is not None
        ),
        None,
    )
    if match is None:
        names = extract_entities(wording)
        return tuple(names[:2]) if len(names) >= 2 else ()
    # "the price of A and B in May" compares A and B.
    one = _OF.sub("", match["one"].strip(" `'\""))
    other = _TAIL.sub("", _ARTICLE.sub("", match["other"].strip(" `'\"")))
    return one.strip(" `'\""), other.strip(" `'\"")
