"""Curate papers with five readers, and find what each says on its method and its limits."""

import math
import re
from collections.abc import Iterator, Mapping
from statistics import fmean

from suffice.memory.evidence import Evidence
from suffice.skills.lit_review.papers import Paper
from suffice.skills.sentences import QuotedSentence, clean_sentence, list_sentences
from suffice.text.entities import content_stems
from suffice.text.sentences import split_sentences

MIN_MEAN = 3.5  # A paper stays if the mean of its five marks is at least this (value of the source system) …
MIN_MARK = 2.0  # … and none of them is below this.
MAX_LIMITS = 2
_METHOD = re.compile(
    r"\b(?:method|algorithm|approach|data|sample|experiment|measured?|dataset|model|procedure|implement\w*)\b", re.I
)
_GAP = re.compile(
    r"\b(?:future work|further (?:research|work|stud\w+)|remains? (?:open|unclear|unknown|to be)|limitations?"
    r"|(?:is|are) not yet|unclear|open (?:problem|question)s?|little is known|not (?:well )?understood)\b",
    re.IGNORECASE,
)
# A section below a heading such as "Limitations" or "6 Future work", up to the next heading with marks or a number.
_GAP_SECTION = re.compile(
    r"^[ \t#\d.]*(?:limits|limitations?|caveats|outlook|threats to validity|(?:future|further) (?:work|research|studies"
    r"|directions)|open (?:questions?|problems?|issues?))[ \t:]*$(?P<text>(?:(?!\n\n[ \t]*[#\d]).)*)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)


def mark_paper(paper: Paper, topic: str, similarity: float | None) -> dict[str, float]:
    """Return the marks of five readers, from 1 to 5, by what can be counted without a language model.

    relevance   words of the topic in title and text, or the similarity of their meaning
    substance   length, from a note to a long paper
    evidence    sentences with numbers
    method      sentences about how something was done
    provenance  authors, year, DOI, title
    """
    wanted, title, stems = content_stems(topic), content_stems(paper.title), content_stems(paper.text[:20_000])
    shared = len(wanted & (stems | title)) / len(wanted) if wanted else 1.0
    sentences = [text for passage in paper.passages for text in passage.text.split(". ")]
    count = max(1, len(sentences))
    words = len(paper.text.split())
    known = [bool(paper.authors), paper.year is not None, bool(paper.doi), len(paper.title.split()) > 2]
    return {
        # A quarter of the words of the topic is too little: such a mark is below the least.
        "relevance": _clip(0.5 + 4.5 * max(shared, min(1.0, 1.4 * (similarity or 0.0)))),
        "substance": _clip(1 + 1.5 * math.log10(max(10, words) / 10)),
        "evidence": _clip(2 + 6 * sum(any(map(str.isdigit, one)) for one in sentences) / count),
        "method": _clip(2 + 10 * sum(bool(_METHOD.search(one)) for one in sentences) / count),
        "provenance": _clip(2 + sum(known)),
    }


def is_accepted(marks: Mapping[str, float]) -> bool:
    """Whether a paper stays in the review."""
    return fmean(marks.values()) >= MIN_MEAN and min(marks.values()) >= MIN_MARK


def list_methods(paper: Paper, evidence: Evidence) -> list[QuotedSentence]:
    """Return the sentence that says most on how the work was done."""
    sentences = [(len(_METHOD.findall(one.text)), one) for one in list_sentences(evidence, paper.passages)]
    count, best = max(sentences, key=lambda pair: pair[0], default=(0, None))
    return [best] if best is not None and count > 1 else []


def list_limits(paper: Paper, evidence: Evidence) -> list[QuotedSentence]:
    """Return the first sentences that name a limit, or that stand under a heading such as "Limitations"."""
    stated = (one for one in list_sentences(evidence, paper.passages) if _GAP.search(one.text))
    return list({one.text: one for one in (*_list_gap_sentences(paper, evidence), *stated)}.values())[:MAX_LIMITS]


def _list_gap_sentences(paper: Paper, evidence: Evidence) -> Iterator[QuotedSentence]:
    """Yield the sentences that stand under a heading such as "Limitations" or "Future work"."""
    for passage in paper.passages:
        for below in (found["text"] for found in _GAP_SECTION.finditer(passage.text)):
            for first, last in split_sentences(below):
                if text := clean_sentence(below[first:last]):
                    yield QuotedSentence(text, passage, evidence.get_handle(passage))


def _clip(value: float) -> float:
    return max(1.0, min(5.0, value))
