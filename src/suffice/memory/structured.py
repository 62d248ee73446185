"""Memory as a structured belief: at most ten facts, each with its sources, and the questions that are still open.

Every round's facts are extracted and checked (``extraction.py``). When there are too many, the belief is curated: a model,
or a rule when the model fails, chooses and merges facts. No source is lost in a merge, and facts that link two others of a
chain of reasoning stay.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from suffice.memory.base import MemoryContext, ModelMemory, select_within_budget
from suffice.memory.extraction import MAX_FACT_CHARS, extract_facts, find_unsupported_term
from suffice.prompts.belief import Curate, Curation
from suffice.text.entities import content_stems, extract_names
from suffice.text.tokens import jaccard
from suffice.types import BELIEF_KIND, Note, Round

_DUPLICATE_THRESHOLD = 0.6
_LINK_BONUS = 0.5  # What a link to a chosen fact is worth, against a share of the question's words.


@dataclass(eq=False)
class StructuredMemory(ModelMemory):
    """Facts with their sources, most important first after a curation."""

    facts: tuple[Note, ...] = ()

    async def update(self, round: Round) -> None:
        new = await extract_facts(round, self.facts, self.task, self.evidence, self.context)
        if new:
            self.facts = tuple(await curate_belief([*self.facts, *new], self.task, self.context))

    def restore(self, facts: tuple[Note, ...]) -> None:
        self.facts = facts[: self.context.limits.trigger]

    def render(self, budget: int) -> tuple[Note, ...]:
        return select_within_budget(self.facts, budget)

    def render_text(self) -> str:
        """Return the belief as a JSON object: the facts with their sources, and the open questions."""
        facts = [{"fact": fact.text, "sources": list(fact.handles)} for fact in self.facts]
        return json.dumps({"facts": facts, "open_questions": self.open_questions}, ensure_ascii=False)


async def curate_belief(facts: Sequence[Note], task: str, context: MemoryContext) -> list[Note]:
    """Return at most ``limits.trigger`` facts: the model's choice or a rule's, and the facts that are linked to them.

    The model names facts by number, so that code joins their sources. A merged text that says what none of its facts said
    is not used.
    """
    limits = context.limits
    if len(facts) <= limits.trigger:
        return list(facts)
    open_questions = context.open_questions.open
    numbered = tuple(Note(fact.text, (str(number),), kind=BELIEF_KIND) for number, fact in enumerate(facts, 1))
    answer = await context.ask_model(Curate(task, open_questions, numbered, limits.target))
    groups = {} if answer is None else _parse_groups(answer, len(facts))
    if not groups:
        if answer is not None:
            context.record_refusal("a curation that names no fact; a rule curated instead")
        selected = select_facts([fact.text for fact in facts], task, open_questions, limits.target)
        groups = {tuple(group): "" for group in selected}
    chosen = list(groups.items())[: limits.target]
    curated = [_merge_facts([facts[n] for n in group], text, context) for group, text in chosen]
    used = {number for group, _ in chosen for number in group}
    for number, fact in enumerate(facts):
        is_free = number not in used and len(curated) < limits.trigger
        if is_free and any(are_linked(fact.text, other.text, task) for other in curated):
            curated.append(fact)
    return curated


def _parse_groups(answer: Curation, count: int) -> dict[tuple[int, ...], str]:
    """Return the positions of the merged facts with their new text. Each fact is used once; unknown numbers are dropped."""
    groups: dict[tuple[int, ...], str] = {}
    used: set[int] = set()
    for curated in answer.kept:
        group = tuple(dict.fromkeys(n - 1 for n in curated.of if 1 <= n <= count and n - 1 not in used))
        if group:
            used.update(group)
            groups[group] = " ".join(curated.text.split())
    return groups


def _merge_facts(facts: Sequence[Note], text: str, context: MemoryContext) -> Note:
    """Return one fact with the sources of all. An unsupported ``text`` is replaced by the facts' own words."""
    handles = tuple(dict.fromkeys(handle for fact in facts for handle in fact.handles))
    parts = [fact.text for fact in facts]
    if text and not _is_supported_by_parts(text, parts):
        context.record_refusal(f"a merged fact that does not say what its parts say: {text[:MAX_FACT_CHARS]!r}")
        joined = "; ".join(parts)
        text = joined if len(joined) <= MAX_FACT_CHARS else ""
    return Note(text or parts[0], handles, kind=BELIEF_KIND, whole=False)


def _is_supported_by_parts(text: str, parts: Sequence[str]) -> bool:
    stems = content_stems(text)
    part_stems = frozenset[str]().union(*(content_stems(part) for part in parts))
    return (
        bool(stems)
        and len(text) <= MAX_FACT_CHARS
        and len(stems & part_stems) * 2 >= len(stems)
        and find_unsupported_term(text, parts) is None
    )


def select_facts(facts: Sequence[str], question: str, open_questions: Sequence[str], limit: int) -> list[list[int]]:
    """Return up to ``limit`` groups of positions in ``facts``, most important first.

    The facts of a group say the same; its first position is the longest. Greedy: each step takes the group that covers
    most words of the question and the open questions; a link to a chosen fact adds to its importance.
    """
    groups = _group_duplicates(facts)
    aim = content_stems(" ".join([question, *open_questions]))
    chosen: list[list[int]] = []
    while groups and len(chosen) < limit:
        leaders = [facts[group[0]] for group in chosen]
        chosen.append(max(groups, key=lambda group: _score_importance(facts[group[0]], leaders, question, aim)))
        groups.remove(chosen[-1])
    return chosen


def are_linked(fact: str, other: str, question: str) -> bool:
    """Whether both facts name something that the question does not: one step of a chain leads to the next."""
    given = content_stems(question)
    own, theirs = ({content_stems(name) for name in extract_names(text)} for text in (fact, other))
    return any(stems and not stems <= given for stems in own & theirs)


def _group_duplicates(facts: Sequence[str]) -> list[list[int]]:
    groups: list[list[int]] = []
    for position in sorted(range(len(facts)), key=lambda n: -len(facts[n])):
        stems = content_stems(facts[position])
        same = (group for group in groups if jaccard(stems, content_stems(facts[group[0]])) >= _DUPLICATE_THRESHOLD)
        group = next(same, None)
        if group is None:
            groups.append([position])
        else:
            group.append(position)
    return groups


def _score_importance(fact: str, chosen: Sequence[str], question: str, aim: frozenset[str]) -> float:
    share = len(content_stems(fact) & aim) / len(aim) if aim else 0.0
    is_link = any(are_linked(fact, other, question) for other in chosen)
    return share + (_LINK_BONUS if is_link else 0.0)
