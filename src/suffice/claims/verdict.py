"""One claim held against passages: supported, contradicted, unsupported or unknown, with the exact stretches.

A claim that cites sources is held against those; that another source would support it is said, but makes the citation no
better. A claim that cites nothing is held against whatever speaks to it most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from suffice.claims.checkers import Checker, EvidenceSpan
from suffice.claims.checkers.base import Stance
from suffice.claims.checkers.lexical import find_verbatim
from suffice.claims.checkers.reading import extract_features
from suffice.claims.split import ClaimText
from suffice.types import Passage, SupportLabel

# Beside a supported claim another source disagrees only where it speaks of the very same matter: this many content words in
# common, and this share of those of both.
_MIN_COMMON_STEMS = 4
_MIN_COMMON_SHARE = 0.75
_MAX_QUOTES = 2  # Stretches shown for each side; more would bury the claim.


@dataclass(frozen=True, slots=True)
class Quote:
    """What a passage says to a claim."""

    passage: Passage
    span: EvidenceSpan

    @property
    def text(self) -> str:
        return self.passage.text[self.span.start : self.span.end]

    @property
    def location(self) -> str:
        return str(self.passage.place.narrowed(self.passage.text, self.span.start, self.span.end))


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """A claim and its verdict. ``against`` may be there beside a supported claim: then the sources disagree.

    ``elsewhere``: a source that is not cited supports it. ``nearest``: the stretch most like it, where nothing speaks to it.
    """

    claim: ClaimText
    support: SupportLabel
    supporting: tuple[Quote, ...] = ()
    contradicting: tuple[Quote, ...] = ()
    uncited_support: Quote | None = None
    nearest: Quote | None = None
    note: str = ""


async def judge_claim(
    statement: ClaimText, cited: Sequence[Passage], others: Sequence[Passage], checker: Checker
) -> ClaimVerdict:
    """The verdict on one claim from the passages behind its citations and others that may speak to it."""
    if statement.skip_reason:  # Even a question is supported where a source asks it in the same words.
        quoted = [Quote(passage, found) for passage in cited if (found := find_verbatim(statement.plain_text, passage))]
        return ClaimVerdict(
            statement, "supported" if quoted else "unknown", tuple(quoted), note="" if quoted else statement.skip_reason
        )
    own = {passage.id for passage in cited}
    pool = [*cited, *(passage for passage in others if passage.id not in own)]
    findings = await checker(statement.plain_text, pool)
    spoken = [Quote(passage, finding) for passage, finding in zip(pool, findings, strict=True) if finding is not None]
    spoken.sort(key=lambda item: -item.span.score)
    supporting = [item for item in spoken if item.span.stance == "supports"]
    against = [item for item in spoken if item.span.stance == "contradicts"]
    behind = [item for item in supporting if not own or item.passage.id in own]
    elsewhere = next((item for item in supporting if own and item.passage.id not in own), None)
    if behind:
        at_odds = [item for item in against if _is_same_topic(statement.plain_text, item.text)]
        return ClaimVerdict(statement, "supported", tuple(behind[:_MAX_QUOTES]), tuple(at_odds[:_MAX_QUOTES]))
    contradicting = [item for item in against if not own or item.passage.id in own]
    if contradicting:
        note = contradicting[0].span.reason
        return ClaimVerdict(statement, "contradicted", (), tuple(contradicting[:_MAX_QUOTES]), elsewhere, note=note)
    parts = [item for item in spoken if item.passage.id in own][:_MAX_QUOTES]
    if await _is_jointly_supported(statement, parts, checker):
        return ClaimVerdict(statement, "supported", tuple(parts))
    nearest = max(spoken, key=lambda item: item.span.overlap, default=None)
    return ClaimVerdict(
        statement, "unsupported", (), (), elsewhere, nearest, _explain_unsupported(bool(own), elsewhere, nearest)
    )


def _is_same_topic(claim: str, quote: str) -> bool:
    one, other = extract_features(claim), extract_features(" ".join(quote.split()))
    ours, theirs = one.stems - one.antonym_stems, other.stems - other.antonym_stems
    return len(ours & theirs) >= _MIN_COMMON_STEMS and len(ours & theirs) >= _MIN_COMMON_SHARE * len(ours | theirs)


async def _is_jointly_supported(statement: ClaimText, parts: Sequence[Quote], checker: Checker) -> bool:
    """A claim that cites several sources may rest on all of them together: what each says to it, read in a row."""
    if len(parts) < 2:
        return False
    row = replace(parts[0].passage, text="\n\n".join(item.text for item in parts), title="")
    [found] = await checker(statement.plain_text, [row])
    return found is not None and found.stance == "supports"


def _explain_unsupported(is_cited: bool, elsewhere: Quote | None, nearest: Quote | None) -> str:
    if elsewhere is not None:
        return "the cited source does not say it; another one does"
    if nearest is not None and nearest.span.reason:
        return nearest.span.reason
    return "the cited source does not say it" if is_cited else "no source says it"


def list_quotes(checked: ClaimVerdict) -> Iterator[tuple[Quote, Stance]]:
    """The stretches to show, with their stance; a supporting stretch of a source that is not cited is shown too."""
    supporting = checked.supporting or ((checked.uncited_support,) if checked.uncited_support is not None else ())
    yield from ((item, "supports") for item in supporting)
    yield from ((item, "contradicts") for item in checked.contradicting)
