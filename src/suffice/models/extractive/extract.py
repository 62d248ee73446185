"""Extract without a language model: the sentences that cover an open question, or the task, best. Verbatim, with handles.

Its limits: it compares words, so a fact in other words than the question is missed, and a question counts as answered when a
sentence (with the title of its page) is about it, whether or not it says what was asked.
"""

from dataclasses import dataclass

from suffice.asks import Extract, Extraction, Finding
from suffice.text.entities import content_stems, names
from suffice.text.sentences import units
from suffice.types import Note

_COVERS = 0.6  # A sentence with its title holds this share of a question's stems: it is about it.
_TOUCHES = 0.25  # … and this share of the task's stems: it may be a step towards it.
_MOST = 6
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    note: Note
    own: frozenset[str]
    stems: frozenset[str]  # With the title: a page about Ada says "she".
    leads_on: bool  # It names something that neither the task nor its own title names.


def extract(ask: Extract) -> Extraction:
    sentences = [sentence for note in ask.observation for sentence in _sentences(note, ask.task)]
    known = {fact.text for fact in ask.known}
    facts: dict[str, Finding] = {}
    resolved: list[str] = []
    for question in ask.open:
        best = _best(question, sentences)
        if best is not None and _share(best, content_stems(question)) >= _COVERS:
            resolved.append(question)
            if best.text not in known:
                facts.setdefault(best.text, Finding(best.text, best.note.handles, question))
    for note in ask.observation:
        best = _best(ask.task, [sentence for sentence in sentences if sentence.note is note])
        if best is not None and _share(best, content_stems(ask.task)) >= _TOUCHES and best.text not in known:
            facts.setdefault(best.text, Finding(best.text, best.note.handles))
    left = [question for question in ask.open if question not in resolved]
    chosen = tuple(facts.values())[:_MOST]
    return Extraction(chosen, tuple(resolved), _bridges(ask, chosen, left))


def _bridges(ask: Extract, facts: tuple[Finding, ...], left: list[str]) -> tuple[str, ...]:
    """What the facts name for the first time, asked about in the words of what is still open."""
    seen = " ".join([ask.task, *ask.open, *(fact.text for fact in ask.known)]).lower()
    fresh = [name for fact in facts for name in names(fact.text) if name.lower() not in seen]
    return (f"{fresh[0]} {left[0]}",) if fresh and left else ()


def _sentences(note: Note, task: str) -> list[_Sentence]:
    title = content_stems(note.title)
    given = f"{task} {note.title}".lower()
    found = []
    for start, end in units(note.text, note.kind):
        text = " ".join(note.text[start:end].split())
        own = content_stems(text)
        if len(own) >= 2 and len(text) <= _LONGEST:
            leads_on = any(name.lower() not in given for name in names(text))
            found.append(_Sentence(text, note, own, own | title, leads_on))
    return found


def _best(question: str, sentences: list[_Sentence]) -> _Sentence | None:
    wanted = content_stems(question)
    touching = [s for s in sentences if wanted & s.own or (s.leads_on and wanted & s.stems)]
    # Between sentences that say as much: the one that leads on, then the one that says it itself.
    return max(touching, key=lambda s: (_share(s, wanted), s.leads_on, len(wanted & s.own)), default=None)


def _share(sentence: _Sentence, wanted: frozenset[str]) -> float:
    return len(wanted & sentence.stems) / len(wanted) if wanted else 0.0
