"""Rank passages as the last step of a chain: the passage that the question names leads to the one that answers it.

"Who is the mayor of the town where X was born?" needs the passage about X, which names the town, and one about the town,
which names the mayor. A passage is scored by what it adds to an **anchor**, another passage that has many words of the question
and names something that this one is about, and by what the reader finds in it after the steps that the question describes
(``steps``). ``python -m training.extractive.fit chain`` fits the weights.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from suffice.models.extractive.ranking import QuestionWords, RankedPassage, find_stems, load_weights
from suffice.models.extractive.steps import StepsTaken, read_steps
from suffice.models.reading import AnswerSpan, PassageReader
from suffice.text.descriptions import find_descriptions
from suffice.text.entities import extract_names
from suffice.text.languages import ENGLISH
from suffice.text.question import Question

CHAIN_FEATURES = ("words", "cosine", "titled", "rest", "step", "read", "direct")
_MAX_ANCHORS = 12
_MAX_COVERAGE = 0.9  # A passage that has this share of the question's words in one sentence answers it alone.
_MIN_PROSE = 0.9  # Share of the units.
_MIN_READ = 0.05  # Added to the highest probability, so that low ones stay low where nothing was found.


@dataclass(frozen=True, slots=True)
class Chain:
    """The passages ranked as steps of a chain, and what the steps led to."""

    ranked: tuple[RankedPassage, ...]
    taken: StepsTaken

    def find_answer(self, candidate: RankedPassage) -> AnswerSpan | None:
        """Return what the reader found in a passage after the steps; ``None`` if nothing."""
        found = (answer for answer in self.taken.answers if answer.source is candidate.passage)
        return next((answer.span for answer in found), None)


def follow_chain(question: Question, ranked: Sequence[RankedPassage], reader: PassageReader | None) -> Chain | None:
    """Return the passages as steps of a chain; ``None`` if one passage is expected to answer the question."""
    if not needs_steps(question, ranked):
        return None
    taken = read_steps(question, [candidate.passage for candidate in ranked], reader)
    rows = compute_chain_features(question, ranked, taken)
    weights = load_weights()["chain"]
    scored = [
        replace(candidate, score=sum(weights[name] * value for name, value in zip(CHAIN_FEATURES, row, strict=True)))
        for candidate, row in zip(ranked, rows, strict=True)
    ]
    return Chain(tuple(sorted(scored, key=lambda candidate: -candidate.score)), taken)


def needs_steps(question: Question, ranked: Sequence[RankedPassage]) -> bool:
    """Whether the answer must be put together from several passages.

    So it is if the question describes a thing instead of naming it, no sentence has the question's words, and all is prose.
    Manuals and source code, with their lists, tables and examples, answer in one place even if they use other words. So does a
    conversation: the titles of its messages are their speakers, who lead nowhere. Of joined questions each has its own.
    """
    units = [unit for candidate in ranked for unit in candidate.units]
    is_single = question.kind == "fact" and not question.parts and ranked[0].passage.kind != "chat"
    if not is_single or question.language != ENGLISH or not find_descriptions(question.text) or not units:
        return False
    prose = sum(unit.block.format == "prose" for unit in units)
    return max(unit.coverage for unit in units) < _MAX_COVERAGE and prose >= _MIN_PROSE * len(units)


def compute_chain_features(
    question: Question, ranked: Sequence[RankedPassage], taken: StepsTaken
) -> list[tuple[float, ...]]:
    """Return a row of ``CHAIN_FEATURES`` for each passage.

    words   weight of the question's words that the passage has
    cosine  similarity of the passage and the question
    titled  the best anchor that names the title: its share of the question's words, times how rare the name is
    rest    weight of the question's words that an anchor leaves to the passage, times the anchor's share of them
    step    how probable it is that the passage names what the question describes
    read    how probable it is that it holds the answer after the steps that the question describes
    direct  how probable it is that it answers the question as it is asked

    The last three are shares of the highest among the passages.
    """
    held = [candidate.stems for candidate in ranked]
    words = QuestionWords(question, held)
    known = frozenset(words.weights)
    titles = [find_stems(candidate.passage.title) for candidate in ranked]
    coverage = [words.coverage(stems) for stems in held]
    rarity = _NameRarity(held)
    anchors = sorted(range(len(ranked)), key=lambda i: -coverage[i])[:_MAX_ANCHORS]
    leads = {i: _list_leads(ranked[i], titles[i], known) for i in anchors}
    rows = []
    for number, candidate in enumerate(ranked):
        title = titles[number]
        titled = rest = 0.0
        for anchor in anchors:
            if anchor == number or (title and titles[anchor] == title):  # A repeated title is no chain.
                continue
            of_title = rarity.best(name for name in leads[anchor] if title and (name <= title or title <= name))
            if of_title or any(name <= held[number] for name in leads[anchor]):
                titled = max(titled, of_title * coverage[anchor])
                rest = max(rest, words.coverage(held[number] - held[anchor]) * coverage[anchor])
        passage = candidate.passage
        read = (taken.weigh_naming(held[number]), taken.weigh_answer(passage), candidate.probability)
        rows.append((coverage[number], candidate.cosine, titled, rest, *read))
    highest = [max(column) + _MIN_READ for column in list(zip(*rows, strict=True))[-3:]]
    return [(*row[:-3], *(value / most for value, most in zip(row[-3:], highest, strict=True))) for row in rows]


def _list_leads(candidate: RankedPassage, title: frozenset[str], known: frozenset[str]) -> list[frozenset[str]]:
    """Return the stems of each name in a passage, and of its title, that is not made of the question's words."""
    names = [find_stems(name) for name in extract_names(candidate.passage.text)]
    return [stems for stems in (*names, title) if stems and not stems <= known]


class _NameRarity:
    """How rare names are among the passages: 1 for a name of one passage, near 0 for one that all have."""

    def __init__(self, held: Sequence[frozenset[str]]) -> None:
        self._held = held
        self._known: dict[frozenset[str], float] = {}

    def best(self, names: Iterable[frozenset[str]]) -> float:
        return max(map(self._get, names), default=0.0)

    def _get(self, name: frozenset[str]) -> float:
        if name not in self._known:
            count = max(1, sum(name <= stems for stems in self._held))
            self._known[name] = math.log((len(self._held) + 1) / count) / math.log(len(self._held) + 1)
        return self._known[name]
