"""``/cite``: every sentence is attributed to a source or marked as an inference."""

import re
from dataclasses import replace

from suffice.skills.hooks import SkillCode, SkillContext, WrittenText
from suffice.text.citations import has_citation, skip_citations
from suffice.text.markdown import find_prose_blocks
from suffice.text.sentences import split_sentences

INFERENCE_MARK = "*(inference)*"
_QUOTATION = re.compile(r"^>.*(?:\n>.*)*", re.MULTILINE)


class CiteSkill(SkillCode):
    async def after_writing(self, context: SkillContext, written: WrittenText) -> WrittenText:
        answer, count = mark_inferences(written.text.answer)
        context.metadata["inferences"] = count
        return replace(written, text=replace(written.text, answer=answer))


def mark_inferences(markdown: str) -> tuple[str, int]:
    """Return the text with a mark behind each sentence that cites nothing, and how many there are.

    >>> mark_inferences("Bees dance [1]. So they talk.")
    ('Bees dance [1]. So they talk. *(inference)*', 1)
    """
    ends = []
    quoted = [match.span() for match in _QUOTATION.finditer(markdown)]
    for start, end in find_prose_blocks(markdown):
        if any(first <= start < last for first, last in quoted):  # A block of quotation is cited as a whole.
            continue
        spans = split_sentences(markdown, start, end)
        for number, (first, last) in enumerate(spans):
            after = spans[number + 1][0] if number + 1 < len(spans) else end
            cited = has_citation(markdown[first:last]) or skip_citations(markdown, last, after) > last
            text = markdown[first:last]
            if not cited and text.rstrip()[-1:] in ".!…" and INFERENCE_MARK not in text:
                ends.append(last)
    for position in reversed(ends):
        markdown = f"{markdown[:position]} {INFERENCE_MARK}{markdown[position:]}"
    return markdown, len(ends)
