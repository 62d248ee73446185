"""Compress without a language model: of the known bullets and the new sentences, those that say most about the task."""

from suffice.asks import Compress, Compression, ExtractedFact
from suffice.text.entities import content_stems
from suffice.text.sentences import quotable_spans

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
