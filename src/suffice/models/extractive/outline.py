"""Outline and cluster label from the words of the question and the passages.

The topics are the facets of the question, filled up with titles of the first passages. A label consists of words that all
passages of a cluster share.
"""

from collections import Counter

from suffice.prompts.base import TextResponse
from suffice.prompts.outline import DraftOutline, LabelCluster, OutlineResponse
from suffice.text.entities import content_stems, extract_facets, strip_parenthetical
from suffice.text.tokens import content_words

_MIN_TOPICS = 4  # An outline has four or five topics (value of the source system, see docs/sources.md).
_MAX_LABEL_WORDS = 4


def draft_outline(prompt: DraftOutline) -> OutlineResponse:
    """Return the facets of the question, then titles of passages about something else."""
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


def label_cluster(prompt: LabelCluster) -> TextResponse:
    """Return two to four words that every passage has and neither the task nor a topic has, most frequent first."""
    taken = content_stems(" ".join([prompt.task, *prompt.topics]))
    texts = [content_words(f"{note.title} {note.text}") for note in prompt.notes]
    shared = set[str].intersection(*map(set, texts)) if texts else set[str]()
    counts = Counter(word for words in texts for word in words if word in shared and not content_stems(word) <= taken)
    label = [word for word, _ in counts.most_common(_MAX_LABEL_WORDS) if not word.isdigit()]
    return TextResponse(" ".join(label) if len(label) > 1 else "")
