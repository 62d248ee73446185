"""A claim check of a finished report reads what was written, and skips the sections that say how it was made."""

from dataclasses import asdict, replace

import pytest

from suffice.claims.split import extract_claims
from suffice.events import Review, ReviewRound
from suffice.report.html import render_html
from suffice.report.markdown import render_markdown
from suffice.report.notices import render_disagreements
from suffice.text.sections import WRITTEN_SECTIONS, ReportSection
from suffice.types import (
    Absence,
    ClosestPassage,
    Coverage,
    Disagreement,
    Reason,
    RemovedClaim,
    Report,
    Span,
)

SIDES = Disagreement(Span("[1]", "The loop polls once.", "a.py:1-2"), Span("[2]", "The loop polls twice.", "b.py:1-2"))
PROGRAM = "turns: 16\n\nProgram:\nprint(1903 - 1887)"
REVIEW = Review("failed", False, 6.8, 1, 8.0, (ReviewRound(1, {"depth": 6.5}, 6.8, False, ("The depth is poor.",)),))


@pytest.fixture
def full_report(report: Report) -> Report:
    """A report that has every section but the one for a refusal without passages."""
    fruitless = replace(report.stop.rounds[-1], queries=("Which loop did nobody describe?",), new_passages=0)
    stop = replace(
        report.stop,
        rounds=(*report.stop.rounds[:-1], fruitless),
        coverage=Coverage(0.9, 0.8, 1.0, 9, 12, "chao"),
    )
    return replace(
        report,
        final_answer="The loop keeps a queue of ready callbacks [1]." + render_disagreements((SIDES,)),
        disagreements=(SIDES,),
        closest=(ClosestPassage("The loop is closed at the end.", "prose", (), "a.py", "a.py:1-2", ("timer",)),),
        key_findings=("Ready callbacks run first in, first out [1].",),
        recommendations=("Schedule urgent work first [2].",),
        risks=("A slow callback delays the others [3].",),
        removed=(RemovedClaim("The loop has four queues.", Reason("unsupported")),),
        open_questions=("The order in uvloop is unknown.",),
        left_undone=("The documentation of uvloop was not read.",),
        stop=stop,
        metadata={"review": asdict(REVIEW), "computed": {"[1]": PROGRAM}},
    )


def test_a_claim_check_of_a_report_reads_only_what_was_written(full_report: Report) -> None:
    text = render_markdown(full_report)
    assert {section for section in ReportSection if f"# {section}\n" in text} == {*ReportSection} - {ReportSection.READ}
    written = (*full_report.key_findings, *full_report.recommendations, *full_report.risks)
    claims = ["The loop keeps a queue of ready callbacks [1].", *written]
    assert [claim.text for claim in extract_claims(text)] == [claim.rsplit(" [", 1)[0] for claim in claims]


def test_a_claim_check_of_a_refusal_reads_nothing(report: Report) -> None:
    absence = Absence(20, 5, 90, 0.01, 0.95)
    text = render_markdown(
        replace(report, final_answer="None.", key_findings=(), stop=replace(report.stop, absence=absence))
    )
    assert ReportSection.READ in text
    assert [claim.text for claim in extract_claims(text)] == ["None."]


def test_the_page_has_the_same_titles(full_report: Report) -> None:
    page = render_html(full_report)
    for section in (*WRITTEN_SECTIONS, ReportSection.REVIEW, ReportSection.COMPUTATIONS, ReportSection.CLOSEST):
        assert f"{section}</h2>" in page


def test_a_section_of_another_author_is_read() -> None:
    [claim] = extract_claims("## Review\n\nThe bridge was opened in 1890 [1].\n")
    assert claim.text.startswith("The bridge")


def test_a_broad_question_is_never_called_answered_but_with_how_much_was_read(full_report: Report) -> None:
    report = replace(full_report, confidence=None, stop=replace(full_report.stop, sufficiency="yes"))
    assert "Evidence judged sufficient: an estimated 90% of the relevant passages were read." in render_markdown(report)
    part = Coverage(0.99, 0.97, 1.0, 11, 12, "how near passages are to the question")
    measured = "11 of 12 files were read: 99 % (97–100 %) of what is relevant, estimated from how near passages are to"
    text = render_markdown(replace(report, stop=replace(report.stop, coverage=part)))
    assert f"## How much was read\n\nPassages of {measured}" in text
    whole = replace(report, stop=replace(report.stop, coverage=Coverage(1.0, 1.0, 1.0, 12, 12, "all")))
    assert "Evidence judged sufficient: everything was read." in render_markdown(whole)
    left = replace(whole, metadata={**whole.metadata, "unreadable": ["broken.pdf"]})
    assert "All of it was read. Could not be read: broken.pdf." in render_markdown(left)
    narrow = replace(report, stop=replace(report.stop, coverage=None))
    assert "Evidence judged sufficient: yes" in render_markdown(narrow)
