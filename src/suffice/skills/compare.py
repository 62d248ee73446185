"""``/compare``: a table of alternatives by criteria, with what the sources say in each cell."""

import re
from dataclasses import dataclass
from pathlib import PurePath

from suffice.answers import Statement
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked
from suffice.errors import InputError
from suffice.skills.hooks import SkillCode, SkillContext, add_section, make_answer
from suffice.skills.sentences import QuotedSentence, list_sentences
from suffice.text.entities import content_stems, stem_words
from suffice.text.markdown import escape_markdown
from suffice.types import Query

MAX_ALTERNATIVES = 6
MAX_CRITERIA = 6
PASSAGES_PER_CELL = 4
_MAX_TITLE_STEMS = 3  # A title with more words is about more than one thing.
NOTHING_FOUND = "–"
ANY_CRITERION = "What the sources say"
_LEAD = re.compile(
    r"^\W*(?:please\s+)?(?:compare|contrast|comparison\s+of|(?:what|which)\s+(?:is|are)\s+(?:the\s+)?(?:better|best|differences?)\s*"
    r"(?:between|of|:|,)?|how\s+do(?:es)?|differences?\s+between|between)\s+",
    re.IGNORECASE,
)
_CRITERIA = re.compile(
    r" ?[,;:]? ?\b(?:by|on|in terms of|with (?:regard|respect) to|regarding|according to|based on|for their|criteria:?) (.+)",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(
    r" ?(?:, ?(?:and|or)?|;|\bversus\b|\bvs\.?(?= )|\band\b|\bwith\b|\bor\b|\bto\b|\bagainst\b) ", re.I
)
_TAIL = re.compile(r" (?:compare|differ)\b.*", re.IGNORECASE)


@dataclass(frozen=True)
class ComparisonTask:
    """What to compare, and by which criteria."""

    alternatives: tuple[str, ...]
    criteria: tuple[str, ...] = ()


def parse_comparison(task: str) -> ComparisonTask:
    """Return the alternatives and criteria that a task names; raise ``InputError`` for fewer than two alternatives.

    >>> parse_comparison("asyncio vs threading by memory and speed")
    ComparisonTask(alternatives=('asyncio', 'threading'), criteria=('memory', 'speed'))
    """
    text = " ".join(task.split()).rstrip("?.! ")
    criteria: tuple[str, ...] = ()
    if found := _CRITERIA.search(text):
        criteria, text = _split(found[1])[:MAX_CRITERIA], text[: found.start()]
    alternatives = _split(_TAIL.sub("", _LEAD.sub("", text)))[:MAX_ALTERNATIVES]
    if len(alternatives) < 2:
        raise InputError(
            "/compare needs two things to compare; write, for example: /compare asyncio vs threading by memory and speed"
        )
    return ComparisonTask(alternatives, criteria)


def _split(text: str) -> tuple[str, ...]:
    parts = (part.strip(" \"'`.,;:") for part in _SEPARATOR.split(text))
    return tuple(dict.fromkeys(part.removeprefix("the ") for part in parts if part))


class CompareSkill(SkillCode):
    async def before_search(self, context: SkillContext) -> None:
        comparison = parse_comparison(context.run.task)
        context.queries += [
            f"{alternative} {criterion}".strip()
            for alternative in comparison.alternatives
            for criterion in comparison.criteria or ("",)
        ]

    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        comparison = parse_comparison(context.run.task)
        criteria = comparison.criteria or (ANY_CRITERION,)
        statements: dict[tuple[str, str], Statement] = {}
        verdicts: list[ClaimVerdict] = []
        used: set[str] = set()
        for alternative in comparison.alternatives:
            for criterion in criteria:
                own = "" if criterion == ANY_CRITERION else criterion
                for sentence in await _find_sentences(context, comparison, alternative, own):
                    kept, judged = await context.keep_supported([sentence.statement])
                    if kept and sentence.text not in used:
                        statements[alternative, criterion] = kept[0]
                        used.add(sentence.text)
                        verdicts += judged
                        break
        context.metadata["comparison"] = {
            "alternatives": list(comparison.alternatives),
            "criteria": list(criteria),
            "cells": {f"{one} / {other}": text.text for (one, other), text in statements.items()},
        }
        if not statements:
            return written
        section = "### Comparison\n\n" + _render_table(comparison.alternatives, criteria, statements)
        if context.has_language_model:
            return add_section(written, section, verdicts)
        is_covered = len(statements) == len(comparison.alternatives) * len(criteria)
        return make_answer(section, verdicts, "yes" if is_covered else "partly")


async def _find_sentences(
    context: SkillContext, comparison: ComparisonTask, alternative: str, criterion: str
) -> list[QuotedSentence]:
    """Return the sentences about an alternative and a criterion, best first.

    A sentence must name the criterion and the alternative. The title of its passage or the name of its file may name the
    alternative, if it names little else: under a heading about several things a sentence may be about any of them.
    """
    found = await context.search(Query(f"{alternative} {criterion}".strip()), PASSAGES_PER_CELL)
    for passage in found:
        context.run.evidence.add(passage)
    wanted, own = set(stem_words(criterion)), content_stems(alternative) or frozenset(stem_words(alternative))
    others = [content_stems(other) for other in comparison.alternatives if other != alternative]
    ranked = []
    for sentence in list_sentences(context.run.evidence):
        stems = sentence.stems | frozenset(stem_words(sentence.text))
        names = len(own & stems) / len(own) + 0.5 * max(len(own & title) / len(own) for title in _list_titles(sentence))
        shared = len(wanted & stems) / len(wanted) if wanted else 1.0
        rivals = sum(bool(other & stems) for other in others)
        if names >= 0.5 and shared:
            ranked.append((shared + names - 0.25 * rivals, sentence))
    return [sentence for _, sentence in sorted(ranked, key=lambda row: -row[0])[:8]]


def _list_titles(sentence: QuotedSentence) -> list[frozenset[str]]:
    """Return the stems of the heading above a sentence and of its file's name; nothing for one that names many things."""
    heading = sentence.passage.title.split(" > ")[-1]
    names = (content_stems(heading), content_stems(PurePath(sentence.passage.place.path).stem.replace("_", " ")))
    return [name if len(name) <= _MAX_TITLE_STEMS else frozenset() for name in names]


def _render_table(
    alternatives: tuple[str, ...], criteria: tuple[str, ...], statements: dict[tuple[str, str], Statement]
) -> str:
    rows = [["", *criteria], ["---"] * (len(criteria) + 1)]
    for alternative in alternatives:
        cells = [statements.get((alternative, criterion)) for criterion in criteria]
        shown = [NOTHING_FOUND if cell is None else cell.text.replace("|", "\\|") for cell in cells]
        rows.append([f"**{_escape(alternative)}**", *shown])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _escape(text: str) -> str:
    return escape_markdown(text).replace("|", "\\|")
