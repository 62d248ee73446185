"""One line of a text: its sentence that says most about an aim, verbatim."""

from suffice.text.entities import content_stems
from suffice.text.sentences import quotable_spans

SUMMARY_CHARS = 200  # Characters.


def one_line_summary(text: str, kind: str, target_stems: frozenset[str]) -> str:
    offsets = quotable_spans(text, kind) or [(0, len(text))]
    best = max(offsets, key=lambda span: len(target_stems & content_stems(text[span[0] : span[1]])))
    return " ".join(text[best[0] : best[1]].split())[:SUMMARY_CHARS]
