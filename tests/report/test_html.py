import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import pytest

from suffice.report import html
from suffice.report.answer_html import MarkdownRenderer, highlight_claims
from suffice.types import Claim, Report, Source

VOID = {"meta", "br", "hr", "wbr"}


class Page(HTMLParser):
    """What a test needs to know of a page: its tags with attributes, its text, and that everything closes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "script" not in self._open and "style" not in self._open:
            self.text += data

    def all(self, name: str) -> list[str]:
        return [value or "" for _, attrs in self.tags for key, value in attrs.items() if key == name]

    def count(self, tag: str, cls: str = "") -> int:
        return sum(t == tag and cls in (attrs.get("class") or "").split(" ") for t, attrs in self.tags)


@pytest.fixture(params=["report", "hostile"])
def page(request: pytest.FixtureRequest) -> Page:
    return Page(html.render_html(request.getfixturevalue(request.param)))


def test_nothing_is_asked_of_the_outside(page: Page) -> None:
    names = {tag for tag, _ in page.tags}
    assert names.isdisjoint(
        {"img", "iframe", "object", "embed", "link", "base", "form", "video", "audio", "image", "use"}
    )
    assert page.all("src") == page.all("srcset") == page.all("style") == []
    css = files("suffice.report").joinpath("report.css").read_text(encoding="utf-8")
    assert "url(" not in css
    assert "@import" not in css


def test_only_the_pages_own_script_and_style_run(page: Page) -> None:
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert [tag for tag, _ in page.tags].count("style") == 1
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    policy = page.all("content")[0]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_ids_are_unique_and_every_reference_resolves(page: Page) -> None:
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    inner = [href[1:] for href in page.all("href") if href.startswith("#")]
    labels = [
        label for name in ("aria-labelledby", "aria-describedby") for value in page.all(name) for label in value.split()
    ]
    assert inner
    assert set(inner) | set(labels) <= set(ids)


def test_links_lead_only_to_sources(report: Report, hostile: Report) -> None:
    for subject in (report, hostile):
        outside = {href for href in Page(html.render_html(subject)).all("href") if not href.startswith("#")}
        assert outside <= {source.url for source in subject.sources if (source.url or "").startswith("http")}


def test_it_has_landmarks_a_language_and_a_way_past_the_head(page: Page) -> None:
    tags = [tag for tag, _ in page.tags]
    assert all(tags.count(landmark) == 1 for landmark in ("header", "main", "aside", "footer", "h1"))
    assert page.all("lang") == ["en"]
    assert ("a", {"class": "skip", "href": "#answer"}) in page.tags


def test_hostile_text_is_shown_and_not_obeyed(hostile: Report) -> None:
    text = html.render_html(hostile)
    text.encode("utf-8")
    page = Page(text)
    assert "<script>alert(1)</script>" in page.text
    assert not set("\u202e\u2066") & set(page.text)
    assert text.index("</title>") - text.index("<title>") < 200
    assert text.index("</h1>") - text.index("<h1") < 300


def test_each_citation_leads_to_its_source(report: Report) -> None:
    cited = [
        attrs.get("href")
        for tag, attrs in Page(html.render_html(report)).tags
        if tag == "a" and attrs.get("class") == "cite"
    ]
    assert {"#source-1", "#source-2", "#source-3"} == set(cited)


def test_claims_are_marked_in_the_answer_and_all_stand_in_the_table(report: Report) -> None:
    page = Page(html.render_html(report))
    marked = {attrs["data-claim"] for tag, attrs in page.tags if tag == "a" and "data-claim" in attrs}
    assert marked == {"1", "2", "3", "4", "5"}
    assert {f"claim-{n}" for n in range(1, 7)} <= set(page.all("id"))
    assert page.text.count("not a sentence of the answer") == 1
    assert "handle = self._ready.popleft()" in page.text


def test_an_empty_report_is_still_a_page(report: Report) -> None:
    empty = replace(
        report, status="no_evidence", task="", summary="", final_answer="", sources=(), claims=(), key_findings=(),
        stop=replace(report.stop, rounds=(), round=0, reason="search_unavailable"),
    )  # fmt: skip
    page = Page(html.render_html(empty))
    assert "No answer: the sources hold no evidence" in page.text
    assert page.count("svg") == 0


SOURCES = (
    Source("[1]", "One", "web", "https://a.example/x", "https://a.example/x"),
    Source("[2]", "Two", "text", "b.txt:1-2"),
)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("So [1, 2].", 'So\u202f<a class="cite" href="#source-1">[1]</a><a class="cite" href="#source-2">[2]</a>.'),
        ("No such [7].", "No such [7]."),
        ("[1](https://evil.example)", '<a class="cite" href="#source-1">[1]</a>'),
        ("[away](https://evil.example) ![pic](https://evil.example)", "away pic"),
        ("`x[1]`", "<code>x[1]</code>"),
        ("Read argv\\[1\\] and \\*args.", "Read argv[1] and *args."),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("[there](https://a.example/x)", '<a href="https://a.example/x" rel="noopener noreferrer nofollow">there</a>'),
    ],
)
def test_prose(markdown: str, expected: str) -> None:
    assert MarkdownRenderer(SOURCES).render_inline(markdown) == expected


@pytest.mark.parametrize(
    ("answer", "claim", "marked"),
    [
        ("It is **very** big [1]. More.", "It is very big.", ["It is ", "very", " big"]),
        ("It is big [1] and old [2].", "It is big and old", ["It is big\u202f", " and old"]),
        ("He said “don’t go”.", 'He said "don\'t go".', ["He said “don’t go"]),
        ("- One thing here\n- Two things here", "Two things here", ["Two things here"]),
        ("See [the page](https://a.example/x).", "See the page.", ["See ", "the page"]),
        ("2 < 3 & 4 > 3 holds.", "2 < 3 & 4 > 3 holds", ["2 &lt; 3 &amp; 4 &gt; 3 holds"]),
        ("The x\\[1\\] is set [1].", "The x[1] is set.", ["The x[1] is set"]),
        ("It is **so** [1].", "It is **so** [1].", ["It is ", "so"]),
        ("Concatenation matters.", "catenation", []),
        ("First half.\n\nSecond half.", "First half. Second half.", []),
        ("Short.", "a", []),
        ("東京は首都である。", "東京は首都である。", ["東京は首都である"]),
    ],
)
def test_a_claim_is_found_by_its_words(answer: str, claim: str, marked: list[str]) -> None:
    prose = MarkdownRenderer(SOURCES)
    text, found = highlight_claims(
        prose.render_block(answer), [((escape(claim), prose.render_inline(claim)), "supported")]
    )
    Page(text)
    assert [part.split("</mark>")[0].split(">", 1)[1] for part in text.split("<mark")[1:]] == marked
    assert found == (frozenset({1}) if marked else frozenset())


def test_a_claim_made_twice_is_marked_twice_and_never_inside_a_link() -> None:
    prose = MarkdownRenderer(SOURCES)
    claim = ["The same words"]
    text, found = highlight_claims(
        prose.render_block("The same words. The same [words](https://a.example/x)."),
        [(claim, "supported"), (claim, "unknown")],
    )
    assert found == {1, 2}
    assert '</mark></a>.<a class="verdict unknown"' in text


def test_a_claim_text_that_is_all_markup_is_harmless() -> None:
    claims = tuple(Claim(text, (), "unknown") for text in ("", "***", "[1]", "```", "\n"))
    prose = MarkdownRenderer(SOURCES)
    assert (
        highlight_claims("<p>x</p>", [([prose.render_inline(claim.text)], claim.support) for claim in claims])[0]
        == "<p>x</p>"
    )


@pytest.mark.parametrize(
    "answer", ["### Deep first\n\nText [1].", "# One\n\n#### Four\n\n## Two\n\n### Three\n\nText [1]."]
)
def test_headings_make_an_outline_that_skips_no_level(report: Report, answer: str) -> None:
    levels = [
        int(level) for level in re.findall(r"<h([1-6])[ >]", html.render_html(replace(report, final_answer=answer)))
    ]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
