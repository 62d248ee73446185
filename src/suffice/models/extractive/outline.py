"""Outline, hypothetical answer and label without a language model.

The topics are the facets of the question, filled up with what the first passages are called. There is no imagining an
answer: a topic stands for itself. A label is made of the words that all its passages share.
"""

from collections import Counter

from suffice.asks import DraftOutline, Hypothetical, HypotheticalResponse, Label, LabelResponse, OutlineResponse
from suffice.text.entities import bare, content_stems, facets
from suffice.text.tokens import content_words

_LEAST = 4  # An outline has four or five topics (S5).
_LABEL = 4  # Words of a label.


def outline(ask: DraftOutline) -> OutlineResponse:
    """Facets, then titles of passages about something else. A question of one word alone is its own topic."""
    topics = [facet.text for facet in facets(ask.task, ask.most)]
    taken = content_stems(" ".join(topics))
    for note in ask.notes:
        title = bare(note.title)
        if len(topics) >= min(_LEAST, ask.most):
            break
        if not content_stems(title) <= taken:
            topics.append(title)
            taken |= content_stems(title)
    return OutlineResponse(tuple(topics))


def hypothetical(ask: Hypothetical) -> HypotheticalResponse:
    return HypotheticalResponse(ask.topic)


def label(ask: Label) -> LabelResponse:
    """Two to four words that every passage has and neither the task nor a topic names, most frequent first."""
    taken = content_stems(" ".join([ask.task, *ask.topics]))
    own = [content_words(f"{note.title} {note.text}") for note in ask.notes]
    shared = set[str].intersection(*map(set, own)) if own else set[str]()
    counted = Counter(word for words in own for word in words if word in shared and not content_stems(word) <= taken)
    telling = [word for word, _ in counted.most_common(_LABEL) if not word.isdigit()]
    return LabelResponse(" ".join(telling) if len(telling) > 1 else "")
