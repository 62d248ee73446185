"""The rolling summary: built without a model first, compressed later, never longer than it may be."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice.errors import ModelError
from suffice.memory.rolling import INITIAL_CHARS, MAX_BULLETS, MAX_RESULT_CHARS, MAX_SUMMARY_CHARS, RollingMemory
from suffice.models.extractive import ExtractiveModel
from suffice.prompts import Compress, Compression, ExtractedFact
from suffice.testing import ScriptedModel, make_passage

quick = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
LONG = "Ada Lind directed the lamp. " * 100


def test_the_first_round_costs_no_call_and_takes_the_beginnings(fed):
    model = ScriptedModel({})
    summary = fed(RollingMemory, model).round(make_passage("a", LONG, "A"), make_passage("b", "Short.", "B"))
    assert model.prompts == []
    assert sum(len(text) for text in summary.hypothetical_answers()) <= INITIAL_CHARS
    assert [note.handles for note in summary.memory.render(2000)] == [("[1]",), ("[2]",)]
    assert all(text[:5] in LONG + "Short." for text in summary.hypothetical_answers())


def test_an_empty_round_waits_for_the_first_that_brings_something(fed):
    model = ScriptedModel({})
    assert fed(RollingMemory, model).round().round(make_passage("a", "Ada.", "A")).hypothetical_answers() == ["Ada."]
    assert model.prompts == []


def test_later_rounds_are_compressed_as_specified(fed):
    model = ScriptedModel({"compress": [Compression((ExtractedFact("Ada Lind directed the lamp.", ("[1]", "[2]")),))]})
    summary = (
        fed(RollingMemory, model)
        .round(make_passage("a", "Ada Lind was there.", "A"))
        .round(make_passage("b", LONG, "B"))
    )
    (prompt,) = model.prompts
    assert isinstance(prompt, Compress)
    assert (prompt.temperature, prompt.max_tokens) == (0.1, 400)
    assert all(len(note.text) <= MAX_RESULT_CHARS for note in prompt.results)
    (bullet,) = summary.memory.render(2000)
    assert bullet.handles == ("[1]", "[2]")


def test_what_cannot_be_used_leaves_the_summary_as_it_was(fed):
    for bad in (ModelError("no"), Compression(()), Compression((ExtractedFact("Ada was there.", ("[77]",)),))):
        summary = fed(RollingMemory, ScriptedModel({"compress": [bad]})).round(make_passage("a", "Ada was there.", "A"))
        assert summary.round(make_passage("b", LONG, "B")).hypothetical_answers() == ["Ada was there."]
        assert "stays as it was" in summary.refused[-1]


bullets = st.lists(
    st.builds(
        ExtractedFact,
        st.lists(st.sampled_from("ada directed the lamp there was not 1954".split()), max_size=90).map(" ".join),
        st.lists(st.sampled_from(["[1]", "[2]", "[9]"]), max_size=2).map(tuple),
    ),
    max_size=20,
)


@quick
@given(st.lists(bullets.map(lambda some: Compression(tuple(some))), min_size=1, max_size=4))
def test_it_never_exceeds_its_bound(fed, answers):
    summary = fed(RollingMemory, ScriptedModel({"compress": answers}))
    for n in range(len(answers) + 1):
        summary.round(make_passage(f"p{n}", LONG, "Page"))
        assert len(summary.hypothetical_answers()) <= MAX_BULLETS
        assert sum(map(len, summary.hypothetical_answers())) <= MAX_SUMMARY_CHARS
        assert all(note.handles for note in summary.memory.render(9999))


def test_it_rolls_without_a_language_model(fed):
    summary = fed(RollingMemory, ExtractiveModel())
    for n in range(12):
        text = f"Page {n} is about rain. " + ("The director was born in Graz." if n == 3 else "Nothing happened there.")
        summary.round(make_passage(f"p{n}", text, f"Page {n}"))
        assert len(summary.hypothetical_answers()) <= MAX_BULLETS
    assert any("Graz" in text for text in summary.hypothetical_answers())
    assert summary.refused == []
