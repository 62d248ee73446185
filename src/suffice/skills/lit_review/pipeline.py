"""The stages in order, and the review that comes out of them: findings by paper, and what several papers say.

A strong model searches, reads and writes as in any run, by the instruction of ``SKILL.md``: a synthesis and a table of papers.
"""

import asyncio
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from suffice.answers import Finding, Quotation, Statement
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked
from suffice.models.embeddings import embed_static
from suffice.report.findings import find_findings
from suffice.skills.hooks import SkillCode, SkillContext, add_section, escape_cell, make_answer, read_table
from suffice.skills.lit_review.papers import PAPER_SUFFIXES, Paper, collect_papers, enrich_papers, list_space_files
from suffice.skills.lit_review.reading import MIN_RELEVANCE, list_limits, list_methods, measure_relevance
from suffice.skills.sentences import QuotedSentence
from suffice.text.markdown import escape_markdown, strip_markdown
from suffice.types import Failure

MAX_RESULTS = 3  # Findings of each paper; more of a long one.


class LitReviewSkill(SkillCode):
    async def instead(self, context: SkillContext) -> Checked:
        run = context.run
        papers, problems = await collect_papers(context.workspace, context.search, run.task)
        for problem in problems:
            run.record_failure(Failure("lit-review", "Skipped", problem))
        papers = enrich_papers(papers)
        relevance = _measure(context, papers)
        accepted = [paper for paper in papers if relevance[paper.key] >= MIN_RELEVANCE]
        left_out = [paper for paper in papers if paper not in accepted]
        await context.add_passages([passage for paper in accepted for passage in paper.passages])
        context.metadata["lit_review"] = _describe(papers, relevance)
        return await _Writer(context).write(accepted, left_out) if accepted else Checked()

    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        """Take over the table that a strong model wrote, and name the papers that it does not cite."""
        if not (table := read_table(written.draft)):
            return written
        names = [name.lower() for name in table[0]]
        context.metadata["lit_review"] = {"papers": [dict(zip(names, row, strict=False)) for row in table[1:]]}
        handles = (handle for one in written.draft.written for handle in one.handles)
        passages = map(context.run.evidence.find_passage, handles)
        cited = {PurePath(passage.place.path).name for passage in passages if passage is not None}
        files = (path for path in list_space_files(context.workspace) if path.suffix.lower() in PAPER_SUFFIXES)
        missing = [f"- {escape_markdown(path.name)}" for path in files if path.name not in cited]
        return add_section(written, "## Not cited\n\n" + "\n".join(missing)) if missing else written


def _measure(context: SkillContext, papers: Sequence[Paper]) -> dict[str, float]:
    """Return how relevant each paper is to the topic, by its words and, with embeddings, by its meaning."""
    topic, embed = context.run.task, context.run.embed
    if embed is None:
        return {paper.key: measure_relevance(paper, topic) for paper in papers}
    first, *vectors = embed([topic, *(f"{paper.title}. {paper.text[:2000]}" for paper in papers)])
    near = zip(papers, vectors, strict=True)
    return {paper.key: measure_relevance(paper, topic, float(first @ vector)) for paper, vector in near}


# -- Writing -----------------------------------------------------------------------------------------------------------


class _Writer:
    """Writes the review; every sentence of a paper is checked before it is used."""

    def __init__(self, context: SkillContext) -> None:
        self._context = context
        self._checked: dict[QuotedSentence, tuple[list[Statement], tuple[ClaimVerdict, ...]]] = {}

    async def write(self, papers: Sequence[Paper], left_out: Sequence[Paper]) -> Checked:
        run = self._context.run
        files = [paper.passages for paper in papers]
        nearness = {passage.id: 1.0 for passages in files for passage in passages}
        found = await asyncio.to_thread(find_findings, run.task, files, nearness, embed_static, per_file=MAX_RESULTS)
        blocks = ["## Papers", _write_table(papers)]
        for paper in papers:
            own = [
                self._make_sentence(one.quotations[0]) for one in found if one.quotations[0].passage in paper.passages
            ]
            methods, limits = list_methods(paper, run.evidence), list_limits(paper, run.evidence)
            results = [one for one in own if one not in (*methods, *limits)]
            parts = {"Method": methods, "Result": results, "Limits": limits}
            lines = [f"- {name}: {line}" for name, said in parts.items() for line in await self._list(said)]
            blocks += [f"## {escape_markdown(paper.label)}", "\n".join(lines) or "Nothing of it could be quoted."]
        synthesis = [line for one in found for line in await self._join(one)]
        blocks += ["## What several papers say", "\n".join(synthesis) or "No finding stands in more than one paper."]
        if left_out:
            rows = [f"- {escape_markdown(one.title)}" for one in left_out]
            blocks += ["## Left out: not about the topic", "\n".join(rows)]
        text = "\n\n".join(blocks)
        used = [own for sentence, (_, own) in self._checked.items() if escape_markdown(sentence.text) in text]
        return make_answer(text, [verdict for own in used for verdict in own], "yes")

    def _make_sentence(self, quotation: Quotation) -> QuotedSentence:
        text = " ".join(strip_markdown(quotation.text).split())
        return QuotedSentence(text, quotation.passage, self._context.run.evidence.get_handle(quotation.passage))

    async def _join(self, finding: Finding) -> list[str]:
        """Return a finding of several papers in one line: those that say the same, and those with another value."""
        sentences = [self._make_sentence(one) for one in finding.quotations]
        others = {one.text: one for one in sentences[1:] if one.passage.place.path != sentences[0].passage.place.path}
        others.pop(sentences[0].text, None)
        lines = await self._list([sentences[0], *others.values()])
        if not others or len(lines) <= len(others):
            return []
        checker = self._context.checker
        judged = await checker([(sentences[0].text, other) for other in others])
        differs = finding.against or any(one.contradicted >= checker.min_contradicted for one in judged)
        return [f"- {(', but: ' if differs else '; ').join(lines)}"]

    async def _list(self, sentences: Sequence[QuotedSentence]) -> list[str]:
        """Return the sentences that the check supports, in lines; each is checked once."""
        for sentence in sentences:
            if sentence not in self._checked:
                self._checked[sentence] = await self._context.keep_supported([sentence.statement])
        return [_render(statement) for sentence in sentences for statement in self._checked[sentence][0]]


def _write_table(papers: Sequence[Paper]) -> str:
    labels = {paper.key: paper.label for paper in papers}
    rows = ["| Paper | Authors | Year | Cites |", "| --- | --- | --- | --- |"]
    for paper in papers:
        cites = ", ".join(labels[key] for key in paper.cites if key in labels)
        cells = (paper.title, "; ".join(paper.authors), str(paper.year or ""), cites)
        rows.append(f"| {' | '.join(escape_cell(cell or '–') for cell in cells)} |")
    return "\n".join(rows)


def _describe(papers: Sequence[Paper], relevance: dict[str, float]) -> dict[str, Any]:
    return {
        "papers": [
            {
                "key": paper.key,
                "title": paper.title,
                "authors": list(paper.authors),
                "year": paper.year,
                "doi": paper.doi or None,
                "cites": list(paper.cites),
                "relevance": round(relevance[paper.key], 2),
                "accepted": relevance[paper.key] >= MIN_RELEVANCE,
            }
            for paper in papers
        ]
    }


def _render(statement: Statement) -> str:
    words, _, handle = statement.text.rpartition(" ")
    return f"“{words}” {handle}"
