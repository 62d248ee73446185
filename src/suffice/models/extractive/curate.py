"""Curate without a language model: what says the same is one fact; what is like the task and hangs together stays."""

from collections.abc import Sequence

from suffice.asks import Curate, CuratedFact, Curation
from suffice.text.entities import content_stems, extract_names
from suffice.text.tokens import jaccard
from suffice.types import Note

_DUPLICATE_THRESHOLD = 0.6
_LINK_BONUS = 0.5  # What a link to a kept fact is worth, against a share of the task's words.


def curate_facts(prompt: Curate) -> Curation:
    """Greedy: the most important first; a fact that a kept one leads to, or that leads to it, gains importance."""
    groups = _group_duplicates(prompt.facts)
    aim = content_stems(" ".join([prompt.task, *prompt.open]))
    chosen: list[list[int]] = []
    while groups and len(chosen) < prompt.most:
        scores = [_score_importance(prompt, group, chosen, aim) for group in groups]
        chosen.append(groups.pop(max(range(len(groups)), key=lambda i: (scores[i], -i))))
    return Curation(tuple(CuratedFact(tuple(number + 1 for number in group)) for group in chosen))


def are_linked(fact: Note, other: Note, task: str) -> bool:
    """Both name something that the task does not: one step of a chain leads to the next."""
    given = content_stems(task)
    own, theirs = ({content_stems(name) for name in extract_names(note.text)} for note in (fact, other))
    return any(stems and not stems <= given for stems in own & theirs)


def _group_duplicates(facts: Sequence[Note]) -> list[list[int]]:
    """Facts that say the same, together; the longest speaks for its group."""
    groups: list[list[int]] = []
    for number in sorted(range(len(facts)), key=lambda n: -len(facts[n].text)):
        stems = content_stems(facts[number].text)
        same = (
            group for group in groups if jaccard(stems, content_stems(facts[group[0]].text)) >= _DUPLICATE_THRESHOLD
        )
        group = next(same, None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    return groups


def _score_importance(
    prompt: Curate, group: Sequence[int], chosen: Sequence[Sequence[int]], aim: frozenset[str]
) -> float:
    fact = prompt.facts[group[0]]
    share = len(content_stems(fact.text) & aim) / len(aim) if aim else 0.0
    leads = any(are_linked(fact, prompt.facts[other[0]], prompt.task) for other in chosen)
    return share + (_LINK_BONUS if leads else 0.0)
