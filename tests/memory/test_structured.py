"""Structured memory: curation and limits."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice.errors import ModelError
from suffice.memory.base import BeliefLimits
from suffice.memory.extraction import MAX_FACT_CHARS
from suffice.memory.open_questions import MAX_OPEN
from suffice.memory.structured import StructuredMemory
from suffice.prompts.belief import CuratedFact, Curation, ExtractedFact, Extraction
from suffice.testing import ScriptedModel, make_passage
from suffice.text.tokens import estimate_tokens
from suffice.types import BELIEF_KIND

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
FILM = make_passage("film", "The Silver Lamp was directed by Ada Lind in 1954. It is short.", "The Silver Lamp")
BELIEFS = [StructuredMemory]


def says(*answers, **others):
    return ScriptedModel({"extract": list(answers), **others})


# -- curation ------------------------------------------------------------------------------------------------------------

PEOPLE = "Abel Bela Cora Dora Egon Fritz Gerda Hanna Ida Jonas Kurt Lena".split()


def many_facts():
    text = " ".join(f"{name} painted barn number {n}." for n, name in enumerate(PEOPLE))
    return make_passage("many", text, "Painters"), Extraction(
        tuple(ExtractedFact(f"{name} painted barn number {n}.", ("[1]",)) for n, name in enumerate(PEOPLE))
    )


def test_more_than_ten_facts_are_curated_and_sources_joined(fed):
    page, extraction = many_facts()
    merged = Curation((CuratedFact((3, 1), "Cora and Abel painted barn number 2 and 0."), CuratedFact((12,))))
    belief = fed(StructuredMemory, says(extraction, curate=[merged]), task="Who painted?").round(page)
    assert belief.texts() == [
        "Cora and Abel painted barn number 2 and 0.",
        "Lena painted barn number 11.",
    ]


@pytest.mark.parametrize(
    "unusable",
    [
        ModelError("no"),
        Curation(()),
        Curation((CuratedFact((99,)), CuratedFact((0,)), CuratedFact(()))),
        Curation((CuratedFact((-3,)),)),
    ],
)
def test_a_rule_curates_when_the_model_fails(fed, unusable):
    page, extraction = many_facts()
    belief = fed(StructuredMemory, says(extraction, curate=[unusable]), task="Who painted barn number 7?").round(page)
    assert len(belief.texts()) == BeliefLimits().target
    assert any("number 7" in text for text in belief.texts())


def test_an_unsupported_merged_text_is_replaced_by_its_parts(fed):
    page, extraction = many_facts()
    model = says(extraction, curate=[Curation((CuratedFact((1, 2), "Zoltan painted everything in 1999."),))])
    belief = fed(StructuredMemory, model, task="Who painted?").round(page)
    assert belief.texts() == ["Abel painted barn number 0.; Bela painted barn number 1."]


@pytest.mark.parametrize("curation", [ModelError("no"), Curation((CuratedFact((1,)),))])
def test_the_links_of_a_chain_survive_curation(fed, curation):
    chain = ["The Silver Lamp was directed by Ada Lind.", "Ada Lind was born in Graz.", "Graz lies on the Mur."]
    noise = [f"{name} painted barn number {n}." for n, name in enumerate(PEOPLE[:9])]
    page = make_passage("page", " ".join(chain + noise), "Page")
    facts = Extraction(tuple(ExtractedFact(text, ("[1]",)) for text in chain + noise))
    task = "On which river lies the birthplace of the director of The Silver Lamp?"
    texts = fed(StructuredMemory, says(facts, curate=[curation]), task=task).round(page).texts()
    assert set(chain) <= set(texts)
    assert len(texts) <= BeliefLimits().trigger


# -- bounds --------------------------------------------------------------------------------------------------------------

word = st.sampled_from("Ada Graz lamp born directed 1954 the in no evidence Karl [1] brother not".split())
words = st.lists(word, max_size=70).map(" ".join)
handles = st.lists(st.sampled_from(["[1]", "[2]", "[3]", "[4]", "[99]", "x", "2", ""]), max_size=3).map(tuple)
findings = st.lists(st.builds(ExtractedFact, words, handles, words), max_size=14).map(tuple)
curated = st.builds(CuratedFact, st.lists(st.integers(-2, 25), max_size=4).map(tuple), words)
extractions = st.builds(
    Extraction, findings, st.lists(words, max_size=4).map(tuple), st.lists(words, max_size=4).map(tuple)
)


@quick
@given(
    st.sampled_from(BELIEFS),
    st.lists(st.one_of(extractions, st.just(ModelError("no"))), min_size=1, max_size=5),
    st.lists(curated, max_size=8).map(lambda facts: Curation(tuple(facts))),
    st.integers(0, 600),
)
def test_a_belief_stays_within_its_limits_whatever_the_model_says(fed, kind, answers, curation, budget):
    belief = fed(kind, says(*answers, curate=[curation]), open=["Where was the director born?"])
    for n in range(len(answers)):
        belief.round(make_passage(f"p{n}", "Ada was born in Graz. Karl directed the lamp in 1954.", f"Page {n}"))
        notes = belief.memory.render(100_000)
        facts = [note for note in notes if note.kind == BELIEF_KIND]
        assert len(facts) <= BeliefLimits().trigger
        assert all(len(note.text) <= MAX_FACT_CHARS for note in notes)
        assert len(belief.memory_context.open_questions.open) <= MAX_OPEN
        # Every note cites passages, and only those that were admitted by then.
        assert all(note.handles and all(1 <= int(h.strip("[]")) <= n + 1 for h in note.handles) for note in notes)
    rendered = belief.memory.render(budget)
    assert sum(estimate_tokens(note.text) + estimate_tokens(note.title) for note in rendered) <= budget


def test_a_belief_larger_than_any_prompt_fits_after_curation(fed):
    long = [" ".join(f"word{n}x{i}" for i in range(38)) for n in range(60)]
    pages = [make_passage(f"p{n}", text, "Page") for n, text in enumerate(long)]
    answers = [Extraction((ExtractedFact(text, (f"[{n + 1}]",)),)) for n, text in enumerate(long)]
    belief = fed(StructuredMemory, says(*answers, curate=[ModelError("no")]))
    for page in pages:
        belief.round(page)
    notes = belief.memory.render(200)
    assert sum(estimate_tokens(note.text) for note in notes) <= 200
    assert len(belief.memory.render(1_000_000)) <= 2 * BeliefLimits().trigger
