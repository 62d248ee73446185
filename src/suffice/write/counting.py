"""A list of N things has exactly N sections: second-level headings, without those that only give structure (S4)."""

import re

from suffice.text.headings import Section, sections

_STRUCTURE = frozenset(
    (
        *("introduction", "conclusion", "conclusions", "summary", "overview", "background", "references", "sources"),
        *("appendix", "notes", "open questions", "key findings", "key takeaways", "recommendations", "risks"),
        "portfolio summary",
    )
)
_NUMBERED = re.compile(r"^\W*\d+[.):]?\s*")


def counted(markdown: str) -> list[Section]:
    """The sections that are items of the list."""
    return [
        part for part in sections(markdown, 2) if _NUMBERED.sub("", part.title).lower().strip(" :.") not in _STRUCTURE
    ]


def trimmed(markdown: str, most: int) -> str:
    """The text without the items after the first ``most``; structural sections stay."""
    text = markdown
    for part in reversed(counted(markdown)[most:]):
        text = text[: part.start] + text[part.end :]
    return text.rstrip() if text != markdown else markdown
