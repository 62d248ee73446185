"""One claim held against passages: supported, contradicted, unsupported or unknown, with the exact stretches.

A claim that cites sources is held against those; that another source would support it is said, but makes the citation no
better. A claim that cites nothing is held against whatever speaks to it most.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from suffice.types import Passage, Support
from suffice.write.checkers import Checker, Finding
from suffice.write.checkers.base import Stance
from suffice.write.checkers.lexical import verbatim
from suffice.write.checkers.reading import read
from suffice.write.claims import Statement

# Beside a supported claim another source disagrees only where it speaks of the very same matter: this many content words in
# common, and this share of those of both.
_COMMON = 4
_SHARE = 0.75
_SHOWN = 2  # Stretches shown for each side; more would bury the claim.


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a passage says to a claim."""

    passage: Passage
    finding: Finding

    @property
    def quote(self) -> str:
        return self.passage.text[self.finding.start : self.finding.end]

    @property
    def location(self) -> str:
        return str(self.passage.place.narrowed(self.passage.text, self.finding.start, self.finding.end))


@dataclass(frozen=True, slots=True)
class Checked:
    """A claim and its verdict. ``against`` may be there beside a supported claim: then the sources disagree.

    ``elsewhere``: a source that is not cited supports it. ``nearest``: the stretch most like it, where nothing speaks to it.
    """

    statement: Statement
    support: Support
    supporting: tuple[Spoken, ...] = ()
    against: tuple[Spoken, ...] = ()
    elsewhere: Spoken | None = None
    nearest: Spoken | None = None
    note: str = ""


async def judge(statement: Statement, cited: Sequence[Passage], others: Sequence[Passage], checker: Checker) -> Checked:
    """The verdict on one claim from the passages behind its citations and others that may speak to it."""
    if statement.idle:  # Even a question is supported where a source asks it in the same words.
        quoted = [Spoken(passage, found) for passage in cited if (found := verbatim(statement.said, passage))]
        return Checked(
            statement, "supported" if quoted else "unknown", tuple(quoted), note="" if quoted else statement.idle
        )
    own = {passage.id for passage in cited}
    pool = [*cited, *(passage for passage in others if passage.id not in own)]
    findings = await checker(statement.said, pool)
    spoken = [Spoken(passage, finding) for passage, finding in zip(pool, findings, strict=True) if finding is not None]
    spoken.sort(key=lambda item: -item.finding.score)
    supporting = [item for item in spoken if item.finding.stance == "supports"]
    against = [item for item in spoken if item.finding.stance == "contradicts"]
    behind = [item for item in supporting if not own or item.passage.id in own]
    elsewhere = next((item for item in supporting if own and item.passage.id not in own), None)
    if behind:
        at_odds = [item for item in against if _same_matter(statement.said, item.quote)]
        return Checked(statement, "supported", tuple(behind[:_SHOWN]), tuple(at_odds[:_SHOWN]))
    contradicting = [item for item in against if not own or item.passage.id in own]
    if contradicting:
        note = contradicting[0].finding.why
        return Checked(statement, "contradicted", (), tuple(contradicting[:_SHOWN]), elsewhere, note=note)
    parts = [item for item in spoken if item.passage.id in own][:_SHOWN]
    if await _jointly(statement, parts, checker):
        return Checked(statement, "supported", tuple(parts))
    nearest = max(spoken, key=lambda item: item.finding.near, default=None)
    return Checked(statement, "unsupported", (), (), elsewhere, nearest, _lacking(bool(own), elsewhere, nearest))


def _same_matter(claim: str, quote: str) -> bool:
    one, other = read(claim), read(" ".join(quote.split()))
    ours, theirs = one.stems - one.turning, other.stems - other.turning
    return len(ours & theirs) >= _COMMON and len(ours & theirs) >= _SHARE * len(ours | theirs)


async def _jointly(statement: Statement, parts: Sequence[Spoken], checker: Checker) -> bool:
    """A claim that cites several sources may rest on all of them together: what each says to it, read in a row."""
    if len(parts) < 2:
        return False
    row = replace(parts[0].passage, text="\n\n".join(item.quote for item in parts), title="")
    [found] = await checker(statement.said, [row])
    return found is not None and found.stance == "supports"


def _lacking(is_cited: bool, elsewhere: Spoken | None, nearest: Spoken | None) -> str:
    if elsewhere is not None:
        return "the cited source does not say it; another one does"
    if nearest is not None and nearest.finding.why:
        return nearest.finding.why
    return "the cited source does not say it" if is_cited else "no source says it"


def shown(checked: Checked) -> Iterator[tuple[Spoken, Stance]]:
    """The stretches to show, with their stance; a supporting stretch of a source that is not cited is shown too."""
    supporting = checked.supporting or ((checked.elsewhere,) if checked.elsewhere is not None else ())
    yield from ((item, "supports") for item in supporting)
    yield from ((item, "contradicts") for item in checked.against)
