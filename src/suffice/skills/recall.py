"""``/recall``: what earlier runs found out, without a search."""

import re
from typing import ClassVar

from suffice.answers import Statement
from suffice.claims.verdict import ClaimVerdict
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
        blocks = ["These are findings of earlier runs. Their sources were not opened again:"]
        verdicts: list[ClaimVerdict] = []
        shown: set[str] = set()
        for finding in found:
            kept, judged = await context.keep_supported(await _add_facts(context, finding, shown))
            verdicts += judged
            if kept:
                lines = "\n".join(f"- {statement.text}" for statement in kept)
                blocks.append(f"### {escape_markdown(finding.task)}\n\nFrom run {finding.run}:\n\n{lines}")
        return make_answer("\n\n".join(blocks), verdicts, "partly") if verdicts else Checked()


async def _add_facts(context: SkillContext, finding: StoredFinding, shown: set[str]) -> list[Statement]:
    """Add what a finding quotes of each source as one passage, and return the facts that are not shown yet as statements."""
    facts = [fact for fact in finding.facts if fact.sources and fact.text not in shown]
    shown.update(fact.text for fact in facts)
    handles: dict[str, str] = {}
    for source in dict.fromkeys(source for fact in facts for source in fact.sources):
        found = _SOURCE.match(source)
        title, location = (found["title"].strip(), found["location"]) if found else (finding.title, source)
        told = "\n".join(fact.text for fact in facts if source in fact.sources)
        passage = Passage(f"finding:{finding.run}:{source}", told, title, Place(location), "finding")
        await context.add_passages([passage])
        handles[source] = context.run.evidence.get_handle(passage)
    return [cite_words(escape_markdown(fact.text), *(handles[one] for one in fact.sources)) for fact in facts]
