"""Readings that cost a model call. Each is taken only if the gate needs it.

novelty.model         0–10: how much the round adds to the memory, as the model rates it; taken before the round is accepted
sufficiency.model     1 if the reflection calls the evidence sufficient, else 0
confidence.answer     0–1: the confidence that the reflection states
answer.margin         0–1: how far the tokens of a short answer are ahead of the second best, on average; unknown if the model
                      gives no log-probabilities
answer.weakest        the same of the token with the smallest lead
answer.stable         rounds in a row with the same short answer, compared without case, articles and punctuation; 0 without one
judged.conservative[@W]  how exhausted the search is: 0 productive, 0.5 stale query, 1 exhausted; in doubt, productive. The
                      model sees what the memory holds, the open questions and the last W rounds (default 3)
judged.neutral[@W]    the same with a prompt that has no such preference
"""

from collections import deque
from dataclasses import replace

from suffice.measure.answers import is_abstention, normalize_answer
from suffice.meters.base import LiveRun, MeterContext, ModelMeter, Moment
from suffice.prompts.judging import NOTHING_NEW, JudgeNeutrally, JudgeProgress, RateNovelty
from suffice.prompts.lab import TrialAnswer
from suffice.types import Note, Readings, Round

# Characters of a note that the model sees, and of all results together. Value of the source system, see docs/sources.md.
SNIPPET_CHARS = 800
_MAX_SNIPPETS = 8  # Results that share them; of more, each would be a few words.
_KNOWN_TOKENS = 800  # Tokens of memory that a round is compared with.
DEFAULT_JUDGED_WINDOW = 3  # Latest rounds that the model sees when it judges progress …
_JUDGED_STATE_TOKENS = 1_500  # … and tokens of memory …
_JUDGED_SNIPPET_CHARS = 300  # … and characters of each result.
_ANSWER_TOKENS = 2_000  # Tokens of memory that a short answer is drafted from.
_PROGRESS_PROMPTS: dict[str, type[JudgeProgress]] = {
    "judged.conservative": JudgeProgress,
    "judged.neutral": JudgeNeutrally,
}
_PROGRESS_SCORES = {"PRODUCTIVE": 0.0, "QUERY_STALE": 0.5, "EXHAUSTED": 1.0}


class ModelNoveltyMeter(ModelMeter):
    moment: Moment = "before"
    names: tuple[str, ...] = ("novelty.model",)

    async def read_with_model(self, round: Round, run: LiveRun) -> Readings:
        known = tuple(replace(note, text=note.text[:SNIPPET_CHARS]) for note in run.render_memory(_KNOWN_TOKENS))
        answer = await run.try_ask(RateNovelty(run.task, known, _build_snippets(round)))
        score = None if answer is None else answer.score
        return {"novelty.model": float(score) if score is not None and 0 <= score <= 10 else None}


class ModelSufficiencyMeter(ModelMeter):
    names: tuple[str, ...] = ("sufficiency.model", "confidence.answer")

    async def read_with_model(self, round: Round, run: LiveRun) -> Readings:
        reflection = await run.reflect()
        if reflection is None:
            return dict.fromkeys(self.names)
        return {"sufficiency.model": float(reflection.sufficient), "confidence.answer": reflection.confidence}


class TrialAnswerMeter(ModelMeter):
    """Drafts a short answer from what the memory holds.

    The margin is the mean over the tokens, not the probability of the whole answer: that falls with every token, so a long
    name would look less certain than a short wrong one. If the gate needs a margin and the model gives no log-probabilities,
    no further answer is paid for.
    """

    names: tuple[str, ...] = ("answer.margin", "answer.weakest", "answer.stable")

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._needs_margin = not context.needs.isdisjoint(("answer.margin", "answer.weakest"))
        self._is_useless = False
        self._answer = ""
        self._same_rounds = 0

    async def read_with_model(self, round: Round, run: LiveRun) -> Readings:
        drafted = None
        if not self._is_useless:
            drafted = await run.try_ask(TrialAnswer(run.task, run.render_memory(_ANSWER_TOKENS)))
        if drafted is None:
            self._answer, self._same_rounds = "", 0
            return dict.fromkeys(self.names)
        answer = "" if is_abstention(drafted.text) else normalize_answer(drafted.text)
        self._same_rounds = self._same_rounds + 1 if answer == self._answer else 1
        if not answer:
            self._same_rounds = 0
        self._answer = answer
        margins = drafted.margins
        self._is_useless = self._needs_margin and bool(answer) and not margins
        return {
            "answer.margin": sum(margins) / len(margins) if margins else None,
            "answer.weakest": min(margins) if margins else None,
            "answer.stable": float(self._same_rounds),
        }


class ModelVerdictMeter(ModelMeter):
    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self.names: tuple[str, ...] = tuple(
            sorted(name for name in context.needs if name.partition("@")[0] in _PROGRESS_PROMPTS)
        )
        self._windows = {name: int(name.partition("@")[2] or DEFAULT_JUDGED_WINDOW) for name in self.names}
        self._rounds: deque[Note] = deque(maxlen=max(self._windows.values(), default=1))

    async def read_with_model(self, round: Round, run: LiveRun) -> Readings:
        readings: dict[str, float | None] = {}
        found = [f"{passage.title}: {passage.text[:_JUDGED_SNIPPET_CHARS]}" for passage in round.new]
        told = "\n".join(found) or NOTHING_NEW
        self._rounds.append(Note(told, (f"Round {round.index}",), "; ".join(round.queries), whole=False))
        state = run.render_memory(_JUDGED_STATE_TOKENS)
        for name, window in self._windows.items():
            prompt = _PROGRESS_PROMPTS[name.partition("@")[0]]
            answer = await run.try_ask(prompt(run.task, state, run.open_questions.open, tuple(self._rounds)[-window:]))
            readings[name] = None if answer is None else _PROGRESS_SCORES.get(answer.verdict)
        return readings


def _build_snippets(round: Round) -> tuple[Note, ...]:
    """Return the beginnings of the first new passages, ``SNIPPET_CHARS`` in all with their titles."""
    passages = round.new[:_MAX_SNIPPETS]
    chars = SNIPPET_CHARS // max(1, len(passages))
    return tuple(
        Note(passage.text[: max(0, chars - len(title))], (), title, passage.kind, False)
        for passage in passages
        for title in [passage.title[: chars // 2]]
    )
