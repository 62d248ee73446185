"""One check over the whole draft with a language model: verdicts, exact spans, figures, and splitting by size."""

import asyncio
from dataclasses import replace

import pytest

from suffice.answers import Statement
from suffice.claims.reasons import Reason, describe_reason
from suffice.claims.whole import MAX_STATEMENTS, check_draft
from suffice.prompts.judging import CheckDraftResponse, CheckedStatement
from suffice.testing import make_passage
from suffice.text.parts import parse_parts
from suffice.types import Place

MILL = make_passage("1", "The mill at Velburg was built in 1871.\nIt has  two wheels and grinds rye.", "Mill")
BREAD = make_passage("2", "Bread is sold at Velburg on market days. It costs 4 euros.", "Bread")
PASSAGES = {"[1]": MILL, "[2]": BREAD}


def check(statements, *answers, max_tokens=8_000, passages=PASSAGES, others=(), beside=()):
    prompts = []

    async def ask(prompt):
        prompts.append(prompt)
        return CheckDraftResponse(tuple(answers))

    return asyncio.run(
        check_draft(statements, {**passages, **dict(others)}, ask, max_tokens, "", dict(beside), again=False)
    ), prompts


def test_a_stated_sentence_is_supported_by_the_exact_words():
    statement = Statement("Velburg's mill grinds rye with two wheels.", ("[1]",))
    [verdict], [prompt] = check([statement], CheckedStatement(1, "stated", "[1]", "it has two wheels and grinds rye."))
    assert (verdict.support, verdict.role) == ("supported", "stated")
    assert verdict.supporting[0].text == "It has  two wheels and grinds rye"
    assert "1. Velburg's mill grinds rye with two wheels. [1]" in prompt.render()
    assert "The mill at Velburg was built in 1871." in prompt.render()


def test_words_that_are_in_no_passage_fall_back_to_the_nearest_sentence():
    statement = Statement("The mill was built in 1871.", ("[1]",))
    [verdict], _ = check([statement], CheckedStatement(1, "stated", "1", "The mill in Velburg dates from 1871"))
    assert verdict.supporting[0].text == "The mill at Velburg was built in 1871."


def test_the_rows_of_a_table_are_judged_under_the_names_of_their_columns():
    """Otherwise two cells that are exchanged cannot be told from those that are right."""
    [table] = parse_parts(
        "| Price | Velburg | Graz |\n|---|---|---|\n| Bread | 4 [2] | 5 [2] |\n| Rye | 3 [2] | 2 [2] |"
    )
    _, [prompt] = check([*table.rows, Statement("It is old.", ("[1]",))])
    assert prompt.statements == (
        "1. (columns: Price | Velburg | Graz) Bread | 4 [2] | 5 [2]",
        "2. Rye | 3 [2] | 2 [2]",
        "3. It is old. [1]",
    )


@pytest.mark.parametrize("role", ["stated", "joined"])
def test_a_fact_with_a_figure_that_no_cited_passage_has_is_not_supported(role):
    statement = Statement("Buy bread for 5 euros.", ("[2]",))
    [verdict], _ = check([statement], CheckedStatement(1, role, "[2]", "It costs 4 euros."))
    assert verdict.support == "unsupported"
    assert verdict.reason == Reason("figure", "4 euros", "5 euros")


def test_the_name_of_a_file_may_have_the_year_that_a_writer_gives():
    study = replace(
        make_passage("1", "The drift was smaller with both fixes.", "Results"), place=Place("hughes-2023.md")
    )
    statement = Statement("Hughes (2023) found a smaller drift.", ("[1]",))
    answer = CheckedStatement(1, "stated", "[1]", "The drift was smaller")
    [verdict], _ = check([statement], answer, passages={"[1]": study})
    assert verdict.support == "supported"


@pytest.mark.parametrize("role", ["conclusion", "advice", "label"])
def test_a_figure_of_the_writers_own_is_neither_supported_nor_removed(role):
    statement = Statement("Two loaves would cost 8 euros.", ("[2]",))
    [verdict], _ = check([statement], CheckedStatement(1, role, "[2]", "It costs 4 euros."))
    assert verdict.support == "unknown"


def test_joined_facts_may_state_a_figure_that_follows_in_one_step():
    statement = "The mill of 1871 sold bread for 4 euros, 1871 and 4 make {}."
    for sum, support in (("1875", "supported"), ("1880", "unsupported")):
        [verdict], _ = check(
            [Statement(statement.format(sum), ("[1]", "[2]"))],
            CheckedStatement(1, "joined", "[2]", "It costs 4 euros."),
        )
        assert verdict.support == support


@pytest.mark.parametrize(
    ("price", "support"), [("19.20", "supported"), ("499.20", "supported"), ("20.19", "unsupported")]
)
def test_joined_facts_may_state_a_share_in_percent(price, support):
    fee = {"[1]": make_passage("1", "The fee is 480 EUR. It may be raised by at most 4 %.", "Fee")}
    statement = Statement(f"With a fee of 480 EUR and 4 % that makes {price} EUR.", ("[1]",))
    [verdict], _ = check([statement], CheckedStatement(1, "joined", "[1]", "The fee is 480 EUR."), passages=fee)
    assert verdict.support == support


@pytest.mark.parametrize(
    ("role", "words", "support"),
    [
        ("conclusion", "Bread is sold at Velburg on market days.", "supported"),
        ("conclusion", "", "unknown"),
        ("advice", "Bread is sold on every day", "unknown"),
        ("absence", "", "unknown"),
        ("label", "", "unknown"),
        ("not_supported", "", "unsupported"),
        ("contradicted", "Bread is sold at Velburg on market days.", "contradicted"),
    ],
)
def test_what_each_role_amounts_to(role, words, support):
    statement = Statement("Go to Velburg on a market day to buy bread.", ("[2]",))
    [verdict], _ = check([statement], CheckedStatement(1, role, "[2]", words))
    assert verdict.support == support


@pytest.mark.parametrize(
    ("role", "words", "kind"),
    [
        ("absence", "", "absence"),
        ("advice", "", "advice"),
        ("conclusion", "", "conclusion"),
        ("conclusion", "Bread is sold at Velburg on market days.", "figure"),
    ],
)
def test_the_reason_of_an_unknown_verdict_fits_its_class(role, words, kind):
    statement = Statement("Buy bread for 8 euros on a market day.", ("[2]",))
    [verdict], _ = check([statement], CheckedStatement(1, role, "[2]", words))
    assert (verdict.support, verdict.reason.kind) == ("unknown", kind)
    assert describe_reason(verdict.reason) != kind


def test_support_in_a_source_that_is_not_cited_is_reported_as_such():
    statements = [Statement("Bread is sold on market days.", ("[1]",)), Statement("It costs 4 euros.", ("[2]",))]
    answers = [CheckedStatement(1, "stated", "[2]", "Bread is sold at Velburg on market days.")]
    [verdict, unanswered], _ = check(statements, *answers)
    assert (verdict.support, verdict.reason) == ("unsupported", Reason("other_source"))
    assert verdict.uncited_support.passage is BREAD
    assert unanswered is None


def test_a_comparison_is_checked_against_what_it_does_not_cite_too():
    highest = Statement("Of all mills in the valley, mill 1 has the most wheels.", ("[1]",))
    rows = {f"[{n}]": make_passage(str(n), f"Mill {n} has {20 - n} wheels.", f"Mill {n}") for n in range(1, 11)}
    rows["[2]"] = make_passage("2", "Mill 2 has 18 wheels, the most in the valley.", "Mill 2")
    cited = {"[1]": rows["[1]"]}
    answer = CheckedStatement(1, "conclusion", "[2]", "Mill 2 has 18 wheels")
    [verdict], [prompt] = check([highest], answer, passages=cited, others={"[99]": BREAD, **rows})
    assert verdict.support == "supported"
    shown = [note.handles[0] for note in prompt.sources]
    assert shown[:2] == ["[1]", "[2]"], "the cited and the nearest others"
    assert len(shown) < 5
    assert "[99]" not in shown
    _, [prompt] = check([highest], max_tokens=1, passages=cited, others=rows)
    assert [note.handles[0] for note in prompt.sources] == ["[1]"], "others only where there is room"


def test_other_passages_are_shown_only_for_statements_whose_own_sources_lack_their_words():
    others = {
        f"[{n}]": make_passage(str(n), f"The old mill grinds rye and wheat, day {n}.", "Mill") for n in range(3, 9)
    }
    held = Statement("The mill grinds rye with two wheels [1].", ("[1]",))
    _, [prompt] = check([held], others=others)
    assert [note.handles[0] for note in prompt.sources] == ["[1]"]
    uncited = Statement("Wheat is ground by the old mill on every day.")
    _, [prompt] = check([held, uncited], others=others)
    assert 1 < len(prompt.sources) < 6


def test_what_the_paragraph_cites_is_shown_and_a_figure_in_it_is_cited_only_if_the_check_names_it():
    statement = Statement("The mill of 1871 has two wheels; bread costs 4 euros.", ("[1]",))
    named = CheckedStatement(1, "joined", "[1]", "It has two wheels", "the price is in [2]")
    [verdict], [prompt] = check([statement], named, beside={statement: ("[2]",)})
    assert [note.handles for note in prompt.sources] == [("[1]",), ("[2]",)]
    assert (verdict.support, [quote.passage for quote in verdict.supporting]) == ("supported", [MILL, BREAD])
    unnamed = CheckedStatement(1, "joined", "[1]", "It has two wheels")
    [verdict], _ = check([statement], unnamed, beside={statement: ("[2]",)})
    assert verdict.reason.kind == "figure", "a source that merely has the figure may be about something else"


def test_the_doubt_says_whether_a_source_is_cited():
    answer = CheckedStatement(1, "not_supported")
    for handles, kind in (((), "uncited"), (("[1]",), "not_stated")):
        [verdict], _ = check([Statement("Pigs fly.", handles)], answer)
        assert verdict.reason.kind == kind


def test_joined_facts_may_have_one_part_in_a_source_that_is_not_cited():
    statement = Statement("The mill of 1871 sells bread for 4 euros.", ("[1]",))
    [verdict], _ = check([statement], CheckedStatement(1, "joined", "[2]", "It costs 4 euros."), others=PASSAGES)
    assert (verdict.uncited_support.passage, verdict.reason) == (BREAD, Reason("other_source"))
    [verdict], _ = check([statement], CheckedStatement(1, "stated", "[2]", "It costs 4 euros."), others=PASSAGES)
    assert verdict.uncited_support is None, "a citation moves only to a source that has all figures"


def test_words_that_a_cited_source_has_are_its_own_whatever_source_the_model_names():
    twin = make_passage("3", BREAD.text, "Bread, again")
    statement = Statement("Bread costs 4 euros.", ("[2]",))
    [verdict], _ = check([statement], CheckedStatement(1, "stated", "[3]", "It costs 4 euros."), others={"[3]": twin})
    assert (verdict.support, verdict.supporting[0].passage) == ("supported", BREAD)


def test_a_long_draft_is_split_and_every_statement_is_asked_about_once_with_its_passages():
    statements = [Statement(f"Statement {number} of the draft.", ("[1]",)) for number in range(MAX_STATEMENTS + 5)]
    verdicts, prompts = check(statements, CheckedStatement(2, "label"), CheckedStatement(99, "label"))
    assert [len(prompt.statements) for prompt in prompts] == [42, 43]
    assert [number for number, verdict in enumerate(verdicts) if verdict] == [1, 43]
    _, prompts = check([Statement("One.", ("[1]",)), Statement("Two.", ("[2]",))], max_tokens=1)
    assert [[note.handles for note in prompt.sources] for prompt in prompts] == [[("[1]",)], [("[2]",)]]


@pytest.mark.parametrize(("reads", "asked"), [(30, [40, 10]), (0, [40, 20, 20])])
def test_what_an_answer_leaves_out_is_asked_for_once_more(reads, asked):
    """A long answer is cut off at its limit, or cannot be read; the reader would remove advice and conclusions."""
    statements, sizes = [Statement(f"Advice {number}.", ("[1]",)) for number in range(40)], []

    async def ask(prompt):
        sizes.append(len(prompt.statements))
        count = reads if len(sizes) == 1 else len(prompt.statements)
        return CheckDraftResponse(tuple(CheckedStatement(n, "advice") for n in range(1, count + 1))) if count else None

    verdicts = asyncio.run(check_draft(statements, PASSAGES, ask, 8_000))
    assert [verdict.claim for verdict in verdicts] == statements
    assert sizes == asked


def test_a_model_that_fails_leaves_every_statement_open():
    async def fail(prompt):
        return None

    statements = [Statement("The mill was built in 1871.", ("[1]",))]
    assert asyncio.run(check_draft(statements, PASSAGES, fail, 8_000)) == [None]
    assert asyncio.run(check_draft([], PASSAGES, fail, 8_000)) == []


def test_a_sentence_with_more_figures_than_can_be_compared_is_unknown_whatever_the_model_says():
    statement = Statement(f"The counts are {', '.join(map(str, range(20_000)))}.", ("[1]",))
    [verdict], _ = check([statement], CheckedStatement(1, "joined", "[1]", "It has  two wheels"))
    assert (verdict.support, verdict.reason) == ("unknown", Reason("too_long"))
