"""The web page of a service in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, ConsoleMessage, Page, expect

expect.set_options(timeout=120_000)


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


def expect_report(page: Page) -> None:
    expect(page.locator("#report #answer")).to_be_visible()
