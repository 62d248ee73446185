"""Follow-up queries from what was found, without asking a model.

A multi-hop question is answered over a *bridge*: a passage that is similar to the question and introduces something the
question does not name. Passages wait in a queue, the most similar to the question first. A follow-up query is what a person
would type: the key words of the question, the bridge's title, and names of the passage that no query has used, those from the
sentences nearest to the question first.

    similarity = cosine(question, passage) + ½ · share of the question's stems in it + 0.3 if the question names its title

A passage is examined only when its turn comes.
"""

import re
from bisect import insort
from collections.abc import Sequence

from suffice.measure.stretches import compute_cosines
from suffice.text.entities import content_stems, extract_names, strip_parenthetical
from suffice.text.sentences import split_sentences
from suffice.text.tokens import normalize_phrase, tokenize
from suffice.types import Embed, Passage, Query

# Names of the passage in one query. With two, recall after two rounds of MuSiQue falls from .80 to .75.
_MAX_ENTITIES = 5
_PATH_SEPARATORS = re.compile(r"(?<!\s)\s+[>›»/|]\s+")
_NUMBERING = re.compile(r"^\d+(?:\.\d+)*\.\s+")
_WORD = re.compile(r"[\w][\w'’./+#-]*[\w+#]|\w")
_MAX_TITLE_WORDS = 8
_MAX_CANDIDATES = 20  # Passages examined for one proposal: chunks of one document often lead to the same query.


class FollowUpQueue:
    def __init__(self, question: str, embed: Embed | None = None) -> None:
        self._question = question
        self._question_stems = content_stems(question)
        self._question_phrase = normalize_phrase(question)
        self._key_words = extract_key_words(question)
        self._embed = embed
        self._queue: list[Passage] = []  # Earlier passages come before equally similar later ones.
        self._similarities: dict[str, float] = {}
        self._used_names: set[str] = {name.lower() for name in extract_names(question)}
        self._asked_keys: set[tuple[str, ...]] = set()
        self._passage_by_query: dict[str, str] = {}
        self._followed_ids: set[str] = set()

    def add(self, passages: Sequence[Passage]) -> None:
        texts = [f"{passage.title}. {passage.text}" for passage in passages]
        for passage, cosine in zip(passages, compute_cosines(self._question, texts, self._embed), strict=True):
            stems = content_stems(f"{passage.title} {passage.text}")
            share = len(self._question_stems & stems) / len(self._question_stems) if self._question_stems else 0.0
            is_named = normalize_phrase(strip_parenthetical(passage.title)) in self._question_phrase
            similarity = cosine + 0.5 * share + (0.3 if is_named else 0.0)
            self._similarities[passage.id] = similarity
            insort(self._queue, passage, key=lambda other: -self.get_similarity(other))

    def get_similarity(self, passage: Passage) -> float:
        """Return how similar an added passage is to the question."""
        return self._similarities.get(passage.id, 0.0)

    def propose(self, limit: int) -> list[Query]:
        """Return the best follow-up queries. They are proposed again until ``mark_asked`` is called with them."""
        proposals: dict[tuple[str, ...], Query] = {}
        self._queue = [passage for passage in self._queue if passage.id not in self._followed_ids]
        left = _MAX_CANDIDATES
        for passage in self._queue:
            if len(proposals) == limit or not left:
                break
            query = self._build_query(passage)
            key = tuple(tokenize(query.text))
            if key in self._asked_keys:  # Another chunk of the same document led to this query before.
                self._followed_ids.add(passage.id)
                continue
            left -= 1
            if key not in proposals:
                proposals[key] = query
                self._passage_by_query[query.text] = passage.id
        return list(proposals.values())

    def mark_asked(self, queries: Sequence[str]) -> None:
        """Remove the passages that these queries follow, and remember the names that the queries use."""
        for query in queries:
            self._asked_keys.add(tuple(tokenize(query)))
            if query in self._passage_by_query:
                self._followed_ids.add(self._passage_by_query.pop(query))
            self._used_names.update(name.lower() for name in extract_names(query))

    def _build_query(self, passage: Passage) -> Query:
        title = make_readable_title(passage.title)
        words = set(tokenize(title))
        key_words = [word for word in self._key_words if not set(tokenize(word)) <= words]
        return Query(
            " ".join([*key_words, title, *self._find_bridges(passage, title)]).strip(), f"follow {passage.title!r}"
        )

    def _find_bridges(self, passage: Passage, title: str) -> list[str]:
        """Return names of a passage that no query has used, the one in the sentence nearest to the question first."""
        if passage.kind == "code":  # Capitals in code are not names.
            return []
        found: dict[str, float] = {}
        for start, end in split_sentences(passage.text):
            sentence = passage.text[start:end]
            overlap = len(self._question_stems & content_stems(sentence))
            for name in extract_names(sentence):
                is_first_word = " " not in name and sentence.startswith(name)
                is_known = name.lower() in self._used_names or name in title
                if not is_known and not (is_first_word and passage.text.count(name) == 1):
                    found[name] = max(overlap, found.get(name, 0))
        return sorted(found, key=lambda name: -found[name])[:_MAX_ENTITIES]  # Equals in the order of the text.


def extract_key_words(question: str) -> list[str]:
    """Return the words of a question that carry meaning, as they are written.

    >>> extract_key_words("What happens when the heartbeats of a worker stop?")
    ['heartbeats', 'worker', 'stop']
    """
    words = [word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(question)]
    return list(dict.fromkeys(word for word in words if content_stems(word))) or question.split()


def make_readable_title(title: str) -> str:
    """Return the last part of a heading path without its number and the remark in brackets, cut to a few words.

    >>> make_readable_title("Decisions > 12. Workers")
    'Workers'
    """
    last = _NUMBERING.sub("", strip_parenthetical(_PATH_SEPARATORS.split(title)[-1]))
    return " ".join(last.split()[:_MAX_TITLE_WORDS])
