"""``/panel``: three readers review the answer; see ``review``. They are a language model."""

from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext
from suffice.types import Failure


class PanelSkill(SkillCode):
    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        if not context.has_language_model:
            message = "/panel reviews the answer with a language model, and this run has none"
            context.run.record_failure(Failure("skill", "Skipped", message))
        return written
