"""Findings of earlier runs: stored when a run passed, looked up again for later questions.

A finding is stored only for a run that passed: answered, every claim supported, and the review passed if there was one. Text
that looks like a prompt injection is not stored. A finding is not evidence: a later run over the same documents turns it into a
query and cites only what that query finds again. So no sentence of other documents gets into a report.

    rank = 0.7 · similarity + 0.3 · quality
    similarity = cosine of task and finding, or the nearest of its facts: by embeddings, or by word stems without an embedder
    quality = review score / 10, halved below 7; 0.5 without a review

The formula is that of the source system, see docs/sources.md.
"""

import json
import math
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from os.path import join, normpath
from pathlib import Path
from typing import Any

from suffice.errors import InputError
from suffice.measure.stretches import compute_cosines
from suffice.screening.filter import remove_injected_lines
from suffice.text.citations import strip_citations
from suffice.text.entities import content_stems
from suffice.types import Embed, PriorRun, Report

DATABASE_NAME = "memory.sqlite"
MAX_RESULTS = 4  # Findings given to a run.
_MAX_CANDIDATES = 12  # Findings most alike in words; only these are embedded.
_MAX_FACTS = 5
_MAX_TITLE_CHARS = 80
_MIN_SIMILARITY = 0.35  # A finding less similar to the question than this is about something else.
_WEB_SOURCE = re.compile(r"\(https?://[^()\s]+\)\Z")
_SCHEMA = """CREATE TABLE IF NOT EXISTS findings (id INTEGER PRIMARY KEY, run TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP,
            task TEXT UNIQUE, title TEXT, narrative TEXT, facts TEXT, score REAL)"""
_ADD_FOLDERS = "ALTER TABLE findings ADD COLUMN folders TEXT DEFAULT '[]'"


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A supported sentence and its sources, each as ``Title (location)``."""

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """What one run found out. ``score`` is the review's, if there was a review; ``folders`` are the documents it searched."""

    id: int
    run: str
    task: str
    title: str
    narrative: str
    facts: tuple[StoredFact, ...]
    score: float | None
    folders: tuple[str, ...] = ()

    @property
    def quality(self) -> float:
        if self.score is None:
            return 0.5
        return self.score / 10 / (1 if self.score >= 7 else 2)

    @property
    def is_public(self) -> bool:
        """Whether all its facts come from the web, so that sending them to a web search reveals no private document."""
        sources = [source for fact in self.facts for source in fact.sources]
        return bool(sources) and all(_WEB_SOURCE.search(source) for source in sources)

    def is_from(self, folders: Sequence[str]) -> bool:
        """Whether all documents that it comes from are among these."""
        return bool(self.folders) and all(
            any(Path(own).is_relative_to(folder) for folder in folders) for own in self.folders
        )

    @property
    def texts(self) -> tuple[str, ...]:
        """All that it says, then each fact by itself."""
        facts = [fact.text for fact in self.facts]
        return (" ".join([self.task, self.narrative, *facts]), *facts)


class FindingStore:
    """Findings in a SQLite file. The file is created when the first finding is saved."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def save(self, report: Report) -> bool:
        """Store what the run found, if it passed, and return whether it did. A task's new finding replaces its old one."""
        finding = build_finding(report)
        if finding is None:
            return False
        facts = json.dumps([[fact.text, fact.sources] for fact in finding.facts], ensure_ascii=False)
        folders = json.dumps(finding.folders, ensure_ascii=False)
        values = (finding.run, finding.task, finding.title, finding.narrative, facts, finding.score, folders)
        with self._connect() as database, database:
            database.execute(
                "INSERT OR REPLACE INTO findings (run, task, title, narrative, facts, score, folders) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                values,
            )
        return True

    def search(self, text: str) -> list[StoredFinding]:
        """Return the findings that share a word with the text, most alike first; all findings for an empty text."""
        if not self._path.exists():
            return []
        with self._connect() as database:
            rows = database.execute(
                "SELECT id, run, task, title, narrative, facts, score, folders FROM findings ORDER BY id"
            ).fetchall()
        findings = []
        for id, run, task, title, narrative, encoded, score, folders in rows:
            facts = tuple(StoredFact(text, tuple(sources)) for text, sources in json.loads(encoded))
            findings.append(StoredFinding(id, run, task, title, narrative, facts, score, tuple(json.loads(folders))))
        if not text.strip():
            return findings
        scored = [(_stem_similarity(text, finding.texts[0]), finding) for finding in findings]
        return [finding for score, finding in sorted(scored, key=lambda pair: -pair[0]) if score > 0]

    def delete(self, ids: Sequence[int] | None) -> int:
        """Delete these findings, or all of them for ``None``, and return how many were deleted."""
        if not self._path.exists():
            return 0
        with self._connect() as database, database:
            if ids is None:
                return database.execute("DELETE FROM findings").rowcount
            return sum(database.execute("DELETE FROM findings WHERE id = ?", (id,)).rowcount for id in ids)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with closing(sqlite3.connect(self._path, timeout=10)) as database:
                self._path.chmod(0o600)
                database.execute(_SCHEMA)
                with suppress(sqlite3.OperationalError):  # It has the column unless an earlier version made it.
                    database.execute(_ADD_FOLDERS)
                yield database
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"The findings in {self._path} cannot be used ({error}); move the file away to start a new one"
            ) from error


def rank_findings(
    findings: Sequence[StoredFinding], task: str, embed: Embed | None = None, limit: int = MAX_RESULTS
) -> list[StoredFinding]:
    by_words = [(max(_stem_similarity(task, text) for text in finding.texts), finding) for finding in findings]
    candidates = sorted((pair for pair in by_words if pair[0] > 0), key=lambda pair: -pair[0])[:_MAX_CANDIDATES]
    if embed is not None:
        cosines = iter(compute_cosines(task, [text for _, finding in candidates for text in finding.texts], embed))
        candidates = [(max(next(cosines) for _ in finding.texts), finding) for _, finding in candidates]
    ranked = sorted(
        (pair for pair in candidates if pair[0] >= _MIN_SIMILARITY),
        key=lambda pair: -(0.7 * pair[0] + 0.3 * pair[1].quality),
    )
    return [finding for _, finding in ranked[:limit]]


def recall_findings(
    findings: Sequence[StoredFinding],
    task: str,
    folders: Sequence[str],
    embed: Embed | None = None,
    prior_run: PriorRun | None = None,
) -> list[StoredFinding]:
    """Return the findings with a fact that is near to a task, best first: a run looks these facts up again.

    They come from the web or from the documents in ``folders``, which are none for a run that asks web services: what it asks
    is no private sentence. Those of ``prior_run`` are already part of the run that continues it.
    """
    own = [finding for finding in findings if finding.is_public or finding.is_from(folders)]
    near = [finding for finding in rank_findings(own, task, embed) if find_near_fact(finding, task) is not None]
    return [finding for finding in near if prior_run is None or finding.run != prior_run.run]


def list_folders(searched: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the full paths of the documents that a run searched, from its metadata; for another search where it was asked."""
    return tuple(normpath(join(searched.get("from", ""), path)) for path in searched.get("docs") or [""])


def find_near_fact(finding: StoredFinding, task: str) -> StoredFact | None:
    """Return the fact of a finding that shares most with a task; ``None`` if none shares more than half of its words."""
    stems = content_stems(task)
    best = max(finding.facts, key=lambda fact: len(stems & content_stems(fact.text)), default=None)
    return best if best is not None and 2 * len(stems & content_stems(best.text)) > len(stems) else None


def build_finding(report: Report) -> StoredFinding | None:
    """Return the finding of a report; ``None`` if the run did not pass, only recalled, or its text holds a prompt injection."""
    review = report.metadata.get("review") or {}
    judged = [claim for claim in report.claims if claim.support != "unknown"]  # Advice and absences are no facts.
    all_supported = judged and all(claim.support == "supported" for claim in judged)
    review_failed = bool(review) and review.get("passed") is not True  # An unreadable review has not passed either.
    is_recalled = any(source.type == "finding" for source in report.sources)
    if report.status != "answered" or not all_supported or review_failed or is_recalled:
        return None
    sources = {source.id: f"{source.title} ({source.location})" for source in report.sources}
    facts = tuple(
        StoredFact(
            _strip_citations(claim.text), tuple(sources[handle] for handle in claim.citations if handle in sources)
        )
        for claim in judged[:_MAX_FACTS]
    )
    finding = StoredFinding(
        id=0,
        run=report.run,
        task=report.task,
        title=report.task[:_MAX_TITLE_CHARS],
        narrative=_strip_citations(report.summary),
        facts=facts,
        score=review.get("composite"),
        folders=list_folders(report.metadata.get("searched") or {}),
    )
    if any(remove_injected_lines(text).removed for text in (finding.task, finding.narrative, *finding.texts)):
        return None
    return finding


def _strip_citations(text: str) -> str:
    return " ".join(strip_citations(text).split())


def _stem_similarity(left: str, right: str) -> float:
    """Return the cosine of two texts as sets of word stems.

    The size of the right set is capped at twice the left one, so that a long finding is not penalised for what else it says.
    """
    a, b = content_stems(left), content_stems(right)
    return len(a & b) / math.sqrt(len(a) * min(len(b), 2 * len(a))) if a and b else 0.0
