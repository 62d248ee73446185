"""Findings of ``suffice check`` for machines: SARIF 2.1.0 for code scanning, and the annotations of a GitHub workflow."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from suffice import __version__
from suffice.claims.reasons import describe_reason
from suffice.claims.receipts import STDIN, identify
from suffice.claims.verdict import ClaimVerdict, Quote

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_RULES = {"contradicted": ("error", "A source says otherwise."), "unsupported": ("warning", "No source says it.")}


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """A claim that does not hold. ``text`` is the whole file; ``None`` if ``span`` holds no offsets of the file itself."""

    file: str
    text: str | None
    span: tuple[int, int]
    verdict: ClaimVerdict
    is_new: bool | None
    """``None`` without a baseline."""

    @property
    def message(self) -> str:
        """The claim, its verdict and what a source says instead."""
        found, reason = self.verdict.deciding_quote, describe_reason(self.verdict.reason)
        said = "" if found is None else f" A source says “{' '.join(found.text.split())}” ({found.location})."
        because = f": {reason}" if reason else ""
        return f"“{' '.join(self.verdict.plain_text.split())}” is {self.verdict.support}{because}.{said}"

    @property
    def region(self) -> dict[str, int]:
        """Lines and columns of the claim, from 1; the end column is that of the next character."""
        if self.text is None:
            return {}
        first, last = (self.text.count("\n", 0, offset) + 1 for offset in self.span)
        left, right = (offset - self.text.rfind("\n", 0, offset) for offset in self.span)
        return {"startLine": first, "startColumn": left, "endLine": last, "endColumn": right}


def render_sarif(annotations: Sequence[CheckFinding]) -> str:
    """Return the findings as a SARIF log of one run; with a baseline, each says whether it is new."""
    rules = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}
        for name, (level, text) in _RULES.items()
    ]
    run = {
        "tool": {"driver": {"name": "suffice", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_build_result(one) for one in annotations],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2) + "\n"


def _build_result(annotation: CheckFinding) -> dict[str, Any]:
    support = annotation.verdict.support
    finding = identify(annotation.file, annotation.verdict.claim.text, "")
    result: dict[str, Any] = {
        "ruleId": support,
        "level": _RULES[support][0],
        "message": {"text": annotation.message},
        "locations": [] if annotation.file == STDIN else [_build_location(annotation.file, annotation.region)],
        "relatedLocations": [_build_source_location(quote) for quote, _ in annotation.verdict.quotes],
        "partialFingerprints": {"claim/v1": hashlib.sha256("\0".join(finding).encode()).hexdigest()},
    }
    if annotation.is_new is not None:
        result["baselineState"] = "new" if annotation.is_new else "unchanged"
    return result


def _build_location(path: str, region: dict[str, int]) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": _to_uri(path)}}
    return {"physicalLocation": location | ({"region": region} if region else {})}


def _build_source_location(found: Quote) -> dict[str, Any]:
    place = found.passage.place.narrowed(found.passage.text, found.start, found.end)
    region = {} if place.lines is None else {"startLine": place.lines[0], "endLine": place.lines[1]}
    return {**_build_location(place.path, region), "message": {"text": found.text}}


def _to_uri(path: str) -> str:
    """Return a path as a URI, relative to the working directory where it is below that."""
    if "://" in path:
        return path
    whole = Path(path).resolve()
    here = Path.cwd().resolve()
    return quote(whole.relative_to(here).as_posix()) if whole.is_relative_to(here) else whole.as_uri()


def render_github(annotations: Sequence[CheckFinding]) -> str:
    """Return the findings as commands of a GitHub workflow, one a line; those of a baseline are left out."""
    return "".join(_render_command(one) for one in annotations if one.is_new is not False)


def _render_command(annotation: CheckFinding) -> str:
    properties = {"title": f"suffice: {annotation.verdict.support}"}
    if annotation.file != STDIN:
        properties |= {"file": annotation.file}
    if region := annotation.region:
        properties |= {"line": str(region["startLine"]), "endLine": str(region["endLine"])}
    level = _RULES[annotation.verdict.support][0]
    escaped = {name: _escape(text).replace(":", "%3A").replace(",", "%2C") for name, text in properties.items()}
    said = ",".join(f"{name}={text}" for name, text in escaped.items())
    return f"::{level} {said}::{_escape(annotation.message)}\n"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
