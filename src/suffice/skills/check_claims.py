"""``/check``: the claims of the given text, held against the documents."""

from suffice.answers import Statement
from suffice.claims.audit import TextAudit
from suffice.claims.reasons import describe_reason
from suffice.claims.verdict import ClaimVerdict
from suffice.prompts import SynthesisResponse
from suffice.skills.hooks import SkillCode, SkillContext, WrittenText
from suffice.text.citations import strip_citations
from suffice.text.markdown import escape_markdown, strip_markdown

_SYMBOLS = {"supported": "✓", "contradicted": "✗", "unsupported": "?", "unknown": "–"}


class CheckSkill(SkillCode):
    async def instead(self, context: SkillContext) -> WrittenText:
        audit = TextAudit(strip_citations(context.run.task), context.search, context.checker)
        verdicts: list[ClaimVerdict] = []
        lines: list[str] = []
        async for _, verdict in audit.check_claims():
            quote = verdict.deciding_quote
            await context.add_passages([one.passage for one, _ in verdict.quotes])
            await context.add_passages([quote.passage] if quote is not None else [])
            verdicts.append(verdict.about(Statement(verdict.claim.text)))
            reason = f" ({describe_reason(verdict.reason)})" if verdict.reason else ""
            line = f"- {_SYMBOLS[verdict.support]} **{verdict.support}**{reason}: {escape_markdown(verdict.plain_text)}"
            if quote is not None:
                said = escape_markdown(" ".join(strip_markdown(quote.text).split()))
                line += f"\n  - a source says: “{said}” {context.run.evidence.get_handle(quote.passage)}"
            lines.append(line)
        if not lines:
            return WrittenText(SynthesisResponse(""))
        context.run.has_own_wording = True
        counts = {label: sum(one.support == label for one in verdicts) for label in _SYMBOLS}
        summary = ", ".join(f"{count} {label}" for label, count in counts.items() if count)
        context.metadata["check"] = counts
        answer = f"Claims of the text: {summary}.\n\n" + "\n".join(lines)
        return WrittenText(SynthesisResponse(answer, f"Claims of the text: {summary}."), tuple(verdicts))
