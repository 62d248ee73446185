"""Leave the sentences of a text out that the sources do not support, and everything else as it is, byte for byte."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.claims.split import ClaimText
from suffice.claims.verdict import ClaimVerdict
from suffice.text.citations import strip_citations
from suffice.text.markdown import drop_empty_headings, find_headings
from suffice.text.sentences import Offsets

_BLOCK_OPENING = re.compile(r"\A(?=#|>|\||```|~~~|[-*+]\s)|\A\d+(?=[.)]\s)")
_UNDERLINE = re.compile(r"\A {0,3}(?:=+|-+)[ \t]*(?:\r?\n|\Z)")


@dataclass(frozen=True, slots=True)
class FixedText:
    """A fixed text, and the verdicts on the claims that were removed from it."""

    text: str
    removed: tuple[ClaimVerdict, ...] = ()


def apply_fixes(text: str, verdicts: Sequence[tuple[ClaimText, ClaimVerdict]]) -> FixedText:
    """Return the text without its unsupported sentences. ``verdicts`` are in reading order.

    A sentence that another source supports than the one it cites stays without its citations.
    """
    fixes = [(claim.span, _fix_sentence(claim, verdict)) for claim, verdict in verdicts]
    removed = tuple(verdict for (_, verdict), (_, fix) in zip(verdicts, fixes, strict=True) if fix == "")
    fixed = _replace_sentences(text, fixes)
    if removed:
        empty = Counter(_list_headings(text)) - Counter(_list_headings(drop_empty_headings(text)))
        stays = [text[slice(*span)].strip() for span, fix in fixes if fix is None]  # Also in a heading.
        empty |= Counter(heading for heading in _list_headings(fixed) if any(one in heading for one in stays))
        fixed = drop_empty_headings(fixed, keep=empty).strip("\r\n")
        if fixed:
            fixed = text[: len(text) - len(text.lstrip("\r\n"))] + fixed + text[len(text.rstrip("\r\n")) :]
    return FixedText(fixed, removed)


def _list_headings(text: str) -> list[str]:
    return [text[heading.start : heading.body_start].strip() for heading in find_headings(text)]


def _fix_sentence(claim: ClaimText, verdict: ClaimVerdict) -> str | None:
    """Return what takes the place of a sentence: ``None`` keeps it, an empty text removes it."""
    if verdict.support in ("supported", "unknown"):
        return None
    if verdict.uncited_support is None:
        return ""
    words = strip_citations(claim.text)
    return words if words[-1:] in ".!?…。" else f"{words}."


def _replace_sentences(text: str, fixes: Sequence[tuple[Offsets, str | None]]) -> str:
    """Return the text with each sentence replaced by its fix: ``None`` keeps it, an empty one removes it.

    The last sentence is replaced first and nothing before it is touched but white space, so that all offsets stay right.
    """
    original = text
    stays_after, next_start = False, len(text)  # Whether a sentence that stays follows on the same line.
    for number, ((start, end), fix) in reversed(list(enumerate(fixes))):
        stays_after = stays_after and "\n" not in original[end:next_start]
        if fix == "":
            line_start = original.rfind("\n", 0, start) + 1
            first = number  # The first sentence that ends on this line or after it.
            while first and fixes[first - 1][0][1] > line_start:
                first -= 1
            on_line = fixes[first:number]
            stays_before = any(other != "" for _, other in on_line)
            is_shared = any(span[0] < line_start for span, _ in on_line)  # One that is removed later.
            text = _remove_span(text, start, end, keep_line=stays_before or stays_after or is_shared)
        else:
            text = text if fix is None else text[:start] + fix + text[end:]
            stays_after = True
        next_start = start
    return text


def _remove_span(text: str, start: int, end: int, *, keep_line: bool) -> str:
    """Return the text without a span. Unless ``keep_line``, a line that has no words left goes with it."""
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    last = len(text) if last < 0 else last
    if keep_line or any(map(str.isalpha, text[first:start] + text[end:last])):
        before, after = text[:start], text[end:]
        if not text[end:last].strip():
            return before.rstrip(" ") + after.lstrip(" ")
        after = after.lstrip(" ") if not before or before[-1].isspace() or before[-1] == ">" else after
        if start == first:  # What stood inside a line does not become a heading, a list item, a quotation or a fence.
            after = _BLOCK_OPENING.sub(lambda match: f"{match[0]}\\", after, count=1)
        return before + after
    before, after = text[:first], text[last + 1 :]
    if not text[first:start].strip():  # A line without a marker that was underlined is a heading.
        after = _UNDERLINE.sub("", after, count=1)
    cut = len(before.rstrip())
    kept = before[: len(before) - len(before[cut:].lstrip(" \t"))] if cut else ""
    rest = after.lstrip("\r\n")
    gap = before[len(kept) :] + after[: len(after) - len(rest)]
    return kept + ("\r\n" if "\r\n" in gap else "\n") * min(2, gap.count("\n")) + rest
