"""The web page in a real browser: ask, follow, cancel, reload, replay, read citations; by keyboard and on a phone."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from accessible import violations
from http_client import run_service
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from suffice.jobs.api_keys import Quota
from suffice.testing import WordSearch, make_passage

expect.set_options(timeout=120_000)
QUESTION = "Who decoded the waggle dance?"


class SlowSearch(WordSearch):
    """Answers after a while, so that a test can act during the run."""

    seconds = 0.6

    async def __call__(self, query, k):
        await asyncio.sleep(self.seconds)
        return await super().__call__(query, k)


@pytest.fixture
def page(browser: Browser, service) -> Iterator[Page]:
    with open_page(browser, service.url) as page:
        yield page


@contextmanager
def open_page(browser: Browser, url: str, **options) -> Iterator[Page]:
    """Open a page; script errors and requests to other hosts fail the test."""
    context = browser.new_context(base_url=url, **options)
    context.set_default_timeout(120_000)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if _is_error(message) else None)
    page.on("request", lambda sent: None if sent.url.startswith((url, "data:")) else problems.append(sent.url))
    yield page
    context.close()
    assert not problems


def _is_error(message: ConsoleMessage) -> bool:
    """The browser logs every 4xx response; the page shows those itself."""
    return message.type == "error" and "status of 4" not in message.text


def ask(page: Page, question: str = QUESTION) -> None:
    page.goto("/")
    page.fill("#question", question)
    page.click("text=Find out")


def expect_report(page: Page) -> None:
    expect(page.locator("#report #answer")).to_be_visible()


def test_ask_and_read_the_report(page: Page) -> None:
    ask(page)
    expect(page.locator("#run-title")).to_have_text(QUESTION)
    expect_report(page)
    expect(page.locator("#answer")).to_contain_text("Karl von Frisch")
    expect(page.locator("#why > summary")).to_contain_text("Stopped after")
    expect(page.locator("#cancel")).to_be_hidden()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_view_passes_an_accessibility_check(browser: Browser, service, width: int, scheme: str) -> None:
    with open_page(browser, service.url, viewport={"width": width, "height": 800}, color_scheme=scheme) as page:
        page.goto("/")
        expect(page.locator("#where label")).to_be_visible()
        page.click("#settings-button")
        assert violations(page) == []
        page.click("#settings-done")
        ask(page)
        expect_report(page)
        page.locator("#answer .cite").first.click()
        expect(page.locator(".reader")).to_be_visible()
        page.click("#why > summary")
        expect(page.locator("#whatif-chart svg")).to_be_visible()
        page.click("#claims > summary")
        assert violations(page) == []
        page.click("text=Open larger")
        expect(page.locator("#larger")).to_be_visible()
        assert violations(page) == []
        for address in ("/#/runs", "/docs"):
            page.goto(address)
            expect(page.locator("h1").filter(visible=True)).to_be_visible()
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_rounds_appear_during_the_run_and_it_can_be_cancelled(page: Page, service) -> None:
    bees = [make_passage(f"b{n}", f"The waggle dance of hive {n} was decoded by Karl von Frisch.") for n in range(30)]
    service.overrides.search = SlowSearch(bees)
    ask(page)
    expect(page.locator("#rounds li h3").first).to_have_text("Round 1")
    page.click("#cancel")
    expect(page.locator("#status")).to_contain_text("You stopped this run")
    expect(page.locator("#cancel")).to_be_hidden()
    expect(page.locator("#view-run")).not_to_contain_text("failed")


def test_reload_during_a_run_continues_with_it(page: Page, service) -> None:
    bees = [make_passage(f"b{n}", f"The waggle dance of hive {n} was decoded by Karl von Frisch.") for n in range(30)]
    service.overrides.search = SlowSearch(bees)
    ask(page)
    expect(page.locator("#rounds li").first).to_be_visible()
    run = page.locator("#run-id").inner_text()
    page.reload()
    expect(page.locator("#run-id")).to_have_text(run)
    expect_report(page)
    expect(page.locator("#answer")).to_contain_text("Karl von Frisch")


def test_earlier_runs_are_listed_and_can_be_opened(page: Page) -> None:
    ask(page)
    expect_report(page)
    page.click("text=Earlier runs")
    page.locator("#runs a", has_text=QUESTION).first.click()
    expect_report(page)


def test_another_gate_can_be_tried(page: Page) -> None:
    ask(page)
    expect_report(page)
    page.click("#why > summary")
    page.select_option("#gate", "fixed")
    page.locator("#dial-k").fill("1")
    expect(page.locator("#expression")).to_have_value("fixed(k=1)")
    expect(page.locator("#whatif-result")).to_contain_text("fixed(1) would have stopped it after round 1")
    expect(page.locator("#whatif-chart svg")).to_be_visible()
    assert page.locator("#whatif-chart svg").get_attribute("viewBox").startswith("0 0 760"), "not the chart for phones"
    page.fill("#expression", "nonsense(")
    expect(page.locator("#whatif-result")).to_contain_text("nonsense")
    page.fill("#expression", "worth(file='/etc/passwd')")
    expect(page.locator("#whatif-result")).to_contain_text("file")


def test_citation_opens_the_document_at_the_cited_words(page: Page) -> None:
    ask(page)
    expect_report(page)
    address = page.url
    page.locator("#answer .cite").first.click()
    expect(page.locator("#source-1 .reader p.cited")).to_contain_text("Karl von Frisch decoded")
    expect(page.locator("#source-1")).to_contain_text("bees.txt")
    page.click("text=Open larger")
    expect(page.locator("#larger .reader")).to_contain_text("waggle dance")
    page.keyboard.press("Escape")
    page.click("#answer .legend a")
    expect(page.locator("#claim-1")).to_be_visible()
    assert page.url == address, "links inside the report do not leave the run"
    expect_report(page)


def test_a_run_without_a_new_passage_shows_no_null(page: Page, service) -> None:
    service.overrides.search = SlowSearch([])
    ask(page)
    expect(page.locator("#rounds li p").first).to_contain_text("Found nothing new")
    expect(page.locator("#rounds")).not_to_contain_text("null")
    expect(page.locator("#answer")).to_contain_text("No answer")


def test_a_question_needs_a_place_to_look(page: Page) -> None:
    page.goto("/")
    page.fill("#question", QUESTION)
    page.uncheck("#where input")
    page.click("text=Find out")
    expect(page.locator("#problem")).to_contain_text("at least one place")


def test_a_follow_up_continues_the_run(page: Page) -> None:
    ask(page)
    expect_report(page)
    first = page.locator("#run-id").inner_text()
    page.fill("#follow-question", "Who designed the Forth Bridge?")
    page.click("#follow button")
    expect(page.locator("#earlier a")).to_have_text(QUESTION)
    expect_report(page)
    expect(page.locator("#answer")).to_contain_text("Benjamin Baker")
    page.click("#earlier a")
    expect(page.locator("#run-id")).to_have_text(first)


def test_a_report_can_be_downloaded(page: Page) -> None:
    ask(page)
    expect_report(page)
    for name, content in (("md", "# Who decoded"), ("html", "<!doctype html>"), ("json", '"task"')):
        with page.expect_download() as download:
            page.click(f"[data-download={name}]")
        assert content in Path(download.value.path()).read_text(encoding="utf-8")
    assert not page.locator("[data-download=bib]").is_visible(), "there is no web source"


def test_earlier_runs_can_be_searched(page: Page, service) -> None:
    for question in ("Who designed the Forth Bridge?", QUESTION):
        service.run(question)
    page.goto("/#/runs")
    page.fill("#search", "bridge FORTH")
    expect(page.locator("#runs a", has_text="waggle")).to_have_count(0)
    expect(page.locator("#runs a", has_text="Forth Bridge").first).to_be_visible()
    page.fill("#search", "nothing like this")
    expect(page.locator("#runs-status")).to_contain_text("No question has")


def test_keyboard_is_enough(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Control+Enter")
    expect_report(page)
    page.locator("#why > summary").focus()
    page.keyboard.press("Enter")
    page.locator("#gate").focus()
    page.keyboard.type("fixed")
    expect(page.locator("#expression")).to_have_value("fixed(k=3)")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#expression")).to_have_value("fixed(k=2)")


def test_narrow_screen_needs_no_scrolling_sideways(browser: Browser, service) -> None:
    with open_page(browser, service.url, viewport={"width": 360, "height": 740}, color_scheme="dark") as page:
        ask(page)
        expect_report(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_errors_are_shown(browser: Browser, service) -> None:
    context = browser.new_context(base_url=service.url)
    page = context.new_page()
    page.goto("/")
    page.fill("#question", QUESTION)
    page.click("#settings-button")
    page.fill("#stop", "nonsense(")
    page.click("#settings-done")
    page.click("text=Find out")
    expect(page.locator("#problem")).to_contain_text("nonsense")
    page.goto("/#/runs/no-such-run")
    expect(page.locator("#problem")).to_contain_text("no-such-run")
    expect(page.locator("#view-run")).to_be_hidden()
    context.close()


def test_every_control_has_a_name_and_ids_are_unique(page: Page) -> None:
    ask(page)
    expect_report(page)
    nameless = page.evaluate(
        """[...document.querySelectorAll("input, select, textarea, button, summary, a")]
             .filter((e) => e.checkVisibility() && !(e.labels?.length || e.ariaLabel || e.textContent.trim())).length"""
    )
    assert nameless == 0
    duplicates = page.evaluate(
        """[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, at, all) => all.indexOf(id) != at)"""
    )
    assert duplicates == []


def test_server_with_keys_asks_for_one(browser: Browser, tmp_path) -> None:
    with run_service(tmp_path, is_open=False) as closed:
        _, secret = closed.worker.api_keys.create("ann", Quota())
        with open_page(browser, closed.url) as page:
            page.goto("/")
            page.fill("#key-field", "wrong")
            page.keyboard.press("Enter")
            expect(page.locator("#key")).to_be_visible()
            page.fill("#key-field", secret)
            page.keyboard.press("Enter")
            expect(page.locator("#where label")).to_contain_text(["default"])
            page.fill("#question", QUESTION)
            page.click("text=Find out")
            expect_report(page)
