"""Apply verdicts to a text: keep, cite, mark or remove each sentence, and leave everything else as it is.

supported by its citation ─▶ stays, byte for byte
supported by another source ─▶ gets that citation
else ─▶ is removed, or marked
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from suffice.claims.split import CONTRADICTED_MARK, UNSUPPORTED_MARK, ClaimText
from suffice.claims.verdict import ClaimVerdict
from suffice.text.markdown import drop_empty_headings, find_headings
from suffice.text.sentences import Offsets
from suffice.types import Passage

_BLOCK_OPENING = re.compile(r"\A(?=#|>|\||```|~~~|[-*+]\s)|\A\d+(?=[.)]\s)")
_UNDERLINE = re.compile(r"\A {0,3}(?:=+|-+)[ \t]*(?:\r?\n|\Z)")


@dataclass(frozen=True, slots=True)
class FixedText:
    """A fixed text, and the verdicts on the claims that were removed from it."""

    text: str
    removed: tuple[ClaimVerdict, ...] = ()


def apply_fixes(
    text: str,
    verdicts: Sequence[tuple[ClaimText, ClaimVerdict]],
    cite: Callable[[Passage], str] | None = None,
    *,
    strict: bool = True,
) -> FixedText:
    """Return the text with each claim fixed. ``verdicts`` are in reading order.

    ``cite`` returns the citation of a passage, such as ``[3]``; without it a wrong citation is dropped and none is added. A
    lenient fix marks claims instead of removing them.
    """
    fixes = [(claim.span, _fix_sentence(text, claim, verdict, cite, strict)) for claim, verdict in verdicts]
    removed = tuple(verdict for (_, verdict), (_, fix) in zip(verdicts, fixes, strict=True) if fix == "")
    fixed = _replace_sentences(text, fixes)
    if removed:
        empty = Counter(_list_headings(text)) - Counter(_list_headings(drop_empty_headings(text)))
        fixed = drop_empty_headings(fixed, keep=empty).strip("\r\n")
        if fixed:
            fixed = text[: len(text) - len(text.lstrip("\r\n"))] + fixed + text[len(text.rstrip("\r\n")) :]
    return FixedText(fixed, removed)


def _list_headings(text: str) -> list[str]:
    return [text[heading.start : heading.body_start].strip() for heading in find_headings(text)]


def _fix_sentence(
    text: str, claim: ClaimText, verdict: ClaimVerdict, cite: Callable[[Passage], str] | None, strict: bool
) -> str | None:
    """Return what takes the place of a sentence: ``None`` keeps it, an empty text removes it."""
    if verdict.support == "unknown" or (verdict.support == "supported" and (claim.handles or cite is None)):
        return None
    support = verdict.supporting or ((verdict.uncited_support,) if verdict.uncited_support is not None else ())
    if support:
        citations = [] if cite is None else list(dict.fromkeys(cite(quote.passage) for quote in support))
        return " ".join([claim.text if claim.text[-1:] in ".!?…。" else f"{claim.text}.", *citations])
    if strict:
        return ""
    mark = CONTRADICTED_MARK if verdict.support == "contradicted" else UNSUPPORTED_MARK
    return f"{text[slice(*claim.span)].rstrip()} {mark}"


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
