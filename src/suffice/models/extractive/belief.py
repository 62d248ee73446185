"""Extract and compress facts: sentences of the sources, verbatim, with their handles.

Limits: words are compared, so a fact in other words than the question is missed, and a question counts as answered when a
sentence (with the title of its page) is about it, whether or not it says what was asked.
"""

from dataclasses import dataclass

from suffice.prompts.belief import Compress, Compression, Extract, ExtractedFact, Extraction
from suffice.prompts.lab import NotesResponse, RewriteNotes
from suffice.text.entities import content_stems, extract_names, one_line_summary
from suffice.text.sentences import quotable_spans
from suffice.types import Note

_ANSWER_THRESHOLD = 0.6  # A sentence with this share of a question's stems, with its title, answers the question.
_RELEVANCE_THRESHOLD = 0.25  # A sentence with this share of the task's stems may be a step towards the answer.
_MAX_FACTS = 6
_MAX_SENTENCE_CHARS = 400  # A longer "sentence" is a table.
_MAX_BULLETS = 8
_MAX_BULLET_CHARS = 190  # Eight of them fit the 1,500 characters of a knowledge state.


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    note: Note
    own_stems: frozenset[str]
    stems: frozenset[str]  # With those of the title: a page about Ada says "she".
    names_new_entity: bool  # It names something that neither the task nor the title names.


def extract_facts(prompt: Extract) -> Extraction:
    """Return the best sentence for each open question and, from each note, the best for the task."""
    sentences = [sentence for note in prompt.observation for sentence in _analyze_sentences(note, prompt.task)]
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
    """Return a question about the first new name in the facts, in the words of the first open question."""
    seen = " ".join([prompt.task, *prompt.open, *(fact.text for fact in prompt.known)]).lower()
    fresh = [name for fact in facts for name in extract_names(fact.text) if name.lower() not in seen]
    return (f"{fresh[0]} {left[0]}",) if fresh and left else ()


def _analyze_sentences(note: Note, task: str) -> list[_Sentence]:
    title = content_stems(note.title)
    known = f"{task} {note.title}".lower()
    found = []
    for start, end in quotable_spans(note.text, note.kind):
        text = " ".join(note.text[start:end].split())
        stems = content_stems(text)
        if len(stems) >= 2 and len(text) <= _MAX_SENTENCE_CHARS:
            names_new_entity = any(name.lower() not in known for name in extract_names(text))
            found.append(_Sentence(text, note, stems, stems | title, names_new_entity))
    return found


def _find_best_sentence(question: str, sentences: list[_Sentence]) -> _Sentence | None:
    stems = content_stems(question)
    related = [s for s in sentences if stems & s.own_stems or (s.names_new_entity and stems & s.stems)]
    # Of sentences with equal coverage, prefer one that names something new, then one that says it without its title.
    return max(
        related, key=lambda s: (_stem_coverage(s, stems), s.names_new_entity, len(stems & s.own_stems)), default=None
    )


def _stem_coverage(sentence: _Sentence, wanted: frozenset[str]) -> float:
    return len(wanted & sentence.stems) / len(wanted) if wanted else 0.0


def rewrite_notes(prompt: RewriteNotes) -> NotesResponse:
    """Put the sentence of each new passage that fits the task best above the notes so far."""
    known = RewriteNotes.read("".join(note.text for note in prompt.notes))
    found = extract_facts(Extract(prompt.task, prompt.notes, known.questions, prompt.observation))
    lines = [f"{fact.text} {' '.join(fact.handles)}" for fact in found.facts if fact.text not in known.notes]
    left = [question for question in known.questions if question not in found.resolved]
    return NotesResponse("\n".join([*lines, known.notes]), (), (*left, *found.questions))


def compress_facts(prompt: Compress) -> Compression:
    """Choose the bullets with the most stems of the task, new ones before old ones; of each result take its best sentence."""
    task_stems = content_stems(prompt.task)
    bullets = [ExtractedFact(note.text[:_MAX_BULLET_CHARS], note.handles) for note in prompt.known]
    for note in prompt.results:
        text = one_line_summary(note.text, note.kind, task_stems)[:_MAX_BULLET_CHARS]
        if content_stems(text):
            bullets.append(ExtractedFact(text, note.handles))
    ranked = sorted(range(len(bullets)), key=lambda i: (-len(task_stems & content_stems(bullets[i].text)), -i))
    chosen: list[int] = []
    for i in ranked:
        if len(chosen) < _MAX_BULLETS and bullets[i].text not in {bullets[j].text for j in chosen}:
            chosen.append(i)
    return Compression(tuple(bullets[i] for i in sorted(chosen)))
