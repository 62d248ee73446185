"""The rolling summary: built without a model at first, compressed later, and always within its limits."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice.errors import ModelError
from suffice.memory.rolling import INITIAL_CHARS, MAX_BULLETS, MAX_RESULT_CHARS, MAX_SUMMARY_CHARS, RollingMemory
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.belief import Compress, Compression, ExtractedFact
from suffice.testing import ScriptedModel, make_passage

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
LONG = "Ada Lind directed the lamp. " * 100


def test_the_first_round_makes_no_call_and_takes_the_beginnings(fed):
    model = ScriptedModel({})
    summary = fed(RollingMemory, model).round(make_passage("a", LONG, "A"), make_passage("b", "Short.", "B"))
    assert model.prompts == []
    assert sum(len(text) for text in summary.texts()) <= INITIAL_CHARS
    assert [note.handles for note in summary.memory.render(2000)] == [("[1]",), ("[2]",)]
    assert all(text[:5] in LONG + "Short." for text in summary.texts())


def test_empty_rounds_before_the_first_passages_are_skipped(fed):
    model = ScriptedModel({})
    assert fed(RollingMemory, model).round().round(make_passage("a", "Ada.", "A")).texts() == ["Ada."]
    assert model.prompts == []


def test_later_rounds_are_compressed_by_the_model(fed):
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


def test_an_unusable_answer_does_not_change_the_summary(fed):
    for bad in (ModelError("no"), Compression(()), Compression((ExtractedFact("Ada was there.", ("[77]",)),))):
        summary = fed(RollingMemory, ScriptedModel({"compress": [bad]})).round(make_passage("a", "Ada was there.", "A"))
        assert summary.round(make_passage("b", LONG, "B")).texts() == ["Ada was there."]
        assert "could not be compressed" in summary.refused[-1]


bullets = st.lists(
    st.builds(
        ExtractedFact,
        st.lists(st.sampled_from("ada directed the lamp there was not 1954".split()), max_size=90).map(" ".join),
        st.lists(st.sampled_from(["[1]", "[2]", "[9]"]), max_size=2).map(tuple),
    ),
    max_size=20,
)


@quick
@given(st.lists(bullets.map(lambda facts: Compression(tuple(facts))), min_size=1, max_size=4))
def test_it_stays_within_its_limits(fed, answers):
    summary = fed(RollingMemory, ScriptedModel({"compress": answers}))
    for n in range(len(answers) + 1):
        summary.round(make_passage(f"p{n}", LONG, "Page"))
        assert len(summary.texts()) <= MAX_BULLETS
        assert sum(map(len, summary.texts())) <= MAX_SUMMARY_CHARS
        assert all(note.handles for note in summary.memory.render(9999))


def test_it_works_with_the_extractive_model(fed):
    summary = fed(RollingMemory, ExtractiveModel())
    for n in range(12):
        text = f"Page {n} is about rain. " + ("The director was born in Graz." if n == 3 else "Nothing happened there.")
        summary.round(make_passage(f"p{n}", text, f"Page {n}"))
        assert len(summary.texts()) <= MAX_BULLETS
    assert any("Graz" in text for text in summary.texts())
    assert summary.refused == []
