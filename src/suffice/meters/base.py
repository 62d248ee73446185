"""The Meter seam: a meter reads each round once and returns named readings. It measures; gates judge.

Meters are incremental: they keep what they need of earlier rounds, so a reading costs O(what is new). A plain meter sees only
what a recorded run also holds (queries and hits), so it works in a run, in a replay and in ``StopMonitor``. A model meter
asks the model of a running search; elsewhere its readings are absent. What cannot be measured is ``None``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, runtime_checkable

from suffice.types import Embed, Note, Readings, Round

if TYPE_CHECKING:
    from suffice.memory.open_questions import OpenQuestions
    from suffice.prompts.base import Prompt
    from suffice.prompts.planning import ReflectionResponse
    from suffice.state.budget import Budget
    from suffice.state.outline import TopicOutline

A = TypeVar("A")
Moment = Literal["before", "after"]
"""When a meter reads. Readings taken before the round is accepted may reject it."""
TOPIC_PREFIX = "coverage.topic."  # Of the readings of single topics, before their names.


class Hit(Protocol):
    """What a meter needs of a passage; a recorded hit may lack its text or score."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str | None: ...
    @property
    def text(self) -> str | None: ...
    @property
    def score(self) -> float | None: ...


class RoundView(Protocol):
    """What a meter sees of a round. ``raw`` are all hits, ``new`` those not seen in earlier rounds."""

    @property
    def index(self) -> int: ...
    @property
    def queries(self) -> Sequence[str]: ...
    @property
    def raw(self) -> Sequence[Hit]: ...
    @property
    def new(self) -> Sequence[Hit]: ...
    @property
    def failed(self) -> bool: ...


class LiveRun(Protocol):
    """What a model meter may use of a running search; a strategy may use more (``strategies.base.RunView``)."""

    @property
    def task(self) -> str:
        """The question."""

    @property
    def open_questions(self) -> "OpenQuestions":
        """The questions that must be answered first. A strategy may add questions and mark them as tried."""

    @property
    def outline(self) -> "TopicOutline":
        """The topics of the answer, empty at first. Topics that a strategy adds are measured and become sections."""

    @property
    def budget(self) -> "Budget":
        """The bounds of the run and what is left of them."""

    def render_memory(self, max_tokens: int) -> tuple[Note, ...]:
        """Return what the memory holds in about ``max_tokens``."""

    async def try_ask(self, prompt: "Prompt[A]") -> A | None:
        """Return the model's answer; ``None`` when it failed, which is recorded already."""

    async def reflect(self) -> "ReflectionResponse | None":
        """Return the reflection on the rounds so far, asked for once a round; ``None`` when it failed."""


@dataclass(frozen=True, slots=True)
class MeterContext:
    """What a meter is made from: the question, the readings that the gate needs, and an embedding model if there is one."""

    question: str | None = None
    needs: frozenset[str] = frozenset()
    embed: Embed | None = None


class Meter(Protocol):
    """Made from a ``MeterContext``. ``names`` are the readings it returns.

    In a running search a meter is also told what it asks for by a method of this name: ``set_topics(answers)`` and
    ``name_topics(names)``, the topics of the outline as hypothetical answers and by name, and before each round
    ``set_known(notes)``, what the memory holds. A recorded round is compared with all rounds before it.
    """

    moment: Moment = "after"
    names: tuple[str, ...]

    def read(self, view: RoundView) -> Readings:
        """Return the readings of this round. Called once a round, in order; a rejected round is always the last."""


@runtime_checkable
class ModelMeter(Protocol):
    """A meter that asks the model, so it is read only if the gate needs one of its readings."""

    moment: Moment = "after"
    names: tuple[str, ...]

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        """Make the meter from what the run knows; most need nothing of it."""

    async def read_with_model(self, round: Round, run: LiveRun) -> Readings:
        """Return the readings of this round. It is cancelled when the run's time is up; its readings are then unknown."""


def list_topic_coverage(readings: Readings) -> dict[str, float]:
    """Return the coverage of each topic by its name.

    >>> list_topic_coverage({"coverage.mean": 0.6, "coverage.topic.wings": 0.83})
    {'wings': 0.83}
    """
    topics = {
        name.removeprefix(TOPIC_PREFIX): value for name, value in readings.items() if name.startswith(TOPIC_PREFIX)
    }
    return {name: value for name, value in topics.items() if value is not None}
