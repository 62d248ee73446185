"""Follow-up queries: proposed until asked, the most similar to the question first, each once."""

from dataclasses import replace

import numpy
from hypothesis import given
from hypothesis import strategies as st

from suffice.state.follow_ups import FollowUpQueue
from suffice.testing import make_passage
from suffice.text.tokens import tokenize

QUESTION = "Who founded the company that built the Meridian bridge?"
NEAR = make_passage("near", "The Meridian bridge was built by Halloran Works.", "Meridian bridge")
FAR = make_passage("far", "Bananas ripen faster in paper bags.", "Bananas")


def make_queue(*passages, question=QUESTION):
    leads = FollowUpQueue(question)
    leads.add(passages)
    return leads


def test_without_passages_there_are_no_follow_ups():
    assert make_queue().propose(3) == []


def test_a_follow_up_has_the_title_and_the_new_names_of_its_passage():
    (lead,) = make_queue(NEAR).propose(1)
    assert "Halloran Works" in lead.text
    assert "Meridian bridge" in lead.text
    assert "founded" in lead.text
    assert "Meridian bridge" in lead.intent


def test_a_follow_up_is_what_a_person_would_type():
    """No heading path, no question words, no capitals that only begin a sentence, no tokens of code."""
    question = "What happens when the heartbeats of a worker stop?"
    decision = make_passage(
        "d", "Workers stop. Similar to Postgres, the job of Ada Lane goes back.", "Decisions > Job queue"
    )
    (query,) = make_queue(decision, question=question).propose(1)
    assert query.text == "heartbeats worker stop Job queue Postgres Ada Lane"
    code = replace(make_passage("c", "def merge(key=None): return False\nMerge Similar", "heapq.merge"), kind="code")
    (query,) = make_queue(code, question="How does heapq combine sorted inputs?").propose(1)
    assert query.text == "combine sorted inputs heapq.merge"


def test_the_passage_most_similar_to_the_question_comes_first():
    for order in ((NEAR, FAR), (FAR, NEAR)):
        first, second = make_queue(*order).propose(2)
        assert "Halloran" in first.text
        assert "Bananas" in second.text


def test_earlier_passages_come_before_equally_similar_later_ones():
    leads = FollowUpQueue("What is tin?")
    leads.add([make_passage("first", "tin is a metal", "Alpha")])
    leads.add([make_passage("second", "tin is a metal", "Beta")])
    assert ["Alpha" in lead.text for lead in leads.propose(2)] == [True, False]


def test_a_follow_up_is_proposed_until_it_is_asked():
    leads = make_queue(NEAR, FAR)
    offered = leads.propose(1)
    assert leads.propose(1) == offered
    leads.mark_asked(["something else altogether"])
    assert "Halloran" in leads.propose(1)[0].text
    leads.mark_asked([offered[0].text])
    assert ["Bananas" in lead.text for lead in leads.propose(5)] == [True]


def test_a_name_that_a_query_has_used_is_not_proposed_again():
    leads = make_queue(NEAR)
    leads.mark_asked(["Who owns Halloran Works"])
    assert "Halloran" not in leads.propose(1)[0].text


def test_at_most_the_requested_number_is_proposed():
    leads = make_queue(*(make_passage(f"p{n}", f"Text number {n} about Topic{n}.") for n in range(9)))
    assert [len(leads.propose(most)) for most in (0, 1, 4, 20)] == [0, 1, 4, 9]


def test_chunks_of_one_document_give_different_follow_ups():
    """Chunks of a file share its title; without names of their own they would lead to the same query."""
    leads = make_queue(*(make_passage(f"doc#{n}", f"the text of part {n}", "handbook") for n in "abc"), NEAR)
    texts = [lead.text for lead in leads.propose(4)]
    assert len(texts) == len(set(texts))


def test_a_query_that_was_asked_is_not_proposed():
    leads = FollowUpQueue("meridian bridge")
    leads.mark_asked(["meridian bridge"])
    leads.add([make_passage("p", "the meridian bridge is old", "meridian bridge"), FAR])
    assert [tokenize(lead.text) for lead in leads.propose(1)] != [["meridian", "bridge"]]


titles = st.lists(st.sampled_from(["Ada", "Bob", "the notes", "log", "Ada and Bob"]), min_size=1, max_size=8)


@given(titles, st.lists(st.sampled_from(["", " met Cyd.", " saw Dee and Eve.", " in 1815."]), min_size=8, max_size=8))
def test_following_every_proposal_ends_and_repeats_nothing(titles, mentions):
    leads = FollowUpQueue("Who taught Ada mathematics?")
    leads.mark_asked(["Who taught Ada mathematics?"])
    leads.add([make_passage(f"p{n}", f"it says so{mentions[n]}", title) for n, title in enumerate(titles)])
    followed = []
    while proposed := leads.propose(1):
        followed.append(tuple(tokenize(proposed[0].text)))
        leads.mark_asked([proposed[0].text])
        assert len(followed) <= len(titles), "a follow-up was proposed again after it was asked"
    assert len(set(followed)) == len(followed)


def test_with_embeddings_similarity_is_by_meaning():
    def embed(texts):
        return numpy.array([[1.0, 0.0] if "river" in text or "stream" in text else [0.0, 1.0] for text in texts])

    leads = FollowUpQueue("Which stream is longest?", embed)
    leads.add([make_passage("x", "All about cheese.", "Cheese"), make_passage("y", "A river of 900 km.", "Ob")])
    assert "Ob" in leads.propose(1)[0].text


def test_similarity_of_added_passages():
    leads = make_queue(NEAR, FAR)
    assert leads.get_similarity(NEAR) > leads.get_similarity(FAR)
    assert leads.get_similarity(make_passage("never", "added")) == 0.0


def test_a_follow_up_of_code_has_no_stray_words_of_it():
    text = "def merge(*iterables, key=None, reverse=False):\n    # Merge sorted inputs. Similar to sorted.\n    # Returns None."
    passage = replace(make_passage("heapq", text, "heapq.py merge"), kind="code")
    queue = FollowUpQueue("How does it combine sorted inputs?")
    queue.add([passage])
    [query] = queue.propose(1)
    assert not {"None", "False", "Merge", "Similar"} & set(query.text.split())
