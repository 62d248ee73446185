"""``/compare``: a table of alternatives by criteria, with a finding of the sources in each cell; an empty cell says so."""

import asyncio
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import PurePath
from typing import Any, ClassVar

import numpy as np

from suffice.claims.verify import Checked
from suffice.errors import InputError
from suffice.models.embeddings.static import embed_static
from suffice.models.extractive.ranking import rank_passages
from suffice.models.reader.model import find_reader
from suffice.skills.hooks import SkillCode, SkillContext, add_notice, add_section, escape_cell, make_answer, read_table
from suffice.skills.sentences import QuotedSentence, find_head, list_sentences
from suffice.text.entities import stem_words
from suffice.text.question import read_question
from suffice.text.quotations import read_cells
from suffice.types import Embed, Query

MAX_ALTERNATIVES = 6
MAX_CRITERIA = 6
PASSAGES_PER_CELL = 4
_RANKED_PER_CELL = 24  # Sentences nearest to a criterion, which are ranked.
# A sentence that leads for another criterion, where it scores more than twice as much, is not in this cell.
_MIN_SHARE = 0.5
_MIN_SCORE = 0.6  # Set on seven small folders: between 0.3 and 0.9 there is no cell, right or wrong.
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
        for pair in product(comparison.alternatives, comparison.criteria or ("",)):
            for passage in await context.search(Query(" ".join(pair).strip()), PASSAGES_PER_CELL):
                context.run.evidence.add(passage)
        sentences = list(list_sentences(context.run.evidence))
        cells = await asyncio.to_thread(_fill_cells, comparison, sentences, context.run.embed or embed_static)
        verdicts = await context.judge(one.quotation for one in dict.fromkeys(cells.values()))
        context.metadata["comparison"] = {
            "alternatives": list(comparison.alternatives),
            "criteria": list(criteria),
            "cells": {f"{one} / {other}": _show_cell(cell, other) for (one, other), cell in cells.items()},
        }
        if not cells:
            return add_notice(written, "no_cells")
        section = "### Comparison\n\n" + _render_table(cells, comparison.alternatives, criteria)
        if context.has_language_model:
            return add_section(written, section, verdicts)
        is_covered = len(cells) == len(comparison.alternatives) * len(criteria)
        return make_answer(section, verdicts, "yes" if is_covered else "partly")


def _describe_table(header: Sequence[str], *rows: Sequence[str]) -> dict[str, Any]:
    """Return the table that a model wrote, whose claims were checked, as the metadata hold it."""
    cells = {f"{row[0]} / {name}": cell for row in rows for name, cell in zip(header[1:], row[1:], strict=False)}
    return {"alternatives": [row[0] for row in rows], "criteria": list(header[1:]), "cells": cells}


def _fill_cells(
    task: ComparisonTask, sentences: Sequence[QuotedSentence], embed: Embed
) -> dict[tuple[str, str], QuotedSentence]:
    cells = {}
    for alternative in task.alternatives:
        stems, *others = map(_list_stems, (alternative, *(set(task.alternatives) - {alternative})))
        own = [one for one in sentences if _is_about(one, stems, others)]
        asked = {criterion: criterion for criterion in task.criteria} or {ANY_CRITERION: alternative}
        ranked = {criterion: _score_sentences(wanted, own, embed) for criterion, wanted in asked.items()}
        leads = [next(iter(scores.items())) for scores in ranked.values() if scores]
        for criterion, scores in ranked.items():
            taken = {one for one, best in leads if scores.get(one, best) < _MIN_SHARE * best}
            if (cell := next((one for one in scores if one not in taken), None)) is not None:
                cells[alternative, criterion] = cell
    return cells


def _is_about(sentence: QuotedSentence, own: frozenset[str], others: Sequence[frozenset[str]]) -> bool:
    """Whether a sentence names this alternative, or what stands above it does and the sentence names no other."""
    passage = sentence.passage
    name, head = PurePath(passage.place.path).stem, find_head(passage.text).partition("\n")[0]
    place, text = _list_stems(f"{sentence.heading} {passage.title} {name} {head}"), _list_stems(sentence.text)
    is_other, is_own = any(other <= place for other in others), own <= place
    is_alone = is_own and not is_other and not any(other <= text for other in others)
    return is_alone or (own <= text and (is_own or not is_other))


def _score_sentences(criterion: str, sentences: Sequence[QuotedSentence], embed: Embed) -> dict[QuotedSentence, float]:
    """Return the sentences that answer "criterion?" well enough, ranked as passages are, best first."""
    vectors = embed_static([criterion, *(one.text for one in sentences)])
    places = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")[:_RANKED_PER_CELL]
    near: list[QuotedSentence] = [sentences[place] for place in places]
    passages = [replace(one.passage, title=" > ".join(one.headings), text=one.text) for one in near]
    ranked = rank_passages(read_question(f"{criterion}?"), passages, embed, find_reader())
    if ranked and not ranked[0].answer:  # What was not read is on another scale.
        return {near[one.place]: math.inf for one in ranked[:1] if one.stems & _list_stems(criterion)}
    return {near[one.place]: one.score for one in ranked if one.answer and one.score >= _MIN_SCORE}


def _list_stems(text: str) -> frozenset[str]:
    return frozenset(stem_words(text))


def _render_table(
    cells: dict[tuple[str, str], QuotedSentence], alternatives: Sequence[str], criteria: Sequence[str]
) -> str:
    rows = [["", *criteria], ["---"] * (len(criteria) + 1)]
    for alternative in alternatives:
        shown = [NOTHING_FOUND] * len(criteria)
        for i, criterion in enumerate(criteria):
            if cell := cells.get((alternative, criterion)):
                shown[i] = f"{escape_cell(_show_cell(cell, criterion))} {cell.handle}"
        rows.append([f"**{escape_cell(alternative)}**", *shown])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _show_cell(cell: QuotedSentence, criterion: str) -> str:
    """Return a sentence, or of a row the value that is asked for: in the column of that name, or beside the name.

    A name with more words, such as a unit, is shown with it: "price EUR: 540".
    """
    if cell.quotation.format != "table":
        return cell.text
    asked, columns = _list_stems(criterion), read_cells(cell.quotation)
    named = [(name, value) for name, value in columns.items() if value]
    if len(named) == 2:
        named.append((named[0][1], named[1][1]))
    name, value = next((one for one in named if asked <= _list_stems(one[0])), ("", cell.text))
    return f"{name}: {value}" if asked < _list_stems(name) else value
