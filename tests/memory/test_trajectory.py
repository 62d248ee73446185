"""Memories of passages: order, budget, what stays whole, and that the cost does not grow with the rounds."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from memory_context import make_memory_context

from suffice.memory.evidence import Evidence
from suffice.memory.trajectory import LobotomizedMemory, TrajectoryMemory
from suffice.testing import make_passage
from suffice.text.tokens import estimate_tokens
from suffice.types import Hits, Query, Round

sentence = st.lists(
    st.sampled_from("the old bridge of stone was built by Ada in 1820".split()), min_size=1, max_size=12
)
texts = st.lists(sentence.map(" ".join), min_size=1, max_size=12).map(lambda sentences: ". ".join(sentences) + ".")


def fill_memory(texts, task="Who built the bridge?"):
    evidence = Evidence()
    memory = TrajectoryMemory(task, evidence, make_memory_context())

    async def update():
        for n, text in enumerate(texts):
            found = make_passage(f"p{n}", text, f"Title {n:03d}")
            evidence.add(found)
            await memory.update(Round(n + 1, (Hits(Query("q"), (found,)),), (found,), (found,)))

    asyncio.run(update())
    return memory


def cost(notes):
    return sum(estimate_tokens(note.text) + estimate_tokens(note.title) for note in notes)


@given(st.lists(texts, max_size=12), st.integers(0, 2000))
def test_a_rendering_stays_within_its_budget(texts, budget):
    assert cost(fill_memory(texts).render(budget)) <= budget


@given(st.lists(texts, min_size=1, max_size=12), st.integers(0, 2000))
def test_order_is_chronological_and_the_newest_stay_whole(texts, budget):
    notes = fill_memory(texts).render(budget)
    handles = [note.handles[0] for note in notes]
    # The oldest are left out; the shortened ones are older than the whole ones.
    assert handles == [f"[{n}]" for n in range(len(texts) - len(notes) + 1, len(texts) + 1)]
    whole = [note.whole for note in notes]
    assert whole == sorted(whole)
    for note in notes:
        original = texts[int(note.handles[0].strip("[]")) - 1]
        assert note.text == original if note.whole else len(note.text) <= 200


@given(st.lists(texts, min_size=1, max_size=8))
def test_everything_is_whole_when_there_is_room(texts):
    notes = fill_memory(texts).render(50_000)
    assert [note.text for note in notes] == texts
    assert all(note.whole for note in notes)


def test_a_shortened_note_keeps_its_handle_and_the_sentence_about_the_task():
    texts = ["It rained all day. Ada built the bridge. Nobody came." + " Filler follows here." * 40] * 4
    notes = fill_memory(texts).render(350)
    short = [note for note in notes if not note.whole]
    assert short
    assert notes[-1].whole
    assert all(note.text == "Ada built the bridge." and note.handles for note in short)


def test_a_passage_larger_than_the_budget_is_shortened():
    (note,) = fill_memory(["The bridge is long. " * 500]).render(200)
    assert not note.whole
    assert note.text == "The bridge is long."


def test_an_empty_memory_renders_nothing():
    assert fill_memory([]).render(1000) == ()


def test_passages_without_sentences_are_rendered():
    assert len(fill_memory(["", "\n\n", "…"]).render(1000)) == 3


def test_round_300_renders_no_more_than_round_150():
    text = "The bridge was built by Ada. " * 20
    notes = {rounds: fill_memory([text] * rounds).render(3000) for rounds in (150, 300)}
    assert cost(notes[300]) <= 3000
    assert len(notes[300]) == len(notes[150])


ADA, BO = make_passage("a", "Ada was first.", "A"), make_passage("b", "Bo was second.", "B")


def test_lobotomized_knows_the_current_round_only(fed):
    memory = fed(LobotomizedMemory).round(ADA)
    assert memory.texts() == ["Ada was first."]
    assert memory.round(BO).texts() == ["Bo was second."]
    assert memory.round().texts() == []


def test_lobotomized_sees_passages_that_come_back(fed):
    assert fed(LobotomizedMemory).round(ADA).round(BO).round(ADA).texts() == ["Ada was first."]


def test_lobotomized_stays_within_its_budget(fed):
    memory = fed(LobotomizedMemory).round(make_passage("long", "The lamp is old. " * 500, "L"))
    assert sum(estimate_tokens(note.text) for note in memory.memory.render(100)) <= 100
