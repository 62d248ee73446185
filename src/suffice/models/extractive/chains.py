"""Score units as the last step of a chain: the passage that the question names leads to the one that answers it.

"Who is the mayor of the town where X was born?" needs the passage about X, which names the town, and one about the town,
which names the mayor. A unit is scored by what it adds to an **anchor**, a unit of another note that has many words of the
question and names something that the unit or its title names too, and by what the reader finds in it after the steps that the
question describes (``steps``). Used where no single unit has the question's words.

The score is a weighted sum of the features and of their products: that a unit has few words of the question speaks for it only
if a passage that has them leads to it. ``weights.json`` holds the weights, ``python -m training.extractive.chains`` fits them.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from suffice.models.extractive.steps import NO_STEPS, StepsTaken
from suffice.models.extractive.units import UNIT_FEATURES, QuestionWords, Unit, find_stems, load_weights, note_stems
from suffice.models.reading import AnswerSpan
from suffice.text.entities import content_stems, extract_names
from suffice.text.languages import ENGLISH, get_language
from suffice.text.question import CHAINED_KINDS, Question
from suffice.types import Note

if TYPE_CHECKING:
    import numpy as np

CHAIN_FEATURES = (
    *("words", "cosine", "span", "rank", "named", "link", "titled", "chain", "rest", "names", "short", "note"),
    *("length", "late", "opens", "step", "read", "read_note", "direct"),
)
_YES_NO = frozenset({"span", "named", "short", "opens"})  # Their squares say nothing new.
CHAIN_TERMS = (
    *((name,) for name in CHAIN_FEATURES),
    *(
        pair
        for pair in combinations_with_replacement(CHAIN_FEATURES, 2)
        if pair[0] != pair[1] or pair[0] not in _YES_NO
    ),
)
"""What is weighed: each feature, and each product of two."""
_READ_FEATURES = [CHAIN_FEATURES.index(name) for name in ("step", "read", "read_note", "direct")]
_MIN_READ = 0.05  # Added to the highest probability, so that low ones stay low where nothing was found.
_LONG = 400  # Characters of a long unit.
_MAX_ANCHORS = 12
_MAX_NAMES = 5
_MAX_COVERAGE = 0.9  # A unit with this share of the question's words answers it alone.
_MIN_PROSE = 0.9  # Share of the units.
_MIN_WORDS = 5  # A shorter question has no room for two steps.
_WORD = re.compile(r"\w[\w'’-]*\w|\w")
# The similarity of two words from which one counts for the other in part, and the one from which it counts most.
_MIN_SIMILARITY, _FULL_SIMILARITY, _SIMILAR_SHARE = 0.4, 0.8, 0.8


def needs_steps(question: Question, notes: Sequence[Note], units: Sequence[Unit]) -> bool:
    """Whether the answer must be put together from several notes: no unit has the question's words, and the notes are prose.

    Manuals and source code, with their lists, tables and examples, answer in one place even if they use other words. So does a
    conversation: the titles of its messages are their speakers, who lead nowhere.
    """
    if question.kind not in CHAINED_KINDS or not units or len(content_stems(question.text)) < _MIN_WORDS:
        return False
    if notes[units[0].note].kind == "chat":
        return False
    topic = UNIT_FEATURES.index("topic")
    prose = sum(unit.block.format == "prose" for unit in units)
    return max(unit.features[topic] for unit in units) < _MAX_COVERAGE and prose >= _MIN_PROSE * len(units)


def rank_steps(
    question: Question,
    notes: Sequence[Note],
    units: Sequence[Unit],
    words: QuestionWords,
    answers: Sequence[AnswerSpan] = (),
    taken: StepsTaken = NO_STEPS,
) -> list[Unit]:
    """Return the units with their scores as steps of a chain, best first.

    ``answers`` is what the reader found in each note, ``taken`` what it found after the steps that the question describes.
    """
    import numpy as np

    weights = load_weights()["chain"]
    table = multiply_features(compute_chain_features(question, notes, units, words, answers, taken))
    scores = table @ np.array([weights[" ".join(term)] for term in CHAIN_TERMS])
    ranked = [replace(unit, score=float(score)) for unit, score in zip(units, scores, strict=True)]
    return sorted(ranked, key=lambda unit: -unit.score)


def measure_lead(steps: Sequence[Unit]) -> float:
    """Return how probable it is that the first of the ranked steps is the right one, by the scores of all."""
    return 1 / sum(math.exp(unit.score - steps[0].score) for unit in steps)


def multiply_features(table: "np.ndarray") -> "np.ndarray":
    """Return a column for each of ``CHAIN_TERMS``, from a table of ``CHAIN_FEATURES``."""
    import numpy as np

    place = {name: number for number, name in enumerate(CHAIN_FEATURES)}
    return np.stack([table[:, [place[name] for name in term]].prod(axis=1) for term in CHAIN_TERMS], axis=1)


def compute_chain_features(
    question: Question,
    notes: Sequence[Note],
    units: Sequence[Unit],
    words: QuestionWords,
    answers: Sequence[AnswerSpan] = (),
    taken: StepsTaken = NO_STEPS,
) -> "np.ndarray":
    """Return a row of ``CHAIN_FEATURES`` for each unit.

    words   weight of the question's words that the unit or its title has, words of similar meaning counted in part
    cosine  similarity of the unit and the question
    span    whether it holds a span of the type that is asked for
    rank    1 / place of its note in the search
    named   whether the question names the note's title
    link    how much another note that names the title is about the question
    titled  the best anchor that names the title: its share of the question's words, times how rare the name is
    chain   weight of the question's words that unit and anchor have together
    rest    weight of those that only the unit has
    names   names that the question does not have, at most five
    short   whether the unit is very short
    note    weight of the question's words that its note has
    length  characters of the unit, 1 for many
    late    place of its note in the search, from 0 to 1
    opens   whether the unit opens its note
    step    how probable it is that the unit or its title names what the question describes
    read    how probable it is that the unit holds the answer after the steps that the question describes
    read_note  the same for its note
    direct  how probable it is that the unit answers the question as it is asked

    The last four are shares of the highest among the units.
    """
    import numpy as np

    known = frozenset(words.weights)
    titles = [find_stems(note.title) for note in notes]
    held = [note_stems(note) for note in notes]
    matcher = _WordMatcher(question.text, words)
    in_title = [matcher.match(note.title) for note in notes]
    topics = [np.maximum(matcher.match(unit.text), in_title[unit.note]) for unit in units]
    coverage = [words.coverage(unit.stems | titles[unit.note]) for unit in units]
    names = [_list_new_names(unit.text, known) for unit in units]
    leads = [[*own, *([title] if (title := titles[unit.note]) and not title <= known else [])]
             for own, unit in zip(names, units, strict=True)]  # fmt: skip
    about = [words.coverage(stems) for stems in held]
    order = sorted(range(len(units)), key=lambda i: -(coverage[i] + 0.3 * about[units[i].note]))
    cosines = matcher.cosines([unit.text for unit in units])
    feature = {name: number for number, name in enumerate(UNIT_FEATURES)}
    rarity = _NameRarity(held)
    rows = []
    for number, unit in enumerate(units):
        title = titles[unit.note]
        titled = chain = rest = 0.0
        for anchor in order[:_MAX_ANCHORS]:
            other = units[anchor].note
            if other == unit.note or (
                title and titles[other] == title
            ):  # A document that repeats its title is no chain.
                continue
            in_unit = rarity.best(name for name in leads[anchor] if name <= unit.stems)
            of_title = rarity.best(name for name in leads[anchor] if title and (name <= title or title <= name))
            strength = max(in_unit, of_title)
            if not strength:
                continue
            together = np.maximum(topics[anchor], topics[number])
            titled = max(titled, of_title * coverage[anchor])
            chain = max(chain, matcher.weigh(together) * math.sqrt(strength))
            rest = max(rest, matcher.weigh(together - topics[anchor]) * coverage[anchor])
        rows.append(
            (
                *(matcher.weigh(topics[number]), cosines[number], unit.features[feature["span"]], 1 / (1 + unit.note)),
                *(unit.features[feature["named"]], unit.features[feature["link"]], titled, chain, rest),
                *(min(_MAX_NAMES, len(names[number])) / _MAX_NAMES, unit.features[feature["short"]], about[unit.note]),
                *(min(_LONG, len(unit.text)) / _LONG, unit.note / len(notes), float(unit.start == 0)),
                *(taken.weigh_naming(unit.stems | title), *taken.weigh_answer(unit), _weigh_direct(unit, answers)),
            )
        )
    table = np.array(rows)
    table[:, _READ_FEATURES] /= table[:, _READ_FEATURES].max(axis=0) + _MIN_READ
    return table


def _weigh_direct(unit: Unit, answers: Sequence[AnswerSpan]) -> float:
    """Return the probability of what the reader found in a unit for the question as it is asked."""
    found = answers[unit.note] if answers else None
    return found.probability if found is not None and unit.start <= found.start < unit.end else 0.0


def _list_new_names(text: str, known: frozenset[str]) -> list[frozenset[str]]:
    """Return the stems of each name in a text that is not made of the question's words."""
    return [stems for name in extract_names(text) if (stems := find_stems(name)) and not stems <= known]


class _NameRarity:
    """How rare names are among the notes: 1 for a name of one note, near 0 for one that all have."""

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


class _WordMatcher:
    """Which words of a question a text has, by stem and, in English, by similar meaning ("wife" for "married")."""

    def __init__(self, question: str, words: QuestionWords) -> None:
        import numpy as np

        from suffice.models.embeddings.static import embed_static

        self._embed = embed_static if get_language() == ENGLISH else None
        self._question = question
        by_stem: dict[str, str] = {}
        for word in _WORD.findall(question.lower()):
            for stem in content_stems(word) & words.weights.keys():
                by_stem.setdefault(stem, word)
        self._stems = list(by_stem)
        self._weights = np.array([words.weights[stem] for stem in self._stems])
        self._vectors: dict[str, np.ndarray] = {}
        self._own = self._get_vectors(list(by_stem.values()))

    def weigh(self, match: "np.ndarray") -> float:
        return float(match @ self._weights)

    def match(self, text: str) -> "np.ndarray":
        """Return for each word of the question how far the text has it, 0 to 1."""
        import numpy as np

        held = content_stems(text)
        exact = np.array([float(stem in held) for stem in self._stems])
        words = list(dict.fromkeys(_WORD.findall(text.lower())))
        if self._embed is None or not words or not self._stems:
            return exact
        nearest = (self._own @ self._get_vectors(words).T).max(axis=1)
        share = (nearest - _MIN_SIMILARITY) / (_FULL_SIMILARITY - _MIN_SIMILARITY)
        return np.asarray(np.maximum(exact, _SIMILAR_SHARE * np.clip(share, 0, 1)))

    def cosines(self, texts: Sequence[str]) -> list[float]:
        """Return the similarity of each text to the whole question; 0 outside English."""
        if self._embed is None:
            return [0.0] * len(texts)
        vectors = self._embed([self._question, *texts])
        return [float(value) for value in vectors[1:] @ vectors[0]]

    def _get_vectors(self, words: Sequence[str]) -> "np.ndarray":
        import numpy as np

        if self._embed is None or not words:
            return np.zeros((len(words), 1))
        new = [word for word in dict.fromkeys(words) if word not in self._vectors]
        if new:
            self._vectors.update(zip(new, self._embed(new), strict=True))
        return np.array([self._vectors[word] for word in words])
