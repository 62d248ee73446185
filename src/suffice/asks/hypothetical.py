"""Hypothetical: what an answer to a topic might read like (HyDE, S5). It is compared with passages and never shown."""

from dataclasses import dataclass

from suffice.asks.base import Ask


@dataclass(frozen=True, slots=True)
class HypotheticalResponse:
    text: str


@dataclass(frozen=True)
class Hypothetical(Ask[HypotheticalResponse]):
    role = "hypothetical"
    answer = HypotheticalResponse
    form = "text"
    temperature = 0.4
    max_tokens = 300

    task: str
    topic: str
