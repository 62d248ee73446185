"""Written answers as models of every size write them."""

import re

import pytest

from suffice.models.choose import list_roles
from suffice.prompts.base import list_templates, load_template
from suffice.prompts.writing import AnswerSentence, DraftAnswer, is_non_answer, parse_markdown_answer


def test_findings_without_an_answer_become_the_answer() -> None:
    """A model of 1.5 billion parameters wrote this."""
    read = parse_markdown_answer("## Key findings\n\nAda built it [1].\n\nBo taught Ada [2].\n\n## Risks\n\nNone.\n")
    assert read.answer == "Ada built it [1].\n\nBo taught Ada [2]."
    assert read.summary == "Ada built it [1]."
    assert (read.key_findings, read.risks) == ((), ())


def test_lists_at_the_end_become_fields() -> None:
    read = parse_markdown_answer("Ada built it [1].\n\n## Key findings\n- Ada built it [1].")
    assert (read.answer, read.key_findings) == ("Ada built it [1].", ("Ada built it [1].",))


@pytest.mark.parametrize(
    "section",
    [
        "## Recommendations\n\nThese are mine and follow from [1]:\n\n- Paint it.\n- Sell it.",
        "## Risks\n\n| risk | source |\n| --- | --- |\n| rot | [1] |",
        "## Known gaps\n\nNo source gives the cost.",
    ],
)
def test_what_is_more_than_a_list_stays_in_the_text(section) -> None:
    text = f"Ada built it [1].\n\n{section}"
    assert parse_markdown_answer(text).answer == text


def test_nothing_that_was_written_is_dropped() -> None:
    assert parse_markdown_answer("Ada [1].\n\n## Risks\n- None of the mills burnt [2].\n- None.").risks == (
        "None of the mills burnt [2].",
    )
    long = f"Ada built it{' and rebuilt it' * 10} [1]."
    read = parse_markdown_answer(f"It is old [1].\n\nShort answer: {long}")
    assert (read.answer, read.short_answer) == (f"It is old [1].\n\n{long}", "")


def test_a_comment_in_code_is_not_a_heading() -> None:
    text = "Ada built it [1].\n\n```python\n# risks\nx = 1\n```"
    assert parse_markdown_answer(text).answer == text


def test_the_short_answer_is_a_field_and_not_part_of_the_text():
    written = parse_markdown_answer("The mill has nine wheels [1].\n\n**Short answer:** nine wheels [1].")
    assert (written.answer, written.short_answer) == ("The mill has nine wheels [1].", "nine wheels")


@pytest.mark.parametrize(
    "text",
    [
        "The sources do not say who built the mill.",
        "The provided passages don't explicitly mention the builder.",
        "The builder is not mentioned in the sources.",
        "There is no information about the builder in the passages.",
        "It cannot be determined who built it.",
        "None.",
    ],
)
def test_a_sentence_that_says_there_is_no_answer_is_none(text):
    assert is_non_answer(text)
    assert AnswerSentence.parse(f"{text}\nShort answer: Kolbe").answer == ""
    assert parse_markdown_answer(f"{text}\n\nShort answer: none").short_answer == ""
    assert parse_markdown_answer(text).sufficiency == "partly"


@pytest.mark.parametrize("text", ["The mill was not built by Kolbe [1].", "No mill is older than this one [2]."])
def test_a_negative_answer_is_an_answer(text):
    assert not is_non_answer(text)


def test_a_small_models_answer_is_one_sentence():
    text = "Line 1: Kolbe built the mill [1]. He was born in Brno [2].\nShort answer: Kolbe"
    written = AnswerSentence.parse(text)
    assert (written.answer, written.summary, written.short_answer) == (*["Kolbe built the mill [1]."] * 2, "Kolbe")


def test_a_source_before_the_sentence_goes_behind_it():
    assert AnswerSentence.parse("Answer: [1][2] Kolbe built the mill.").answer == "Kolbe built the mill. [1][2]"


def test_a_question_is_no_answer():
    assert AnswerSentence.parse("Answer: [1] Who built the mill?\nShort answer: the mill").answer == ""


def test_a_heading_that_states_the_answer_is_checked_like_a_sentence():
    assert parse_markdown_answer("### Answer: Kolbe built the mill [1].\n\nIt is old [2].").answer.startswith(
        "Kolbe built"
    )


def test_headings_of_the_prompt_are_removed_with_their_text():
    text = "Kolbe built it [1].\n\n## Task\n\nWrite prose.\n\n## Wheels\n\nIt has nine [1]."
    assert parse_markdown_answer(text).answer == "Kolbe built it [1].\n\n## Wheels\n\nIt has nine [1]."


def test_a_prompt_shows_only_what_applies():
    bare = DraftAnswer("Who built it?", ()).render()
    assert all(word not in bare for word in ("(none)", "section", "## ", "first paragraph"))
    full = DraftAnswer("Who built it?", (), ("a caveat",), section="Wheels", lists='"## Risks"').render()
    assert all(word in full for word in ("a caveat", "Wheels", "## Risks"))


@pytest.mark.parametrize("role", sorted(list_roles().intersection(list_templates())))
def test_no_example_has_a_value_to_copy(role):
    """A number, a word or dots between quotation marks after a field's name would be copied by small models."""
    assert not re.search(r'": (?:\d|"|\["|null|\[\])', load_template(role).body.template.split("JSON")[-1])


def test_a_rule_above_the_answer_is_not_its_summary():
    assert parse_markdown_answer("---\n\nIt is old [1]. It turns.").summary == "It is old [1]."
