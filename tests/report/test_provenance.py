"""Review and computations in the report, as people see them."""

from dataclasses import asdict, replace

import pytest

from suffice.report import html, markdown
from suffice.report.provenance import REVIEW_ENDING_TEXT, parse_review
from suffice.storage.report_json import dumps, loads
from suffice.types import Report, Review, ReviewRound

SCORES = {"relevance": 7.0, "depth": 6.5}
REVIEW = Review(
    "failed",
    False,
    6.8,
    1,
    8.0,
    (ReviewRound(1, SCORES, 6.8, False, ("depth, “One”: say <b>when</b>",)), ReviewRound(2, None, None, None)),
)
PROGRAM = "years: 16\n\nProgram:\nprint(1903 - 1887)\n```\n</pre><script>alert(1)</script>"


@pytest.fixture
def made(report: Report) -> Report:
    return replace(report, metadata={"review": asdict(REVIEW), "computed": {"[1]": PROGRAM}})


def test_markdown_shows_both(made: Report) -> None:
    text = markdown.render_markdown(made)
    assert "Not passed: 6.8 of 10 after 2 rounds" in text
    assert "| 1 | 7 | 6.5 | 6.8 |" in text
    assert "| 2 | – | – | – |" in text
    assert "depth, “One”: say \\<b>when\\</b>" in text
    assert "    print(1903 - 1887)\n    ```\n" in text


def test_the_page_shows_both_and_runs_nothing(made: Report) -> None:
    page = html.render_html(made)
    assert '<h2 id="review">Review</h2>' in page
    assert "print(1903 - 1887)" in page
    assert "say &lt;b&gt;when&lt;/b&gt;" in page
    assert "<script>alert" not in page


def test_they_survive_json(made: Report) -> None:
    assert parse_review(loads(dumps(made))) == REVIEW
    assert markdown.render_markdown(loads(dumps(made))) == markdown.render_markdown(made)


@pytest.mark.parametrize(
    "strange", [{"review": 3, "computed": 3}, {"review": {"ending": []}, "computed": {"[1]": 4}}, {}]
)
def test_metadata_of_another_hand_is_passed_over(report: Report, strange: dict) -> None:
    odd = replace(report, metadata=strange)
    assert "## Review" not in markdown.render_markdown(odd)
    assert "Computed" not in html.render_html(odd)


@pytest.mark.parametrize("ending", REVIEW_ENDING_TEXT)
def test_every_ending_has_its_words(report: Report, ending: str) -> None:
    told = replace(REVIEW, ending=ending)
    assert REVIEW_ENDING_TEXT[ending] in markdown.render_markdown(replace(report, metadata={"review": asdict(told)}))
    unknown = replace(REVIEW, ending=ending, composite=None, passed=None, kept=0, rounds=())
    assert "Not reviewed" in markdown.render_markdown(replace(report, metadata={"review": asdict(unknown)}))
