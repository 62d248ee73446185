"""What a model wraps around its text, taken off: a fence around the whole, a greeting before the title, an open code block."""

import re
from dataclasses import replace

from suffice.asks import SynthesisResponse
from suffice.text.headings import find_headings, find_open_fence
from suffice.text.markup import CITATION

_FENCED_WHOLE = re.compile(r"\A(`{3,}|~{3,})(?:markdown|md)?[ \t]*\n(.*?)\n?\1[ \t]*\Z", re.DOTALL | re.IGNORECASE)


def unwrap_response(written: SynthesisResponse) -> SynthesisResponse:
    return replace(written, answer=unwrap_markdown(written.answer))


def unwrap_markdown(markdown: str) -> str:
    """The text without its wrapping. What stands before a title is kept when it cites something: then it is no greeting."""
    text = markdown.strip()
    wrapped = _FENCED_WHOLE.match(text)
    if wrapped is not None and find_headings(wrapped[2]) and not find_open_fence(wrapped[2]):
        text = wrapped[2].strip()
    titles = [heading.start for heading in find_headings(text) if heading.level == 1]
    if titles and not CITATION.search(text[: titles[0]]):
        text = text[titles[0] :].strip()
    fence = find_open_fence(text)
    return f"{text}\n{fence}" if fence else text
