"""``/email``: the answer as a mail, which a strong model writes with subject, greeting and close; else they are added."""

from dataclasses import replace
from typing import ClassVar

from suffice.answers import Paragraph, Part, Quotation, SectionHeading, Statement, replace_statements
from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext
from suffice.text.citations import strip_citations
from suffice.text.parts import parse_parts

_MAX_SUBJECT_CHARS = 78  # The line length that RFC 5322 recommends.


class EmailSkill(SkillCode):
    lays_out: ClassVar[bool] = True

    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        parts = tuple(map(_set_without_heading, written.draft.parts))
        if context.run.is_strong and written.draft.origin == "written":
            parts = (*replace_statements(parts[:1], _drop_citations), *parts[1:])
            return replace(written, draft=replace(written.draft, parts=parts, origin="skill"))
        subject = " ".join(context.run.task.split()).rstrip("?.! ")
        if len(subject) > _MAX_SUBJECT_CHARS:
            subject = subject[: _MAX_SUBJECT_CHARS - 2].rsplit(" ", 1)[0] + " …"
        opening = parse_parts(f"**Subject:** {subject}\n\nHello,\n\nhere is what I found:")
        parts = (*opening, *parts, *parse_parts("Kind regards"))
        return replace(written, draft=replace(written.draft, parts=parts, origin="skill"))


def _drop_citations(statement: Statement) -> tuple[Statement, ...]:
    """Return the subject, which begins in bold, without the citations that the check gave it."""
    return (Statement(strip_citations(statement.text)),) if statement.text.startswith("**") else (statement,)


def _set_without_heading(part: Part) -> Part:
    """Return a part as it is set in a mail, which has paragraphs and no sections."""
    if isinstance(part, SectionHeading):
        return Paragraph((Statement(f"**{part.text.rstrip(':')}**"),))
    return replace(part, is_section=False) if isinstance(part, Quotation) else part
