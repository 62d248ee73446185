"""The golden file shows a whole report; after a wanted change, write ``render(report)`` over it and read the diff."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from suffice.report import markdown
from suffice.text.plain import to_one_line
from suffice.types import Report

GOLDEN = Path(__file__).parent / "golden" / "report.md"


def _kinds(text: str) -> set[str]:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    return {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}


def test_the_golden_report(report: Report) -> None:
    assert markdown.render_markdown(report) == GOLDEN.read_text(encoding="utf-8")


def test_the_rounds_are_a_table_with_one_row_each(report: Report) -> None:
    rows = [line for line in markdown.render_markdown(report).splitlines() if line.startswith("|")]
    assert len(rows) == 2 + 5
    assert {row.replace("\\|", "").count("|") for row in rows} == {9}


def test_hostile_text_loads_nothing_and_runs_nothing(hostile: Report) -> None:
    text = markdown.render_markdown(hostile)
    text.encode("utf-8")
    # The only HTML is our own line break between queries.
    assert "image" not in _kinds(text)
    assert "html_block" not in _kinds(text)
    assert "html_inline" not in _kinds(text.replace("<br>", ""))
    assert "\u202e" not in text
    assert max(len(line) for line in text.splitlines() if line.startswith("# ")) < 400


def test_html_shown_as_code_in_the_answer_stays_as_it_is(report: Report) -> None:
    assert "`<b>`" in markdown.render_markdown(replace(report, final_answer="Use `<b>` [1]."))


def test_no_evidence_is_said(report: Report) -> None:
    empty = replace(report, status="no_evidence", final_answer="", summary="", sources=(), claims=(), key_findings=())
    text = markdown.render_markdown(empty)
    assert "No answer" in text
    assert "## Sources" not in text


@given(st.text(max_size=60))
def test_escaped_text_shows_as_it_was(text: str) -> None:
    from html import unescape
    from re import sub

    shown = (
        MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown.escape_line(text))
    )
    assert unescape(sub(r"</?p>\n?", "", shown)).strip() == to_one_line(text).strip()


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
def test_specials_are_escaped(text: str) -> None:
    assert _kinds(markdown.escape_line(text)) == {"paragraph_open", "inline", "paragraph_close", "text"} | (
        _kinds(markdown.escape_line(text)) & {"text_special"}
    )


def test_a_finding_keeps_its_citations_and_its_escapes(report: Report) -> None:
    assert "- Takes \\*args\\* [1].\n" in markdown.render_markdown(
        replace(report, key_findings=("Takes \\*args\\* [1].",))
    )
