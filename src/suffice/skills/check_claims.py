"""``/check``: the claims of the given text, held against the documents."""

from suffice.answers import Statement
from suffice.claims.audit import TextAudit
from suffice.claims.reasons import describe_reason
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext, make_answer
from suffice.text.citations import strip_citations
from suffice.text.markdown import escape_markdown, strip_markdown

_SYMBOLS = {"supported": "✓", "contradicted": "✗", "unsupported": "○", "unknown": "–"}


class CheckSkill(SkillCode):
    async def instead(self, context: SkillContext) -> Checked:
        ask = context.run.try_ask if context.run.is_strong else None
        audit = TextAudit(strip_citations(context.run.task), context.search, context.checker, ask=ask)
        verdicts: list[ClaimVerdict] = []
        lines: list[str] = []
        async for _, verdict in audit.check_claims():
            quote = verdict.deciding_quote
            quotes = (*verdict.supporting, *verdict.contradicting, verdict.uncited_support, quote)
            for passage in {one.passage.id: one.passage for one in quotes if one is not None}.values():
                await context.add_passages([passage])
            verdicts.append(verdict.about(Statement(verdict.claim.text)))
            note = f" ({describe_reason(verdict.reason)})" if verdict.reason else ""
            line = f"- {_SYMBOLS[verdict.support]} **{verdict.support}**{note}: {escape_markdown(verdict.plain_text)}"
            if quote is not None:
                said = escape_markdown(" ".join(strip_markdown(quote.text).split()))
                line += f"\n  - a source says: “{said}” {context.run.evidence.get_handle(quote.passage)}"
            lines.append(line)
        if not lines:
            return Checked()
        counts = {label: sum(one.support == label for one in verdicts) for label in _SYMBOLS}
        summary = ", ".join(f"{count} {label}" for label, count in counts.items() if count)
        context.metadata["check"] = counts
        answer = f"Claims of the text: {summary}.\n\n" + "\n".join(lines)
        return make_answer(answer, verdicts)
