"""Rival hypotheses without a language model: names that question-like passages introduce, each a way the answer may run.

It cannot word a hypothesis nor tell what excludes what. A name and the question together are the query.
"""

from suffice.asks import Hypotheses, Hypothesis, Hypothesize
from suffice.text.entities import content_stems, names


def hypotheses(ask: Hypothesize) -> Hypotheses:
    question = content_stems(ask.task)
    likeness: dict[str, int] = {}
    for note in ask.notes:
        shared = len(question & content_stems(f"{note.title} {note.text}"))
        for name in dict.fromkeys(names(note.text)):
            if shared and not content_stems(name) <= question:
                likeness[name] = max(shared, likeness.get(name, 0))
    ranked = sorted(likeness, key=lambda name: -likeness[name])  # Ties in the order found.
    return Hypotheses(tuple(Hypothesis(name, f"{ask.task} {name}") for name in ranked[: ask.most]))
