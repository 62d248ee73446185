"""The outline: its topics, how well they are covered, and which passages suit them."""

import numpy

from suffice.state.outline import MAX_CHUNKS, TopicOutline, normalize_topics
from suffice.testing import make_passage
from suffice.types import Hits, Note, Query

METALS = ("copper", "silver", "tin")


def embed(texts):
    rows = numpy.array([[float(metal in text.lower()) for metal in METALS] + [0.1] for text in texts])
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def make_outline(*topics, passages=(), model=embed):
    made = TopicOutline(model)
    made.add_topics(list(topics), list(topics))
    made.add_passages(passages)
    return made


def found(*texts):
    return Hits(Query("q"), tuple(make_passage(text, text) for text in texts))


def test_the_least_covered_topic_comes_first():
    made = make_outline("copper", "silver", "tin", passages=found("tin").passages)
    assert made.rank_open_topics()[-1] == 2
    made.add_passages(found("copper").passages)
    assert made.rank_open_topics()[0] == 1
    assert made.passage_count == 2


def test_a_topic_is_recognized_by_words_or_meaning():
    made = make_outline("copper")
    assert made.has_topic("Copper!")
    assert made.has_topic("the copper age")
    assert not made.has_topic("silver")
    words_only = make_outline("copper mines", model=None)
    assert words_only.has_topic("Copper, mines")
    assert not words_only.has_topic("copper smelting")


def test_passages_near_the_topic_and_unlike_known_ones_are_selected():
    made = make_outline("copper", "silver", passages=found("copper old").passages)
    # The first is near to the topic but known, the second near and half new, the third off the topic.
    chosen = made.select_passages([(0, found("copper again", "copper and tin", "silver"))])
    assert [passage.id for passage in chosen] == ["copper again", "copper and tin", "silver"]
    again = made.select_passages([(1, found("copper again", "silver"))])
    assert again[0].id == "silver"


def test_a_passage_counts_for_its_best_topic_and_the_selection_is_bounded():
    made = make_outline("copper", "silver")
    assert [p.id for p in made.select_passages([(0, found("silver")), (1, found("silver", "tin"))])] == [
        "silver",
        "tin",
    ]
    many = found(*(f"copper {n}" for n in range(40)))
    assert len(made.select_passages([(0, many)])) == MAX_CHUNKS
    assert made.select_passages([(0, found())]) == []


def test_selected_notes_keep_their_order():
    notes = [Note(text, (f"[{n}]",)) for n, text in enumerate(("tin", "copper a", "silver", "copper b"), 1)]
    made = make_outline("copper", "silver")
    assert made.select_notes(0, notes, 2) == [1, 3]
    assert made.select_notes(1, notes, 9) == [0, 1, 2, 3]
    assert made.select_notes(0, [], 3) == []


def test_groups_have_at_least_two_passages_and_need_embeddings():
    passages = found(*(f"{metal} {n}" for metal in METALS for n in range(3)), "nothing").passages
    groups = make_outline("gold", passages=passages).find_latent_groups(seed=1)
    assert groups
    assert all(len(group) > 1 for group in groups)
    assert all(len({passage.id.split()[0] for passage in group}) == 1 for group in groups)
    assert make_outline("gold", passages=passages, model=None).find_latent_groups(seed=1) == []
    assert make_outline("gold").find_latent_groups(seed=1) == []


def test_topics_are_normalized_and_deduplicated():
    assert normalize_topics(["A  b", "a B", "", "…", "c"], 9) == ["A b", "c"]
    assert len(normalize_topics([str(n) for n in range(100)], 5)) == 5
