"""``/timeline``: dated statements in order: those of the sources, or of the answer that a strong model wrote."""

from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import PurePath

from suffice.answers import Statement
from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext, add_notice, add_section, make_answer
from suffice.skills.sentences import QuotedSentence, find_head, list_sentences
from suffice.text.citations import strip_citations
from suffice.text.dates import PartialDate, find_dates
from suffice.text.entities import content_stems
from suffice.types import Passage

MAX_ENTRIES = 40
_GENERAL = content_stems("timeline history chronology events dates when year happened release releases")


class TimelineSkill(SkillCode):
    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        if context.run.is_strong and (told := sorted(_list_told(context, written.draft.statements), key=itemgetter(0))):
            context.metadata["timeline"] = [_describe(*one) for one in told]
            return written
        entries = select_dated(context.run.task, list(list_sentences(context.run.evidence)))
        verdicts = await context.judge(dict.fromkeys(one.quotation for _, one, _ in entries))
        context.metadata["timeline"] = [_describe(date, one.text, one.passage, by) for date, one, by in entries]
        if not entries:
            return add_notice(written, "no_dates")
        labels = (f"document of {date}" if by == "document" else date for date, _, by in entries)
        lines = [f"- **{label}**: {one.statement.text}" for label, (_, one, _) in zip(labels, entries, strict=True)]
        section = "### Timeline\n\n" + "\n".join(lines)
        if context.has_language_model:
            return add_section(written, section, verdicts)
        return make_answer(section, verdicts, written.draft.sufficiency)


def _list_told(context: SkillContext, statements: Iterable[Statement]) -> Iterator[tuple[PartialDate, str, Passage]]:
    """Yield the first date of each statement with a source, its words and the source."""
    for statement in statements:
        dates, cited = list(find_dates(statement.text)), map(context.run.evidence.find_passage, statement.handles)
        if dates and (passage := next(filter(None, cited), None)):
            yield dates[0], strip_citations(statement.text), passage


def _describe(date: PartialDate, text: str, passage: Passage, dated_by: str = "sentence") -> dict[str, str]:
    return {"date": str(date), "text": text, "location": passage.location, "dated_by": dated_by}


def select_dated(task: str, sentences: Iterable[QuotedSentence]) -> list[tuple[PartialDate, QuotedSentence, str]]:
    """Return the dated sentences about the task in order, with what dates each; of too many, those nearest to the task.

    A sentence has the dates that it names, or else that of its section's heading; with several it stands at each: which of them
    counts is not decided. One without a date has that of its document. A heading's year alone may be what the text is about.
    """
    wanted = content_stems(task) - _GENERAL
    least = (len(wanted) + 1) // 2
    found: list[tuple[int, tuple[PartialDate, QuotedSentence, str]]] = []
    for sentence in sentences:
        passage, (title, *sections) = sentence.passage, sentence.headings
        shared = len(wanted & content_stems(" ".join([sentence.paragraph, sentence.heading, title])))
        dates, by = list(find_dates(sentence.text)), "sentence"
        if not dates:
            dates, by = [date for date in find_dates("\n".join(sections[-1:])) if date.month], "heading"
        if not dates and wanted:
            head = f"{title}\n{find_head(passage.text)}\n{PurePath(passage.place.path).name}"
            dates, by = [date for date in find_dates(head) if date.month][:1], "document"
            shared = len(wanted & sentence.stems)
        found += [(shared * (by != "document"), (date, sentence, by)) for date in dates if shared >= least]
    found.sort(key=lambda row: -row[0])
    return sorted((entry for _, entry in found[:MAX_ENTRIES]), key=itemgetter(0))
