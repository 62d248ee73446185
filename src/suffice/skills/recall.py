"""``/recall``: what earlier runs found out, without a search."""

import re
from typing import ClassVar

from suffice.answers import Statement
from suffice.claims.verify import Checked
from suffice.errors import InputError
from suffice.skills.hooks import SkillCode, SkillContext, cite_words, make_answer
from suffice.storage.findings import DATABASE_NAME, FindingStore, StoredFinding, rank_findings
from suffice.text.markdown import escape_markdown
from suffice.types import Passage, Place

MAX_FINDINGS = 8
_SOURCE = re.compile(r"(?P<title>.*)\((?P<location>[^()]*)\)\Z", re.DOTALL)


class RecallSkill(SkillCode):
    needs_no_search: ClassVar[bool] = True

    async def instead(self, context: SkillContext) -> Checked:
        folder, known = context.workspace.data_dir, context.workspace.findings
        if folder is not None:
            known = tuple(FindingStore(folder / DATABASE_NAME).search(""))
        if known is None:
            raise InputError(
                "/recall reads the findings of stored runs, but this run stores nothing; leave out --no-keep"
            )
        found = rank_findings(known, context.run.task, context.run.embed, MAX_FINDINGS)
        context.metadata["recalled"] = [finding.title for finding in found]
        statements = [statement for finding in found for statement in await _add_facts(context, finding)]
        kept, verdicts = await context.keep_supported(statements)
        if not kept:
            return Checked()
        blocks = ["These are findings of earlier runs. Their sources were not opened again:"]
        for finding in found:
            facts = tuple(escape_markdown(fact.text) for fact in finding.facts)
            own = [one.text for one in kept if one.text.startswith(facts)]
            if own:
                lines = "\n".join(f"- {line}" for line in own)
                blocks.append(f"### {escape_markdown(finding.title)}\n\nFrom run {finding.run}:\n\n{lines}")
        return make_answer("\n\n".join(blocks), verdicts, "partly")


async def _add_facts(context: SkillContext, finding: StoredFinding) -> list[Statement]:
    """Add what a finding quotes of each source as one passage, and return its facts as statements."""
    facts_by_source: dict[str, list[str]] = {}
    for fact in finding.facts:
        if fact.sources:
            facts_by_source.setdefault(fact.sources[0], []).append(fact.text)
    statements = []
    for source, facts in facts_by_source.items():
        found = _SOURCE.match(source)
        title, location = (found["title"].strip(), found["location"]) if found else (finding.title, source)
        passage = Passage(f"finding:{finding.run}:{source}", "\n".join(facts), title, Place(location), "finding")
        await context.add_passages([passage])
        handle = context.run.evidence.get_handle(passage)
        statements += [cite_words(escape_markdown(fact), handle) for fact in facts]
    return statements
