"""``/email``: the answer as a mail."""

from dataclasses import replace
from typing import ClassVar

from suffice.skills.hooks import SkillCode, SkillContext, WrittenText
from suffice.text.markdown import find_headings

_MAX_SUBJECT_CHARS = 78  # The line length that RFC 5322 recommends.


class EmailSkill(SkillCode):
    lays_out: ClassVar[bool] = True

    async def after_writing(self, context: SkillContext, written: WrittenText) -> WrittenText:
        context.run.has_own_wording = True
        body = written.text.answer
        for heading in reversed(find_headings(body)):  # A mail has paragraphs, not sections.
            title = heading.title.rstrip(":")
            body = f"{body[: heading.start]}**{title}**\n{body[heading.body_start :]}"
        subject = " ".join(context.run.task.split()).rstrip("?.! ")
        if len(subject) > _MAX_SUBJECT_CHARS:
            subject = subject[: _MAX_SUBJECT_CHARS - 2].rsplit(" ", 1)[0] + " …"
        mail = f"**Subject:** {subject}\n\nHello,\n\nhere is what I found:\n\n{body.strip()}\n\nKind regards"
        return replace(written, text=replace(written.text, answer=mail))
