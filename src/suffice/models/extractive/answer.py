"""Answer a question with quotations: rank the passages, and show the stretch of the best ones that holds the answer.

    rank_passages → (a chain of steps: rank_chain) → judge_evidence → quote_around → Draft

Nothing is concluded: of a comparison both sides are shown, and a short answer is a span that the reader found. When the
evidence does not answer the question, the closest passages are named with the words that they lack.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from suffice.answers import Closest, Draft, Quotation
from suffice.measure.stretches import compute_cosines
from suffice.models.embeddings.static import embed_static
from suffice.models.extractive.chains import Chain, follow_chain
from suffice.models.extractive.excerpts import quote_around
from suffice.models.extractive.ranking import RankedPassage, find_stems, load_weights, rank_passages
from suffice.models.extractive.sufficiency import estimate_sufficiency, find_missing_words
from suffice.models.reading import AnswerSpan, PassageReader
from suffice.text.blocks import ITEM_MARKER
from suffice.text.question import Question
from suffice.text.sentences import Offsets
from suffice.text.task_type import is_yes_no_question, strip_count
from suffice.text.tokens import normalize_phrase
from suffice.types import Embed, Passage

MAX_QUOTATIONS = 4
_MAX_STEPS = 5  # Quotations of a chain of steps.
_FIRST_CHARS = 600  # What a reader sees at once, with the title.
_OTHER_CHARS = 550
_LIST_CHARS = 1500  # A list is shown whole up to here.
_MAX_CLOSEST = 3
_MAX_BEHIND = 4.0  # A passage further behind the best one is not shown: it is fifty times less likely the right one.
_MAX_SHORT_CHARS = 80
_LIKELY_SPAN = 0.5  # From this probability of the reader's span on, no other section of its passage is shown.
_SHORT_KINDS = frozenset({"fact", "setting"})
# It belongs to the figure behind it, and the reader leaves it out: "4 %" is another answer than "at most 4 %".
_BOUND = re.compile(r"\b(?:at (?:most|least)|up to|(?:more|less|fewer) than)\s+", re.IGNORECASE)


def quote_answer(
    question: Question,
    passages: Sequence[Passage],
    embed: Embed | None,
    reader: PassageReader | None,
    *,
    count: int = 0,
) -> Draft:
    """Return what the passages say to a question, verbatim, best first. The passages come in the order of the search.

    ``count`` is how many items the question asks for, 0 if it gives no number.
    """
    if count:
        question = replace(question, text=strip_count(question.text) or question.text)
    if not passages:
        return Draft(origin="quoted", sufficiency="no")
    ranked = rank_passages(question, passages, embed, reader)
    chain = follow_chain(question, ranked, reader)
    sufficiency = estimate_sufficiency(question, ranked, chain)
    if sufficiency == "no":
        return Draft(origin="quoted", closest=_list_closest(question, ranked), sufficiency="no")
    near = [candidate for candidate in ranked if candidate.score > ranked[0].score - _MAX_BEHIND]
    ordered = chain.ranked if chain is not None else near
    most = count or (_MAX_STEPS if chain is not None else MAX_QUOTATIONS)
    quotations: list[Quotation] = []
    for number, candidate in enumerate(ordered):
        if len(quotations) < most:
            room = _OTHER_CHARS if quotations else max(_OTHER_CHARS // 2, _FIRST_CHARS - len(candidate.passage.title))
            _add_new(quotations, _quote(question, candidate, room, chain))
        for quotation in () if number else _quote_sides(question, ranked):
            _add_new(quotations, quotation)
        for part in () if number else question.parts:  # Sections of one passage may answer one each.
            core = _find_best_unit(replace(question, text=part), candidate)
            _add_new(quotations, _quote_side(candidate, core))
    # After several steps the reader's spans are too often wrong, whatever their probability.
    short = _find_short_answer(question, ordered[0]) if chain is None else None
    return Draft(
        tuple(quotations),
        "quoted",
        sufficiency=sufficiency,
        short_answer=" ".join(ordered[0].passage.text[slice(*short)].split()) if short else "",
        restated=chain.taken.restate(ordered[0].passage) if chain is not None else "",
    )


def _quote(question: Question, candidate: RankedPassage, room: int, chain: Chain | None = None) -> Quotation:
    """Return the stretch of a passage around the sentence with the reader's span, else around the nearest one.

    That sentence is marked if it is also the nearest by words and meaning; words that the reader is sure of are marked instead.
    """
    answer = (chain.find_answer(candidate) if chain is not None else None) or candidate.answer
    nearest = _find_best_unit(question, candidate)
    start = answer.start if answer is not None and answer.end > answer.start else -1
    unit = next((one for one in candidate.units if one.span[0] <= start < one.span[1]), None)
    core = unit.span if unit is not None else nearest
    if unit is None or answer is None or answer.end > core[1] or answer.probability < _LIKELY_SPAN:
        answer = None
    is_agreed = unit is not None and answer is not None and core == nearest and unit.block.format in ("prose", "list")
    highlight = _find_words(candidate.passage.text, answer) if answer is not None else core
    list_room = _LIST_CHARS if question.kind == "list" else 0
    quotation = quote_around(
        candidate.passage, core, room, list_room=list_room, highlight=(highlight,), is_sure=answer is not None
    )
    if answer is not None and _is_sure(answer):
        return replace(quotation, marked=(highlight,))
    bullet = ITEM_MARKER.match(candidate.passage.text, *core)
    return replace(quotation, marked=((bullet.end() if bullet else core[0], core[1]),) if is_agreed else ())


def _find_best_unit(question: Question, candidate: RankedPassage) -> Offsets:
    """Return the sentence, item or row with most words of the question; in a passage that was read, near in meaning too."""
    texts = [candidate.passage.text[slice(*unit.span)] for unit in candidate.units]
    cosines = compute_cosines(question.text, texts, embed_static if candidate.answer else None)
    scored = zip(candidate.units, cosines, strict=True)
    best = max(scored, key=lambda one: one[0].coverage + one[1], default=None)
    return best[0].span if best is not None else (0, 0)


def _quote_sides(question: Question, ranked: Sequence[RankedPassage]) -> list[Quotation]:
    """Return the best stretch about each side of a comparison."""
    sides = [find_stems(side, question.language) for side in question.sides]
    about = [next((one for one in ranked if side <= one.stems), None) for side in sides]
    return [_quote_side(one, _find_best_unit(question, one)) for one in about if one is not None]


def _quote_side(candidate: RankedPassage, core: Offsets) -> Quotation:
    return quote_around(candidate.passage, core, _OTHER_CHARS, highlight=(core,), is_sure=True)


def _add_new(quotations: list[Quotation], quotation: Quotation) -> None:
    """Add a quotation unless its text, or its place, is among the others."""
    phrase, (start, end) = normalize_phrase(quotation.text), (quotation.spans[0][0], quotation.spans[-1][1])
    for other in quotations:
        is_same = other.passage == quotation.passage and start < other.spans[-1][1] and other.spans[0][0] < end
        if is_same or phrase in normalize_phrase(other.text):
            return
    quotations.append(quotation)


def _find_short_answer(question: Question, first: RankedPassage) -> Offsets | None:
    """Return the span of the reader in the first passage, if it is sure enough of it."""
    answer = first.answer
    is_one_fact = question.kind in _SHORT_KINDS and not question.parts and not is_yes_no_question(question.text)
    if answer is None or not is_one_fact:
        return None
    is_short = 0 < answer.end - answer.start <= _MAX_SHORT_CHARS
    return _find_words(first.passage.text, answer) if is_short and _is_sure(answer) else None


def _find_words(text: str, answer: AnswerSpan) -> Offsets:
    """Return where the words of the reader's answer are: a figure with its bound, and whole ("50%", not "50")."""
    bounds = (match.start() for match in _BOUND.finditer(text) if match.start() < answer.start <= match.end())
    touching = (text[answer.end - 1 : answer.end + _MAX_SHORT_CHARS].split() or [""])[0].rstrip(".,;:!?)]\"'")[1:]
    is_figure = text[answer.end - 1 : answer.end].isdigit()
    return next(bounds, answer.start), answer.end + (len(touching) if is_figure else 0)


def _is_sure(answer: AnswerSpan) -> bool:
    return answer.probability >= float(load_weights()["short_answer"]["least"])


def _list_closest(question: Question, ranked: Sequence[RankedPassage]) -> tuple[Closest, ...]:
    """Return the nearest passages, each with the question's words that it lacks."""
    return tuple(
        Closest(replace(quotation, marked=()), find_missing_words(question, candidate.stems))
        for candidate in ranked[:_MAX_CLOSEST]
        for quotation in [_quote(question, candidate, _OTHER_CHARS)]
    )
