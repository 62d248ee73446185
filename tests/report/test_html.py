"""The HTML page is self-contained, safe, accessible in structure, and shows the whole report."""

import re
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise

import pytest
from report.html_page import Page

from suffice.report import html
from suffice.types import Claim, ClosestPassage, Excerpt, Notice, Reason, RemovedClaim, Report, Span, Stop


@pytest.fixture(params=["report", "hostile"])
def page(request: pytest.FixtureRequest) -> Page:
    return Page(html.render_html(request.getfixturevalue(request.param)))


def test_the_page_loads_nothing_from_outside(page: Page) -> None:
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


def test_question_and_answer_are_tagged_with_their_language_and_no_sentence_mixes_two(report: Report) -> None:
    """What suffice says around them stays English, so a screen reader has to know where another language begins."""
    removed = RemovedClaim(
        "Die Pumpe halbiert die Heizkosten.", Reason("not_stated"), Span("[1]", "It saves 9 %.", "a.md")
    )
    answer = "Die Pumpe kostet 21.800 Euro, und der Vermieter stimmt ihr noch nicht zu."
    claim = Claim(answer, (), "unknown", note="a conclusion of the writer", checker="model")
    subject = replace(
        report,
        task="Was kostet die neue Pumpe, und wer muss ihr zustimmen?",
        final_answer=answer,
        excerpts=(),
        notices=(),
        removed=(removed,),
        claims=(claim,),
    )
    page = html.render_html(subject)
    assert Page(page).all("lang") == ["en", "de", "de"]
    assert (
        "“Die Pumpe halbiert die Heizkosten.” The cited source does not say it. Nearest: “It saves 9 %.” [1]." in page
    )
    assert "a conclusion of the writer" in page
    assert "No passage addresses it." not in page, "the reason says more"


def test_links_lead_only_to_sources(report: Report, hostile: Report) -> None:
    for subject in (report, hostile):
        outside = {href for href in Page(html.render_html(subject)).all("href") if not href.startswith("#")}
        assert outside <= {source.url for source in subject.sources if (source.url or "").startswith("http")}


def test_it_has_landmarks_a_language_and_a_skip_link(page: Page) -> None:
    tags = [tag for tag, _ in page.tags]
    assert all(tags.count(landmark) == 1 for landmark in ("header", "main", "aside", "footer", "h1"))
    assert page.all("lang") == ["en"]
    assert ("a", {"class": "skip", "href": "#answer"}) in page.tags


def test_hostile_text_is_shown_as_text(hostile: Report) -> None:
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


def test_claims_are_highlighted_in_the_answer_and_all_listed_in_the_table(report: Report) -> None:
    page = Page(html.render_html(report))
    highlighted = {attrs["data-claim"] for tag, attrs in page.tags if tag == "a" and "data-claim" in attrs}
    assert highlighted == {"1", "2", "3", "4", "5"}
    assert {f"claim-{n}" for n in range(1, 7)} <= set(page.all("id"))
    assert page.text.count("not found in the answer") == 1
    assert "handle = self._ready.popleft()" in page.text


def test_an_empty_report_is_still_a_page(report: Report) -> None:
    empty = replace(
        report, status="no_evidence", task="", summary="", final_answer="", sources=(), claims=(), key_findings=(),
        stop=replace(report.stop, rounds=(), round=0, reason="search_unavailable"),
    )  # fmt: skip
    page = Page(html.render_html(empty))
    assert "No answer" in page.text
    assert page.count("svg") == 0


@pytest.mark.parametrize(
    "answer", ["### Deep first\n\nText [1].", "# One\n\n#### Four\n\n## Two\n\n### Three\n\nText [1]."]
)
def test_headings_form_an_outline_that_skips_no_level(report: Report, answer: str) -> None:
    levels = [
        int(level) for level in re.findall(r"<h([1-6])[ >]", html.render_html(replace(report, final_answer=answer)))
    ]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.fixture
def recorded(stop: Stop) -> Stop:
    """A stop whose rounds recorded what they found and believed."""
    rounds = [
        replace(record, found=(f"Page {record.index} (a.py:1-2)",), belief=("Old note.", f"Note {record.index}."))
        for record in stop.rounds
    ]
    rounds[0] = replace(rounds[0], open=("Who calls it? <script>alert(1)</script>",))
    return replace(stop, rounds=tuple(rounds))


def test_every_round_shows_its_queries_passages_and_notes(recorded: Stop, report: Report) -> None:
    page = html.render_html(replace(report, stop=recorded))
    assert page.count('<details class="step"') == 5
    for record in recorded.rounds:
        assert record.queries[0] in page
        assert f"Page {record.index} (a.py:1-2)" in page
        assert f"Note {record.index}." in page
    assert "<script>alert" not in page
    assert 'class="step"' not in html.render_html(report), "its rounds recorded nothing"


def test_the_topics_of_an_outline_are_a_table_over_the_rounds(report: Report) -> None:
    values = ({"coverage.topic.wings <x>": 0.2}, {"coverage.topic.wings <x>": 0.83, "coverage.topic.fuel": 0.5})
    rounds = tuple(
        replace(record, readings={**record.readings, **own})
        for record, own in zip(report.stop.rounds[:2], values, strict=True)
    )
    text = html.render_html(replace(report, stop=replace(report.stop, rounds=rounds)))
    row = text.split("wings &lt;x&gt;</th>", 1)[1].split("</tr>", 1)[0]
    assert "20 %" in row
    assert "83 %" in row
    assert "–" in text.split("fuel</th>", 1)[1].split("</tr>", 1)[0]


def test_quotations_do_not_count_themselves_as_supported(quoted: Report) -> None:
    claims = tuple(replace(claim, support="supported") for claim in quoted.claims)
    assert 'class="legend"' not in html.render_html(replace(quoted, claims=claims))


@pytest.fixture
def quoted(report: Report) -> Report:
    """A report without a language model: it quotes a table, code and prose."""
    return replace(
        report,
        short_answer="30 days",
        notices=(Notice("no_model"),),
        final_answer="> text [1]\n\n> No language model was used: every sentence above is quoted verbatim from its source.",
        excerpts=(
            Excerpt(
                "| term | days |\n|---|---|\n\n| notice | 30 |", "table", ((38, 40),), "[1]", "terms.md:1-4", "Terms"
            ),
            Excerpt("def f(x):\n    return x < 1  # <b>", "code", ((14, 20),), "[2]", "a.py:1-2"),
            Excerpt("2 * 3 * 4 stays as it is.", "prose", ((0, 5),), "[3]", "notes.txt:1-1"),
        ),
    )


def test_excerpts_are_laid_out_as_in_their_source_with_the_deciding_words_marked(quoted: Report) -> None:
    text = html.render_html(quoted)
    page = Page(text)
    assert '<p class="short" dir="auto">30 days</p>' in text
    assert '<td><mark class="hit">30</mark></td>' in text
    assert '<mark class="hit">return</mark> x &lt; 1  # &lt;b&gt;' in text
    assert "2 * 3 * 4 stays as it is." in page.text
    assert page.text.count("No language model was used") == 1
    assert page.text.index("2 * 3 * 4") < page.text.index("No language model was used"), "the answer comes first"
    assert "supported" not in page.text, "that a quote supports itself tells nothing"
    assert page.text.count("notes.txt:1-1") == 2, "in the answer and in the sources"


def test_the_sentence_above_excerpts_and_what_follows_them_are_shown(quoted: Report) -> None:
    below = "## What matters most\n\n- A mill costs 40 euros. [1]"
    page = Page(html.render_html(replace(quoted, below=below, final_answer=f"> text [1]\n\n{below}")))
    assert page.text.index("2 * 3 * 4") < page.text.index("A mill costs 40 euros.")
    assert quoted.summary not in page.text, "what is quoted is not said again"
    assert quoted.summary in Page(html.render_html(replace(quoted, notices=()))).text
    first = replace(quoted, notices=(), summary="2 * 3 * 4 stays as it is. [3]")
    assert 'class="lede"' not in html.render_html(first)


def test_without_an_answer_the_closest_passages_say_what_they_lack(report: Report) -> None:
    nearest = ClosestPassage("Bees dance.", "prose", ((0, 4),), "Bees", "bees.txt:1-1", ("wage", "salary"))
    empty = replace(report, status="no_evidence", final_answer="", claims=(), sources=(), closest=(nearest,))
    page = Page(html.render_html(empty))
    assert "No answer" in page.text
    assert "Bees dance." in page.text
    assert "Nothing found mentions “wage”, “salary”." in page.text
    other = replace(nearest, text="A wage is paid.", missing=("salary",))
    page = Page(html.render_html(replace(empty, closest=(nearest, other))))
    assert "Nothing found mentions “salary”." in page.text


@pytest.mark.parametrize("location", ["lease.md:3-7", "lease.html:3-7"])
def test_a_heading_inside_an_excerpt_is_told_from_its_text(report: Report, location: str) -> None:
    excerpt = Excerpt(
        "The lease ends.\n\nRent\n\nThe rent is due.", "prose", ((4, 9),), "[1]", location, "", ((17, 21),)
    )
    text = html.render_html(replace(report, excerpts=(excerpt,)))
    assert '<mark class="hit">lease</mark> ends.' in text
    assert '<mark class="heading">Rent</mark>' in text


def test_wrapped_lines_of_a_quoted_page_are_joined(report: Report) -> None:
    text = "2. Ask the owner to provide\na fixed version.\n3. Upload it.\nname: Bob"
    quoted = replace(report, excerpts=(Excerpt(text, "list", ((12, 17),), "1", "manual.pdf:p3", "Manual"),))
    page = html.render_html(quoted)
    assert "to provide a fixed version.\n3. Upload it.\nname: Bob" in page


def test_a_cancelled_run_is_not_called_failed(report: Report) -> None:
    cancelled = replace(report, status="failed", final_answer="", stop=replace(report.stop, reason="cancelled"))
    page = Page(html.render_html(cancelled))
    assert "You stopped this run" in page.text
    assert "failed" not in page.text


def test_a_search_that_found_something_is_not_called_fruitless(report: Report) -> None:
    first, empty = report.stop.rounds[0].queries[0], "which callback never runs"
    rounds = (*report.stop.rounds, replace(report.stop.rounds[-1], queries=(empty,), new_passages=0))
    page = Page(
        html.render_html(replace(report, failed_queries=(first, empty), stop=replace(report.stop, rounds=rounds)))
    )
    _, _, fruitless = page.text.partition("Searches that found nothing new")
    assert empty in fruitless
    assert first not in fruitless


def test_the_footer_has_date_version_and_run(report: Report) -> None:
    made = {"timestamp": "2026-03-04T05:06:07+00:00", "version": "1.2.3"}
    footer = html.render_html(replace(report, metadata=made)).partition("<footer>")[2]
    assert f"run {report.run} · 2026-03-04 · suffice 1.2.3" in footer
