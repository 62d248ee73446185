"""Stages 3 to 6: curate with five readers, annotate each paper, cluster the papers, and summarize each cluster."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from suffice.measure.clusters import cluster_rows
from suffice.memory.evidence import Evidence
from suffice.skills.lit_review.papers import Paper, list_texts
from suffice.skills.sentences import QuotedSentence, clean_sentence, list_sentences
from suffice.text.bow_vectors import bow_vectors
from suffice.text.entities import content_stems
from suffice.text.sentences import split_sentences
from suffice.types import Embed

MIN_MEAN = 3.5  # A paper stays if the mean of its five marks is at least this (value of the source system) …
MIN_MARK = 2.0  # … and none of them is below this.
MAX_KEY_SENTENCES = 3
_FINDING = re.compile(
    r"\b(?:we (?:show|find|found|present|propose|introduce|describe|demonstrate|report|conclude)"
    r"|results? (?:show|indicate|suggest)"
    r"|this (?:paper|work|study|article|document|guide|manual|chapter) (?:shows?|presents?|proposes?|describes?|introduces?"
    r"|explains?)"
    r"|in conclusion|conclude|outperforms?|significant(?:ly)?|improves?|provides?|allows?|is used to)\b",
    re.IGNORECASE,
)
_METHOD = re.compile(
    r"\b(?:method|algorithm|approach|data|sample|experiment|measured?|dataset|model|procedure|implement\w*)\b", re.I
)
_DEFINITION = re.compile(r"[A-Z][\w ]{2,40} is an? \w+")
_CODE = re.compile(r"[{}<>=;_#\\]|->|\w:\w")
_SECTION_NUMBER = re.compile(r"(?:^|\s)\d+(?:\.\d+)+\s+[A-Z]")
_GAP = re.compile(
    r"\b(?:future work|further (?:research|work|stud\w+)|remains? (?:open|unclear|unknown|to be)|limitations?"
    r"|(?:is|are) not yet|unclear|open (?:problem|question)s?|little is known|not (?:well )?understood)\b",
    re.IGNORECASE,
)
# A line with marks or a number in front, or a short line of its own: a heading of a page that lost its layout.
_HEADING = re.compile(
    r"^[ \t]*(?:(?:#{1,6}[ \t]+|(?:\d+\.)*\d+\.?[ \t]+)+(?P<marked>[A-Z][^\n.!?]{1,60})|(?P<bare>[A-Z][a-z]+(?: [\w-]+){0,4}))"
    r"[ \t:]*$",
    re.MULTILINE,
)
_GAP_HEADING = re.compile(
    r"(?:limits|limitations?|caveats|outlook|threats to validity|(?:future|further) (?:work|research|studies|directions)"
    r"|open (?:questions?|problems?|issues?))\b|.*\b(?:limitations|(?:future|further) (?:work|research|directions))$",
    re.IGNORECASE,
)
# Names of sections that every paper has; they tell no cluster from another.
_SECTION_WORDS = frozenset(
    """abstract introduction background methods method materials results discussion conclusion conclusions limits limitations
    references bibliography acknowledgements acknowledgments appendix keywords contents figure table summary""".split()
)


@dataclass(frozen=True)
class Annotation:
    """The key sentences of a paper, and those that name a gap."""

    key: tuple[QuotedSentence, ...]
    gaps: tuple[QuotedSentence, ...]


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


def annotate(paper: Paper, topic: str, evidence: Evidence) -> Annotation:
    """Return the sentences that say most about the paper and the topic."""
    wanted = content_stems(f"{topic} {paper.title}")
    named = {sentence.text: sentence for sentence in _list_gap_sentences(paper, evidence)}
    sentences = [one for one in list_sentences(evidence, paper.passages) if one.text not in named]
    frequency = Counter(stem for sentence in sentences for stem in sentence.stems)

    def rate(position: int, sentence: QuotedSentence) -> float:
        central = sum(frequency[stem] for stem in sentence.stems) / (len(sentence.stems) or 1) / (len(sentences) or 1)
        early = 1.0 if position < 0.15 * len(sentences) or position > 0.9 * len(sentences) else 0.0
        cue = 1.0 if _FINDING.search(sentence.text) or _DEFINITION.search(sentence.text) else 0.0
        code = 2.0 if len(_CODE.findall(sentence.text)) > 2 else 0.0
        glued = 0.5 if _SECTION_NUMBER.search(sentence.text) else 0.0  # A heading stuck to it when the page was read.
        return len(wanted & sentence.stems) / (len(wanted) or 1) * 2 + cue + 0.5 * early + central - glued - code

    ranked = sorted(enumerate(sentences), key=lambda row: -rate(*row))
    gaps = [sentence for sentence in sentences if _GAP.search(sentence.text) and "icense" not in sentence.text]
    gaps += named.values()
    gaps.sort(key=lambda one: -len(wanted & one.stems))
    return Annotation(tuple(sentence for _, sentence in ranked[:MAX_KEY_SENTENCES]), tuple(gaps[:2]))


def _list_gap_sentences(paper: Paper, evidence: Evidence) -> Iterator[QuotedSentence]:
    """Yield the sentences that stand under a heading such as "Limitations" or "Future work"."""
    for passage in paper.passages:
        headings = [found for found in _HEADING.finditer(passage.text) if _is_heading(passage.text, found)]
        ends = [*(found.start() for found in headings), len(passage.text)][1:]
        for heading, end in zip(headings, ends, strict=True):
            if _GAP_HEADING.match(heading["marked"] or heading["bare"]):
                below = passage.text[heading.end() : end]
                for first, last in split_sentences(below):
                    if text := clean_sentence(below[first:last]):
                        yield QuotedSentence(text, passage, evidence.get_handle(passage))


def _is_heading(text: str, found: re.Match[str]) -> bool:
    """Whether a line is a heading: marked as one, between blank lines, or the name of a section."""
    if found["marked"] or _GAP_HEADING.fullmatch(found["bare"]) or found["bare"].lower() in _SECTION_WORDS:
        return True
    before, after = text[: found.start()], text[found.end() :]
    return (not before.strip() or before.endswith("\n\n")) and after.startswith("\n\n")


def cluster_papers(papers: Sequence[Paper], embed: Embed | None, seed: int = 0) -> list[tuple[str, list[Paper]]]:
    """Return three to five clusters with a name; fewer for few papers."""
    count = max(1, min(5, max(3, round(math.sqrt(len(papers)))), len(papers) // 2 or 1))
    vectors = (embed or bow_vectors)(list_texts(papers))
    clusters = [[papers[i] for i in members] for members in cluster_rows(vectors, components=8, k=count, seed=seed)]
    return [(name_cluster(members, papers), members) for members in clusters]


def name_cluster(members: Sequence[Paper], papers: Sequence[Paper]) -> str:
    """Return the words that tell a cluster from the other papers."""
    own, all_words = Counter[str](), Counter[str]()
    for paper in papers:
        words = {word.lower() for word in re.findall(r"[A-Za-z][A-Za-z-]{3,}", f"{paper.title} {paper.text[:6000]}")}
        words -= _SECTION_WORDS
        all_words.update(words)
        if any(paper.key == member.key for member in members):
            own.update(words)

    def rate(word: str) -> float:
        inside = own[word] / len(members)
        outside = (all_words[word] - own[word]) / max(1, len(papers) - len(members))
        title = sum(word in member.title.lower() for member in members) / len(members)
        return inside - outside + title

    best = sorted((word for word in own if content_stems(word)), key=lambda word: (-rate(word), word))
    names: dict[frozenset[str], str] = {}
    for word in best[:12]:
        names.setdefault(content_stems(word), word)
    return ", ".join(list(names.values())[:3])


def _clip(value: float) -> float:
    return max(1.0, min(5.0, value))
