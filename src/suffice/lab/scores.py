"""Scores of a short answer against the true answers. What cannot be scored is ``None``.

================  ============================================================================================
``em`` ``f1``     exact match and token F1 after SQuAD's normalisation, the best over all true answers
``rouge1``        F-measure of ROUGE-1 with stemming (``rouge-score``)
``meteor``        METEOR with exact and stem matches, without synonyms (``nltk``)
``cosine``        cosine of the embeddings of the answer and the first true answer
``judge``         0–100: mean of correctness and completeness, less a quarter of the irrelevance (``prompts/grade.md``)
================  ============================================================================================

A question that cannot be answered scores 1 (judge: 100) if the answer says so and 0 otherwise; an abstention scores 0 on a
question that can be answered. Neither needs a judge.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

from suffice.errors import InputError, describe_install
from suffice.measure.answers import is_abstention, normalize_answer, token_f1
from suffice.prompts.lab import GradeAnswer, GradeResponse
from suffice.types import Embed, Note

IRRELEVANCE_WEIGHT = 0.25
LEXICAL_SCORES = ("em", "f1", "rouge1", "meteor")
SCORES = (*LEXICAL_SCORES, "cosine", "judge")


def score_lexically(answer: str, truths: Sequence[str]) -> dict[str, float | None]:
    if not truths or is_abstention(answer):
        return dict.fromkeys(LEXICAL_SCORES, float(not truths and is_abstention(answer)))
    return {
        "em": float(normalize_answer(answer) in {normalize_answer(truth) for truth in truths}),
        "f1": token_f1(answer, truths),
        "rouge1": max(rouge1(answer, truth) for truth in truths),
        "meteor": max(meteor(answer, truth) for truth in truths),
    }


def rouge1(answer: str, truth: str) -> float:
    return float(_get_rouge().score(truth, answer)["rouge1"].fmeasure)


def meteor(answer: str, truth: str) -> float:
    score, stemmer, no_synonyms = _get_meteor()
    reference, hypothesis = normalize_answer(truth).split(), normalize_answer(answer).split()
    return float(score(reference, hypothesis, stemmer=stemmer, wordnet=no_synonyms))


def cosine(answer: str, truths: Sequence[str], embed: Embed | None) -> float | None:
    """Return the cosine of the answer to the first true answer; unknown without embeddings or a true answer."""
    if embed is None or not truths:
        return None
    if is_abstention(answer):
        return 0.0
    left, right = embed([answer, truths[0]])
    return float(left @ right)


async def judge_answer(
    question: str, answer: str, truths: Sequence[str], ask: Callable[[GradeAnswer], Awaitable[GradeResponse | None]]
) -> float | None:
    """Return the rubric score from 0 to 100; unknown when the judge's answer cannot be read."""
    if not truths or is_abstention(answer):
        return 100.0 if not truths and is_abstention(answer) else 0.0
    return compute_rubric(await ask(GradeAnswer(question, Note(" / ".join(truths), ()), Note(answer, ()))))


def compute_rubric(grade: GradeResponse | None) -> float | None:
    """Return the score of a grade; ``None`` if one of its marks is missing or outside 0–100."""
    marks = () if grade is None else (grade.correctness, grade.completeness, grade.irrelevance)
    known = [mark for mark in marks if mark is not None and 0 <= mark <= 100]
    if len(known) < 3:
        return None
    correctness, completeness, irrelevance = known
    return max(0.0, (correctness + completeness) / 2 - IRRELEVANCE_WEIGHT * irrelevance)


@cache
def _get_rouge() -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise InputError(f"Scores need the package rouge-score: {describe_install('lab')}") from error
    return RougeScorer(["rouge1"], use_stemmer=True)


@cache
def _get_meteor() -> tuple[Any, Any, Any]:
    try:
        from nltk.stem.porter import PorterStemmer
        from nltk.translate.meteor_score import single_meteor_score
    except ImportError as error:
        raise InputError(f"Scores need the package nltk: {describe_install('lab')}") from error
    return single_meteor_score, PorterStemmer(), SimpleNamespace(synsets=lambda word: [])
