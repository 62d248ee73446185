"""``/recall``: what earlier runs found out, without a search."""

import re
from typing import ClassVar

from suffice.errors import InputError
from suffice.prompts import SynthesisResponse
from suffice.skills.hooks import SkillCode, SkillContext, Statement, WrittenText
from suffice.storage.findings import DATABASE_NAME, FindingStore, StoredFinding, rank_findings
from suffice.text.markdown import escape_markdown
from suffice.types import Passage, Place

MAX_FINDINGS = 8
_SOURCE = re.compile(r"(?P<title>.*)\((?P<location>[^()]*)\)\Z", re.DOTALL)


class RecallSkill(SkillCode):
    needs_no_search: ClassVar[bool] = True

    async def instead(self, context: SkillContext) -> WrittenText:
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
            return WrittenText(SynthesisResponse(""))
        context.run.has_own_wording = True
        blocks = ["These are findings of earlier runs. Their sources were not opened again:"]
        for finding in found:
            own = [str(one) for one in kept if any(one.text == escape_markdown(fact.text) for fact in finding.facts)]
            if own:
                lines = "\n".join(f"- {line}" for line in own)
                blocks.append(f"### {escape_markdown(finding.title)}\n\nFrom run {finding.run}:\n\n{lines}")
        summary = str(kept[0])
        return WrittenText(SynthesisResponse("\n\n".join(blocks), summary, sufficiency="partly"), verdicts)


async def _add_facts(context: SkillContext, finding: StoredFinding) -> list[Statement]:
    statements = []
    for number, fact in enumerate(finding.facts):
        if not fact.sources:
            continue
        found = _SOURCE.match(fact.sources[0])
        title, location = (found["title"].strip(), found["location"]) if found else (finding.title, fact.sources[0])
        passage = Passage(f"finding:{finding.id}:{number}", fact.text, title, Place(location), "finding")
        await context.add_passages([passage])
        statements.append(Statement(escape_markdown(fact.text), (context.run.evidence.get_handle(passage),)))
    return statements
