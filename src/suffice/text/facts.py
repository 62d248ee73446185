"""Select facts by rule: group those that say the same, and prefer those that are important or linked.

Both the extractive model and the structured memory use these rules; they compare words and names only.
"""

from collections.abc import Sequence

from suffice.text.entities import content_stems, extract_names
from suffice.text.tokens import jaccard

_DUPLICATE_THRESHOLD = 0.6
_LINK_BONUS = 0.5  # What a link to a chosen fact is worth, against a share of the question's words.


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
        scores = [_score_importance(facts[group[0]], leaders, question, aim) for group in groups]
        chosen.append(groups.pop(max(range(len(groups)), key=lambda i: (scores[i], -i))))
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
