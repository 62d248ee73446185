"""Runs with a small model, with a model that is not worth asking, and with one that cannot be used."""

from dataclasses import replace

import pytest
from bridge_story import ANSWER, ENOUGH, PASSAGES, TASK, asking, model, outcome, plan, roles, setup

from suffice.engine.presets import PRESETS
from suffice.errors import ModelError, ModelUnusable
from suffice.models.capability import ModelProfile
from suffice.prompts.judging import Evaluation
from suffice.prompts.planning import PlannedQuery, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.settings import ReviewRules
from suffice.storage.sqlite_cache import JsonCache, SqliteCache
from suffice.testing import FixtureSearch, ScriptedModel, make_passage
from suffice.text.markdown import strip_markdown
from suffice.types import Bounds

SENTENCE = SynthesisResponse(
    "The Meridian bridge was built by Halloran Works [1].",
    "The Meridian bridge was built by Halloran Works [1].",
    short_answer="Halloran Works",
)
FOUND = FixtureSearch(default=PASSAGES)


def small(answer=SENTENCE, *, search=None, review=ReviewRules(), **options):
    the_model = ScriptedModel({"answer": [answer]})
    config = setup(
        the_model, search or FixtureSearch(default=PASSAGES), review=review, profile=ModelProfile("sentence")
    )
    return outcome(replace(config, preset=replace(config.preset, adapts=True), **options)), the_model


def extractive(task=TASK, passages=PASSAGES):
    from suffice.models.extractive import ExtractiveModel

    return outcome(replace(setup(ExtractiveModel(), FixtureSearch(default=passages)), task=task))


def test_a_small_model_is_asked_once_and_the_rest_is_quoted():
    report, the_model = small()
    assert roles(the_model) == ["answer"], "no plan, no reflection, no review"
    assert report.final_answer.startswith("The Meridian bridge was built by Halloran Works [1].")
    assert "The Meridian bridge was built by Halloran Works in 1887." in strip_markdown(report.final_answer)
    assert (report.status, report.short_answer) == ("answered", "Halloran Works")
    assert report.summary == SENTENCE.summary
    assert report.metadata["writer"] == "sentence"
    assert set(report.metadata["skipped"]) == {"plan", "reflect", "review"}
    assert all(report.metadata["skipped"].values()), "each with a reason"


@pytest.mark.parametrize(
    "answer",
    [
        SynthesisResponse(
            "A king named Otto paid for it [1].", "A king named Otto paid for it [1].", short_answer="Otto"
        ),
        SynthesisResponse("", sufficiency="no"),
    ],
)
def test_with_a_bad_sentence_the_answer_is_what_it_is_without_a_model(answer):
    report, _ = small(answer)
    assert "Otto" not in f"{report.final_answer} {report.short_answer} {report.summary}"
    without = extractive()
    [quoted] = [line for line in without.final_answer.splitlines() if line.endswith("[1]")]
    assert quoted in report.final_answer
    assert report.summary == without.summary
    assert report.summary


@pytest.mark.parametrize(
    "wrong",
    ["A king named Otto paid for it [1].", "The Meridian bridge was built by Halloran Works in 1890 [1]."],
    ids=["removed", "replaced"],
)
def test_a_sentence_that_the_quotes_take_the_place_of_is_listed(wrong):
    report, _ = small(SynthesisResponse(wrong, wrong))
    assert wrong not in report.final_answer
    [removed] = report.removed
    assert removed.text.rstrip(".") == wrong.removesuffix(" [1].")


def test_a_strategy_that_the_user_chose_keeps_its_plan():
    the_model = model(reflects=[ENOUGH])
    the_model._script["answer"] = [SENTENCE]
    outcome(setup(the_model, FixtureSearch(default=PASSAGES), profile=ModelProfile("sentence")))
    assert roles(the_model) == ["plan", "reflect", "answer"]


def test_a_yes_no_question_wants_the_word_first():
    _, the_model = small(task="Was the Meridian bridge built in 1887?")
    assert "Yes or No" in the_model.prompts[-1].render()


def test_what_a_model_did_in_earlier_runs_changes_nothing(tmp_path):
    script = {"plan": [plan()], "reflect": [ENOUGH], "draft": [ANSWER], "evaluate": [Evaluation(*[10] * 6)]}

    def run_once():
        the_model = ScriptedModel(script)
        profile = ModelProfile(
            "prose", self_tests=JsonCache(SqliteCache(tmp_path / "models.sqlite", "", print), max_age_seconds=60)
        )
        report = outcome(setup(the_model, FixtureSearch(default=PASSAGES), review=ReviewRules(), profile=profile))
        return roles(the_model), report.metadata["skipped"]

    first, *others = [run_once() for _ in range(10)]
    assert first[0].count("evaluate") == 1
    assert others == [first] * 9


def test_a_model_that_is_sure_ends_the_search_in_round_one():
    sure = ReflectionResponse(True, 1.0)
    config = setup(model(reflects=[sure]), stop=PRESETS["auto"].gate)
    report = outcome(replace(config, preset=PRESETS["auto"]))
    assert (report.stop.reason, report.stop.round) == ("sufficient", 1)
    assert report.sufficient is True


@pytest.mark.parametrize("unsure", [ReflectionResponse(True, 0.5), ReflectionResponse(True, 0.9, ("a gap",))])
def test_an_unsure_model_does_not_end_the_search(unsure):
    unsure = replace(unsure, new_queries=(PlannedQuery("who founded Halloran Works"),))
    report = outcome(replace(setup(model(reflects=[unsure]), stop=PRESETS["auto"].gate), preset=PRESETS["auto"]))
    assert report.stop.reason != "sufficient"


def test_a_language_model_does_not_reflect_after_the_stop():
    the_model = model(reflects=[asking()])
    outcome(setup(the_model, FixtureSearch(default=PASSAGES), "fixed(2)"))
    assert roles(the_model).count("reflect") == 1


def test_an_unusable_model_ends_the_run_at_once():
    the_model = model(plans=[ModelUnusable("the server is dead; start it")])
    search = FixtureSearch(default=PASSAGES)
    report = outcome(setup(the_model, search))
    assert (report.status, report.stop.reason, search.queries) == ("failed", "model_unavailable", [])
    assert report.error_log[-1].message == "the server is dead; start it"


@pytest.mark.parametrize("error", [ModelUnusable("the key is refused"), ModelError("no words")])
def test_what_was_found_is_quoted_when_the_model_fails_at_the_end(error):
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[error]), FixtureSearch(default=PASSAGES)))
    assert report.status == "partial"
    assert PASSAGES[0].text in strip_markdown(report.final_answer)
    assert str(error) in report.error_log[-1].message


def test_an_opening_that_no_source_supports_leaves_a_partial_answer():
    draft = SynthesisResponse(
        "A king named Otto paid for the bridge [1]. Graz lies on the river Mur [4].",
        "A king named Otto paid for the bridge [1].",
    )
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[draft]), FixtureSearch(default=PASSAGES)))
    assert (report.status, report.stop.sufficiency) == ("partial", "partly")
    assert report.summary == "Graz lies on the river Mur [1]."


def test_a_short_answer_that_does_not_stand_in_the_text_is_dropped():
    drafts = [replace(ANSWER, short_answer="King Otto"), replace(ANSWER, short_answer="Halloran Works")]
    reports = [
        outcome(setup(model(reflects=[ENOUGH], drafts=[draft]), FixtureSearch(default=PASSAGES))) for draft in drafts
    ]
    assert [report.short_answer for report in reports] == [None, "Halloran Works"]


def test_a_difference_between_years_is_no_contradiction():
    found = [
        make_passage("a", "In 2019 the Meridian bridge had 4 lanes.", "Meridian bridge 2019"),
        make_passage("b", "In 2023 the Meridian bridge had 9 lanes.", "Meridian bridge 2023"),
    ]
    draft = SynthesisResponse("In 2023 the Meridian bridge had 9 lanes [2].")
    report = outcome(setup(model(reflects=[ENOUGH], drafts=[draft]), FixtureSearch(default=found)))
    assert "disagree" not in report.final_answer


def test_a_model_that_never_answers_is_a_failure_although_nothing_was_found():
    the_model = model(plans=[ModelError("dizzy")], reflects=[ModelError("dizzy")], drafts=[ModelError("dizzy")])
    assert outcome(setup(the_model, FixtureSearch(), bounds=Bounds(rounds=2))).status == "failed"


RIVERS = [
    make_passage(
        "p1", "The Aller is a river of 263 km in Germany. It was opened to ships in 1720.", "Aller", path="a.txt"
    ),
    make_passage(
        "p2", "The Sarno is a river of 24 km in Italy. It was opened to ships in 1590.", "Sarno", path="s.txt"
    ),
]


def test_what_no_source_states_is_not_decided():
    for task in ("Are Aller and Sarno both rivers?", "Which was opened first, Aller or Sarno?"):
        report = extractive(task, RIVERS)
        assert report.short_answer is None
        assert {excerpt.title for excerpt in report.excerpts} == {"Aller", "Sarno"}, "both sides are shown"


def test_an_answer_with_a_small_model_quotes_all_that_one_without_a_model_does():
    report, _ = small()
    without = extractive()
    assert report.excerpts == without.excerpts
    quotes = without.final_answer[without.final_answer.index("###") : without.final_answer.rindex("\n\n>")]
    assert quotes in report.final_answer
