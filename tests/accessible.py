"""Check the accessibility of a page in a real browser with axe."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def violations(page: Page) -> list[str]:
    """Return each rule that the page violates, with the first element that violates it."""
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {rule['help']} ({rule['nodes'][0]['html'][:200]})" for rule in found]
