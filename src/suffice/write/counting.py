"""A list of N things has exactly N sections: second-level headings, without those that only give structure (S4)."""

import re

from suffice.text.headings import Section, find_sections

_STRUCTURAL_HEADINGS = frozenset(
    (
        *("introduction", "conclusion", "conclusions", "summary", "overview", "background", "references", "sources"),
        *("appendix", "notes", "open questions", "key findings", "key takeaways", "recommendations", "risks"),
        "portfolio summary",
    )
)
_LEADING_NUMBER = re.compile(r"^\W*\d+[.):]?\s*")


def find_list_sections(markdown: str) -> list[Section]:
    """The sections that are items of the list."""
    return [
        part
        for part in find_sections(markdown, 2)
        if _LEADING_NUMBER.sub("", part.title).lower().strip(" :.") not in _STRUCTURAL_HEADINGS
    ]


def trim_list_sections(markdown: str, limit: int) -> str:
    """The text without the items after the first ``most``; structural sections stay."""
    text = markdown
    for part in reversed(find_list_sections(markdown)[limit:]):
        text = text[: part.start] + text[part.end :]
    return text.rstrip() if text != markdown else markdown
