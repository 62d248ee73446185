"""Read how broad a question is: one fact (narrow), everything of a kind (list), or research (broad).

The wording decides where it is clear. Where it is open ("How can we …?"), the files do: a narrow question has one peak of
relevance, a broad one a plateau over many files. In doubt a question is narrow: a short answer to a broad question costs
one more question, a long report on a narrow one hides its answer.
"""

import re
from collections.abc import Sequence
from typing import Literal

from suffice.text.entities import strip_instruction

Breadth = Literal["narrow", "list", "broad"]
BREADTHS: tuple[Breadth, ...] = ("narrow", "list", "broad")

_PLATEAU_FILES = 5  # So many files …
_PLATEAU_SHARE = 0.8  # … are at least so near the question as the nearest.

_MATTERS = (
    r"(?:factors|drivers|causes|reasons|risks|challenges|trends|effects?|impacts?|implications|consequences|benefits|drawbacks"
    r"|advantages|disadvantages|opportunities|barriers|obstacles|lessons|strategies|approaches|arguments|strengths|weaknesses"
    r"|trade-?offs|pros and cons|best practices|considerations|patterns|insights|learnings|state of (?:the art|knowledge)|views"
    r"|evidence|outlook|role|influence|relationship|future|history|evolution)"
)
_NARROW = re.compile(
    r"^(?:who|whom|whose|when|where)\b|^(?:in|on|at|by|from|since) (?:what|which) (?:year|month|day|date|city|country|page|file)\b"
    r"|^how (?:many|much|long|old|far|often|big|large|tall|fast|high|soon)\b|^how (?:do|can|could|should|would) (?:i|you|one|users?)\b"
    r"|^how to\b|^(?:is|are|was|were|does|do|did|can|has|have|had|will|must|may|should)\b|\bdefaults?\b",
    re.IGNORECASE,
)
_BROAD = re.compile(
    rf"\b(?:what|which)(?: \w+){{0,2}} (?:are|is|were|was|will be)(?: \w+){{0,4}} {_MATTERS}\b|^(?:what|which)(?: \w+){{0,2}} {_MATTERS}\b"
    r"|\bwhat (?:is|do we|do you|have we) (?:already )?(?:known?|learn(?:ed|t)|understood)\b|\beverything (?:about|on)\b"
    r"|\bwhat (?:do|does|did|have|has) .{3,80} (?:say|says|said|tell us|report|conclude|recommend) (?:about|on|regarding|concerning)\b"
    r"|^how (?:does|do|did|has|have|is|are|will|might|would) .{3,120} (?:affect|influence|impact|shape|chang|evolv|develop|transform"
    r"|contribut|perform|compare)\w*|\b(?:assess|analy[sz]e|evaluate|discuss|investigate|compare|explore|review|research)\b(?! the)"
    r"|^(?:assess|analy[sz]e|evaluate|discuss|investigate|examine|compare|explore|review|research|summari[sz]e|describe|explain)\b"
    r"|^how (?:can|could|should|might|must) (?!i\b|you\b|one\b).{3,200}\b(?:leverage|improv|enhanc|strengthen|implement|increas|reduc"
    r"|minimi[sz]|maximi[sz]|optimi[sz]|adapt|adopt|prepar|balanc|address|compet|transform|mitigat|support|grow|respond|retain|ensur"
    r"|driv|manag|protect|boost|lower|cut|tackl|achiev|accelerat|position|differentiat|integrat|moderni[sz])\w*"
    r"|\bwhat (?:should|can|could|must) (?!i\b|you\b)[\w' ]{2,40}\b(?:do|consider|learn|expect|prepare|change|focus|know)\b"
    r"|\b(?:state of the art|pros and cons|best practices|big picture|lessons learned)\b",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"^(?:please )?(?:list|enumerate|name|collect|find|show|give me|gather)\b.*\b(?:all|every|each|list|which|any|the [\w-]+s)\b"
    r"|^(?:list|enumerate|name)\b|\b(?:all (?:of )?(?:the|our|its|my|those|places|cases|files)|every(?:thing (?:that|which|we)|where)?|complete list)\b"
    r"|^(?:what|which) (?:are|were) (?:all )?(?:the|our|its)?\s?(?:[\w-]+ ){0,4}[\w-]*[^\Wsui]s\b"
    r"|^(?:what|which)(?: (?:of (?:the|our|its)|different|other|kinds? of|types? of|sorts? of|[\w-]+)){0,3}? [\w-]*[^\Wsui]s"
    r" (?!is\b|was\b|has\b)(?:\w+)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(r"^(?:how (?:can|could|should|might) (?!i\b|you\b)|what (?:should|can|could) |why )", re.IGNORECASE)


def read_breadth(question: str, file_scores: Sequence[float] = ()) -> Breadth:
    """Return how broad a question is. ``file_scores`` say how near each file is to it, the nearest first.

    >>> [read_breadth(text) for text in ("Who built the mill?", "Which mills use solar power?", "What is known about mills?")]
    ['narrow', 'list', 'broad']
    """
    wording = " ".join(question.split()).lstrip("¿¡\"'“«( ")
    if strip_instruction(wording) != wording:
        return "broad"
    if _NARROW.search(wording):
        return (
            "list" if re.search(r"\b(?:all|every|each) (?:of )?(?:the|our|its|places?|cases?)\b", wording) else "narrow"
        )
    if _BROAD.search(wording):
        return "broad"
    if _LIST.search(wording):
        return "list"
    return "broad" if _OPEN.search(wording) and has_plateau(file_scores) else "narrow"


def is_open(question: str) -> bool:
    """Whether the wording of a question leaves its breadth to the files."""
    return bool(_OPEN.search(question.strip())) and read_breadth(question) == "narrow"


def has_plateau(file_scores: Sequence[float]) -> bool:
    """Whether several files are about as near as the nearest.

    >>> has_plateau([0.6, 0.58, 0.55, 0.55, 0.5]), has_plateau([0.6, 0.3, 0.3, 0.2, 0.2])
    (True, False)
    """
    near = [score for score in file_scores if score >= _PLATEAU_SHARE * max(file_scores)]
    return len(near) >= _PLATEAU_FILES
