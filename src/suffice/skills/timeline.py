"""``/timeline``: the dated statements of the sources in order."""

import re
from dataclasses import dataclass

from suffice.claims.figures import MONTH_NUMBERS
from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext, add_notice, add_section, make_answer
from suffice.skills.sentences import QuotedSentence, list_sentences
from suffice.text.entities import content_stems
from suffice.text.markdown import escape_markdown

MAX_ENTRIES = 40
_MONTH = rf"(?P<month>{'|'.join(MONTH_NUMBERS)})\.?"
_DAY = r"(?P<day>[12]?\d|3[01])(?:st|nd|rd|th)?\.?"
_YEAR = r"(?P<year>1\d\d\d|20\d\d)"
# A year alone needs a word or bracket in front: other numbers have four digits, too.
_BEFORE_YEAR = "in|since|between|by|until|from|to|of|before|after|during|around|about|early|late|mid|and|year|©"
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}-(?P<number>0[1-9]|1[0-2])-(?P<day>[0-2]\d|3[01])\b",
        rf"\b\d\d?[./]\d\d?[./]{_YEAR}\b",  # Which number is the month is not known: only the year counts.
        rf"\b(?:{_DAY}\s+(?:of\s+)?)?{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
        r"\b(?P<year>(?:1[5-9]|20)\d0)(?P<decade>s)\b",
        rf"(?:\b(?:{_BEFORE_YEAR})\s+|\(){_YEAR}\b(?!\s*(?:%|bytes|[A-Z]B\b|[a-z]+s\b(?<!was)(?<!has)))",
    )
]
_GENERAL = content_stems("timeline history chronology events dates when year happened release releases")


@dataclass(frozen=True, order=True)
class PartialDate:
    """A date of which month and day may be open (0). A decade counts as its first year."""

    year: int
    month: int = 0
    day: int = 0
    is_decade: bool = False

    def __str__(self) -> str:
        if self.day:
            return f"{self.year}-{self.month:02}-{self.day:02}"
        return f"{self.year}-{self.month:02}" if self.month else f"{self.year}s" if self.is_decade else str(self.year)


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


def find_date(text: str) -> PartialDate | None:
    """Return the first date of a sentence as far as it is given.

    >>> [str(find_date(text)) for text in ("It opened on 3 May 1998.", "Since 2004 it is free.", "It has 1024 bytes.")]
    ['1998-05-03', '2004', 'None']
    """
    found = [match for pattern in _DATES if (match := pattern.search(text))]
    if not found:
        return None
    values = min(found, key=re.Match.start).groupdict()
    month = int(values.get("number") or MONTH_NUMBERS.get((values.get("month") or "").lower(), 0))
    return PartialDate(int(values["year"]), month, int(values.get("day") or 0), bool(values.get("decade")))
