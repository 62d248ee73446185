"""The report in a real browser: nobody is shut out, on no screen, and paper gets all of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from accessible import violations
from playwright.sync_api import Browser
from pypdfium2 import PdfDocument

from suffice.report import html
from suffice.types import Report


@pytest.fixture(params=["report", "hostile"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A report with a belief to step through, as a file."""
    report: Report = request.getfixturevalue(request.param)
    rounds = tuple(replace(one, found=("A page (a.py:1-2)",), belief=("A note.",)) for one in report.stop.rounds)
    path = tmp_path / "report.html"
    path.write_text(html.render_html(replace(report, stop=replace(report.stop, rounds=rounds))), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_an_accessibility_check_finds_nothing(browser: Browser, address: str, scheme: str, width: int) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 800})  # type: ignore[arg-type]
    page.goto(address)
    for part in page.locator("details").all():  # What is folded away is read by somebody too.
        part.evaluate("part => part.open = true")
    assert violations(page) == []
    overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0, "the page is wider than the screen"
    page.close()


def test_it_prints_with_everything_unfolded(browser: Browser, report: Report, tmp_path: Path) -> None:
    task = "Why? " * 100 + "Because of the very last words of a long question."
    rounds = tuple(replace(one, belief=(f"Note of round {one.index}.",)) for one in report.stop.rounds)
    path = tmp_path / "long.html"
    path.write_text(
        html.render_html(replace(report, task=task, stop=replace(report.stop, rounds=rounds))), encoding="utf-8"
    )
    page = browser.new_page()
    page.goto(path.as_uri())
    page.emulate_media(media="print")
    printed = PdfDocument(page.pdf())
    words = " ".join(" ".join(sheet.get_textpage().get_text_bounded() for sheet in printed).split())
    for said in ("very last words of a long question", "Note of round 1.", "Note of round 5.", "Why it stopped"):
        assert said in words
    assert not page.locator("nav, button").filter(visible=True).count()
    page.close()
