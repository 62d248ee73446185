"""The report in a real browser: accessible on small and large screens, complete in print, and usable by keyboard."""

from dataclasses import replace
from pathlib import Path

import pytest
from accessible import violations
from playwright.sync_api import Browser
from pypdfium2 import PdfDocument

from suffice.report import html
from suffice.types import Claim, Excerpt, Notice, Report, ReportedFinding, Source, Span


@pytest.fixture(params=["report", "hostile"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a report whose rounds can be stepped through."""
    report: Report = request.getfixturevalue(request.param)
    rounds = tuple(replace(record, found=("A page (a.py:1-2)",), belief=("A note.",)) for record in report.stop.rounds)
    path = tmp_path / "report.html"
    path.write_text(html.render_html(replace(report, stop=replace(report.stop, rounds=rounds))), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_an_accessibility_check_finds_no_violation(browser: Browser, address: str, scheme: str, width: int) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})  # type: ignore[arg-type]
    page.goto(address)
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    assert violations(page) == []
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, "the page is wider than the screen"
    page.close()


@pytest.mark.parametrize(("width", "number"), [(360, 12), (1280, 12), (1280, 6)])
def test_which_of_many_sources_covers_what_fits_or_scrolls(
    browser: Browser, report: Report, tmp_path: Path, width: int, number: int
) -> None:
    long = "the_report_of_the_working_group_on_costs_in_all_branch_offices_final_version"
    sources = tuple(Source(f"[{n}]", f"{n}-{long}.md", "markdown", f"{n}-{long}.md:1-9") for n in range(1, number + 1))
    findings = tuple(
        ReportedFinding("Costs rise.", True, one.id, (one.id,), section=f"{long}{one.id}") for one in sources
    )
    path = tmp_path / "report.html"
    path.write_text(html.render_html(replace(report, sources=sources, findings=findings)), encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(path.as_uri())
    hidden = page.evaluate(
        "(({scrollWidth, clientWidth}) => scrollWidth - clientWidth)(document.querySelector('.map').parentElement)"
    )
    assert (hidden > 0) == (width < 1280)
    page.get_by_label(f"Source [{number}]").click()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    page.close()


def test_it_prints_with_everything_expanded(browser: Browser, report: Report, tmp_path: Path) -> None:
    task = "Why? " * 100 + "Because of the very last words of a long question."
    rounds = tuple(replace(record, belief=(f"Note of round {record.index}.",)) for record in report.stop.rounds)
    path = tmp_path / "long.html"
    path.write_text(
        html.render_html(replace(report, task=task, stop=replace(report.stop, rounds=rounds))), encoding="utf-8"
    )
    page = browser.new_page()
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    printed = PdfDocument(page.pdf())
    words = " ".join(" ".join(sheet.get_textpage().get_text_bounded() for sheet in printed).split())
    for text in (
        "very last words of a long question",
        "Note of round 1.",
        "Note of round 5.",
        "Stopped after 5 rounds",
    ):
        assert text in words
    assert not page.locator("nav, button").filter(visible=True).count()
    page.close()


def test_the_stop_is_a_sentence_a_chart_and_its_promise_and_the_rest_is_behind_details(
    browser: Browser, report: Report, tmp_path: Path
) -> None:
    rounds = tuple(replace(record, found=(f"Page {record.index} (a.py:1-2)",)) for record in report.stop.rounds)
    path = tmp_path / "report.html"
    path.write_text(html.render_html(replace(report, stop=replace(report.stop, rounds=rounds))), encoding="utf-8")
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(path.as_uri())
    page.click("#why > summary")
    assert page.locator("#why svg").filter(visible=True).count() == 1
    assert page.get_by_text("How sure is this stop?").is_visible()
    assert not page.locator("#why table, #why code").filter(visible=True).count()
    page.click("#why-details > summary")
    assert page.locator("#why table").is_visible()
    page.locator("details.step summary").nth(2).click()
    assert page.get_by_text("Page 3 (a.py:1-2)").is_visible()
    page.context.close()


def test_a_citation_opens_the_cited_passage_inside_the_report(browser: Browser, report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html.render_html(report), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    passage = page.locator("#source-1 .passage .excerpt").first
    assert not passage.is_visible()
    page.locator("#answer .cite", has_text="[1]").first.click()
    assert passage.is_visible()
    assert page.get_by_text("handle = self._ready.popleft()").filter(visible=True).count() == 1
    page.click("text=Claims")
    assert page.locator("#claim-1").is_visible()
    page.close()


def test_a_citation_marks_only_the_sentence_that_it_stands_for(
    browser: Browser, report: Report, tmp_path: Path
) -> None:
    sentences = ["The two windows cause 38 % of the losses.", "The ceiling causes 17 % of the losses."]
    quoted = " ".join(sentences)
    claims = [
        Claim(one, ("[1]",), "supported", (Span("[1]", one, "audit.md:7-8"),), "", evidence)
        for one in sentences
        for start in [quoted.index(one)]
        for evidence in [Excerpt(quoted, "prose", ((start, start + len(one)),), "[1]", "audit.md:7-8")]
    ]
    answer = "".join(f"- {one} [1]\n" for one in sentences)
    survey = replace(report, final_answer=answer, claims=tuple(claims), notices=(Notice("no_model"),))
    path = tmp_path / "report.html"
    path.write_text(html.render_html(survey), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    for i, sentence in enumerate(sentences):
        page.locator("#answer .cite").nth(i).click()
        assert page.locator("#source-1 mark.hit").all_text_contents() == sentences
        assert page.locator("#source-1 mark.hit:not(.other)").all_text_contents() == [sentence]
    page.close()
