"""``/timeline``: dated statements in order: those of the sources, or of the answer that a strong model wrote."""

from collections.abc import Iterable, Iterator

from suffice.answers import Statement
from suffice.claims.dates import PartialDate, find_dates
from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext, add_notice, add_section, make_answer
from suffice.skills.sentences import QuotedSentence, find_head, list_sentences
from suffice.text.citations import strip_citations
from suffice.text.entities import content_stems
from suffice.text.markdown import escape_markdown
from suffice.types import Passage

MAX_ENTRIES = 40
_GENERAL = content_stems("timeline history chronology events dates when year happened release releases")


class TimelineSkill(SkillCode):
    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        if context.run.is_strong and (told := list(_list_told(context, written.draft.statements))):
            context.metadata["timeline"] = _describe(told)
            return written
        found = select_dated(context.run.task, list(list_sentences(context.run.evidence)))
        kept, verdicts = await context.keep_supported(dict.fromkeys(sentence.statement for _, sentence in found))
        entries = [(date, sentence) for date, sentence in found if sentence.statement in kept]
        context.metadata["timeline"] = _describe((date, one.text, one.passage) for date, one in entries)
        if not entries:
            return add_notice(written, "no_dates")
        lines = [f"- **{date}**: {escape_markdown(one.text)} {one.handle}" for date, one in entries]
        section = "### Timeline\n\n" + "\n".join(lines)
        if context.has_language_model:
            return add_section(written, section, verdicts)
        return make_answer(section, verdicts, written.draft.sufficiency)


def _list_told(context: SkillContext, statements: Iterable[Statement]) -> Iterator[tuple[PartialDate, str, Passage]]:
    """Yield the first date of each statement with a source, its words and the source."""
    for statement in statements:
        dates, cited = find_dates(statement.text), map(context.run.evidence.find_passage, statement.handles)
        if dates and (passage := next(filter(None, cited), None)):
            yield dates[0], strip_citations(statement.text), passage


def _describe(entries: Iterable[tuple[PartialDate, str, Passage]]) -> list[dict[str, str]]:
    rows = sorted(entries, key=lambda row: row[0])
    return [{"date": str(date), "text": text, "location": passage.location} for date, text, passage in rows]


def select_dated(task: str, sentences: list[QuotedSentence]) -> list[tuple[PartialDate, QuotedSentence]]:
    """Return the dated sentences about the task in order of their dates; of too many, those nearest to the task.

    A sentence with several dates stands at each of them: which of them counts is not decided. One without a date has the day
    above the text, as of a mail or a letter, and comes after those with a date of their own.
    """
    wanted = content_stems(task) - _GENERAL
    dated = []
    for sentence in sentences:
        shared = len(wanted & (sentence.stems | content_stems(sentence.passage.title)))
        if own := find_dates(sentence.text):
            dated += [(shared, date, sentence) for date in own if shared or not wanted]
        elif wanted & sentence.stems:
            dated += [(0, date, sentence) for date in find_dates(find_head(sentence.passage.text))[:1] if date.day]
    dated = sorted(dated, key=lambda row: -row[0])[:MAX_ENTRIES]
    return sorted(((date, sentence) for _, date, sentence in dated), key=lambda row: row[0])
