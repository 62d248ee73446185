"""Answer a question with quotations: rank the passages, and show the stretch of the best ones that holds the answer.

    rank_passages → (a chain of steps: rank_chain) → judge_evidence → quote_around → QuotedAnswer

Nothing is concluded: of a comparison both sides are shown, and a short answer is a span that the reader found. When the
evidence does not answer the question, the closest passages are named with the words that they lack.
"""

from collections.abc import Sequence

from suffice.answers import Closest, Quotation, QuotedAnswer
from suffice.models.extractive.chains import Chain, follow_chain
from suffice.models.extractive.excerpts import quote_around
from suffice.models.extractive.ranking import RankedPassage, compute_cosines, find_stems, load_weights, rank_passages
from suffice.models.extractive.sufficiency import estimate_sufficiency, find_missing_words
from suffice.models.reading import PassageReader
from suffice.text.question import Question
from suffice.text.sentences import Offsets
from suffice.text.task_type import is_yes_no_question, strip_count
from suffice.text.tokens import normalize_phrase
from suffice.types import Embed, Passage

MAX_QUOTATIONS = 3
_MAX_STEPS = 5  # Quotations of a chain of steps.
_FIRST_CHARS = 600  # What a reader sees at once.
_OTHER_CHARS = 400
_LIST_CHARS = 1500  # A list is shown whole up to here.
_MAX_CLOSEST = 3
_MAX_BEHIND = 4.0  # A passage further behind the best one is not shown: it is fifty times less likely the right one.
_MAX_SHORT_CHARS = 80
_MIN_SPAN = 0.5  # From this probability on, the reader's span is what is shown.
_SHORT_KINDS = frozenset({"fact", "setting"})


def quote_answer(
    question: Question,
    passages: Sequence[Passage],
    embed: Embed | None,
    reader: PassageReader | None,
    *,
    count: int = 0,
) -> QuotedAnswer:
    """Return what the passages say to a question, verbatim, best first. The passages come in the order of the search.

    ``count`` is how many items the question asks for, 0 if it gives no number.
    """
    if count:
        question = Question(
            strip_count(question.text) or question.text, question.language, question.kind, question.sides
        )
    if not passages:
        return QuotedAnswer(sufficiency="no", probability=0.0)
    ranked = rank_passages(question, passages, embed, reader)
    chain = follow_chain(question, ranked, reader)
    probability, sufficiency = estimate_sufficiency(question, ranked, chain)
    if sufficiency == "no":
        return QuotedAnswer(closest=_list_closest(question, ranked, embed), sufficiency="no", probability=probability)
    ordered = chain.ranked if chain is not None else _put_sides_first(question, ranked)
    quotations: dict[str, Quotation] = {}
    for candidate in ordered:
        quotation = _quote(question, candidate, embed, _OTHER_CHARS if quotations else _FIRST_CHARS, chain)
        phrase = normalize_phrase(quotation.text)
        if not any(phrase in shown for shown in quotations):
            quotations[phrase] = quotation
        if len(quotations) == (count or (_MAX_STEPS if chain is not None else MAX_QUOTATIONS)):
            break
    # After several steps the reader's spans are too often wrong, whatever their probability.
    short = _find_short_answer(question, ordered[0]) if chain is None else None
    return QuotedAnswer(
        tuple(quotations.values()),
        sufficiency=sufficiency,
        probability=probability,
        short_answer=" ".join(ordered[0].passage.text[slice(*short)].split()) if short else "",
        short_span=short,
        restated=chain.restate(ordered[0]) if chain is not None else "",
    )


def _quote(
    question: Question, candidate: RankedPassage, embed: Embed | None, room: int, chain: Chain | None = None
) -> Quotation:
    """Return the stretch of a passage around what the reader found, else around its best sentence."""
    answer = (chain.find_answer(candidate) if chain is not None else None) or candidate.answer
    is_span = answer is not None and answer.probability >= _MIN_SPAN and answer.end > answer.start
    core = (answer.start, answer.end) if answer is not None and is_span else _find_best_unit(question, candidate, embed)
    list_room = _LIST_CHARS if question.kind == "list" else 0
    return quote_around(candidate.passage, core, room, list_room=list_room, highlight=(core,))


def _find_best_unit(question: Question, candidate: RankedPassage, embed: Embed | None) -> Offsets:
    """Return the sentence, item or row that has most words of the question and is nearest to it in meaning."""
    units = candidate.units
    texts = [candidate.passage.text[slice(*unit.span)] for unit in units]
    cosines = compute_cosines(question.text, texts, embed)
    best = max(range(len(units)), key=lambda i: units[i].coverage + cosines[i], default=None)
    return units[best].span if best is not None else (0, 0)


def _put_sides_first(question: Question, ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Return the passages that are not far behind the best one; of a comparison, the best one of each side first.

    If one of the best passages is about both sides, the order stays as it is.
    """
    near = [candidate for candidate in ranked if candidate.score > ranked[0].score - _MAX_BEHIND]
    sides = [find_stems(side, question.language) for side in question.sides]
    if any(frozenset[str]().union(*sides) <= candidate.stems for candidate in ranked[:MAX_QUOTATIONS]):
        return near
    found: list[RankedPassage] = []
    for stems in sides:
        naming = [candidate for candidate in ranked if stems <= candidate.stems]
        titled = [one for one in naming if stems <= find_stems(one.passage.title, question.language)]
        found += (titled or naming)[:1]
    return list({candidate.place: candidate for candidate in (*found, *near)}.values())


def _find_short_answer(question: Question, first: RankedPassage) -> Offsets | None:
    """Return the span of the reader in the first passage, if it is sure enough of it."""
    answer = first.answer
    if answer is None or question.kind not in _SHORT_KINDS or is_yes_no_question(question.text):
        return None
    is_short = 0 < answer.end - answer.start <= _MAX_SHORT_CHARS
    is_sure = answer.probability >= load_weights()["short_answer"]["least"]
    return (answer.start, answer.end) if is_short and is_sure else None


def _list_closest(question: Question, ranked: Sequence[RankedPassage], embed: Embed | None) -> tuple[Closest, ...]:
    """Return the nearest passages, each with the question's words that it lacks."""
    return tuple(
        Closest(_quote(question, candidate, embed, _OTHER_CHARS), find_missing_words(question, candidate.stems))
        for candidate in ranked[:_MAX_CLOSEST]
    )
