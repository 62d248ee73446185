"""Answer a question that describes a thing in steps: find what is described, put it into the question, read on.

    "Who is the mayor of the town where Ada Lind was born?"
    → "What is the town where Ada Lind was born?", read in the passage about Ada Lind: Graz
    → "Who is the mayor of Graz?", searched for, and read in the passage about Graz

The reader answers each description; a step is as probable as the answers that it rests on. Without a reader there are no steps.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suffice.models.extractive.ranking import QuestionWords, Source, find_stems, source_stems
from suffice.models.reading import AnswerSpan, PassageReader
from suffice.text.descriptions import Description, find_descriptions
from suffice.text.entities import content_stems, extract_names
from suffice.text.question import Question, read_question

MAX_STEPS = 3
_BEAM = 4  # Steps that are followed further.
_MAX_DESCRIPTIONS = 6
_MAX_NOTES = 4  # Notes read for one description.
_MAX_READ = 5  # Notes read for a question after its last step.
_MIN_PROBABILITY = 0.02
_MIN_RESTATED = 0.3
_WORD = re.compile(r"[\w'’-]+")
_ARTICLES = frozenset({"the", "a", "an"})
_MAX_NAME_WORDS = 7


@dataclass(frozen=True, slots=True)
class Step:
    """A question with what it described replaced, and how probable that is."""

    question: str
    probability: float
    notes: tuple[int, ...] = ()
    """The notes that it rests on, in order."""
    named: str = ""
    """What was put in last."""


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """What the reader found in a passage for the question after some steps."""

    step: Step
    source: Source
    span: AnswerSpan
    """Where it is in the passage's text, as probable as the steps and the answer together."""


class StepReader:
    """Follows the steps of one question through the notes."""

    def __init__(self, question: str, notes: Sequence[Source], reader: PassageReader) -> None:
        self._question = question
        self._notes = notes
        self._reader = reader
        self._stems = [source_stems(note) for note in notes]
        self._words = QuestionWords(read_question(question), self._stems)

    def follow(self) -> list[Step]:
        """Return the steps that can be taken, the most probable first."""
        found: list[Step] = []
        latest = [Step(self._question, 1.0)]
        for _ in range(MAX_STEPS):
            following = [step for known in latest for step in self._take(known)]
            following.sort(key=lambda step: -step.probability)
            latest = list({step.question: step for step in reversed(following)}.values())[::-1][:_BEAM]
            found += latest
        return sorted(found, key=lambda step: -step.probability)

    def read(self, steps: Sequence[Step]) -> list[StepAnswer]:
        """Return what the notes say to the question after each step, the most probable first."""
        found = []
        for step in steps:
            stems, named = content_stems(step.question), find_stems(step.named)
            holding = [
                i for i, held in enumerate(self._stems) if i not in step.notes and 2 * len(named & held) > len(named)
            ]
            holding.sort(key=lambda i: -len(stems & self._stems[i]))
            for i, answer in self._read(step.question, holding[:_MAX_READ]):
                start, end = (max(0, at - len(self._notes[i].title) - 1) for at in (answer.start, answer.end))
                span = AnswerSpan(step.probability * answer.probability, start, end)
                found.append(StepAnswer(step, self._notes[i], span))
        return sorted(found, key=lambda answer: -answer.span.probability)

    def _take(self, known: Step) -> list[Step]:
        taken = []
        asked = content_stems(self._question) | content_stems(known.question)
        for description in find_descriptions(known.question)[:_MAX_DESCRIPTIONS]:
            wanted = content_stems(description.question)
            order = sorted(range(len(self._notes)), key=lambda i: -self._words.coverage(wanted & self._stems[i]))
            chosen = [i for i in order[:_MAX_NOTES] if i not in known.notes and wanted & self._stems[i]]
            for i, answer in self._read(description.question, chosen):
                named = self._cut_name(i, answer)
                if answer.probability < _MIN_PROBABILITY or not named or find_stems(named) <= asked:
                    continue
                end = self._find_end(known.question, description, i)
                question = f"{known.question[: description.start]}{named}{known.question[end:]}"
                taken.append(Step(question, known.probability * answer.probability, (*known.notes, i), named))
        return taken

    def _read(self, question: str, notes: Sequence[int]) -> Iterable[tuple[int, AnswerSpan]]:
        texts = [f"{self._notes[i].title}\n{self._notes[i].text}" for i in notes]
        return zip(notes, self._reader.read(question, texts), strict=True)

    def _cut_name(self, note: int, answer: AnswerSpan) -> str:
        """Return the name in an answer; empty if it is none."""
        text = f"{self._notes[note].title}\n{self._notes[note].text}"[answer.start : answer.end]
        line = re.split(r"\n|['’]s\b", text.strip())[0].rpartition(" > ")[2]
        article, _, rest = (words := line.strip(" \"'“”.,;:()")).partition(" ")
        name = rest if article.lower() in _ARTICLES else words
        if len(name.split()) > _MAX_NAME_WORDS and (names := extract_names(name)):
            name = names[0]
        return name if re.match(r"[^\W_]", name) and name != name.lower() else ""

    def _find_end(self, question: str, description: Description, note: int) -> int:
        """Return where a description ends: an open one where the note has most words before and fewest after."""
        if not description.is_open:
            return description.end
        words = [
            (word.end(), stems <= self._stems[note])
            for word in _WORD.finditer(question, description.start, description.end)
            if (stems := content_stems(word[0]))
        ]
        if not words:
            return description.end
        last = max(1, len(words) - description.is_subject)
        gains = [
            sum(1 if held else -1 for _, held in words[:n]) - sum(held for _, held in words[n:])
            for n in range(last + 1)
        ]
        best = max(range(min(2, last), last + 1), key=lambda n: (gains[n], n))
        return description.end if best == len(words) else words[best - 1][0]


@dataclass(frozen=True)
class StepsTaken:
    """What the steps of a question led to."""

    steps: tuple[Step, ...] = ()
    answers: tuple[StepAnswer, ...] = ()

    def weigh_naming(self, stems: frozenset[str]) -> float:
        """Return the probability of the best step whose name is among the stems."""
        return max((step.probability for step in self.steps if find_stems(step.named) <= stems), default=0.0)

    def weigh_answer(self, source: Source) -> float:
        """Return the probability of the best answer in a passage."""
        return max((answer.span.probability for answer in self.answers if answer.source is source), default=0.0)

    def restate(self, source: Source) -> str:
        """Return the question as a passage answers it, with names for what was described; empty if that is not probable."""
        found = next((answer for answer in self.answers if answer.source is source), None)
        return found.step.question if found is not None and found.span.probability >= _MIN_RESTATED else ""


def read_steps(question: Question, notes: Sequence[Source], reader: PassageReader | None) -> StepsTaken:
    """Return what the steps of a question lead to; nothing without a reader."""
    if reader is None:
        return StepsTaken()
    following = StepReader(question.text, notes, reader)
    steps = following.follow()
    return StepsTaken(tuple(steps), tuple(following.read(steps)))
