"""Receipts: what the claims of checked texts rest on, so that a later run finds out what of it changed.

A receipt is a JSON file. For each text it has the claims, their verdicts, and the exact quotes that decided with the SHA-256 of
their files; and what the reader judged, so that the next check reads only what changed. The claims of a stored run can be
compared with their sources in the same way, without hashes.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from suffice.claims.checker import Checker, Probabilities, rank_sentences
from suffice.claims.reasons import describe_reason
from suffice.claims.split import ClaimText, strip_claim_markup
from suffice.claims.verbatim import find_words
from suffice.claims.verdict import ClaimVerdict, Quote, Stance, judge_claim
from suffice.errors import InputError
from suffice.models.reader import find_reader
from suffice.search.files.chunk import INEXACT_KINDS, Document
from suffice.search.files.isolated import read_documents
from suffice.storage.report_json import to_json_safe
from suffice.types import Passage, Place, Report, SupportLabel

RECEIPT_VERSION = 1
STDIN = "-"
_PASSAGES_PER_CLAIM = 5  # Of the changed files, those nearest to a claim.

SourceState = Literal["unchanged", "moved", "changed", "vanished", "remote"]
"""Whether a source still says what was quoted, from good to bad; *remote* ones are not on this machine and not looked at."""
_STATES: tuple[SourceState, ...] = ("remote", "unchanged", "moved", "changed", "vanished")

Finding = tuple[str, str, str]
"""A claim that does not hold, to find it again: its file, its words and its verdict."""


@dataclass(frozen=True, slots=True)
class ReceiptSpan:
    """A quote that decided about a claim. ``sha256`` is of its file; ``None`` if that is not on this machine, or of a run."""

    path: str
    location: str
    quote: str
    stance: Stance
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class ReceiptClaim:
    """A claim with its verdict and the quotes that it rests on."""

    text: str
    support: SupportLabel
    note: str = ""
    spans: tuple[ReceiptSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class ReceiptFile:
    """A checked text: its claims, and what the reader judged for them."""

    file: str
    claims: tuple[ReceiptClaim, ...]
    judged: Mapping[str, Probabilities]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The checked texts. ``reader`` is the model that judged: another one judges anew."""

    receipt: int
    reader: str
    files: tuple[ReceiptFile, ...]

    def get_judged(self, file: str) -> Mapping[str, Probabilities]:
        """Return what the reader judged about a text, if it was the same reader."""
        return {} if self.reader != name_reader() else self._by_name.get(normalize_path(file), _NOTHING).judged

    def list_changes(self, checked: ReceiptFile) -> list[tuple[ReceiptClaim, ReceiptClaim]]:
        """Return the claims of a text that have another verdict than in this receipt: before and now."""
        before = {_fold(claim.text): claim for claim in self._by_name.get(checked.file, _NOTHING).claims}
        pairs = ((before.get(_fold(claim.text)), claim) for claim in checked.claims)
        return [(old, new) for old, new in pairs if old is not None and old.support != new.support]

    def update(self, checked: Sequence[ReceiptFile]) -> "Receipt":
        """Return the receipt with these texts anew; texts that were not checked this time stay."""
        rows = (
            self._by_name
            if self.reader == name_reader()
            else {n: replace(f, judged={}) for n, f in self._by_name.items()}
        )
        files = rows | {one.file: one for one in checked}
        return Receipt(RECEIPT_VERSION, name_reader(), tuple(files[name] for name in sorted(files)))

    @property
    def _by_name(self) -> dict[str, ReceiptFile]:
        return {one.file: one for one in self.files}

    def dumps(self) -> str:
        """Return the receipt as JSON."""
        import msgspec

        return json.dumps(to_json_safe(msgspec.to_builtins(self)), ensure_ascii=False, indent=1) + "\n"


_NOTHING = ReceiptFile("", (), {})
EMPTY_RECEIPT = Receipt(RECEIPT_VERSION, "", ())


def build_receipt_file(file: str, verdicts: Iterable[ClaimVerdict], checker: Checker) -> ReceiptFile:
    """Return what a receipt keeps of a checked text."""
    claims = []
    for verdict in verdicts:
        spans = tuple(_build_span(quote, stance) for quote, stance in verdict.quotes)
        claims.append(ReceiptClaim(verdict.claim.text, verdict.support, describe_reason(verdict.reason), spans))
    judged = {key: Probabilities(round(one, 6), round(two, 6)) for key, (one, two) in checker.judged.items()}
    return ReceiptFile(normalize_path(file), tuple(claims), judged)


def _build_span(quote: Quote, stance: Stance) -> ReceiptSpan:
    path = quote.passage.place.path
    return ReceiptSpan(path, quote.location, quote.text, stance, hash_file(Path(path)))


def read_receipt(path: Path, name: str) -> Receipt:
    """Read a receipt; ``name`` is the option or argument that names it."""
    import msgspec

    try:
        return msgspec.convert(_read_json(path, name), Receipt)
    except msgspec.ValidationError as error:
        raise InputError(f"{name} {path} is not a receipt of suffice check: {error}") from error


def read_findings(path: Path) -> frozenset[Finding]:
    """Return the findings of a baseline: a receipt, or what ``suffice check --format json`` printed."""
    data = _read_json(path, "--baseline")
    try:
        return frozenset(
            identify(row["file"], claim["text"], claim["support"])
            for row in data.get("files", [data])
            for claim in row["claims"]
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"--baseline {path} is neither a receipt nor the JSON of suffice check; write one with --receipt"
        ) from error


def identify(file: str, text: str, support: str) -> Finding:
    """Return by what a finding is known again, wherever it stands in its file."""
    return normalize_path(file), _fold(text), support


def normalize_path(file: str) -> str:
    """Return the path from the working directory; standard input stays ``-``."""
    return file if file == STDIN else Path(os.path.relpath(file)).as_posix()


def name_reader() -> str:
    """Return the name and the hash of the reader that comes with suffice; empty if it cannot be loaded."""
    reader = find_reader()
    return "" if reader is None else f"{reader.name} {reader.digest[:12]}"


def hash_file(path: Path) -> str | None:
    """Return the SHA-256 of a file; ``None`` if there is none."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _read_json(path: Path, name: str) -> Any:
    """Return the JSON object in a file; raise ``InputError`` if there is none, or if it is a receipt of another version."""
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(
            f"{name} {path} cannot be read: {error.strerror}; suffice check --receipt writes one"
        ) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} {path} is not a JSON file; suffice check --receipt writes one") from error
    version = data.get("receipt", RECEIPT_VERSION) if isinstance(data, dict) else None
    if version is None:
        raise InputError(f"{name} {path} is not a receipt of suffice check")
    if version != RECEIPT_VERSION:
        raise InputError(
            f"{name} {path} is a receipt of version {version}, and this suffice reads version {RECEIPT_VERSION}; "
            "delete it and write a new one with suffice check --receipt"
        )
    return data


def _fold(text: str) -> str:
    return " ".join(strip_claim_markup(text).split())


def list_run_claims(report: Report, evidence: Iterable[Passage]) -> list[ReceiptClaim]:
    """Return the claims of a stored run as a receipt would have them, given the passages of its trace."""
    places = {passage.location: passage for passage in evidence}
    sources = {source.id: places.get(source.location) for source in report.sources}
    claims = []
    for claim in report.claims:
        found = [(span, passage) for span in claim.spans if (passage := sources.get(span.source)) is not None]
        spans = (ReceiptSpan(one.place.path, span.location, span.quote, span.stance) for span, one in found)
        claims.append(ReceiptClaim(claim.text, claim.support, claim.note, tuple(spans)))
    return claims


@dataclass(frozen=True, slots=True)
class RecheckedClaim:
    """A claim, what became of its sources, and the verdict now. ``span`` is the quote whose source changed most."""

    claim: ReceiptClaim
    state: SourceState
    span: ReceiptSpan
    location: str
    """Where the quote is now."""
    support: SupportLabel
    note: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether the claim was supported and is not any more."""
        return self.claim.support == "supported" != self.support


class SourceComparison:
    """The files that claims rest on as they are now. Paths are relative to ``folder``."""

    def __init__(
        self, claims: Sequence[ReceiptClaim], folder: Path, checker: Checker, *, is_remote: bool = False
    ) -> None:
        """``is_remote``: a file without a hash that is not here was never here."""
        self._claims = [claim for claim in claims if claim.spans]
        self._folder, self._checker, self._is_remote = folder, checker, is_remote
        paths = dict.fromkeys(span.path for claim in self._claims for span in claim.spans)
        self._hashes = {path: hash_file(folder / path) for path in paths}
        self._passages: dict[str, list[Passage]] = {}

    async def recheck(self) -> list[RecheckedClaim]:
        """Return all claims that rest on a source; those whose quote is gone are judged anew by the checker."""
        touched = [claim for claim in self._claims if any(map(self._may_differ, claim.spans))]
        wanted = dict.fromkeys(span.path for claim in touched for span in claim.spans if self._hashes[span.path])
        documents = read_documents([self._folder / path for path in wanted])
        self._passages = {
            path: _list_passages(path, found) if isinstance(found, Document) else []
            for path, found in zip(wanted, documents, strict=True)
        }
        return [await self._recheck(claim) for claim in self._claims]

    def _may_differ(self, span: ReceiptSpan) -> bool:
        return span.sha256 is None or self._hashes[span.path] != span.sha256

    async def _recheck(self, claim: ReceiptClaim) -> RecheckedClaim:
        found = [(*self._compare(span), span) for span in claim.spans]
        state, location, span = max(found, key=lambda row: _STATES.index(row[0]))
        if state not in ("changed", "vanished"):
            return RecheckedClaim(claim, state, span, location, claim.support, claim.note)
        passages = [
            one for path in dict.fromkeys(span.path for span in claim.spans) for one in self._passages.get(path, ())
        ]
        if not passages:
            return RecheckedClaim(claim, state, span, location, "unsupported")
        words = strip_claim_markup(claim.text)
        passages.sort(
            key=lambda one: max((share for share, _ in rank_sentences(words, one)[:1]), default=0), reverse=True
        )
        statement = ClaimText(claim.text, (0, 0), ("[1]",))
        verdict = await judge_claim(statement, passages[:_PASSAGES_PER_CLAIM], (), self._checker)
        return RecheckedClaim(claim, state, span, location, verdict.support, describe_reason(verdict.reason))

    def _compare(self, span: ReceiptSpan) -> tuple[SourceState, str]:
        """Return what became of a quote, and where it is now."""
        if not self._may_differ(span):
            return "unchanged", span.location
        if self._hashes[span.path] is None:
            is_remote = span.sha256 is None and (self._is_remote or "://" in span.path)
            return ("remote" if is_remote else "vanished"), span.location
        words = " ".join(span.quote.split())
        places = []
        for passage in self._passages[span.path]:
            if words in " ".join(passage.text.split()) and (place := find_words(span.quote, passage.text)):
                places.append(str(passage.place.narrowed(passage.text, *place)))
        if span.location in places:
            return "unchanged", span.location
        return ("moved", places[0]) if places else ("changed", span.location)


def _list_passages(path: str, document: Document) -> list[Passage]:
    return [
        Passage(
            f"{path}#{number}",
            chunk.text,
            chunk.title,
            Place(path, chunk.lines, chunk.page, chunk.record, chunk.kind not in INEXACT_KINDS, chunk.section),
            chunk.kind,
        )
        for number, chunk in enumerate(document.chunks)
    ]
