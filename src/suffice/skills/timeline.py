"""``/timeline``: the dated statements of the sources in order."""

from suffice.claims.dates import PartialDate, find_date
from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext, add_notice, add_section, make_answer
from suffice.skills.sentences import QuotedSentence, list_sentences
from suffice.text.entities import content_stems
from suffice.text.markdown import escape_markdown

MAX_ENTRIES = 40
_GENERAL = content_stems("timeline history chronology events dates when year happened release releases")


class TimelineSkill(SkillCode):
    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        found = select_dated(context.run.task, list(list_sentences(context.run.evidence)))
        kept, verdicts = await context.keep_supported(sentence.statement for _, sentence in found)
        entries = [(date, sentence) for date, sentence in found if sentence.statement in kept]
        context.metadata["timeline"] = [
            {"date": str(date), "text": sentence.text, "location": sentence.passage.location}
            for date, sentence in entries
        ]
        if not entries:
            return add_notice(written, "no_dates")
        lines = [f"- **{date}**: {escape_markdown(one.text)} {one.handle}" for date, one in entries]
        section = "### Timeline\n\n" + "\n".join(lines)
        if context.has_language_model:
            return add_section(written, section, verdicts)
        return make_answer(section, verdicts, written.draft.sufficiency)


def select_dated(task: str, sentences: list[QuotedSentence]) -> list[tuple[PartialDate, QuotedSentence]]:
    """Return the dated sentences about the task in order of their dates; of too many, those nearest to the task."""
    wanted = content_stems(task) - _GENERAL
    dated = []
    for sentence in sentences:
        date = find_date(sentence.text)
        shared = len(wanted & (sentence.stems | content_stems(sentence.passage.title)))
        if date is not None and (shared or not wanted):
            dated.append((shared, date, sentence))
    dated = sorted(dated, key=lambda row: -row[0])[:MAX_ENTRIES]
    return sorted(((date, sentence) for _, date, sentence in dated), key=lambda row: row[0])
