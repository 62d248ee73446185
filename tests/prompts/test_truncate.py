"""The prompt budget: every ask fits any sane budget, keeps its question and its beliefs, and forgets no handle."""

from dataclasses import fields, replace
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import prompts
from suffice.prompts import Draft, Extract, Prompt, Reflect
from suffice.prompts.base import OMITTED_MARKER, render_value
from suffice.prompts.truncate import fit_to_budget
from suffice.text.tokens import estimate_tokens
from suffice.types import BELIEF_KIND, Note

CLASSES = sorted(
    (
        kind
        for kind in vars(prompts).values()
        if isinstance(kind, type) and issubclass(kind, Prompt) and kind is not Prompt
    ),
    key=lambda kind: kind.role,
)
QUESTION = "Who built the bridge at Ardun, and when?"
LONG = "The weather was fair. Ada built the bridge at Ardun in 1907. " + "Nothing else is told of it. " * 60
TEXTS = (
    st.text(max_size=40) | st.text(min_size=500, max_size=900) | st.just(LONG) | st.text("東京都の人口", max_size=900)
)
NOTES = st.builds(
    Note,
    TEXTS.filter(bool),
    st.lists(st.integers(1, 999).map("[{}]".format), max_size=2).map(tuple),
    st.text(max_size=60),
    st.sampled_from(["text", "code", BELIEF_KIND]),
)
LINES = st.text(max_size=600)


def list_of(kind: type, name: str) -> object:
    """What the items of a field are, if it is a list."""
    arguments = getattr(get_type_hints(kind)[name], "__args__", ())
    return arguments[0] if len(arguments) == 2 and arguments[1] is Ellipsis else None


def made(kind: type, draw) -> Prompt:
    """An ask of this class with any inputs."""
    values = {}
    for item in fields(kind):
        element = list_of(kind, item.name)
        if item.name == "task":
            values[item.name] = QUESTION
        elif element is not None:
            values[item.name] = tuple(draw(st.lists(NOTES if element is Note else LINES, max_size=30)))
        else:
            hint = get_type_hints(kind)[item.name]
            values[item.name] = draw(st.text(max_size=50)) if hint is str else draw(st.integers(1, 9))
    return kind(**values)


def handles(prompt: Prompt) -> list[str]:
    lists = [getattr(prompt, item.name) for item in fields(prompt)]
    notes = [note for value in lists if isinstance(value, tuple) for note in value if isinstance(note, Note)]
    return sorted(handle for note in notes for handle in note.handles)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.role)
@given(data=st.data())
def test_any_ask_fits_a_sane_budget(kind, data):
    ask = made(kind, data.draw)
    least = fit_to_budget(ask, 0)
    budget = data.draw(st.integers(least.tokens, least.tokens + 20_000))
    fit = fit_to_budget(ask, budget)
    prompt = fit.prompt.render()
    assert estimate_tokens(prompt) <= fit.tokens <= budget
    assert QUESTION in prompt or not hasattr(ask, "task")
    assert handles(fit.prompt) == handles(ask)
    for item in fields(ask):
        if item.name not in dict(kind.truncation_order):
            assert getattr(fit.prompt, item.name) == getattr(ask, item.name)
        elif list_of(kind, item.name) is Note:
            believed = [note for note in getattr(ask, item.name) if note.kind == BELIEF_KIND]
            assert [note for note in getattr(fit.prompt, item.name) if note.kind == BELIEF_KIND] == believed
    assert (fit.shortened_count == 0) == (fit.prompt == ask)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.role)
def test_the_least_prompt_is_small_however_much_is_found(kind):
    """What may not shrink is bounded by whoever makes the ask: with 500 long notes there is still a prompt of 4,000 tokens."""
    values = {}
    for item in fields(kind):
        element = list_of(kind, item.name)
        hint = get_type_hints(kind)[item.name]
        many = (
            tuple(Note(LONG, (f"[{n}]",), "A title") for n in range(500)) if element is Note else ("words " * 30,) * 500
        )
        values[item.name] = (
            (many if item.name in dict(kind.truncation_order) else many[:1])
            if element
            else QUESTION
            if hint is str
            else 5
        )
    assert fit_to_budget(kind(**values), 4_000).tokens <= 4_000


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.role)
def test_every_list_of_notes_may_shrink_or_is_bounded(kind):
    notes = {item.name for item in fields(kind) if list_of(kind, item.name) is Note}
    assert notes - set(dict(kind.truncation_order)) <= {"core"}, "declare it in `shrinks`, or bound it and name it here"


def test_what_fits_is_left_alone():
    prompt = Draft(QUESTION, (Note(LONG, ("[1]",)),), (), ())
    assert fit_to_budget(prompt, 10_000).prompt is prompt


def test_the_oldest_goes_first_and_only_as_much_as_needed():
    notes = tuple(Note(LONG, (f"[{n}]",), f"Page {n}") for n in range(1, 7))
    prompt = Draft(QUESTION, notes, (), ())
    fit = fit_to_budget(prompt, fit_to_budget(prompt, 10**9).tokens - 1)
    assert [note.whole for note in fit.prompt.notes] == [False, *[True] * 5]
    assert fit.prompt.notes[0].text == "Ada built the bridge at Ardun in 1907.", (
        "the line that says most about the question"
    )
    assert (fit.whole_count, fit.shortened_count) == (5, 1)


def test_of_an_observation_the_last_goes_first_for_the_best_stand_in_front():
    notes = tuple(Note(LONG, (f"[{n}]",)) for n in range(1, 4))
    prompt = Extract(QUESTION, (), (), notes)
    fit = fit_to_budget(prompt, fit_to_budget(prompt, 10**9).tokens - 1)
    assert [note.whole for note in fit.prompt.observation] == [True, True, False]


def test_a_note_without_room_leaves_its_handle_and_the_prompt_says_so():
    prompt = Reflect(QUESTION, tuple(Note(LONG, (f"[{n}]",)) for n in range(1, 41)), ("asked",) * 30, (), (), 3)
    least = fit_to_budget(prompt, 0)
    assert [note.handles for note in least.prompt.notes] == [tuple(f"[{n}]" for n in range(1, 41))]
    assert f"[39] [40] {OMITTED_MARKER}" in least.prompt.render()
    assert least.prompt.asked == ()


def test_a_fact_outlives_its_passages():
    fact = Note("Ada built it in 1907.", ("[1]",), kind=BELIEF_KIND, whole=False)
    prompt = Draft(QUESTION, (fact, *(Note(LONG, (f"[{n}]",)) for n in range(1, 9))), (), ())
    assert render_value(fact) in fit_to_budget(prompt, 0).prompt.render()


def test_a_quote_of_one_sentence_is_the_last_to_go():
    quote = Note("Ada built the bridge at Ardun in 1907, says the plaque.", ("[1]",))
    prompt = Draft(QUESTION, (quote, Note(LONG, ("[2]",))), (), ())
    fit = fit_to_budget(prompt, fit_to_budget(prompt, 10**9).tokens - 100)
    assert quote in fit.prompt.notes
    assert fit.shortened_count == 1


def test_fitting_twice_changes_nothing():
    prompt = Draft(QUESTION, tuple(Note(LONG, (f"[{n}]",)) for n in range(1, 41)), (), ())
    once = fit_to_budget(prompt, 900)
    assert fit_to_budget(once.prompt, 900).prompt == once.prompt
    assert replace(once.prompt, notes=()) == replace(prompt, notes=())
