"""The page in a real browser: ask, watch, stop, come back, try another gate, open a citation; by keyboard and on a phone."""

from collections.abc import Iterator

import pytest
from accessible import violations
from http_client import run_service
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from suffice.jobs.api_keys import Quota
from suffice.testing import WordSearch, make_passage

expect.set_options(timeout=30_000)
TASK = "Who decoded the waggle dance?"


class Slow(WordSearch):
    """A search that takes its time, so that somebody can do something meanwhile."""

    seconds = 0.6

    async def __call__(self, query, k):
        import asyncio

        await asyncio.sleep(self.seconds)
        return await super().__call__(query, k)


@pytest.fixture
def page(browser: Browser, service) -> Iterator[Page]:
    with watched(browser, service.url) as opened:
        yield opened


def watched(browser: Browser, url: str, **options):
    """A page of its own; whatever goes wrong in its scripts or leaves the machine fails the test."""
    from contextlib import contextmanager

    @contextmanager
    def opened() -> Iterator[Page]:
        context = browser.new_context(base_url=url, **options)
        context.set_default_timeout(30_000)
        page = context.new_page()
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if _unforeseen(said) else None)
        page.on("request", lambda sent: None if sent.url.startswith((url, "data:")) else wrong.append(sent.url))
        yield page
        context.close()
        assert not wrong

    return opened()


def _unforeseen(said: ConsoleMessage) -> bool:
    """The browser notes every answer that is no success; the page shows those itself."""
    return said.type == "error" and "status of 4" not in said.text


def ask(page: Page, task: str = TASK) -> None:
    page.goto("/")
    page.fill("#question", task)
    page.click("text=Find out")


def finished(page: Page) -> None:
    expect(page.locator("#report #answer")).to_be_visible()


def test_ask_watch_and_read(page: Page) -> None:
    ask(page)
    expect(page.locator("#run-title")).to_have_text(TASK)
    finished(page)
    expect(page.locator("#answer")).to_contain_text("Karl von Frisch")
    expect(page.locator("#why")).to_contain_text("Stopped after")
    expect(page.locator("#cancel")).to_be_hidden()


def test_the_page_and_its_report_pass_an_accessibility_check(page: Page) -> None:
    page.goto("/")
    assert violations(page) == []
    ask(page)
    finished(page)
    assert violations(page) == []


def test_rounds_arrive_while_the_run_goes_on_and_it_can_be_stopped(page: Page, service) -> None:
    bees = [make_passage(f"b{n}", f"The waggle dance of hive {n} was decoded by Karl von Frisch.") for n in range(30)]
    service.overrides.search = Slow(bees)
    ask(page)
    expect(page.locator("#rounds li h3").first).to_have_text("Round 1")
    page.click("#cancel")
    expect(page.locator("#status")).to_contain_text("stopped")
    expect(page.locator("#cancel")).to_be_hidden()


def test_a_reload_in_the_middle_goes_on_with_the_same_run(page: Page, service) -> None:
    bees = [make_passage(f"b{n}", f"The waggle dance of hive {n} was decoded by Karl von Frisch.") for n in range(30)]
    service.overrides.search = Slow(bees)
    ask(page)
    expect(page.locator("#rounds li").first).to_be_visible()
    run = page.locator("#run-id").inner_text()
    page.reload()
    expect(page.locator("#run-id")).to_have_text(run)
    finished(page)
    expect(page.locator("#answer")).to_contain_text("Karl von Frisch")


def test_earlier_runs_are_listed_and_open(page: Page) -> None:
    ask(page)
    finished(page)
    page.click("text=Earlier runs")
    page.locator("#runs a", has_text=TASK).first.click()
    finished(page)


def test_another_gate_says_where_it_would_have_stopped(page: Page) -> None:
    ask(page)
    finished(page)
    page.select_option("#gate", "fixed")
    page.locator("#dial-k").fill("1")
    expect(page.locator("#expression")).to_have_value("fixed(k=1)")
    expect(page.locator("#whatif-said")).to_contain_text("fixed(1) would have stopped it after round 1")
    expect(page.locator("#whatif-chart svg")).to_be_visible()
    page.fill("#expression", "nonsense(")
    expect(page.locator("#whatif-said")).to_contain_text("no gate named")
    page.fill("#expression", "worth(file='/etc/passwd')")
    expect(page.locator("#whatif-said")).to_contain_text("may not name a file")


def test_a_claim_opens_its_quote_and_a_citation_its_source(page: Page) -> None:
    ask(page)
    finished(page)
    page.locator("#answer mark[data-claim]").first.click()
    expect(page.locator(".popover")).to_contain_text("waggle dance")
    page.keyboard.press("Escape")
    expect(page.locator(".popover")).to_be_hidden()
    expect(page.locator("#source-1")).to_contain_text("bees.txt")


def test_by_keyboard_alone(page: Page) -> None:
    page.goto("/")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(TASK)
    page.keyboard.press("Control+Enter")
    finished(page)
    page.locator("#gate").focus()
    page.keyboard.type("fixed")
    expect(page.locator("#expression")).to_have_value("fixed(k=3)")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#expression")).to_have_value("fixed(k=2)")


def test_on_a_narrow_screen_nothing_is_cut_off(browser: Browser, service) -> None:
    with watched(browser, service.url, viewport={"width": 360, "height": 740}, color_scheme="dark") as page:
        ask(page)
        finished(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_what_is_wrong_is_said_on_the_page(browser: Browser, service) -> None:
    context = browser.new_context(base_url=service.url)
    page = context.new_page()
    page.goto("/")
    page.fill("#question", TASK)
    page.click("summary")
    page.fill("#stop", "nonsense(")
    page.click("text=Find out")
    expect(page.locator("#problem")).to_contain_text("no gate named")
    page.goto("/#/runs/no-such-run")
    expect(page.locator("#problem")).to_contain_text("no run")
    context.close()


def test_every_field_has_a_name(page: Page) -> None:
    ask(page)
    finished(page)
    nameless = page.evaluate(
        """[...document.querySelectorAll("input, select, textarea, button, summary, a")]
             .filter((e) => e.checkVisibility() && !(e.labels?.length || e.ariaLabel || e.textContent.trim())).length"""
    )
    assert nameless == 0
    twice = page.evaluate(
        """[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, at, all) => all.indexOf(id) != at)"""
    )
    assert twice == []


def test_a_server_with_keys_asks_for_one(browser: Browser, tmp_path) -> None:
    with run_service(tmp_path, is_open=False) as closed:
        _, secret = closed.worker.api_keys.create("ann", Quota())
        with watched(browser, closed.url) as page:
            page.goto("/")
            page.fill("#key-field", "wrong")
            page.keyboard.press("Enter")
            expect(page.locator("#key")).to_be_visible()
            page.fill("#key-field", secret)
            page.keyboard.press("Enter")
            expect(page.locator("#where label")).to_have_text(["default"])
            page.fill("#question", TASK)
            page.click("text=Find out")
            finished(page)
