"""Review and computations, read from the metadata and shown in the report."""

from dataclasses import asdict, replace

import pytest

from suffice.events import Review, ReviewRound
from suffice.report import html, markdown
from suffice.report.provenance import REVIEW_ENDING_TEXT, parse_review
from suffice.storage.report_json import dumps, loads
from suffice.text.sections import ReportSection
from suffice.types import Report

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
def provenance_report(report: Report) -> Report:
    return replace(report, metadata={"review": asdict(REVIEW), "computed": {"[1]": PROGRAM}})


def test_markdown_shows_both(provenance_report: Report) -> None:
    text = markdown.render_markdown(provenance_report)
    assert "Not passed: 6.8 of 10 after 2 rounds" in text
    assert "| 1 | 7 | 6.5 | 6.8 |" in text
    assert "| 2 | – | – | – |" in text
    assert "depth, “One”: say \\<b>when\\</b>" in text
    assert "    print(1903 - 1887)\n    ```\n" in text


def test_html_shows_both_escaped(provenance_report: Report) -> None:
    page = html.render_html(provenance_report)
    assert '<details id="review" class="fold"><summary><h2>How the answer was reviewed</h2></summary>' in page
    assert "print(1903 - 1887)" in page
    assert "say &lt;b&gt;when&lt;/b&gt;" in page
    assert "<script>alert" not in page


def test_both_survive_json(provenance_report: Report) -> None:
    assert parse_review(loads(dumps(provenance_report))) == REVIEW
    assert markdown.render_markdown(loads(dumps(provenance_report))) == markdown.render_markdown(provenance_report)


@pytest.mark.parametrize(
    "metadata", [{"review": 3, "computed": 3}, {"review": {"ending": []}, "computed": {"[1]": 4}}, {}]
)
def test_metadata_of_another_shape_is_ignored(report: Report, metadata: dict) -> None:
    changed = replace(report, metadata=metadata)
    assert ReportSection.REVIEW not in markdown.render_markdown(changed)
    assert "Computed" not in html.render_html(changed)


@pytest.mark.parametrize("ending", REVIEW_ENDING_TEXT)
def test_every_ending_is_described(report: Report, ending: str) -> None:
    review = replace(REVIEW, ending=ending)
    assert REVIEW_ENDING_TEXT[ending] in markdown.render_markdown(replace(report, metadata={"review": asdict(review)}))
    unknown = replace(REVIEW, ending=ending, composite=None, passed=None, kept=0, rounds=())
    assert "Not reviewed" in markdown.render_markdown(replace(report, metadata={"review": asdict(unknown)}))
