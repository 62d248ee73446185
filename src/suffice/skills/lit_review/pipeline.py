"""The seven stages in order, and the review that comes out of them."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from suffice import settings
from suffice.answers import Statement
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked
from suffice.prompts import GradePaper
from suffice.skills.hooks import SkillCode, SkillContext, make_answer
from suffice.skills.lit_review.crossref import add_metadata
from suffice.skills.lit_review.papers import Paper, collect_papers, enrich_papers, list_texts
from suffice.skills.lit_review.reading import (
    Annotation,
    annotate,
    cluster_papers,
    is_accepted,
    mark_paper,
)
from suffice.skills.sentences import QuotedSentence
from suffice.text.entities import content_stems
from suffice.text.markdown import escape_markdown
from suffice.types import Failure, Note

READERS = ("relevance", "substance", "evidence", "method", "provenance")
_MAX_PAIRS = 6
_MIN_SHARED = 0.35  # Share of words that two sentences of different papers have in common where they say the same.
_MIN_SHARED_WORDS = 2  # Words that are neither of the topic nor common to the papers.
_READ_CHARS = 6_000  # What a language model reads of a paper to mark it.


class LitReviewSkill(SkillCode):
    async def instead(self, context: SkillContext) -> Checked:
        run, space = context.run, context.workspace
        papers, problems = await collect_papers(
            space.docs, space.include, space.exclude, context.search, run.task, uses_web=space.uses_web
        )
        for problem in problems:
            run.record_failure(Failure("lit-review", "Skipped", problem))
        if space.uses_web:
            papers, problems = await add_metadata(papers, settings.load())
            for problem in problems:
                run.record_failure(Failure("lit-review", "NoMetadata", problem))
        papers = enrich_papers(papers)
        marks = await _curate(context, papers)
        accepted = [paper for paper in papers if is_accepted(marks[paper.key])]
        left_out = [paper for paper in papers if not is_accepted(marks[paper.key])]
        await context.add_passages([passage for paper in accepted for passage in paper.passages])
        annotations = {paper.key: annotate(paper, run.task, run.evidence) for paper in accepted}
        clusters = cluster_papers(accepted, run.embed, run.seed) if accepted else []
        context.metadata["lit_review"] = _describe(papers, marks, clusters)
        if not accepted:
            return Checked()
        return await _Writer(context, annotations).write(clusters, left_out, marks)


# -- Curation ----------------------------------------------------------------------------------------------------------


async def _curate(context: SkillContext, papers: Sequence[Paper]) -> dict[str, dict[str, float]]:
    """Return the marks of each paper. Marks of a language model are stored as they come, so that a review can continue."""
    similarity = _compare_with_topic(context, papers)
    counted = {paper.key: mark_paper(paper, context.run.task, similarity.get(paper.key)) for paper in papers}
    if not context.has_language_model:
        return counted
    store = _MarkStore(context)
    for paper in papers:
        for reader in READERS:
            key = f"{_digest(paper.text)}:{reader}"
            if key not in store.marks:
                prompt = GradePaper(reader, context.run.task, Note(paper.text[:_READ_CHARS], (), paper.title))
                answer = await context.run.try_ask(prompt)
                if answer is None or not 1 <= answer.mark <= 5:
                    continue  # The counted mark is used.
                store.add(key, answer.mark)
            counted[paper.key][reader] = store.marks[key]
    return counted


class _MarkStore:
    """The marks of a review, kept in the user's data folder; only in memory where nothing is stored."""

    def __init__(self, context: SkillContext) -> None:
        self.marks: dict[str, float] = {}
        self._path: Path | None = None
        if context.workspace.data_dir is not None:
            name = _digest(f"{context.run.task}\n{context.run.model.name}")
            self._path = context.workspace.data_dir / "lit-review" / f"{name}.json"
            if self._path.exists():
                try:
                    self.marks = json.loads(self._path.read_text(encoding="utf-8"))
                except ValueError:
                    self.marks = {}  # Written half; the papers are marked again.

    def add(self, key: str, mark: float) -> None:
        self.marks[key] = mark
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text(json.dumps(self.marks), encoding="utf-8")


def _compare_with_topic(context: SkillContext, papers: Sequence[Paper]) -> dict[str, float]:
    if context.run.embed is None:
        return {}
    vectors = context.run.embed([context.run.task, *list_texts(papers)])
    return {paper.key: float(vectors[0] @ vectors[i]) for i, paper in enumerate(papers, 1)}


# -- Writing -----------------------------------------------------------------------------------------------------------


class _Writer:
    """Writes the review; every sentence of a paper is checked before it is used."""

    def __init__(self, context: SkillContext, annotations: dict[str, Annotation]) -> None:
        self._context = context
        self._annotations = annotations
        self._verdicts: dict[str, tuple[ClaimVerdict, ...]] = {}
        self._kept: dict[str, Statement | None] = {}

    async def write(
        self,
        clusters: Sequence[tuple[str, list[Paper]]],
        left_out: Sequence[Paper],
        marks: dict[str, dict[str, float]],
    ) -> Checked:
        papers = [paper for _, members in clusters for paper in members]
        blocks = ["## Papers", await self._write_table(clusters)]
        for name, members in clusters:
            blocks += [f"## {escape_markdown(name.capitalize())}", await self._summarize(members)]
        agreements, disagreements = await self._compare(papers)
        for title, lines in (("Agreements", agreements), ("Disagreements", disagreements)):
            blocks += [f"## {title}", "\n".join(lines) or "The key sentences of the papers show none."]
        gaps = [line for paper in papers for line in await self._list(self._annotations[paper.key].gaps)]
        blocks += ["## Gaps", "\n".join(gaps) or "No paper names one in so many words."]
        if left_out:
            rows = [f"- {escape_markdown(one.title)} ({_describe_marks(marks[one.key])})" for one in left_out]
            blocks += ["## Left out by the readers", "\n".join(rows)]
        text = "\n\n".join(block for block in blocks if block)
        used = [own for sentence, own in self._verdicts.items() if escape_markdown(sentence) in text]
        return make_answer(text, [verdict for own in used for verdict in own], "yes")

    async def _write_table(self, clusters: Sequence[tuple[str, list[Paper]]]) -> str:
        rows = ["| Paper | Year | Cluster | Cites | Key sentence |", "| --- | --- | --- | --- | --- |"]
        labels = {paper.key: paper.label for _, members in clusters for paper in members}
        for name, members in clusters:
            for paper in members:
                lines = await self._keep(self._annotations[paper.key].key)
                cites = ", ".join(labels[key] for key in paper.cites if key in labels)
                cells = (paper.title, str(paper.year or "–"), name, cites or "–")
                said = lines[0].text.replace("|", "\\|") if lines else "–"
                rows.append(f"| {' | '.join(map(_cell, cells))} | {said} |")
        return "\n".join(rows)

    async def _summarize(self, members: Sequence[Paper]) -> str:
        lines = []
        for paper in members:
            for statement in (await self._keep(self._annotations[paper.key].key))[:2]:
                lines.append(f"- {escape_markdown(paper.label)}: {_render(statement)}")
        return "\n".join(lines)

    async def _compare(self, papers: Sequence[Paper]) -> tuple[list[str], list[str]]:
        """Return pairs of sentences of different papers that say the same, and pairs that contradict each other."""
        own = [(paper, sentence) for paper in papers for sentence in self._annotations[paper.key].key]
        spread = Counter(stem for paper in papers for stem in content_stems(paper.text[:20_000]))
        general = {stem for stem, count in spread.items() if count > max(2, len(papers) / 3)}
        general |= content_stems(self._context.run.task)
        pairs = []
        for i, (paper, sentence) in enumerate(own):
            for other_paper, other in own[i + 1 :]:
                mine, theirs = sentence.stems - general, other.stems - general
                shared = len(mine & theirs) / (min(len(mine), len(theirs)) or 1)
                is_same = len(mine & theirs) >= _MIN_SHARED_WORDS and shared >= _MIN_SHARED
                if paper.key != other_paper.key and is_same and sentence.text != other.text:
                    pairs.append((shared, sentence, other))
        agreements: list[str] = []
        disagreements: list[str] = []
        for _, one, other in sorted(pairs, key=lambda pair: -pair[0]):
            if len(agreements) >= _MAX_PAIRS and len(disagreements) >= _MAX_PAIRS:
                break
            kept = await self._keep([one, other])
            if len(kept) < 2:
                continue
            checker = self._context.checker
            judged = await checker([(one.text, other.text), (other.text, one.text)])
            if all(each.contradicted >= checker.min_contradicted for each in judged):
                found, joint = disagreements, "but"
            elif any(each.supported >= checker.min_supported for each in judged):
                found, joint = agreements, "and"
            else:
                continue
            if len(found) < _MAX_PAIRS:
                found.append(f"- {_render(kept[0])}, {joint}: {_render(kept[1])}")
        return agreements, disagreements

    async def _list(self, sentences: Sequence[QuotedSentence]) -> list[str]:
        return [f"- {_render(statement)}" for statement in await self._keep(sentences)]

    async def _keep(self, sentences: Sequence[QuotedSentence]) -> list[Statement]:
        """Return the sentences that the check supports; each is checked once."""
        for sentence in sentences:
            if sentence.text not in self._kept:
                kept, verdicts = await self._context.keep_supported([sentence.statement])
                self._kept[sentence.text] = kept[0] if kept else None
                self._verdicts[sentence.text] = verdicts
        found = (self._kept[sentence.text] for sentence in sentences)
        return [statement for statement in found if statement is not None]


def _describe(
    papers: Sequence[Paper], marks: dict[str, dict[str, float]], clusters: Sequence[tuple[str, list[Paper]]]
) -> dict[str, Any]:
    cluster_of = {paper.key: name for name, members in clusters for paper in members}
    return {
        "papers": [
            {
                "key": paper.key,
                "title": paper.title,
                "authors": list(paper.authors),
                "year": paper.year,
                "doi": paper.doi or None,
                "cites": list(paper.cites),
                "cited_by": paper.cited_by,
                "marks": {reader: round(mark, 2) for reader, mark in marks[paper.key].items()},
                "accepted": paper.key in cluster_of,
                "cluster": cluster_of.get(paper.key),
            }
            for paper in papers
        ]
    }


def _render(statement: Statement) -> str:
    words, _, handle = statement.text.rpartition(" ")
    return f"“{words}” {handle}"


def _cell(text: str) -> str:
    return escape_markdown(text).replace("|", "\\|")


def _describe_marks(marks: dict[str, float]) -> str:
    """Say why a paper was left out: its mean, and the lowest mark if that decided."""
    reader = min(marks, key=marks.__getitem__)
    low = f", {marks[reader]:.1f} for {reader}" if marks[reader] < 2 else ""
    return f"mean mark {_mean(marks):.2f}{low}"


def _mean(marks: dict[str, float]) -> float:
    return sum(marks.values()) / len(marks)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
