"""Extract without a language model: the sentences that cover an open question, or the task, best. Verbatim, with handles.

Its limits: it compares words, so a fact in other words than the question is missed, and a question counts as answered when a
sentence (with the title of its page) is about it, whether or not it says what was asked.
"""

from dataclasses import dataclass

from suffice.prompts import Compress, Compression, Curate, CuratedFact, Curation, Extract, ExtractedFact, Extraction
from suffice.text.entities import content_stems, extract_names
from suffice.text.facts import select_facts
from suffice.text.sentences import quotable_spans
from suffice.types import Note

_ANSWER_THRESHOLD = 0.6  # A sentence with its title holds this share of a question's stems: it is about it.
_RELEVANCE_THRESHOLD = 0.25  # … and this share of the task's stems: it may be a step towards it.
_MAX_FACTS = 6
_MAX_SENTENCE_CHARS = 400


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    note: Note
    own_stems: frozenset[str]
    stems: frozenset[str]  # With the title: a page about Ada says "she".
    names_new_entity: bool  # It names something that neither the task nor its own title names.


def extract_facts(prompt: Extract) -> Extraction:
    sentences = [sentence for note in prompt.observation for sentence in _split_sentences(note, prompt.task)]
    known = {fact.text for fact in prompt.known}
    facts: dict[str, ExtractedFact] = {}
    resolved: list[str] = []
    for question in prompt.open:
        best = _find_best_sentence(question, sentences)
        if best is not None and _stem_coverage(best, content_stems(question)) >= _ANSWER_THRESHOLD:
            resolved.append(question)
            if best.text not in known:
                facts.setdefault(best.text, ExtractedFact(best.text, best.note.handles, question))
    for note in prompt.observation:
        best = _find_best_sentence(prompt.task, [sentence for sentence in sentences if sentence.note is note])
        if (
            best is not None
            and _stem_coverage(best, content_stems(prompt.task)) >= _RELEVANCE_THRESHOLD
            and best.text not in known
        ):
            facts.setdefault(best.text, ExtractedFact(best.text, best.note.handles))
    left = [question for question in prompt.open if question not in resolved]
    chosen = tuple(facts.values())[:_MAX_FACTS]
    return Extraction(chosen, tuple(resolved), _bridge_questions(prompt, chosen, left))


def _bridge_questions(prompt: Extract, facts: tuple[ExtractedFact, ...], left: list[str]) -> tuple[str, ...]:
    """What the facts name for the first time, asked about in the words of what is still open."""
    seen = " ".join([prompt.task, *prompt.open, *(fact.text for fact in prompt.known)]).lower()
    fresh = [name for fact in facts for name in extract_names(fact.text) if name.lower() not in seen]
    return (f"{fresh[0]} {left[0]}",) if fresh and left else ()


def _split_sentences(note: Note, task: str) -> list[_Sentence]:
    title = content_stems(note.title)
    given = f"{task} {note.title}".lower()
    found = []
    for start, end in quotable_spans(note.text, note.kind):
        text = " ".join(note.text[start:end].split())
        own = content_stems(text)
        if len(own) >= 2 and len(text) <= _MAX_SENTENCE_CHARS:
            leads_on = any(name.lower() not in given for name in extract_names(text))
            found.append(_Sentence(text, note, own, own | title, leads_on))
    return found


def _find_best_sentence(question: str, sentences: list[_Sentence]) -> _Sentence | None:
    wanted = content_stems(question)
    touching = [s for s in sentences if wanted & s.own_stems or (s.names_new_entity and wanted & s.stems)]
    # Between sentences that say as much: the one that leads on, then the one that says it itself.
    return max(
        touching, key=lambda s: (_stem_coverage(s, wanted), s.names_new_entity, len(wanted & s.own_stems)), default=None
    )


def _stem_coverage(sentence: _Sentence, wanted: frozenset[str]) -> float:
    return len(wanted & sentence.stems) / len(wanted) if wanted else 0.0


def curate_facts(prompt: Curate) -> Curation:
    """Select facts by rule; see ``select_facts``."""
    groups = select_facts([fact.text for fact in prompt.facts], prompt.task, prompt.open, prompt.most)
    return Curation(tuple(CuratedFact(tuple(number + 1 for number in group)) for group in groups))


_MAX_BULLETS = 8
_MAX_BULLET_CHARS = 190  # Eight of them fit the 1,500 characters of a knowledge state.


def compress_facts(prompt: Compress) -> Compression:
    """Greedy: each bullet is the one that adds most stems of the task; then new ones before old."""
    aim = content_stems(prompt.task)
    bullets = [ExtractedFact(note.text[:_MAX_BULLET_CHARS], note.handles) for note in prompt.known]
    for note in prompt.results:
        spans = quotable_spans(note.text, note.kind) or [(0, len(note.text))]
        start, end = max(spans, key=lambda span: len(aim & content_stems(note.text[span[0] : span[1]])))
        text = " ".join(note.text[start:end].split())[:_MAX_BULLET_CHARS]
        if content_stems(text):
            bullets.append(ExtractedFact(text, note.handles))
    ranked = sorted(range(len(bullets)), key=lambda i: (-len(aim & content_stems(bullets[i].text)), -i))
    chosen: list[int] = []
    for i in ranked:
        if len(chosen) < _MAX_BULLETS and bullets[i].text not in {bullets[j].text for j in chosen}:
            chosen.append(i)
    return Compression(tuple(bullets[i] for i in sorted(chosen)))
