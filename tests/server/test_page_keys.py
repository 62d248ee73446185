"""The web page of a service that needs a key; in a file of its own, because a process can run one service."""

from http_client import run_service
from page_browser import expect_report, open_page
from playwright.sync_api import Browser, expect

from suffice.jobs.api_keys import Quota


def test_server_with_keys_asks_for_one(browser: Browser, tmp_path) -> None:
    with run_service(tmp_path) as closed:
        _, secret = closed.worker.api_keys.create("ann", Quota())
        with open_page(browser, closed.url) as page:
            page.goto("/")
            page.fill("#key-field", "wrong")
            page.keyboard.press("Enter")
            expect(page.locator("#key")).to_be_visible()
            page.fill("#key-field", secret)
            page.keyboard.press("Enter")
            expect(page.locator("#where label")).to_contain_text(["docs"])
            page.fill("#question", "Who decoded the waggle dance?")
            page.click("text=Find out")
            expect_report(page)
