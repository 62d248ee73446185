"""``/compare``: a table of alternatives by criteria, with a finding of the sources in each cell; an empty cell says so."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from suffice.answers import Quotation, Statement
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked
from suffice.errors import InputError
from suffice.models.embeddings import embed_static
from suffice.report.findings import find_findings
from suffice.skills.hooks import SkillCode, SkillContext, add_notice, add_section, cite_words, escape_cell, make_answer
from suffice.text.entities import content_stems, stem_words
from suffice.text.markdown import escape_markdown, strip_markdown
from suffice.types import Passage, Query

MAX_ALTERNATIVES = 6
MAX_CRITERIA = 6
PASSAGES_PER_CELL = 4
_MAX_TITLE_STEMS = 3  # A title with more words is about more than one thing.
_PER_PASSAGE = 12  # Sentences of a passage that are looked at.
_MIN_FIT = 0.2  # A sentence less similar to a criterion than this is about another one.
NOTHING_FOUND = "*nothing found*"
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
        context.queries += [" ".join([name, *comparison.criteria]) for name in comparison.alternatives]

    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        comparison = parse_comparison(context.run.task)
        criteria = comparison.criteria or (ANY_CRITERION,)
        statements: dict[tuple[str, str], Statement] = {}
        verdicts: list[ClaimVerdict] = []
        used: set[str] = set()
        for alternative in comparison.alternatives:
            for criterion in criteria:
                for quotation in await _find_quotations(context, comparison, alternative, criterion):
                    text, handle = " ".join(quotation.text.split()), context.run.evidence.get_handle(quotation.passage)
                    statement = cite_words(escape_markdown(strip_markdown(text)), handle)
                    kept, judged = ([], ()) if text in used else await context.keep_supported([statement])
                    if kept:
                        statements[alternative, criterion] = kept[0]
                        used.add(text)
                        verdicts += judged
                        break
        context.metadata["comparison"] = {
            "alternatives": list(comparison.alternatives),
            "criteria": list(criteria),
            "cells": {f"{one} / {other}": text.text for (one, other), text in statements.items()},
        }
        if not statements:
            return add_notice(written, "no_cells")
        section = "### Comparison\n\n" + _render_table(comparison.alternatives, criteria, statements)
        if context.has_language_model:
            return add_section(written, section, verdicts)
        is_covered = len(statements) == len(comparison.alternatives) * len(criteria)
        return make_answer(section, verdicts, "yes" if is_covered else "partly")


async def _find_quotations(
    context: SkillContext, comparison: ComparisonTask, alternative: str, criterion: str
) -> list[Quotation]:
    """Return what the sources say on an alternative and a criterion, best first."""
    wanted = "" if criterion == ANY_CRITERION else criterion
    query = f"{alternative} {wanted}".strip()
    for passage in await context.search(Query(query), PASSAGES_PER_CELL):
        context.run.evidence.add(passage)
    own, *others = (_list_stems(name) for name in (alternative, *(set(comparison.alternatives) - {alternative})))
    passages = [
        passage for passage in context.run.evidence if own & _list_stems(f"{_name_place(passage)} {passage.text}")
    ]

    def find() -> list[Quotation]:
        nearness = dict.fromkeys((passage.id for passage in passages), 1.0)
        files = [[passage] for passage in passages]
        found = find_findings(query, files, nearness, embed_static, per_file=_PER_PASSAGE, min_salience=0.0)
        quotations = [one.text for one in found if isinstance(one.text, Quotation) and _is_about(one.text, own, others)]
        if not wanted or not quotations:
            return quotations
        vectors = embed_static([wanted, *(one.text for one in quotations)])
        stems = _list_stems(wanted)
        fits = [
            float(vectors[0] @ vector) + len(stems & _list_stems(one.text)) / len(stems)
            for one, vector in zip(quotations, vectors[1:], strict=True)
        ]
        ranked = sorted(zip(fits, quotations, strict=True), key=lambda pair: -pair[0])
        return [one for fit, one in ranked if fit >= _MIN_FIT]

    return await asyncio.to_thread(find)


def _is_about(quotation: Quotation, own: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
    """Return whether a quotation is about an alternative: it names it, or the heading or file that it stands in does and it
    names no other. Under the heading of another alternative a sentence is about that one.
    """
    stems, title = _list_stems(quotation.text), _list_stems(_name_place(quotation.passage))
    if "|" in quotation.text or any(other <= title for other in others):
        return False
    return own <= stems or (own <= title and not any(other <= stems for other in others))


def _name_place(passage: Passage) -> str:
    """Return the heading above a passage and the name of its file, each if it names few things."""
    names = (passage.title.split(" > ")[-1], PurePath(passage.place.path).stem.replace("_", " "))
    return " ".join(name for name in names if len(content_stems(name)) <= _MAX_TITLE_STEMS)


def _list_stems(text: str) -> frozenset[str]:
    return content_stems(text) | frozenset(stem_words(text))


def _render_table(
    alternatives: tuple[str, ...], criteria: tuple[str, ...], statements: dict[tuple[str, str], Statement]
) -> str:
    rows = [["", *criteria], ["---"] * (len(criteria) + 1)]
    for alternative in alternatives:
        cells = [statements.get((alternative, criterion)) for criterion in criteria]
        shown = [NOTHING_FOUND if cell is None else cell.text.replace("|", "\\|") for cell in cells]
        rows.append([f"**{escape_cell(alternative)}**", *shown])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
