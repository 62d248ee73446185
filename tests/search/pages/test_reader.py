"""Reading pages over a real socket: their text, refusals, and faults that neither hang nor escape."""

import asyncio
import time
from collections.abc import Iterator

import pytest
from little_web import BOILERPLATE, LittleWeb

from suffice.errors import PageError, PageRefused
from suffice.search.base import Page, PageBatch
from suffice.search.pages import fetch
from suffice.search.pages.fetch import Fetcher
from suffice.search.pages.guard import HostAllowlist
from suffice.search.pages.reader import MAX_PAGE_CHARS, PageReader
from suffice.types import Passage, Place


@pytest.fixture(scope="module")
def web() -> Iterator[LittleWeb]:
    with LittleWeb() as little:
        yield little


def reader(web: LittleWeb) -> PageReader:
    return PageReader(Fetcher(HostAllowlist.parse([web.host])))


def read(web: LittleWeb, path: str) -> Page:
    async def main() -> Page:
        pages = reader(web)
        try:
            return await pages.read(web.url + path)
        finally:
            await pages.aclose()

    return asyncio.run(main())


def test_boilerplate_is_removed(web):
    page = read(web, "/pages/lighthouse")
    text = "\n".join(passage.text for passage in page.passages)
    assert page.title == "The Sorrel lighthouse (2021-06-05)"
    assert "Ada Kovalenko" in text
    assert BOILERPLATE not in text
    assert {passage.url for passage in page.passages} == {web.url + "/pages/lighthouse"}


def test_pdf_is_cited_by_page(web):
    (passage,) = read(web, "/papers/tides.pdf").passages
    assert "7.4 metres" in passage.text
    assert passage.location == web.url + "/papers/tides.pdf#page=1"
    assert passage.kind == "pdf"


def test_redirect_is_followed_and_its_target_is_cited(web):
    assert read(web, "/moved/ferry").url == web.url + "/pages/ferry"


@pytest.mark.parametrize("path", ["/latin/x", "/utf16/x", "/untyped/x"])
def test_wrong_charset_and_missing_type_are_handled(web, path):
    assert "café prices" in read(web, path).passages[0].text


def test_plain_text(web):
    assert read(web, "/plain/x").passages[0].text == "Sorrel Island has 212 inhabitants."


def test_user_agent_is_sent(web):
    read(web, "/plain/y")
    assert web.agents == {fetch.USER_AGENT}
    assert fetch.USER_AGENT.startswith("suffice/")


@pytest.mark.parametrize(
    ("path", "cause"),
    [
        ("/loop", "redirects"),
        ("/bomb/x", "larger than"),
        ("/torn/x", "unpacked"),
        ("/broken/x", "cannot be read"),
        ("/reset/x", "cannot be read"),
        ("/busy/x", "HTTP 429"),
        ("/error/x", "HTTP 500"),
        ("/nowhere", "HTTP 404"),
        ("/binary/x", "binary"),
        ("/empty/x", "no text"),
    ],
)
def test_failed_page_names_the_cause(web, path, cause):
    with pytest.raises(PageError, match=cause):
        read(web, path)


@pytest.mark.parametrize("path", ["/private/x", "/to?u=/private/x", "/program/x"])
def test_forbidden_page_is_refused(web, path):
    before = web.hits["/private/x"]
    with pytest.raises(PageRefused):
        read(web, path)
    assert web.hits["/private/x"] == before


@pytest.mark.parametrize("path", ["/slow/x", "/drip/x"])
def test_slow_page_times_out(web, path, monkeypatch):
    monkeypatch.setattr(fetch, "TIMEOUT_SECONDS", 0.5)
    start = time.monotonic()
    with pytest.raises(PageError, match=r"in time|longer than"):
        read(web, path)
    assert time.monotonic() - start < 25


def test_robots_txt_is_fetched_once_and_its_failure_blocks_the_site():
    async def main(web: LittleWeb) -> None:
        pages = reader(web)
        await asyncio.gather(*(pages.read(web.url + f"/pages/{name}") for name in ("ferry", "salt", "birds")))
        await pages.aclose()

    with LittleWeb() as web:
        asyncio.run(main(web))
        assert web.hits["/robots.txt"] == 1
        web.robots_status = 503
        with pytest.raises(PageError, match=r"robots\.txt"):
            read(web, "/pages/ferry")
        web.robots_status = 404
        assert read(web, "/pages/ferry").passages


def results(web: LittleWeb, *paths: str, text: str = "something that is not known yet") -> list[Passage]:
    return [Passage(web.url + path, text, path, Place(web.url + path), "web") for path in paths]


def enriched(web: LittleWeb, found: list[Passage], known: str = "", seconds: float | None = None) -> PageBatch:
    async def main() -> PageBatch:
        pages = reader(web)
        try:
            return await pages(found, known, seconds)
        finally:
            await pages.aclose()

    return asyncio.run(main())


def names(read: PageBatch) -> list[str]:
    return [page.url.rpartition("/")[2] for page in read.pages]


def test_reads_two_pages_in_the_order_of_the_results(web):
    read = enriched(web, results(web, "/pages/salt", "/pages/ferry", "/pages/birds"))
    assert names(read) == ["salt", "ferry"]
    assert not read.failures


def test_reads_two_pages_in_a_run_whatever_the_rounds(web):
    async def main() -> list[list[str]]:
        pages = reader(web)
        try:
            rounds = (["/pages/salt"], ["/error/1", "/pages/ferry", "/pages/birds"], ["/pages/birds"])
            return [names(await pages(results(web, *paths), "", None)) for paths in rounds]
        finally:
            await pages.aclose()

    assert asyncio.run(main()) == [["salt"], ["ferry"], []]


def test_failed_page_is_replaced_by_the_next_result(web):
    read = enriched(web, results(web, "/error/1", "/private/2", "/pages/salt", "/bomb/3", "/pages/ferry"))
    assert names(read) == ["salt", "ferry"]
    assert [failure.kind for failure in read.failures] == ["PageError", "PageRefused", "PageError"]


def test_result_with_known_words_is_not_read(web):
    known, new = "salt was dug at low bay", "petrels nest in walls by night"
    found = results(web, "/pages/salt", text=known) + results(web, "/pages/birds", text=new)
    assert names(enriched(web, found, f"We know that {known} long ago")) == ["birds"]
    assert names(enriched(web, found, "")) == ["salt", "birds"]


def test_result_without_url_is_not_read(web):
    assert enriched(web, [Passage("notes.txt#1", "text", "Notes", Place("notes.txt", (1, 2)))]) == PageBatch()


def test_pages_read_before_the_timeout_are_returned(web):
    enriched(web, results(web, "/pages/birds"))  # The process that reads pages is running now.
    read = enriched(web, results(web, "/pages/salt", "/slow/1"), seconds=5)
    assert names(read) == ["salt"]
    assert [failure.kind for failure in read.failures] == ["TimeoutError"]


def test_long_page_is_truncated(web, monkeypatch):
    long = " ".join(f"Sentence number {n} tells about the island." for n in range(2_000))
    monkeypatch.setattr("little_web._text", lambda kind: f"<html><body><p>{long}</p></body></html>".encode())
    page = read(web, "/untyped/long")
    assert MAX_PAGE_CHARS * 0.9 < sum(len(passage.text) for passage in page.passages) <= MAX_PAGE_CHARS
