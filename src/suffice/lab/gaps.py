"""Failure detectors G1–G7 over one recorded search. Each returns true, false, or ``None`` when what it needs was not recorded.

G2, G4, G5 and G7 are the paper's rules; where it gives none in numbers, an answer is wrong if it shares no word with a true
one. The paper counts G7 on questions whose entity was exchanged; on questions with an answer it is unknown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from suffice.measure.answers import is_abstention, token_f1
from suffice.text.entities import content_stems
from suffice.text.tokens import jaccard, normalize_phrase, tokenize

_SIMILAR_QUERIES = 0.5
_EARLY_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class SearchRound:
    """The queries of a round, and the passages that it returned as text by id. A text may be unknown."""

    queries: tuple[str, ...]
    passages: dict[str, str | None]


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """One search as the detectors see it. Unknown parts are ``None``."""

    question: str
    rounds: tuple[SearchRound, ...]
    answer: str | None = None
    stop: str | None = None
    truths: tuple[str, ...] | None = None
    """True answers; empty if the question cannot be answered."""
    gold: frozenset[str] | None = None
    memory: str | None = None
    """What the answer was made from, as text."""


def detect_gaps(record: SearchRecord) -> dict[str, bool | None]:
    return {name: detect(record) for name, (_, detect) in GAPS.items()}


def is_not_persisted(record: SearchRecord) -> bool | None:
    """G1: a true answer stood in a passage that was found, but not in what the answer was made from."""
    texts = _list_texts(record)
    if texts is None or not record.truths or record.memory is None:
        return None
    was_found = any(_holds(text, truth) for text in texts for truth in record.truths)
    return was_found and not any(_holds(record.memory, truth) for truth in record.truths)


def is_displaced(record: SearchRecord) -> bool | None:
    """G2: the queries of two rounds in a row share no content word with the question."""
    goal = content_stems(record.question)
    if not goal or not record.rounds:
        return None
    return _has_two_in_a_row([not goal & content_stems(" ".join(round.queries)) for round in record.rounds])


def is_from_own_memory(record: SearchRecord) -> bool | None:
    """G3: the answer is neither in what was found nor in the question."""
    texts = _list_texts(record)
    if texts is None or record.answer is None:
        return None
    if is_abstention(record.answer) or not content_stems(record.answer):
        return False
    return not any(_holds(text, record.answer) for text in (*texts, record.question))


def is_premature(record: SearchRecord) -> bool | None:
    """G4: the search ended by itself after one or two rounds, without all gold, and the answer is wrong."""
    if record.stop is None or record.answer is None or not record.truths:
        return None
    found = {id for round in record.rounds for id in round.passages}
    has_ended_early = not record.stop.startswith("budget_") and len(record.rounds) <= _EARLY_ROUNDS
    has_all = bool(record.gold) and found.issuperset(record.gold or ())
    return has_ended_early and not has_all and token_f1(record.answer, record.truths) == 0


def has_repeated_queries(record: SearchRecord) -> bool | None:
    """G5: the queries of three rounds in a row are alike: Jaccard above 0.5 in both pairs."""
    words = [tokenize(" ".join(round.queries)) for round in record.rounds]
    return _has_two_in_a_row([jaccard(left, right) > _SIMILAR_QUERIES for left, right in pairwise(words)])


def has_repeated_results(record: SearchRecord) -> bool | None:
    """G6: two rounds in a row found nothing that was not found before."""
    seen: set[str] = set()
    barren = []
    for round in record.rounds:
        barren.append(seen.issuperset(round.passages))
        seen.update(round.passages)
    return _has_two_in_a_row(barren)


def has_wrong_entity(record: SearchRecord) -> bool | None:
    """G7: a question that cannot be answered was answered from what was found."""
    texts = _list_texts(record)
    if record.answer is None or record.truths != () or texts is None:
        return None
    return not is_abstention(record.answer) and any(_holds(text, record.answer) for text in texts)


GAPS: dict[str, tuple[str, Callable[[SearchRecord], bool | None]]] = {
    "G1": ("evidence not persisted", is_not_persisted),
    "G2": ("goal displacement", is_displaced),
    "G3": ("own memory", is_from_own_memory),
    "G4": ("premature stop", is_premature),
    "G5": ("repeated queries", has_repeated_queries),
    "G6": ("repeated results", has_repeated_results),
    "G7": ("wrong entity", has_wrong_entity),
}
"""What each gap is called, and its detector."""


def _has_two_in_a_row(flags: Sequence[bool]) -> bool:
    return any(left and right for left, right in pairwise(flags))


def _list_texts(record: SearchRecord) -> Sequence[str] | None:
    texts = [text for round in record.rounds for text in round.passages.values()]
    return None if any(text is None for text in texts) else [text or "" for text in texts]


def _holds(text: str, phrase: str) -> bool:
    needle = normalize_phrase(phrase)
    return bool(needle.strip()) and needle in normalize_phrase(text)
