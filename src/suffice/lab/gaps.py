"""Failure detectors G1–G7 over one recorded search. Each returns true, false, or ``None`` when what it needs was not recorded.

==  ========================  ====================================================================================
G1  evidence not persisted    a true answer stood in a passage that was found, but not in what the answer was made from
G2  goal displacement         the queries of two rounds in a row share no content word with the question
G3  own memory                the answer is neither in what was found nor in the question
G4  premature stop            the search ended by itself or by its gate before all gold passages were found
G5  repeated queries          the queries of three rounds in a row are alike: Jaccard above 0.5 in both pairs
G6  repeated results          two rounds in a row found nothing that was not found before
G7  wrong entity              the answer is wrong and stands only in passages that are not gold
==  ========================  ====================================================================================
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from suffice.measure.answers import is_abstention, token_f1
from suffice.text.entities import content_stems
from suffice.text.tokens import jaccard, normalize_phrase, tokenize

BUDGET_STOPS = ("budget_rounds", "budget_queries", "budget_tokens", "budget_time", "budget_cost")
_SIMILAR_QUERIES = 0.5


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
    gold: frozenset[str] | None = None
    memory: str | None = None
    """What the answer was made from, as text."""


def detect_gaps(record: SearchRecord) -> dict[str, bool | None]:
    """Return the verdict of every detector by name."""
    return {name: detect(record) for name, detect in DETECTORS.items()}


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
    """G4: the search ended by itself or by its gate before all gold passages were found."""
    if record.stop is None or not record.gold:
        return None
    found = {id for round in record.rounds for id in round.passages}
    return record.stop not in BUDGET_STOPS and not record.gold <= found


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
    """G7: the answer is wrong and stands only in passages that are not gold."""
    if record.answer is None or not record.truths or not record.gold or _list_texts(record) is None:
        return None
    if is_abstention(record.answer) or token_f1(record.answer, record.truths) > 0:
        return False
    passages = [item for round in record.rounds for item in round.passages.items()]
    holders = {id for id, text in passages if text and _holds(text, record.answer)}
    return bool(holders) and not holders & record.gold


DETECTORS: dict[str, Callable[[SearchRecord], bool | None]] = {
    "G1": is_not_persisted,
    "G2": is_displaced,
    "G3": is_from_own_memory,
    "G4": is_premature,
    "G5": has_repeated_queries,
    "G6": has_repeated_results,
    "G7": has_wrong_entity,
}
GAP_NAMES = {
    "G1": "evidence not persisted",
    "G2": "goal displacement",
    "G3": "own memory",
    "G4": "premature stop",
    "G5": "repeated queries",
    "G6": "repeated results",
    "G7": "wrong entity",
}


def _has_two_in_a_row(flags: Sequence[bool]) -> bool:
    return any(left and right for left, right in pairwise(flags))


def _list_texts(record: SearchRecord) -> Sequence[str] | None:
    texts = [text for round in record.rounds for text in round.passages.values()]
    return None if any(text is None for text in texts) else [text or "" for text in texts]


def _holds(text: str, phrase: str) -> bool:
    needle = normalize_phrase(phrase)
    return bool(needle.strip()) and needle in normalize_phrase(text)
