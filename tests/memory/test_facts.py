"""Selecting facts by rule: duplicates, importance and links."""

from suffice.memory.structured import are_linked, select_facts

QUESTION = "Where was the director of The Silver Lamp born?"
FILM = "The Silver Lamp was directed by Ada Lind."
BORN = "Ada Lind was born in Graz."
NOISE = "A barn was painted red."


def test_facts_that_say_the_same_form_a_group_led_by_the_longest():
    longer = "The Silver Lamp was directed by Ada Lind in Vienna."
    assert select_facts([FILM, NOISE, longer], QUESTION, (), 5)[0] == [2, 0]


def test_important_facts_come_first_and_the_limit_holds():
    assert select_facts([NOISE, FILM], QUESTION, (), 5) == [[1], [0]]
    assert select_facts([NOISE, FILM], QUESTION, (), 1) == [[1]]
    assert select_facts([NOISE, FILM], QUESTION, ("Was a red barn painted in winter?",), 1) == [[0]]
    assert select_facts([], QUESTION, (), 3) == []


def test_a_link_to_a_chosen_fact_raises_importance():
    other = "The lamp stood in a barn."
    assert select_facts([FILM, other, "Ada Lind died in Graz."], QUESTION, (), 2) == [[0], [2]]


def test_facts_are_linked_by_a_name_that_the_question_does_not_give():
    assert are_linked(FILM, BORN, QUESTION)
    assert not are_linked(FILM, BORN, "Where was Ada Lind born?")
    assert not are_linked(FILM, NOISE, QUESTION)
