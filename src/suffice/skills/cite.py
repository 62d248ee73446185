"""``/cite``: every sentence is attributed to a source or marked as an inference."""

from dataclasses import replace

from suffice.answers import Statement, replace_statements
from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext

INFERENCE_MARK = "*(inference)*"


class CiteSkill(SkillCode):
    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        draft = written.draft
        context.metadata["inferences"] = sum(map(_is_inference, draft.statements))
        parts = replace_statements(draft.parts, lambda one: (mark_inference(one),))
        return replace(written, draft=replace(draft, parts=parts))


def mark_inference(statement: Statement) -> Statement:
    """Return a statement that cites nothing with a mark behind it.

    >>> mark_inference(Statement("So they talk.")).mark
    '*(inference)*'
    """
    return replace(statement, mark=INFERENCE_MARK) if _is_inference(statement) else statement


def _is_inference(statement: Statement) -> bool:
    return not statement.handles and statement.text.rstrip()[-1:] in ".!…" and not statement.mark
