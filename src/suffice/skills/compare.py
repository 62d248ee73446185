"""``/compare``: a table of alternatives by criteria, with a finding of the sources in each cell; an empty cell says so."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import product
from pathlib import PurePath
from typing import Any, ClassVar

from suffice.answers import Statement
from suffice.claims.verdict import ClaimVerdict
from suffice.claims.verify import Checked
from suffice.errors import InputError
from suffice.models.embeddings import embed_static
from suffice.models.reader import find_reader
from suffice.skills.hooks import SkillCode, SkillContext, add_notice, add_section, escape_cell, make_answer, read_table
from suffice.skills.sentences import QuotedSentence, list_sentences
from suffice.text.entities import stem_words
from suffice.types import Embed, Query

MAX_ALTERNATIVES = 6
MAX_CRITERIA = 6
PASSAGES_PER_CELL = 4
_READ_PER_CELL = 12  # Sentences nearest to a criterion, which the reader looks at.
_MIN_FIT = 0.3  # Set on four small folders: right cells have .34 and more, those about another criterion .25 and less.
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
    can_answer: ClassVar[bool] = True

    async def before_search(self, context: SkillContext) -> None:
        comparison = parse_comparison(context.run.task)
        context.queries += [" ".join([name, *comparison.criteria]) for name in comparison.alternatives]

    async def after_writing(self, context: SkillContext, written: Checked) -> Checked:
        comparison = parse_comparison(context.run.task)
        criteria = comparison.criteria or (ANY_CRITERION,)
        if context.run.is_strong and (table := read_table(written.draft)):
            context.metadata["comparison"] = _describe_table(*table)
            return written
        statements: dict[tuple[str, str], Statement] = {}
        verdicts: list[ClaimVerdict] = []
        for pair in product(comparison.alternatives, comparison.criteria or ("",)):
            for passage in await context.search(Query(" ".join(pair).strip()), PASSAGES_PER_CELL):
                context.run.evidence.add(passage)
        sentences, embed = list(list_sentences(context.run.evidence)), context.run.embed or embed_static
        for alternative in comparison.alternatives:
            stems, *others = map(_list_stems, (alternative, *(set(comparison.alternatives) - {alternative})))
            headed = {one: _is_headed(one, stems, others) for one in sentences}
            near = [one for one in sentences if headed[one] and not any(map(_list_stems(one.text).issuperset, others))]
            far = [one for one in sentences if headed[one] is None and stems <= _list_stems(one.text)]
            for criterion in criteria:
                wanted = alternative if criterion == ANY_CRITERION else criterion
                best = await asyncio.to_thread(_find_best, wanted, near, embed)
                best = best or await asyncio.to_thread(_find_best, wanted, far, embed)
                kept, judged = await context.keep_supported([best.statement] if best else [])
                verdicts += [one for one in judged if one not in verdicts]
                statements.update(((alternative, criterion), one) for one in kept)
        context.metadata["comparison"] = {
            "alternatives": list(comparison.alternatives),
            "criteria": list(criteria),
            "cells": {f"{one} / {other}": text.text for (one, other), text in statements.items()},
        }
        if not statements:
            return add_notice(written, "no_cells")
        section = "### Comparison\n\n" + _render_table(statements, comparison.alternatives, criteria)
        if context.has_language_model:
            return add_section(written, section, verdicts)
        is_covered = len(statements) == len(comparison.alternatives) * len(criteria)
        return make_answer(section, verdicts, "yes" if is_covered else "partly")


def _describe_table(header: Sequence[str], *rows: Sequence[str]) -> dict[str, Any]:
    """Return the table that a model wrote, whose claims were checked, as the metadata hold it."""
    cells = {f"{row[0]} / {name}": cell for row in rows for name, cell in zip(header[1:], row[1:], strict=False)}
    return {"alternatives": [row[0] for row in rows], "criteria": list(header[1:]), "cells": cells}


def _is_headed(sentence: QuotedSentence, own: frozenset[str], others: Sequence[frozenset[str]]) -> bool | None:
    """Return whether the heading, title or file of a sentence names this alternative; ``None`` if it names none or several."""
    path = PurePath(sentence.passage.place.path)
    place = _list_stems(f"{sentence.heading} {sentence.passage.title} {path.stem}")
    is_named, is_other = own <= place, any(other <= place for other in others)
    return None if is_named == is_other else is_named


def _find_best(criterion: str, sentences: Sequence[QuotedSentence], embed: Embed) -> QuotedSentence | None:
    """Return the sentence that says most on a criterion: its nearness, half as much whether the reader finds the criterion
    in it, and whether the heading above it names the criterion.
    """
    near = _measure_fits(criterion, sentences, embed_static)
    fits = _measure_fits(criterion, nlargest(_READ_PER_CELL, near, key=near.__getitem__), embed)
    if reader := find_reader():
        for one, found in zip(fits, reader.read(f"{criterion}?", [one.text for one in fits]), strict=True):
            fits[one] += found.probability / 2
    best = max(fits, key=fits.__getitem__, default=None)
    return best if best is not None and fits[best] >= _MIN_FIT else None


def _measure_fits(criterion: str, sentences: Sequence[QuotedSentence], embed: Embed) -> dict[QuotedSentence, float]:
    stems, vectors = _list_stems(criterion), embed([criterion, *(one.text for one in sentences)])
    cosines = zip(sentences, vectors[1:] @ vectors[0], strict=True)
    return {one: float(cosine) + (stems <= _list_stems(one.heading)) for one, cosine in cosines}


def _list_stems(text: str) -> frozenset[str]:
    return frozenset(stem_words(text))


def _render_table(cells: dict[tuple[str, str], Statement], alternatives: Sequence[str], criteria: Sequence[str]) -> str:
    rows = [["", *criteria], ["---"] * (len(criteria) + 1)]
    for alternative in alternatives:
        own = [cells.get((alternative, criterion)) for criterion in criteria]
        shown = [NOTHING_FOUND if cell is None else cell.text.replace("|", "\\|") for cell in own]
        rows.append([f"**{escape_cell(alternative)}**", *shown])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
