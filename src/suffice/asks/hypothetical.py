"""Hypothetical: what an answer to a topic might read like (HyDE, S5). It is compared with passages and never shown."""

from dataclasses import dataclass

from suffice.asks.base import Prompt


@dataclass(frozen=True, slots=True)
class HypotheticalDocumentResponse:
    text: str


@dataclass(frozen=True)
class HypotheticalDocument(Prompt[HypotheticalDocumentResponse]):
    role = "hypothetical"
    response_type = HypotheticalDocumentResponse
    output_format = "text"
    temperature = 0.4
    max_tokens = 300

    task: str
    topic: str
