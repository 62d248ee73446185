"""The token budget: every prompt fits any reasonable budget, and keeps its question, its belief and every handle."""

from dataclasses import fields, replace
from importlib import import_module
from pkgutil import iter_modules
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import prompts
from suffice.prompts.base import OMITTED_MARKER, Prompt, render_value
from suffice.prompts.belief import Extract
from suffice.prompts.planning import Reflect
from suffice.prompts.truncate import fit_to_budget
from suffice.prompts.writing import DraftAnswer
from suffice.text.tokens import estimate_tokens
from suffice.types import BELIEF_KIND, Note

MODULES = [import_module(f"suffice.prompts.{module.name}") for module in iter_modules(prompts.__path__)]
CLASSES = sorted(
    {
        kind
        for module in MODULES
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Prompt) and hasattr(kind, "role")
    },
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
    """Return the type of the items of a field if it is a list."""
    arguments = getattr(get_type_hints(kind)[name], "__args__", ())
    return arguments[0] if len(arguments) == 2 and arguments[1] is Ellipsis else None


def draw_prompt(kind: type, draw) -> Prompt:
    """Draw a prompt of this class with any inputs."""
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
def test_any_prompt_fits_a_reasonable_budget(kind, data):
    prompt = draw_prompt(kind, data.draw)
    least = fit_to_budget(prompt, 0)
    budget = data.draw(st.integers(least.tokens, least.tokens + 20_000))
    fitted = fit_to_budget(prompt, budget)
    text = fitted.prompt.render()
    assert estimate_tokens(text) <= fitted.tokens <= budget
    assert QUESTION in text or not hasattr(prompt, "task")
    assert handles(fitted.prompt) == handles(prompt)
    for item in fields(prompt):
        if item.name not in dict(kind.truncation_order):
            assert getattr(fitted.prompt, item.name) == getattr(prompt, item.name)
        elif list_of(kind, item.name) is Note:
            believed = [note for note in getattr(prompt, item.name) if note.kind == BELIEF_KIND]
            assert [note for note in getattr(fitted.prompt, item.name) if note.kind == BELIEF_KIND] == believed
    assert (fitted.shortened_count == 0) == (fitted.prompt == prompt)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.role)
def test_the_shortest_prompt_is_small_however_much_is_found(kind):
    """The inputs that stay are bounded by the caller: with 500 long notes there is still a prompt of 4,000 tokens."""
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
def test_every_list_of_notes_is_truncated_or_bounded(kind):
    notes = {item.name for item in fields(kind) if list_of(kind, item.name) is Note}
    assert notes - set(dict(kind.truncation_order)) <= {"core"}, (
        "add it to `truncation_order`, or bound it and name it here"
    )


def test_a_prompt_that_fits_is_unchanged():
    prompt = DraftAnswer(QUESTION, (Note(LONG, ("[1]",)),))
    assert fit_to_budget(prompt, 10_000).prompt is prompt


def test_the_oldest_note_is_shortened_first_and_only_as_far_as_needed():
    notes = tuple(Note(LONG, (f"[{n}]",), f"Page {n}") for n in range(1, 7))
    prompt = DraftAnswer(QUESTION, notes)
    fitted = fit_to_budget(prompt, fit_to_budget(prompt, 10**9).tokens - 1)
    assert [note.whole for note in fitted.prompt.notes] == [False, *[True] * 5]
    assert fitted.prompt.notes[0].text == "Ada built the bridge at Ardun in 1907.", (
        "the sentence nearest to the question"
    )
    assert (fitted.whole_count, fitted.shortened_count) == (5, 1)


def test_the_last_note_of_an_observation_is_shortened_first_because_the_best_come_first():
    notes = tuple(Note(LONG, (f"[{n}]",)) for n in range(1, 4))
    prompt = Extract(QUESTION, (), (), notes)
    fitted = fit_to_budget(prompt, fit_to_budget(prompt, 10**9).tokens - 1)
    assert [note.whole for note in fitted.prompt.observation] == [True, True, False]


def test_a_removed_note_leaves_its_handle_and_a_marker():
    prompt = Reflect(QUESTION, tuple(Note(LONG, (f"[{n}]",)) for n in range(1, 41)), ("asked",) * 30, (), (), 3)
    least = fit_to_budget(prompt, 0)
    assert [note.handles for note in least.prompt.notes] == [tuple(f"[{n}]" for n in range(1, 41))]
    assert f"[39] [40] {OMITTED_MARKER}" in least.prompt.render()
    assert least.prompt.asked == ()


def test_facts_of_the_belief_stay_when_passages_are_removed():
    fact = Note("Ada built it in 1907.", ("[1]",), kind=BELIEF_KIND, whole=False)
    prompt = DraftAnswer(QUESTION, (fact, *(Note(LONG, (f"[{n}]",)) for n in range(1, 9))))
    assert render_value(fact) in fit_to_budget(prompt, 0).prompt.render()


def test_a_note_of_one_sentence_is_shortened_last():
    quote = Note("Ada built the bridge at Ardun in 1907, says the plaque.", ("[1]",))
    prompt = DraftAnswer(QUESTION, (quote, Note(LONG, ("[2]",))))
    fitted = fit_to_budget(prompt, fit_to_budget(prompt, 10**9).tokens - 100)
    assert quote in fitted.prompt.notes
    assert fitted.shortened_count == 1


def test_fitting_twice_changes_nothing():
    prompt = DraftAnswer(QUESTION, tuple(Note(LONG, (f"[{n}]",)) for n in range(1, 41)))
    once = fit_to_budget(prompt, 900)
    assert fit_to_budget(once.prompt, 900).prompt == once.prompt
    assert replace(once.prompt, notes=()) == replace(prompt, notes=())
