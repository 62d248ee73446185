"""Look: what a picture that the task names shows, in words (S4). The words become a passage whose source is the picture."""

from dataclasses import dataclass

from suffice.asks.base import Ask
from suffice.types import Image


@dataclass(frozen=True, slots=True)
class LookResponse:
    text: str


@dataclass(frozen=True)
class Look(Ask[LookResponse]):
    role = "look"
    answer = LookResponse
    form = "text"
    max_tokens = 1000

    task: str
    image: Image

    @property
    def images(self) -> tuple[Image, ...]:
        return (self.image,)
