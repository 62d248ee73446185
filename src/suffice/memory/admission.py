"""What may enter a belief. A finding is held against the record; what does not pass is refused, with the reason on record.

Refused are: handles that nobody gave out, findings without a source, artefacts ("no evidence for …"), repetitions,
contradictions and names or numbers that no source has, and, if the mind is grounded, findings about another entity.
"""

import re
from collections.abc import Iterable, Sequence

from suffice.asks import Finding
from suffice.memory.base import Mind
from suffice.memory.evidence import Evidence
from suffice.text.entities import bare, content_stems, names
from suffice.text.tokens import jaccard, words
from suffice.types import BELIEF, Note

LONGEST = 400  # Characters of a fact: one sentence.
_REPEATS = 0.8
_ROOT = 5  # Letters by which "German" is known from "Germany".
_ARTEFACT = re.compile(
    r"""\b(?:no|without|lack(?:s|ing)?(?:\s+of)?|insufficient|not\s+(?:any|enough))\s+(?:\w+\s+){0,2}
          (?:evidence|information|mention|data|details?|results?|records?|answers?|sources?|indication)\b
      | \b(?:not|never|n't|nor)\s+(?:\w+\s+)?(?:mention|stat(?:e|ed)|specif|found|provid|available|known|clear|
          contain|say\b|given|determin|identif|address|discuss|disclos|reveal|answer)
      | \bnothing\s+(?:\w+\s+){0,2}(?:about|found|known|said|says)\b | \bunknown\b | \bunclear\b | \bcannot\s+be\s+\w+""",
    re.VERBOSE | re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not?|never|neither|nor|without|none|cannot)\b|n['’]t\b", re.IGNORECASE)
_CITED = re.compile(r"\s*\[\d{1,6}\]")
_HANDLE = re.compile(r"\[?\s*(\d{1,6})\s*\]?")


def admitted(finding: Finding, known: Sequence[Note], task: str, evidence: Evidence, mind: Mind) -> Note | None:
    """The finding as a fact of the belief; ``None`` when it was refused."""
    text = " ".join(_CITED.sub("", finding.text).split())  # Its sources are its handles.
    handles = _handles(finding, evidence, mind)
    why = _why_not(text, handles, known, task, evidence)
    if why is None and mind.grounded and not _about_it(text, handles, finding.about, known, task, evidence, mind):
        why = "it is about another entity than the question"
    if why is not None:
        mind.refuse(f"not believed, {why}: {text[:LONGEST]!r}")
        return None
    return Note(text, handles, kind=BELIEF, whole=False)


def _handles(finding: Finding, evidence: Evidence, mind: Mind) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for given in finding.handles:
        match = _HANDLE.fullmatch(given.strip())
        handle = f"[{int(match[1])}]" if match else given
        if match and evidence.find(handle) is not None:
            found[handle] = None
        else:
            mind.refuse(f"{given[:40]!r} is no passage of this run; it was dropped from {finding.text[:80]!r}")
    return tuple(found)


def _why_not(text: str, handles: tuple[str, ...], known: Sequence[Note], task: str, evidence: Evidence) -> str | None:
    if not handles:
        return "it has no source"
    if not content_stems(text):
        return "it says nothing"
    if len(text) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    sources = _sources(handles, evidence)
    verbatim = _plain(text) in _plain(sources)
    if not verbatim and _ARTEFACT.search(text):
        return "that something was not found is no fact"
    for fact in known:
        if not _repeats(text, fact.text):
            continue
        if bool(_NEGATION.search(text)) == bool(_NEGATION.search(fact.text)):
            return "it repeats the belief"
        if not verbatim:
            return "it contradicts the belief and no source says so"
    odd = None if verbatim else stray(text, [sources, task, *(fact.text for fact in known)])
    return None if odd is None else f"no source of it has {odd!r}"


def _repeats(text: str, fact: str) -> bool:
    new, old = content_stems(text), content_stems(fact)
    return new <= old or (jaccard(new, old) >= _REPEATS and not _numbers(text) - _numbers(fact))


def stray(text: str, sources: Iterable[str]) -> str | None:
    """A name or number of the text that is in none of the sources."""
    there = {word for source in sources for word in words(source)}
    roots = {word[:_ROOT] for word in there}
    for number in _numbers(text):
        if number not in there:
            return number
    opening = next(iter(words(text)), "")
    for name in names(text):
        # The first word of a sentence has its capital for standing there.
        missing = [word for word in words(name) if word != opening and word[:_ROOT] not in roots]
        if missing:
            return name
    return None


def _about_it(
    text: str,
    handles: tuple[str, ...],
    about: str,
    known: Sequence[Note],
    task: str,
    evidence: Evidence,
    mind: Mind,
) -> bool:
    """The finding, or the title of a source of it, names what the question names, or what a known fact ties to that."""
    question = mind.predicates.find(about) or task
    wanted = [content_stems(name) for name in names(question)] or [content_stems(name) for name in names(task)]
    wanted = [stems for stems in wanted if stems]
    if not wanted:
        return True
    for fact in known:
        if any(stems <= content_stems(fact.text) for stems in list(wanted)):
            wanted += [stems for name in names(fact.text) if (stems := content_stems(name)) and stems not in wanted]
    titles = " ".join(bare(passage.title) for handle in handles if (passage := evidence.find(handle)) is not None)
    own = content_stems(f"{titles} {text}")
    return any(stems <= own for stems in wanted)


def _sources(handles: Iterable[str], evidence: Evidence) -> str:
    found = (evidence.find(handle) for handle in handles)
    return "\n".join(f"{passage.title}\n{passage.text}" for passage in found if passage is not None)


def _numbers(text: str) -> set[str]:
    return {word for word in words(text) if word[0].isdigit()}


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
