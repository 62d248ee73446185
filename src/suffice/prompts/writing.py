"""Prompts that write the answer.

A model writes the answer as plain Markdown: models of every size do that best, and it can be shown while it streams. Its
first sentence is the summary, a line "Short answer: …" is the short answer; lists under known headings at its end become
fields of the response.
"""

import re
from typing import Any

from suffice.prompts.base import Prompt, Response
from suffice.text.citations import list_handles, skip_citations, strip_citations
from suffice.text.markdown import Section, find_headings, has_list_marker, split_list_items
from suffice.text.parts import split_statements
from suffice.text.sentences import split_sentences
from suffice.types import Note, Sufficiency

_LIST_FIELDS = ("key_findings", "recommendations", "risks", "open_questions")
_OPENING_HEADINGS = ("answer", "final answer", "report", "summary")
# Words of the prompt that models repeat as headings, with text that is none of the answer.
_ECHOED_HEADINGS = ("task", "sources")
_ANSWER_HEADING = re.compile(r"^#+[ \t]*(?:final[ \t]+)?answer[ \t]*[:–—-][ \t]*(\S.*)$", re.IGNORECASE | re.MULTILINE)
_SHORT_ANSWER = re.compile(
    r"^[ \t>*_-]*+(?:line 2[ \t]*+:[ \t]*+)?short(?:[ \t]answer)?[ \t]*+\**+[ \t]*+:[ \t]*+(.*)$", re.I | re.M
)
_LINE_LABEL = re.compile(r"^(?:line 1|(?:full |final )?answer|sentence)\s*:\s*", re.IGNORECASE)
_MAX_SHORT_CHARS = 120  # Characters; a longer "short answer" is a sentence.
_SOURCE = r"(?:sources?|passages?|documents?|texts?|excerpts?|evidence|information|context)"
_NON_ANSWER = re.compile(
    rf"\b{_SOURCE}\b(?:\s+\w+){{0,4}}\s+(?:do|does|did)(?:\s+not|n['’]t)(?:\s+\w+){{0,2}}?\s+(?:say|state|mention|contain|provide"
    r"|specif|give|hold|name|answer|include|tell|indicate|identify|address|cover|reveal|list)"
    rf"|\bnot\s+(?:\w+\s+)?(?:mentioned|stated|specified|given|provided|named|found|available|answered|included)\s+(?:in|by|from)\s+"
    rf"(?:the|these|this|any|my)\s+(?:\w+\s+)?{_SOURCE}"
    rf"|\bno\s+(?:\w+\s+)?(?:information|mention|evidence|source|passage|answer)\b.*\b(?:{_SOURCE}|says?|states?|mentions?|given|found)\b"
    r"|\b(?:cannot|can['’]t|could\s+not)\s+be\s+(?:determined|answered|inferred)\b"
    r"|^\W*(?:none|n/?a|unknown|no answer|not (?:stated|given|found|specified|mentioned|available|provided|known))"
    r"\W*(?:$|in\b)",
    re.IGNORECASE,
)
_EMPTY_ITEM = re.compile(r"\W*(?:none|nothing|n/a|not applicable)(?: \w+)?\W*", re.IGNORECASE)


class SynthesisResponse(Response):
    """``answer`` is Markdown in which every statement is followed by the handles of its sources: ``… [3].``

    ``short_answer`` is the bare answer (a name, a number, yes or no), empty if there is none. ``sufficiency`` is ``partly`` if
    the text says that the sources do not hold the answer.
    """

    answer: str
    summary: str = ""
    key_findings: tuple[str, ...] = ()
    recommendations: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    short_answer: str = ""
    sufficiency: Sufficiency = "unknown"
    raw: str = ""
    """The text as the model wrote it."""


class WritingPrompt(Prompt[SynthesisResponse]):
    """Base of the prompts whose response is an answer in Markdown."""

    output_format = "text"

    @classmethod
    def parse(cls, text: str) -> SynthesisResponse:
        return parse_markdown_answer(text)


class DraftAnswer(WritingPrompt):
    """The answer or one section of it."""

    role = "draft"
    temperature = 0.1
    omits_empty = True
    truncation_order = (("notes", "first"),)

    task: str
    notes: tuple[Note, ...]
    caveats: tuple[str, ...] = ()
    section: str = ""
    """The section to write; empty for the whole answer."""
    instruction: str = ""
    """How to write: one of the snippets in ``writing``."""
    count: int = 0
    """How many sections a list must have; 0 when the task gives no number."""
    lists: str = ""
    """The headings of lists that may follow the answer."""
    correction: str = ""
    """What was wrong with the last draft if it is requested again."""
    length: str = ""
    """How many words the user wants, if that was said."""
    max_tokens: int = 2000
    today: str = ""


class Rewrite(WritingPrompt):
    """A finished answer as a skill asks for it."""

    role = "rewrite"

    task: str
    text: Note
    instruction: str
    max_tokens: int = 4000


class AnswerSentence(WritingPrompt):
    """The answer by a model too small to write more.

    There is no way out such as NONE: small models take it although the answer is there (docs/writing.md).
    """

    role = "answer"
    max_tokens = 160
    truncation_order = (("notes", "first"),)

    task: str
    notes: tuple[Note, ...]
    opening: str = ""
    """How the sentence must begin, if that matters."""

    @classmethod
    def parse(cls, text: str) -> SynthesisResponse:
        """Keep the first sentence and the short answer. A question or "the sources do not say" is not an answer."""
        written = parse_markdown_answer(text)
        sentence = _LINE_LABEL.sub("", written.summary)
        after = skip_citations(sentence)  # A source that is named before the sentence goes behind it.
        sentence = " ".join(filter(None, (sentence[after:].strip(), sentence[:after].strip())))
        if not sentence or strip_citations(sentence).rstrip().endswith("?") or is_non_answer(sentence):
            return SynthesisResponse("", sufficiency="no", raw=text)
        return SynthesisResponse(sentence, sentence, short_answer=written.short_answer, raw=text)


class SelfTestResponse(Response):
    """``passed``: the model found the answer, which takes two sources and a sum, and cited every sentence."""

    passed: bool


class SelfTest(Prompt[SelfTestResponse]):
    role = "self_test"
    output_format = "text"
    max_tokens = 200

    @classmethod
    def parse(cls, text: str) -> SelfTestResponse:
        sentences = [text[start:end] for start, end in split_sentences(text) if any(map(str.isalpha, text[start:end]))]
        opening = sentences[0] if sentences else ""
        is_right = "1874" in opening and "Vienna" in opening
        cited = set(list_handles(text))
        return SelfTestResponse(
            is_right
            and {"[2]", "[3]"} <= cited <= {"[1]", "[2]", "[3]"}
            and len(sentences) <= 4
            and not find_headings(text)
        )


class Revise(WritingPrompt):
    """The answer without the issues that a review found."""

    role = "revise"
    temperature = 0.1
    omits_empty = True
    truncation_order = (("removed", "last"), ("issues", "last"), ("notes", "last"))

    task: str
    instruction: str
    issues: tuple[str, ...]
    text: Note
    notes: tuple[Note, ...]
    removed: tuple[str, ...] = ()
    max_tokens: int = 2500


class MendedSentence(Response):
    number: int
    text: str


class MendResponse(Response):
    sentences: tuple[MendedSentence, ...] = ()


class Mend(Prompt[MendResponse]):
    """Sentences that the claim check doubted."""

    role = "mend"
    truncation_order = (("sources", "last"),)
    temperature = 0.1

    task: str
    doubts: tuple[str, ...]
    """The sentences, numbered, each with the reason of the doubt."""
    text: Note
    """The parts of the answer with doubted sentences, which are numbered."""
    sources: tuple[Note, ...]
    max_tokens: int = 2000


class ComputeResponse(Response):
    """``code`` is empty when nothing needs to be computed; ``more`` says that another program should follow."""

    code: str = ""
    more: bool = False


class Compute(Prompt[ComputeResponse]):
    role = "compute"
    omits_empty = True
    truncation_order = (("notes", "first"),)

    task: str
    modules: str
    trouble: str
    """The last program and what was wrong with it; empty for the first."""
    notes: tuple[Note, ...]
    """The sentences with figures; none for a program that is corrected."""


def parse_markdown_answer(text: str) -> SynthesisResponse:
    """Return the parts of a written answer. Only lists under known headings at its end are taken out of it."""
    raw = text
    text, short_answer = _take_short_answer(_drop_echoes(text.strip()))
    lists: dict[str, Any] = {}  # The fields of the response by name.
    while headings := find_headings(text, bold_lines=True):
        last = headings[-1]
        name = _heading_title(last).replace(" ", "_")
        body = text[last.body_start :].strip()
        if name not in _LIST_FIELDS or name in lists or not _is_list(body):
            break
        lists[name] = _parse_list_items(body)
        text = text[: last.start].rstrip()
    if headings and headings[0].start == 0 and _heading_title(headings[0]) in _OPENING_HEADINGS:
        text = text[headings[0].body_start :].lstrip()
    if not text:  # Small models sometimes write only the lists: the findings are then the answer.
        text = "\n\n".join(lists.pop("key_findings", ()))
    summary = extract_first_sentence(text)
    if is_non_answer(summary):
        return SynthesisResponse(text, summary, **lists, sufficiency="partly", raw=raw)
    return SynthesisResponse(text, summary, **lists, short_answer=short_answer, raw=raw)


def is_non_answer(text: str) -> bool:
    """Return whether a sentence says that the sources do not hold the answer, instead of answering.

    >>> is_non_answer("The sources do not say who built it."), is_non_answer("The mill was not built by Kolbe.")
    (True, False)
    """
    return bool(_NON_ANSWER.search(text))


def _take_short_answer(text: str) -> tuple[str, str]:
    """Return the text without its line "Short answer: …", and the short answer without citations; empty if it is none."""
    found = _SHORT_ANSWER.search(text)
    if found is None:
        return text, ""
    short = strip_citations(found[1]).strip(' *_"“”.')
    own = found[1].strip() if len(short) > _MAX_SHORT_CHARS else ""  # A sentence: it stays in the text.
    rest = "\n\n".join(filter(None, (text[: found.start()].rstrip(), own, text[found.end() :].lstrip())))
    return rest, "" if own or is_non_answer(short) else short


def _drop_echoes(text: str) -> str:
    """Remove sections that repeat the prompt, and turn a heading that states the answer into a sentence, so that it is
    checked like one."""
    for heading in reversed(find_headings(text)):
        if _heading_title(heading) in _ECHOED_HEADINGS:
            text = text[: heading.start] + text[heading.end :]
    return _ANSWER_HEADING.sub(lambda found: f"{found[1]}\n\n", text).strip()


def _heading_title(heading: Section) -> str:
    return heading.title.strip(" :").lower()


def _is_list(text: str) -> bool:
    """Whether a text is a list and nothing else, or paragraphs of which each can be an item."""
    return has_list_marker(text) or (split_list_items(text) == text.split("\n\n") and not text.startswith(("|", "```")))


def _parse_list_items(text: str) -> tuple[str, ...]:
    """Return the items of a list, each in one line; without list markers, each paragraph is an item."""
    lines = (" ".join(piece.split()) for piece in split_list_items(text))
    return tuple(line for line in lines if line and not _EMPTY_ITEM.fullmatch(line))


def extract_first_sentence(text: str) -> str:
    """Return the first sentence outside headings, quotations and lists, with the handles that follow it."""
    for paragraph in text.split("\n\n"):
        prose = paragraph.strip()
        is_prose = not prose.startswith(("#", ">", "|", "```")) and not has_list_marker(prose)
        if is_prose and (sentences := split_statements(prose)):
            return sentences[0]
    return ""
