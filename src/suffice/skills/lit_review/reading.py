"""Measure how relevant a paper is, and find what it says on its method and its limits."""

import re
from collections.abc import Iterator

from suffice.memory.evidence import Evidence
from suffice.skills.lit_review.papers import Paper
from suffice.skills.sentences import QuotedSentence, clean_sentence, list_sentences
from suffice.text.entities import content_stems
from suffice.text.sentences import split_sentences

MIN_RELEVANCE = 1 / 3  # A paper with less of the topic is left out.
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


def measure_relevance(paper: Paper, topic: str, similarity: float = 0.0) -> float:
    """Return the share of the topic's words in title and text, or the similarity of their meaning if that is more."""
    wanted, found = content_stems(topic), content_stems(f"{paper.title} {paper.text[:20_000]}")
    shared = len(wanted & found) / len(wanted) if wanted else 1.0
    return min(1.0, max(shared, 1.4 * similarity))


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
