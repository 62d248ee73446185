"""The report as Markdown. After an intended change, write ``render_markdown(report)`` to the golden file and read the diff."""

import re
from dataclasses import asdict, replace
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from suffice.claims.audit import TextAudit
from suffice.claims.checker import default_checker
from suffice.events import Review, ReviewRound
from suffice.report import markdown
from suffice.report.html import render_html
from suffice.report.notices import NOTICES
from suffice.report.timeline import describe_outcome
from suffice.report.wording import describe_search
from suffice.testing import WordSearch
from suffice.text.plain import to_one_line
from suffice.types import ClosestPassage, Excerpt, Report, RoleUsage

GOLDEN = Path(__file__).parent / "golden" / "report.md"


def token_types(text: str) -> set[str]:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}


def test_the_report_equals_the_golden_file(report: Report) -> None:
    assert markdown.render_markdown(report) == GOLDEN.read_text(encoding="utf-8")


def test_the_rounds_are_a_table_with_one_row_each(report: Report) -> None:
    text = markdown.render_markdown(report).partition("\n---\n")[0]  # Below it stands the bill.
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 5
    assert {row.replace("\\|", "").count("|") for row in rows} == {7}, "it fits a terminal"


def test_hostile_text_loads_nothing_and_runs_nothing(hostile: Report) -> None:
    text = markdown.render_markdown(hostile)
    text.encode("utf-8")
    # The only HTML is the line break between queries.
    assert "image" not in token_types(text)
    assert "html_block" not in token_types(text)
    assert "html_inline" not in token_types(text.replace("<br>", ""))
    assert "\u202e" not in text
    assert max(len(line) for line in text.splitlines() if line.startswith("# ")) < 400


def test_html_in_inline_code_stays_as_it_is(report: Report) -> None:
    assert "`<b>`" in markdown.render_markdown(replace(report, final_answer="Use `<b>` [1]."))


def test_a_report_without_evidence_says_so(report: Report) -> None:
    empty = replace(report, status="no_evidence", final_answer="", summary="", sources=(), claims=(), key_findings=())
    text = markdown.render_markdown(empty)
    assert "No answer" in text
    assert "## Sources" not in text


@given(st.text(max_size=60))
def test_escaped_text_is_shown_unchanged(text: str) -> None:
    shown = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown._to_line(text))
    assert unescape(re.sub(r"</?(?:p|code)>\n?", "", shown)).strip() == to_one_line(text).strip()


@pytest.mark.parametrize(
    "text",
    [
        "# no title",
        "- no item",
        "1. no item",
        "a | b",
        "*x* _y_ `z`",
        "<b>",
        "&lt;",
        "[a](http://b)",
        "[1](http://b)",
        "\\*",
    ],
)
def test_markup_characters_are_escaped(text: str) -> None:
    assert token_types(markdown._to_line(text)) == {"paragraph_open", "inline", "paragraph_close", "text"} | (
        token_types(markdown._to_line(text)) & {"text_special", "code_inline"}
    )


def test_a_finding_keeps_its_citations_and_its_escapes(report: Report) -> None:
    assert "- Takes \\*args\\* [1].\n" in markdown.render_markdown(
        replace(report, key_findings=("Takes \\*args\\* [1].",))
    )


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ((("wage",), ("wage", "year")), "Nothing found mentions “wage”."),
        ((("wage",), ("year", "cost")), ""),
        (((), ("wage",)), "The closest passage has the words of the question, but does not say what it asks."),
    ],
)
def test_without_an_answer_one_sentence_says_what_is_missing(
    report: Report, missing: tuple[tuple[str, ...], ...], sentence: str
) -> None:
    closest = tuple(ClosestPassage("Bees dance.", "prose", (), "Bees", "bees.txt:1", words) for words in missing)
    assert markdown.describe_refusal(replace(report, closest=closest)) == sentence


def test_the_closest_passages_keep_their_layout_and_lead_nowhere(report: Report) -> None:
    table = "| option | values |\n|---|---|\n| `--memory` | `rolling`, [notes](https://evil.example/x) |"
    prose = "Use `a_b` for *both*.\n# No heading\n![](https://evil.example/p.png) <b>x</b>"
    closest = (ClosestPassage(table, "table", (), "Options", "usage.md:1-3"), ClosestPassage(prose, "prose", ()))
    text = markdown.render_markdown(replace(report, final_answer="", closest=closest))
    assert "> | option | values |\n> |---|---|\n> | `--memory` | `rolling`, notes |" in text
    assert "> Use `a_b` for both.\n> \\# No heading" in text
    assert "evil.example" not in text
    assert {"image", "html_inline", "html_block"}.isdisjoint(token_types(text.replace("<br>", "")))


def test_headings_inside_the_closest_passages_are_bold(report: Report) -> None:
    prose = ClosestPassage("It ends.\n\nRent\n\nThe rent is due.", "prose", (), headings=((10, 14),))
    listed = ClosestPassage("- It ends.\n\nRent\n\n- It is due.", "list", (), headings=((12, 16),))
    text = markdown.render_markdown(replace(report, final_answer="", closest=(prose, listed)))
    assert "> It ends.\n>\n> **Rent**\n>\n> The rent is due." in text
    assert "> - It ends.\n>\n> **Rent**\n>\n> - It is due." in text


def test_an_answer_in_part_says_what_it_lacks(report: Report) -> None:
    excerpt = Excerpt("The tenant bears repairs.", "prose", (), "[1]", "lease.md:3-3", "Lease")
    partly = replace(
        report, task="May the tenant sublet?", excerpts=(excerpt,), stop=replace(report.stop, sufficiency="partly")
    )
    text = markdown.render_markdown(partly)
    assert "> This may answer only a part of the question: no excerpt mentions “sublet”." in text
    assert "a part of the question" not in markdown.render_markdown(report)
    claims = TextAudit(text, WordSearch([]), default_checker(), NOTICES).claim_texts
    assert not any("part of the question" in claim.text for claim in claims)


def test_how_the_question_was_read_stands_above_the_answer(report: Report) -> None:
    restated = replace(report, metadata={**report.metadata, "restated": "Who is the mayor of <b>Velburg</b>?"})
    text = markdown.render_markdown(restated)
    assert text.index("> Read as: Who is the mayor of") < text.index(report.final_answer.strip()[:20])
    assert r"\<b>Velburg" in text
    assert "Read as" not in markdown.render_markdown(report)


def test_words_that_one_passage_has_are_not_called_missing(report: Report) -> None:
    passage = ClosestPassage("Text.", "prose", (), "Title", "", ("mayor",))
    assert markdown.describe_refusal(replace(report, closest=(passage, replace(passage, missing=())))) == ""


def test_a_run_without_a_model_has_no_bill(report: Report) -> None:
    usage = replace(report.usage, model="extractive", input_tokens=0, output_tokens=0, cost_usd=0.0, pages_read=0)
    assert markdown.format_usage(usage) == ""
    assert markdown.render_markdown(replace(report, usage=usage)).count("no language model") == 1


def test_a_free_model_has_a_bill_without_a_cost(report: Report) -> None:
    role = RoleUsage(1, 900, 80, 0.0)
    usage = replace(report.usage, cost_usd=0.0, by_role={"draft": role})
    assert markdown.build_bill(usage) == [["Role", "Calls", "Tokens in", "Tokens out"], ["draft", "1", "900", "80"]]
    cheap = replace(usage, cost_usd=0.00001, by_role={"draft": replace(role, cost_usd=0.00001)})
    assert "$0.0000" not in f"{markdown.build_bill(cheap)}{markdown.format_usage(cheap)}".replace("under $0.0001", "")


def test_one_number_of_queries_is_shown(report: Report) -> None:
    """The check of claims searches too: two numbers of searches would seem to disagree."""
    shown = markdown.render_markdown(replace(report, usage=replace(report.usage, searches=99)))
    assert "99" not in shown.rpartition("---")[2]


def test_a_stop_is_named_once(report: Report) -> None:
    stop = replace(report.stop, reason="read_all", gate="read_all")
    assert describe_outcome(stop, stop.rounds[-1]).startswith("stop: read all")
    assert "(read_all)" not in markdown.render_markdown(replace(report, stop=stop))


def test_a_passed_review_shows_what_it_still_found(report: Report) -> None:
    judged = ReviewRound(1, {"depth": 8.0}, 8.2, True, ("grounded, the whole text: the figure is that of 2022",))
    review = Review("passed", True, 8.2, 1, 7.0, (judged,))
    reviewed = replace(report, metadata={**report.metadata, "review": asdict(review)})
    assert "the figure is that of 2022" in markdown.render_markdown(reviewed)
    assert "the figure is that of 2022" in render_html(reviewed)


def test_a_search_without_a_hit_says_so_instead_of_a_zero(report: Report) -> None:
    rounds = tuple(replace(one, new_passages=0) for one in report.stop.rounds)
    empty = replace(report, stop=replace(report.stop, rounds=rounds, coverage=None))
    assert "no passage found" in describe_search(empty)
    assert "0 passages" not in describe_search(empty)
