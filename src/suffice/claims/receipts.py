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

import msgspec

from suffice.claims.checker import Checker, Probabilities, rank_sentences
from suffice.claims.reasons import describe_reason
from suffice.claims.split import ClaimText, strip_claim_markup
from suffice.claims.verbatim import find_words
from suffice.claims.verdict import ClaimVerdict, judge_claim
from suffice.errors import InputError
from suffice.search.files.chunk import INEXACT_KINDS, Document
from suffice.search.files.isolated import read_documents
from suffice.storage.report_json import to_json_safe
from suffice.types import Claim, Passage, Place, Report, Span, SupportLabel

RECEIPT_VERSION = 1
STDIN = "-"
_PASSAGES_PER_CLAIM = 5  # Of the changed files, those nearest to a claim.

SourceState = Literal["unchanged", "moved", "changed", "vanished", "remote"]
"""Whether a source still says what was quoted, from good to bad; *remote* ones are not on this machine and not looked at."""
_STATES: tuple[SourceState, ...] = ("remote", "unchanged", "moved", "changed", "vanished")

Finding = tuple[str, str, str]
"""A claim that does not hold, to find it again: its file, its words and its verdict."""


@dataclass(frozen=True, slots=True)
class ReceiptFile:
    """A checked text: its claims, the SHA-256 of the files that they rest on, and what the reader judged.

    The source of a span is a path here. A path without a hash is not on this machine; a stored run has no hashes.
    """

    file: str
    claims: tuple[Claim, ...]
    hashes: Mapping[str, str]
    judged: Mapping[str, Probabilities]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The checked texts; ``receipt`` is the version of the format."""

    receipt: int
    files: tuple[ReceiptFile, ...] = ()

    def get_file(self, file: str) -> ReceiptFile:
        """Return what is kept of a text; an empty one if it was not checked yet."""
        name = normalize_path(file)
        return next((one for one in self.files if one.file == name), ReceiptFile(name, (), {}, {}))

    def list_changes(self, checked: ReceiptFile) -> list[tuple[Claim, Claim]]:
        """Return the claims of a text that have another verdict than in this receipt: before and now."""
        before = {strip_claim_markup(claim.text): claim for claim in self.get_file(checked.file).claims}
        pairs = ((before.get(strip_claim_markup(claim.text)), claim) for claim in checked.claims)
        return [(old, new) for old, new in pairs if old is not None and old.support != new.support]

    def update(self, checked: Sequence[ReceiptFile]) -> "Receipt":
        """Return the receipt with these texts anew; texts that were not checked this time stay."""
        files = {one.file: one for one in (*self.files, *checked)}
        return Receipt(RECEIPT_VERSION, tuple(files[name] for name in sorted(files)))

    def dumps(self) -> str:
        return json.dumps(to_json_safe(msgspec.to_builtins(self)), ensure_ascii=False, indent=1) + "\n"


def build_receipt_file(file: str, checked: Iterable[tuple[Claim, ClaimVerdict]], checker: Checker) -> ReceiptFile:
    claims = []
    for claim, verdict in checked:
        quotes = ((quote, quote.passage.place.path, stance) for quote, stance in verdict.quotes)
        spans = tuple(Span(path, quote.text, quote.location, stance) for quote, path, stance in quotes)
        claims.append(replace(claim, spans=spans, evidence=None))
    hashes = {span.source: hash_file(Path(span.source)) for claim in claims for span in claim.spans}
    judged = {key: Probabilities(round(one, 6), round(two, 6)) for key, (one, two) in checker.judged.items()}
    found = {path: digest for path, digest in hashes.items() if digest is not None}
    return ReceiptFile(normalize_path(file), tuple(claims), found, judged)


def build_run_file(report: Report, evidence: Iterable[Passage]) -> ReceiptFile:
    """Return the claims of a stored run as a receipt would have them, given the passages of its trace."""
    places = {passage.location: passage.place.path for passage in evidence}
    paths = {source.id: places[source.location] for source in report.sources if source.location in places}
    claims = []
    for claim in report.claims:
        spans = (replace(span, source=paths[span.source]) for span in claim.spans if span.source in paths)
        claims.append(replace(claim, spans=tuple(spans)))
    return ReceiptFile(report.run, tuple(claims), {}, {})


def read_receipt(path: Path, name: str) -> Receipt:
    """Read a receipt; ``name`` is the option or argument that names it."""
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
    return normalize_path(file), strip_claim_markup(text), support


def normalize_path(file: str) -> str:
    """Return the path from the working directory; standard input stays ``-``."""
    return file if file == STDIN else Path(os.path.relpath(file)).as_posix()


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


@dataclass(frozen=True, slots=True)
class RecheckedClaim:
    """A claim, the span whose source changed most, what became of that and where it is now, and the verdict now."""

    claim: Claim
    state: SourceState
    span: Span
    location: str
    support: SupportLabel
    note: str = ""

    @property
    def is_lost(self) -> bool:
        """Whether the claim was supported and is not any more."""
        return self.claim.support == "supported" != self.support


class SourceComparison:
    """The files that claims rest on as they are now."""

    def __init__(self, folder: Path, checker: Checker, *, may_be_remote: bool) -> None:
        """Paths are relative to ``folder``. ``may_be_remote``: a missing file without a hash was never there."""
        self._folder, self._checker, self._may_be_remote = folder, checker, may_be_remote
        self._hashes: dict[str, str | None] = {}
        self._passages: dict[str, list[Passage]] = {}

    async def recheck(self, file: ReceiptFile) -> list[RecheckedClaim]:
        """Return the claims that rest on a source; those whose quote is gone are judged anew by the checker."""
        claims = [claim for claim in file.claims if claim.spans]
        for span in (span for claim in claims for span in claim.spans):
            if span.source not in self._hashes:
                self._hashes[span.source] = hash_file(self._folder / span.source)
        return [await self._recheck(claim, file.hashes) for claim in claims]

    async def _recheck(self, claim: Claim, hashes: Mapping[str, str]) -> RecheckedClaim:
        found = [(*self._compare(span, hashes.get(span.source)), span) for span in claim.spans]
        state, location, span = max(found, key=lambda row: _STATES.index(row[0]))
        if state not in ("changed", "vanished"):
            return RecheckedClaim(claim, state, span, location, claim.support, claim.note)
        paths = dict.fromkeys(span.source for span in claim.spans if self._hashes[span.source] is not None)
        passages = [passage for path in paths for passage in self._read(path)]
        if not passages:
            return RecheckedClaim(claim, state, span, location, "unsupported")
        words = strip_claim_markup(claim.text)
        passages.sort(
            key=lambda one: max((share for share, _ in rank_sentences(words, one)), default=0.0), reverse=True
        )
        statement = ClaimText(claim.text, (0, 0), ("[1]",))
        verdict = await judge_claim(statement, passages[:_PASSAGES_PER_CLAIM], (), self._checker)
        return RecheckedClaim(claim, state, span, location, verdict.support, describe_reason(verdict.reason))

    def _compare(self, span: Span, sha256: str | None) -> tuple[SourceState, str]:
        """Return what became of a quote, and where it is now."""
        now = self._hashes[span.source]
        if now is None:
            is_remote = sha256 is None and (self._may_be_remote or "://" in span.source)
            return ("remote" if is_remote else "vanished"), span.location
        if now == sha256:
            return "unchanged", span.location
        words, places = " ".join(span.quote.split()), []
        for passage in self._read(span.source):
            if words in " ".join(passage.text.split()) and (offsets := find_words(span.quote, passage.text)):
                places.append(str(passage.place.narrowed(passage.text, *offsets)))
        if span.location in places:
            return "unchanged", span.location
        return ("moved", places[0]) if places else ("changed", span.location)

    def _read(self, path: str) -> list[Passage]:
        """Return the passages of a file; none if it cannot be read any more."""
        if path not in self._passages:
            (document,) = read_documents([self._folder / path])
            found = self._passages[path] = []
            for chunk in document.chunks if isinstance(document, Document) else ():
                is_exact = chunk.kind not in INEXACT_KINDS
                place = Place(path, chunk.lines, chunk.page, chunk.record, is_exact, chunk.section)
                found.append(Passage(f"{path}#{len(found)}", chunk.text, chunk.title, place, chunk.kind))
        return self._passages[path]
