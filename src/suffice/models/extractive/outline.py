"""Outline, hypothetical answer and label without a language model.

The topics are the facets of the question, filled up with what the first passages are called. There is no imagining an
answer: a topic stands for itself. A label is made of the words that all its passages share.
"""

from collections import Counter

from suffice.prompts import (
    DraftOutline,
    HypotheticalDocument,
    HypotheticalDocumentResponse,
    LabelCluster,
    LabelClusterResponse,
    OutlineResponse,
)
from suffice.text.entities import content_stems, extract_facets, strip_parenthetical
from suffice.text.tokens import content_words

_MIN_TOPICS = 4  # An outline has four or five topics (S5).
_MAX_LABEL_WORDS = 4  # Words of a label.


def draft_outline(prompt: DraftOutline) -> OutlineResponse:
    """Facets, then titles of passages about something else. A question of one word alone is its own topic."""
    topics = [facet.text for facet in extract_facets(prompt.task, prompt.most)]
    taken = content_stems(" ".join(topics))
    for note in prompt.notes:
        title = strip_parenthetical(note.title)
        if len(topics) >= min(_MIN_TOPICS, prompt.most):
            break
        if not content_stems(title) <= taken:
            topics.append(title)
            taken |= content_stems(title)
    return OutlineResponse(tuple(topics))


def echo_topic(prompt: HypotheticalDocument) -> HypotheticalDocumentResponse:
    return HypotheticalDocumentResponse(prompt.topic)


def label_cluster(prompt: LabelCluster) -> LabelClusterResponse:
    """Two to four words that every passage has and neither the task nor a topic names, most frequent first."""
    taken = content_stems(" ".join([prompt.task, *prompt.topics]))
    own = [content_words(f"{note.title} {note.text}") for note in prompt.notes]
    shared = set[str].intersection(*map(set, own)) if own else set[str]()
    counted = Counter(word for words in own for word in words if word in shared and not content_stems(word) <= taken)
    telling = [word for word, _ in counted.most_common(_MAX_LABEL_WORDS) if not word.isdigit()]
    return LabelClusterResponse(" ".join(telling) if len(telling) > 1 else "")
