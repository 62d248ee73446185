"""``/email``: the answer as a mail."""

from dataclasses import replace
from typing import ClassVar

from suffice.answers import Paragraph, Part, Quotation, SectionHeading, Statement
from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext
from suffice.text.parts import parse_parts

_MAX_SUBJECT_CHARS = 78  # The line length that RFC 5322 recommends.


class EmailSkill(SkillCode):
    lays_out: ClassVar[bool] = True

    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        body = map(_set_without_heading, written.draft.parts)
        subject = " ".join(context.run.task.split()).rstrip("?.! ")
        if len(subject) > _MAX_SUBJECT_CHARS:
            subject = subject[: _MAX_SUBJECT_CHARS - 2].rsplit(" ", 1)[0] + " …"
        opening = parse_parts(f"**Subject:** {subject}\n\nHello,\n\nhere is what I found:")
        parts = (*opening, *body, *parse_parts("Kind regards"))
        return replace(written, draft=replace(written.draft, parts=parts, origin="skill"))


def _set_without_heading(part: Part) -> Part:
    """Return a part as it is set in a mail, which has paragraphs and no sections."""
    if isinstance(part, SectionHeading):
        return Paragraph((Statement(f"**{part.text.rstrip(':')}**"),))
    return replace(part, is_section=False) if isinstance(part, Quotation) else part
