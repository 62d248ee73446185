"""One line of a text: its sentence that says most about an aim, verbatim."""

from suffice.text.entities import content_stems
from suffice.text.sentences import units

LINE = 200  # Characters.


def gist(text: str, kind: str, aim: frozenset[str]) -> str:
    offsets = units(text, kind) or [(0, len(text))]
    best = max(offsets, key=lambda span: len(aim & content_stems(text[span[0] : span[1]])))
    return " ".join(text[best[0] : best[1]].split())[:LINE]
