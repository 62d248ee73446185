"""Findings by paper, and what several papers say. A strong model searches and writes as in any run, by ``SKILL.md``."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext, add_section, escape_cell, make_answer, read_table
from suffice.skills.lit_review.papers import PAPER_SUFFIXES, Paper, collect_papers, enrich_papers, list_space_files
from suffice.skills.lit_review.reading import MIN_RELEVANCE, join_results, measure_relevance, sort_by_role
from suffice.skills.sentences import QuotedSentence
from suffice.text.markdown import escape_markdown
from suffice.types import Failure


class LitReviewSkill(SkillCode):
    async def instead(self, context: SkillContext) -> Checked:
        run = context.run
        papers, problems = await collect_papers(context.workspace, context.search, run.task)
        for problem in problems:
            run.record_failure(Failure("lit-review", "Skipped", problem))
        papers = enrich_papers(papers)
        relevance = measure_relevance(papers, run.task, run.embed)
        accepted = [paper for paper in papers if relevance[paper.key] >= MIN_RELEVANCE]
        left_out = [paper for paper in papers if paper not in accepted]
        await context.add_passages([passage for paper in accepted for passage in paper.passages])
        context.metadata["lit_review"] = {"papers": [_describe(paper, relevance[paper.key]) for paper in papers]}
        return await _write(context, accepted, left_out) if accepted else Checked()

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


async def _write(context: SkillContext, papers: Sequence[Paper], left_out: Sequence[Paper]) -> Checked:
    """Return the review in the papers' own sentences."""
    evidence = context.run.evidence
    roles = {paper: await asyncio.to_thread(sort_by_role, paper, evidence) for paper in papers}
    blocks = ["## Papers", _write_table(papers)]
    for paper, own in roles.items():
        said = ((role.title(), list(map(_quote, one)) or ["*nothing found*"]) for role, one in own.items())
        lines = [f"- {role}: {line}" for role, quoted in said for line in quoted]
        blocks += [f"## {escape_markdown(paper.label)}", "\n".join(lines)]
    labels = {one: paper.label for paper, own in roles.items() for one in (*own["result"], *own["conclusion"])}
    groups = await asyncio.to_thread(join_results, list(labels))
    together = [await _join(context, group, labels) for group in groups]
    blocks += ["## What several papers say", "\n".join(together) or "No two papers have results on the same matter."]
    if left_out:
        blocks += ["## Left out: not about the topic", "\n".join(f"- {escape_markdown(one.title)}" for one in left_out)]
    shown = dict.fromkeys(one for own in roles.values() for quoted in own.values() for one in quoted)
    return make_answer("\n\n".join(blocks), await context.judge(one.quotation for one in shown), "yes")


async def _join(context: SkillContext, group: Sequence[QuotedSentence], labels: Mapping[QuotedSentence, str]) -> str:
    """Return results of several papers in one line: those that go together, and those that contradict the first."""
    first, *others = group
    judged = await context.checker([(first.text, other.text) for other in others])
    differs = any(one.contradicted >= context.checker.min_contradicted for one in judged)
    said = [f"{escape_markdown(labels[one])}: {_quote(one)}" for one in group]
    return f"- {(', but ' if differs else '; ').join(said)}"


def _quote(sentence: QuotedSentence) -> str:
    return f"“{escape_markdown(sentence.text)}” {sentence.handle}"


def _write_table(papers: Sequence[Paper]) -> str:
    labels = {paper.key: paper.label for paper in papers}
    rows = ["| Paper | Authors | Year | Cites |", "| --- | --- | --- | --- |"]
    for paper in papers:
        cites = ", ".join(labels[key] for key in paper.cites if key in labels)
        cells = (paper.title, "; ".join(paper.authors), str(paper.year or ""), cites)
        rows.append(f"| {' | '.join(escape_cell(cell or '–') for cell in cells)} |")
    return "\n".join(rows)


def _describe(paper: Paper, relevance: float) -> dict[str, Any]:
    known: dict[str, Any] = {"key": paper.key, "title": paper.title, "year": paper.year, "doi": paper.doi or None}
    known |= {"authors": list(paper.authors), "cites": list(paper.cites)}
    return known | {"relevance": round(relevance, 2), "accepted": relevance >= MIN_RELEVANCE}
