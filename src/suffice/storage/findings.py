"""Memory across runs: what earlier runs found out and proved, for later questions to look up again (S4).

A finding is kept only of a run that passed: answered, every claim supported, and the review passed where there was one. Text
that addresses a model is never kept. A finding is no evidence: what a later run takes from it is a query, and it cites only
what that query finds again, as the source says it now.

    rank = 0.7 · similarity + 0.3 · quality
    similarity = cosine of task and finding by embeddings, by words without them
    quality = review score / 10, halved below 7; 0.5 without a review
"""

import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from suffice.errors import InputError
from suffice.screening.filter import remove_injected_lines
from suffice.text.citations import strip_citations
from suffice.text.entities import content_stems
from suffice.types import Embed, Report

DATABASE_NAME = "memory.sqlite"
MAX_RESULTS = 4  # Findings given to a run.
_MAX_CANDIDATES = 12  # Those most alike in words are compared by meaning.
_MAX_FACTS = 5
_MAX_TITLE_CHARS = 80
_MIN_SIMILARITY = 0.35  # What is less like the question than this is another matter.
_SCHEMA = """CREATE TABLE IF NOT EXISTS findings (id INTEGER PRIMARY KEY, run TEXT, at TEXT DEFAULT CURRENT_TIMESTAMP,
            task TEXT UNIQUE, title TEXT, narrative TEXT, facts TEXT, score REAL)"""


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A supported sentence and where it stood: ``Title (location)``."""

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredFinding:
    id: int
    run: str
    task: str
    title: str
    narrative: str
    facts: tuple[StoredFact, ...]
    score: float | None

    @property
    def quality(self) -> float:
        if self.score is None:
            return 0.5
        return self.score / 10 / (1 if self.score >= 7 else 2)

    @property
    def text(self) -> str:
        return " ".join([self.task, self.narrative, *(fact.text for fact in self.facts)])


class FindingStore:
    """``path`` need not exist: reading then finds nothing, and the first finding makes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def save(self, report: Report) -> bool:
        """Keep what the run found out, if it passed and nothing in it addresses a model; of a question the latest answer."""
        finding = _finding_from_report(report)
        if finding is None:
            return False
        facts = json.dumps([[fact.text, fact.sources] for fact in finding.facts], ensure_ascii=False)
        values = (finding.run, finding.task, finding.title, finding.narrative, facts, finding.score)
        with self._connect() as database, database:
            database.execute(
                "INSERT OR REPLACE INTO findings (run, task, title, narrative, facts, score) VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )
        return True

    def find_similar(self, task: str, embed: Embed | None = None, limit: int = MAX_RESULTS) -> list[StoredFinding]:
        """The best earlier findings for a task."""
        alike = [(_stem_similarity(task, finding.text), finding) for finding in self._load_all()]
        near = sorted((pair for pair in alike if pair[0] > 0), key=lambda pair: -pair[0])[:_MAX_CANDIDATES]
        if embed is not None and near:
            vectors = embed([task, *(finding.text for _, finding in near)])
            near = [(float(vectors[0] @ vectors[i]), finding) for i, (_, finding) in enumerate(near, 1)]
        ranked = sorted(
            (pair for pair in near if pair[0] >= _MIN_SIMILARITY),
            key=lambda pair: -(0.7 * pair[0] + 0.3 * pair[1].quality),
        )
        return [finding for _, finding in ranked[:limit]]

    def search(self, text: str) -> list[StoredFinding]:
        """All findings that share a word with the text, most alike first; all there are for an empty text."""
        found = self._load_all()
        if not text.strip():
            return found
        return sorted(
            (finding for finding in found if _stem_similarity(text, finding.text) > 0),
            key=lambda finding: -_stem_similarity(text, finding.text),
        )

    def delete(self, numbers: Sequence[int] | None) -> int:
        """Forget these findings, or all of them; how many are gone."""
        if not self._path.exists():
            return 0
        with self._connect() as database, database:
            if numbers is None:
                return database.execute("DELETE FROM findings").rowcount
            return sum(database.execute("DELETE FROM findings WHERE id = ?", (n,)).rowcount for n in numbers)

    def _load_all(self) -> list[StoredFinding]:
        if not self._path.exists():
            return []
        with self._connect() as database:
            rows = database.execute(
                "SELECT id, run, task, title, narrative, facts, score FROM findings ORDER BY id"
            ).fetchall()
        return [
            StoredFinding(number, run, task, title, narrative, _decode_facts(facts), score)
            for number, run, task, title, narrative, facts, score in rows
        ]

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with closing(sqlite3.connect(self._path, timeout=10)) as database:
                self._path.chmod(0o600)
                database.execute(_SCHEMA)
                yield database
        except (OSError, sqlite3.Error) as error:
            raise InputError(
                f"The memory {self._path} cannot be used ({error}); move it away to begin a new one"
            ) from error


def _finding_from_report(report: Report) -> StoredFinding | None:
    """What is worth keeping of a report; ``None`` when it did not pass, or holds what addresses a model."""
    review = report.metadata.get("review") or {}
    proven = report.claims and all(claim.support == "supported" for claim in report.claims)
    failed = bool(review) and review.get("passed") is not True  # A review that nobody could read has not passed either.
    if report.status != "answered" or not proven or failed:
        return None
    shown = {source.id: f"{source.title} ({source.location})" for source in report.sources}
    facts = tuple(
        StoredFact(_strip_citations(claim.text), tuple(shown[handle] for handle in claim.citations if handle in shown))
        for claim in report.claims[:_MAX_FACTS]
    )
    finding = StoredFinding(
        0,
        report.run,
        report.task,
        report.task[:_MAX_TITLE_CHARS],
        _strip_citations(report.summary),
        facts,
        review.get("composite"),
    )
    return (
        None
        if any(remove_injected_lines(text).removed for text in (finding.task, finding.narrative, finding.text))
        else finding
    )


def _decode_facts(wire: str) -> tuple[StoredFact, ...]:
    return tuple(StoredFact(text, tuple(sources)) for text, sources in json.loads(wire))


def _strip_citations(text: str) -> str:
    return " ".join(strip_citations(text).split())


def _stem_similarity(left: str, right: str) -> float:
    """Cosine of two texts as sets of stems, seen from the shorter: a long finding is not less alike for what else it says."""
    a, b = content_stems(left), content_stems(right)
    return len(a & b) / math.sqrt(len(a) * min(len(b), 2 * len(a))) if a and b else 0.0
