"""Pages are parsed in a child process: a hostile page is an error of this page only."""

import asyncio
import time

import msgspec
import pytest

from suffice.errors import PageError
from suffice.search.pages import extract
from suffice.search.pages.extract import extract_isolated
from suffice.search.pages.fetch import FetchedPage

LOW = msgspec.structs.replace(extract.LIMITS, cpu_seconds=1, seconds=60.0)


def page(body: str) -> FetchedPage:
    return FetchedPage("https://example.org/a", "text/html", "utf-8", body.encode())


def test_page_of_open_links_does_not_hang() -> None:
    async def main() -> str:
        hostile = asyncio.create_task(extract_isolated(page("<a>" * 500_000), 8000, LOW))
        fine = await extract_isolated(page("<h1>Heron</h1><p>The heron waits at the pond.</p>"), 8000)
        with pytest.raises(PageError, match=r"example\.org.*longer than"):
            await hostile
        return fine.parts[0][0]

    started = time.monotonic()
    assert "The heron waits at the pond." in asyncio.run(main())
    assert time.monotonic() - started < 240


def test_errors_of_the_page_come_back() -> None:
    with pytest.raises(PageError, match="contains no text"):
        asyncio.run(extract_isolated(page("<script>1</script>"), 8000))
