"""Compress without a language model: of the known bullets and the new sentences, those that say most about the task."""

from suffice.asks import Compress, Compression, Finding
from suffice.text.entities import content_stems
from suffice.text.sentences import units

_MOST = 8
_LONGEST = 190  # Eight of them fit the 1,500 characters of a knowledge state.


def compress(ask: Compress) -> Compression:
    """Greedy: each bullet is the one that adds most stems of the task; then new ones before old."""
    aim = content_stems(ask.task)
    bullets = [Finding(note.text[:_LONGEST], note.handles) for note in ask.known]
    for note in ask.results:
        spans = units(note.text, note.kind) or [(0, len(note.text))]
        start, end = max(spans, key=lambda span: len(aim & content_stems(note.text[span[0] : span[1]])))
        text = " ".join(note.text[start:end].split())[:_LONGEST]
        if content_stems(text):
            bullets.append(Finding(text, note.handles))
    ranked = sorted(range(len(bullets)), key=lambda i: (-len(aim & content_stems(bullets[i].text)), -i))
    chosen: list[int] = []
    for i in ranked:
        if len(chosen) < _MOST and bullets[i].text not in {bullets[j].text for j in chosen}:
            chosen.append(i)
    return Compression(tuple(bullets[i] for i in sorted(chosen)))
