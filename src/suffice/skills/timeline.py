"""``/timeline``: the dated statements of the sources in order."""

import re
from dataclasses import dataclass

from suffice.claims.verify import Checked
from suffice.skills.hooks import SkillCode, SkillContext, add_section, make_answer
from suffice.skills.sentences import QuotedSentence, list_sentences
from suffice.text.entities import content_stems
from suffice.text.markdown import escape_markdown

MAX_ENTRIES = 40
_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = rf"(?P<month>(?:{'|'.join(_MONTHS)}|(?:{'|'.join(name[:3] for name in _MONTHS)}|Sept)\.?))"
_YEAR = r"(?P<year>1[0-9]\d\d|20\d\d)"
_DATES = (
    re.compile(rf"\b{_YEAR}-(?P<number>0[1-9]|1[0-2])-(?P<day>[0-2]\d|3[01])\b"),
    re.compile(rf"\b(?P<day>[1-3]?\d)(?:st|nd|rd|th)?\.?\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}\b"),
    re.compile(rf"\b{_MONTH}\s+(?P<day>[1-3]?\d)(?:st|nd|rd|th)?,?\s+{_YEAR}\b"),
    re.compile(rf"\b{_MONTH},?\s+{_YEAR}\b"),
    re.compile(r"\b(?P<year>(?:1[5-9]|20)\d0)(?P<decade>s)\b"),
    # A year alone needs a word or bracket in front: other numbers have four digits, too.
    re.compile(
        rf"(?:\b(?:in|since|by|until|from|to|of|before|after|during|around|about|early|late|mid|and|year|©)\s+|\()"
        rf"{_YEAR}\b(?!\s*(?:%|bytes|[A-Z]B\b|[a-z]+s\b(?<!was)(?<!has)))",
        re.IGNORECASE,
    ),
)
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
            return written
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
    found = [(match.start(), order, match) for order, one in enumerate(_DATES) if (match := one.search(text))]
    if not found:
        return None
    values = min(found, key=lambda row: row[1])[2].groupdict()
    month = int(values.get("number") or 0) or _month_number(values.get("month"))
    day = int(values.get("day") or 0)
    return PartialDate(int(values["year"]), month, day if day <= 31 else 0, bool(values.get("decade")))


def _month_number(name: str | None) -> int:
    return next((i for i, month in enumerate(_MONTHS, 1) if name and month.startswith(name[:3])), 0)
