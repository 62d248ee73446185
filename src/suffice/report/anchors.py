"""Find the typed anchors that a research summary or an investment memo needs and its writer left out.

A figure that a retrieved data source states (``FRED:UNRATE:2024-05``, ``YF:MSFT:snapshot``) must cite that source. If the
writer forgot, the citation is added: the figure and a word of the source's title must stand in the sentence. What cannot be
repaired is reported: a price that no data source states, and a position of a memo without its ``[THESIS:…]`` mark.
"""

import re
from collections.abc import Sequence

from suffice.memory.evidence import Evidence
from suffice.text.citations import list_handles
from suffice.text.entities import content_stems
from suffice.text.markdown import find_sections
from suffice.text.sentences import split_sentences
from suffice.types import Passage

DATA_KIND = "data"
ANCHORED_VARIANTS = ("research", "trading")
_FIGURE = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])")
_PRICE = re.compile(
    r"[$€£¥]\s?\d|\b\d[\d.,]*\s?(?:USD|EUR|GBP|JPY|CHF|dollars?|euros?)\b|\b(?:price|trades?|traded|closed?|stood)\b[^.]*\d",
    re.IGNORECASE,
)
_THESIS_MARK = re.compile(r"\[THESIS:[^\]\s]{1,200}\]")
_COMMON_HEADINGS = re.compile(
    r"\b(?:summary|portfolio|sources|risks?|overview|introduction|conclusion)\b", re.IGNORECASE
)


def add_anchors(text: str, variant: str, evidence: Evidence) -> tuple[str, list[str]]:
    """Return the text with the citations of data sources that its figures come from, and a sentence for each missing one."""
    if variant not in ANCHORED_VARIANTS:
        return text, []
    sources = [passage for passage in evidence if passage.kind == DATA_KIND]
    missing: list[str] = []
    for start, end in reversed(split_sentences(text)):
        sentence = text[start:end]
        if not _FIGURE.search(sentence) or _cites_data(sentence, evidence):
            continue
        if (source := _find_source(sentence, sources)) is not None:
            bare = sentence.rstrip('"”’)*_')
            bare = bare.removesuffix(bare[-1]) if bare.endswith((".", "!", "?")) else bare
            place = end - len(sentence) + len(bare.rstrip())
            text = f"{text[:place]} {evidence.get_handle(source)}{text[place:]}"
        elif variant == "trading" and _PRICE.search(sentence):
            missing.append(f"no market-data source states the price in: {sentence[:160]!r}")
    missing.reverse()
    if variant == "trading":
        missing += [
            f"the section {section.title!r} has no [THESIS:…] mark"
            for section in find_sections(text, 2) or find_sections(text, 3)
            if not _COMMON_HEADINGS.search(section.title) and not _THESIS_MARK.search(text[section.start : section.end])
        ]
    return text, missing


def _cites_data(sentence: str, evidence: Evidence) -> bool:
    passages = (evidence.find_passage(handle) for handle in list_handles(sentence))
    return any(passage is not None and passage.kind == DATA_KIND for passage in passages) or any(
        f"[{passage.id}]" in sentence for passage in evidence if passage.kind == DATA_KIND
    )


def _find_source(sentence: str, sources: Sequence[Passage]) -> Passage | None:
    """Return the data source that states a figure of the sentence under a name that the sentence has."""
    figures, stems = _list_figures(sentence), content_stems(sentence)
    for source in sources:
        date = source.id.rpartition(":")[2]
        stated = _list_figures(source.text.replace(date, " "))
        name = content_stems(source.title.replace(source.id, " "))
        if figures & stated and (name & stems or source.id.split(":")[1] in sentence):
            return source
    return None


def _list_figures(text: str) -> set[str]:
    """Return the figures that can identify a value: with a decimal part or at least two digits, years left out."""
    found = {figure.replace(",", "") for figure in _FIGURE.findall(text)}
    return {figure for figure in found if len(figure) > 1 and not re.fullmatch(r"(?:19|20)\d\d", figure)}
