"""Rival hypotheses without a language model: names that question-like passages introduce, each a way the answer may run.

It cannot word a hypothesis nor tell what excludes what. A name and the question together are the query. The strongest of those
that stand are kept, one place is for a newcomer.
"""

from suffice.asks import HypothesesResponse, Hypothesis, Hypothesize
from suffice.text.entities import content_stems, extract_names


def propose_hypotheses(prompt: Hypothesize) -> HypothesesResponse:
    question = content_stems(prompt.task)
    likeness: dict[str, int] = {}
    for note in prompt.notes:
        shared = len(question & content_stems(f"{note.title} {note.text}"))
        for name in dict.fromkeys(extract_names(note.text)):
            if shared and not content_stems(name) <= question:
                likeness[name] = max(shared, likeness.get(name, 0))
    standing = [note.text.partition(": ")[2] for note in prompt.standing if not note.text.startswith("0%")]
    ranked = sorted(likeness, key=lambda name: -likeness[name])  # Ties in the order found.
    rivals = list(dict.fromkeys([*standing[: prompt.most - 1], *ranked]))[: prompt.most]
    return HypothesesResponse(tuple(Hypothesis(name, f"{prompt.task} {name}") for name in rivals))
