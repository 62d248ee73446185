"""Reading pages over a real socket: what is in them, what is refused, and that no fault hangs or gets through."""

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


def reader(web: LittleWeb, folder=None) -> PageReader:
    return PageReader(Fetcher(HostAllowlist.parse([web.host]), folder))


def read(web: LittleWeb, path: str) -> Page:
    async def main() -> Page:
        pages = reader(web)
        try:
            return await pages.read(web.url + path)
        finally:
            await pages.aclose()

    return asyncio.run(main())


def test_a_page_without_its_boilerplate(web):
    page = read(web, "/pages/lighthouse")
    text = "\n".join(passage.text for passage in page.passages)
    assert page.title == "The Sorrel lighthouse (2021-06-05)"
    assert "Ada Kovalenko" in text
    assert BOILERPLATE not in text
    assert {passage.url for passage in page.passages} == {web.url + "/pages/lighthouse"}


def test_a_pdf_is_cited_by_its_page(web):
    (passage,) = read(web, "/papers/tides.pdf").passages
    assert "7.4 metres" in passage.text
    assert passage.location == web.url + "/papers/tides.pdf#page=1"
    assert passage.kind == "pdf"


def test_a_redirect_is_followed_and_the_end_is_cited(web):
    assert read(web, "/moved/ferry").url == web.url + "/pages/ferry"


@pytest.mark.parametrize("path", ["/latin/x", "/utf16/x", "/untyped/x"])
def test_a_text_in_whatever_the_server_calls_it(web, path):
    assert "café prices" in read(web, path).passages[0].text


def test_plain_text(web):
    assert read(web, "/plain/x").passages[0].text == "Sorrel Island has 212 inhabitants."


def test_the_agent_tells_the_truth(web):
    read(web, "/plain/y")
    assert web.agents == {fetch.USER_AGENT}
    assert fetch.USER_AGENT.startswith("suffice/")


@pytest.mark.parametrize(
    ("path", "words"),
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
def test_a_page_that_fails_says_how(web, path, words):
    with pytest.raises(PageError, match=words):
        read(web, path)


@pytest.mark.parametrize("path", ["/private/x", "/to?u=/private/x", "/program/x"])
def test_a_page_that_may_not_be_read(web, path):
    before = web.hits["/private/x"]
    with pytest.raises(PageRefused):
        read(web, path)
    assert web.hits["/private/x"] == before


@pytest.mark.parametrize("path", ["/slow/x", "/drip/x"])
def test_a_slow_page_is_given_up(web, path, monkeypatch):
    monkeypatch.setattr(fetch, "TIMEOUT_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(PageError, match=r"in time|longer than"):
        read(web, path)
    assert time.monotonic() - began < 10


def test_rules_are_asked_once_a_host_and_one_that_cannot_say_refuses():
    async def main(web: LittleWeb) -> None:
        pages = reader(web)
        await asyncio.gather(*(pages.read(web.url + f"/pages/{name}") for name in ("ferry", "salt", "birds")))
        await pages.aclose()

    with LittleWeb() as web:
        asyncio.run(main(web))
        assert web.hits["/robots.txt"] == 1
        web.robots_status = 503
        with pytest.raises(PageError, match="does not say"):
            read(web, "/pages/ferry")
        web.robots_status = 404
        assert read(web, "/pages/ferry").passages


def test_a_cache_keeps_what_the_server_allows_and_a_broken_one_is_done_without(tmp_path):
    async def main(web: LittleWeb, folder) -> Page:
        pages = reader(web, folder)
        try:
            return await pages.read(web.url + "/pages/ferry")
        finally:
            await pages.aclose()

    with LittleWeb() as web:
        assert asyncio.run(main(web, tmp_path / "pages")).passages
        assert (tmp_path / "pages" / "http.db").exists()
        (tmp_path / "bad").mkdir()
        (tmp_path / "bad" / "http.db").write_bytes(b"this is no database" * 100)
        assert asyncio.run(main(web, tmp_path / "bad")).passages


def results(web: LittleWeb, *paths: str, text: str = "something that nobody knows yet") -> list[Passage]:
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


def test_two_pages_a_round_in_the_order_of_the_results(web):
    read = enriched(web, results(web, "/pages/salt", "/pages/ferry", "/pages/birds"))
    assert names(read) == ["salt", "ferry"]
    assert not read.failures


def test_a_page_that_fails_does_not_use_up_the_two(web):
    read = enriched(web, results(web, "/error/1", "/private/2", "/pages/salt", "/bomb/3", "/pages/ferry"))
    assert names(read) == ["salt", "ferry"]
    assert [failure.kind for failure in read.failures] == ["PageError", "PageRefused", "PageError"]


def test_what_is_known_is_not_read(web):
    known, new = "salt was dug at low bay", "petrels nest in walls by night"
    found = results(web, "/pages/salt", text=known) + results(web, "/pages/birds", text=new)
    assert names(enriched(web, found, f"We know that {known} long ago")) == ["birds"]
    assert names(enriched(web, found, "")) == ["salt", "birds"]


def test_what_is_no_web_page_is_not_read(web):
    assert enriched(web, [Passage("notes.txt#1", "text", "Notes", Place("notes.txt", (1, 2)))]) == PageBatch()


def test_when_the_time_is_up_what_was_read_is_kept(web):
    read = enriched(web, results(web, "/pages/salt", "/slow/1"), seconds=1.5)
    assert names(read) == ["salt"]
    assert [failure.kind for failure in read.failures] == ["TimeoutError"]


def test_a_page_is_cut_to_its_first_characters(web, monkeypatch):
    long = " ".join(f"Sentence number {n} tells about the island." for n in range(2_000))
    monkeypatch.setattr("little_web._text", lambda kind: f"<html><body><p>{long}</p></body></html>".encode())
    page = read(web, "/untyped/long")
    assert MAX_PAGE_CHARS * 0.9 < sum(len(passage.text) for passage in page.passages) <= MAX_PAGE_CHARS
