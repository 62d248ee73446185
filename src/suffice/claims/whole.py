"""Check a whole draft with a language model: all statements, their cited passages and the others in one call, or in a few by
size.

The model says what each statement is and which words decide. Statements that sources state are supported, alone or joined; a
conclusion, advice or an absence is supported where the words that it follows from are found in a source, and unknown
otherwise. The words are looked up in the passage. A fact with a figure that is in no cited passage is never supported; joined
facts may compute it in one step, and a conclusion may have figures of its own.
"""

import asyncio
import heapq
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import TypeVar

from suffice.answers import Role, Statement
from suffice.claims.checker import rank_sentences
from suffice.claims.figures import MissingFigure, find_missing_figure
from suffice.claims.split import strip_claim_markup
from suffice.claims.verbatim import find_words
from suffice.claims.verdict import Checkable, ClaimVerdict, Quote, find_skip_reason
from suffice.memory.evidence import drop_repeated_titles
from suffice.prompts.judging import CheckDraft, CheckDraftResponse, CheckedStatement
from suffice.text.citations import list_handles, parse_handle
from suffice.text.entities import content_stems
from suffice.text.tokens import estimate_tokens
from suffice.types import Note, Passage, Reason

MAX_STATEMENTS = 80  # In one call; models lose count of more.
_TOKENS_OF_TEXT = 700  # Of the prompt around statements and sources.
_TOKENS_OF_ANSWER = 90  # For each statement.
_NEAREST = 2  # Passages shown for a statement because they are as near to it as its sources and say more of it.
_TRUE_ROLES = ("stated", "joined")

P = TypeVar("P", Passage, Note)
AskDraft = Callable[[CheckDraft], Awaitable[CheckDraftResponse | None]]


async def check_draft(
    statements: Sequence[Checkable],
    passages: Mapping[str, Passage],
    ask: AskDraft,
    max_tokens: int,
    text: str = "",
    beside: Mapping[object, Sequence[str]] = MappingProxyType({}),
    today: str = "",
    again: bool = True,
) -> list[ClaimVerdict | None]:
    """Return the verdict on each statement, in order; ``None`` where the model said nothing usable, also when asked ``again``.

    Of ``passages``, by handle, those are shown that the statements cite, and the nearest to others, because a comparison or an
    absence rests on more than it cites. ``max_tokens`` is the longest prompt; a longer one is halved, unless it is for a single
    statement. ``text`` is the draft, if the statements are only a few of it; ``beside`` is what the paragraph of each cites.
    """
    handles = dict.fromkeys(handle for one in statements for handle in one.handles or beside.get(one, ()))
    cited = {handle: passages[handle] for handle in handles if handle in passages}
    fits = _count_tokens(statements, cited) <= max_tokens and len(statements) <= MAX_STATEMENTS

    async def check(*parts: Sequence[Checkable], again: bool = False) -> list[ClaimVerdict | None]:
        calls = (check_draft(part, passages, ask, max_tokens, text, beside, today, again) for part in parts)
        return [verdict for found in await asyncio.gather(*calls) for verdict in found]

    half = len(statements) // 2
    if half and not fits:
        return await check(statements[:half], statements[half:], again=again)
    verdicts: list[ClaimVerdict | None] = [None] * len(statements)
    if not statements:
        return verdicts
    shown = add_nearest(statements, cited, passages, max_tokens)
    answer = await ask(_build_prompt(statements, shown, text, today))
    for checked in answer.statements if answer is not None else ():
        if 1 <= checked.number <= len(statements):
            verdicts[checked.number - 1] = _judge(statements[checked.number - 1], checked, shown)
    left = [statement for statement, verdict in zip(statements, verdicts, strict=True) if verdict is None]
    if half and left and again and (answer is None or any(verdicts)):  # Shorter answers are not cut off.
        rest = iter(await (check(left[:half], left[half:]) if len(left) == len(statements) else check(left)))
        return [verdict or next(rest) for verdict in verdicts]
    return verdicts


def add_nearest(
    statements: Sequence[Checkable],
    handles: Iterable[str],
    passages: Mapping[str, P],
    max_tokens: int,
    count: int = _NEAREST,
) -> dict[str, P]:
    """Return the passages with these handles and the nearest of those with words that a statement's own sources lack."""
    cited = {handle: passages[handle] for handle in handles if handle in passages}
    left = max_tokens - _count_tokens(statements, cited)
    stems = {handle: content_stems(f"{one.title} {one.text}") for handle, one in passages.items()}
    counts = Counter(word for held in stems.values() for word in held)
    rarity = {word: math.log(1 + len(stems) / count) for word, count in counts.items()}
    shared: dict[str, float] = {}
    for statement in statements:
        words = content_stems(strip_claim_markup(statement.text))
        own = [stems[handle] for handle in statement.handles if handle in stems]
        enough = max((math.fsum(rarity[word] for word in words & held) for held in own), default=0)
        lacking = words.difference(*own)
        near = {one: math.fsum(rarity[word] for word in words & held) for one, held in stems.items() if lacking & held}
        nearest = (handle for handle in heapq.nlargest(count, near, key=near.__getitem__) if near[handle] >= enough)
        shared |= {handle: max(shared.get(handle, 0), near[handle]) for handle in nearest}
    chosen = set(cited)
    for handle in sorted((one for one in shared if one not in cited), key=lambda handle: -shared[handle]):
        left -= _count_passages({handle: passages[handle]})
        if left < 0:
            break
        chosen.add(handle)
    return {handle: one for handle, one in passages.items() if handle in chosen}


def _count_tokens(statements: Sequence[Checkable], passages: Mapping[str, P]) -> int:
    return _TOKENS_OF_TEXT + sum(estimate_tokens(one.text) for one in statements) + _count_passages(passages)


def _count_passages(passages: Mapping[str, P]) -> int:
    return sum(estimate_tokens(f"{handle} {one.title} {one.text}") + 1 for handle, one in passages.items())


def _build_prompt(
    statements: Sequence[Checkable], passages: Mapping[str, Passage], text: str, today: str
) -> CheckDraft:
    numbered, named = list[str](), tuple[str, ...]()
    for number, one in enumerate(statements, 1):
        columns = one.columns if isinstance(one, Statement) else ()
        head = [f"(columns: {' | '.join(columns)})"] if columns and columns != named else []
        own = [handle for handle in one.handles if handle not in one.text]
        numbered.append(" ".join([f"{number}.", *head, *one.text.split(), *own]))
        named = columns
    notes = [Note(one.text, (handle,), one.title, one.kind, place=one.place) for handle, one in passages.items()]
    draft = (Note(text, ()),) if text else ()
    return CheckDraft(
        tuple(numbered), drop_repeated_titles(notes), draft, 200 + _TOKENS_OF_ANSWER * len(numbered), today
    )


def _judge(statement: Checkable, checked: CheckedStatement, passages: Mapping[str, Passage]) -> ClaimVerdict:
    """Return the verdict that the model's answer amounts to. Only a passage that it names is cited besides the writer's."""
    words = strip_claim_markup(statement.text)
    if find_skip_reason(words, is_cited=True) == "too_long":
        return ClaimVerdict(statement, "unknown", reason=Reason("too_long"))
    cited = [passages[handle] for handle in statement.handles if handle in passages] or list(passages.values())
    handle = parse_handle(checked.source) or ""
    named = [passages[handle]] if handle in passages else cited
    quote, is_exact = _find_quote(words, checked.words, named, (*cited, *named, *passages.values()))
    quotes = (quote,) if quote is not None else ()
    if checked.role == "contradicted":
        return ClaimVerdict(
            statement, "contradicted", contradicting=quotes, reason=Reason("contradicted", note=checked.reason)
        )
    role: Role | None = None if checked.role == "not_supported" else checked.role
    is_elsewhere = role in _TRUE_ROLES and statement.handles and quote is not None and quote.passage not in cited
    if is_elsewhere and quote is not None:  # Joined facts may come from a cited passage too.
        cited = [*(cited if role == "joined" else ()), quote.passage]

    def find_missing(passages: Sequence[Passage]) -> MissingFigure | None:
        files = [PurePath(one.place.path).stem.replace("-", " ") for one in passages]
        texts = [f"{file}\n{one.title}\n{one.text}" for file, one in zip(files, passages, strict=True)]
        near = quote.text if quote else ""
        return find_missing_figure(words, texts, near, may_compute=role == "joined", may_count=role in _TRUE_ROLES)

    missing = find_missing(cited)
    figure = Reason("figure", missing.source_value, missing.claim_value) if missing else None
    remarked = [passages[one] for one in list_handles(checked.reason) if one in passages]
    has_figure = (one for one in remarked if one not in cited and not find_missing([*cited, one]))
    if missing and role in _TRUE_ROLES and not is_elsewhere and (source := next(has_figure, None)):
        other, _ = _find_quote(words, "", [source], [])
        return ClaimVerdict(statement, "supported", (*quotes, *([other] if other else [])), role="joined")
    if figure and role in (None, *_TRUE_ROLES):
        return ClaimVerdict(statement, "unsupported", nearest=quote, reason=figure, role=role)
    if role is None:
        reason = Reason("not_stated" if statement.handles else "uncited", note=checked.reason)
        return ClaimVerdict(statement, "unsupported", nearest=quote, reason=reason)
    if is_elsewhere:
        reason = Reason("other_source")
        return ClaimVerdict(statement, "unsupported", uncited_support=quote, reason=reason, role=role)
    if role in _TRUE_ROLES or (role != "label" and is_exact and not missing):
        return ClaimVerdict(statement, "supported", quotes, role=role)
    return ClaimVerdict(statement, "unknown", nearest=quote, reason=(is_exact and figure) or Reason(role), role=role)


def _find_quote(
    words: str, deciding: str, named: Sequence[Passage], passages: Sequence[Passage]
) -> tuple[Quote | None, bool]:
    """Return the deciding words as a quote, and whether a passage has them exactly; else the nearest sentence of ``named``."""
    wanted = deciding.strip(' "“”.…')
    for passage in passages:
        if wanted and (span := find_words(wanted, passage.text)):
            return Quote(passage, *span, "model"), True
    ranked = [(*row, passage) for passage in named for row in rank_sentences(deciding or words, passage)[:1]]
    best = max(ranked, key=lambda row: row[0], default=None)
    return (None if best is None else Quote(best[2], *best[1], "model")), False
