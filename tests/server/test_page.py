"""The web page in a real browser: ask, follow, cancel, reload, replay, read citations; by keyboard and on a phone."""

import asyncio
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from accessible import violations
from page_browser import expect_report, open_page
from playwright.sync_api import Browser, Page, Route, expect

from suffice.server.page import _describe_collections
from suffice.testing import WordSearch, make_passage

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


def ask(page: Page, question: str = QUESTION) -> None:
    page.goto("/")
    page.fill("#question", question)
    page.click("text=Find out")


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
        page.click("#why-details > summary")
        page.click("#whatif > summary")
        expect(page.locator("#whatif-result")).to_contain_text("no rule could end")
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
    expect(page.locator("#rounds .found").first).to_be_visible()
    page.click("#cancel")
    expect(page.locator("#status")).to_contain_text("You stopped this run")
    expect(page.locator("#cancel")).to_be_hidden()
    expect(page.locator("#view-run")).not_to_contain_text("failed")
    expect(page.locator("#rounds blockquote").first).to_contain_text("decoded by Karl von Frisch")
    page.click("text=Earlier runs")
    expect(page.locator("#runs li").first).to_contain_text("stopped")


def test_a_lost_connection_is_shown_and_mends_itself(browser: Browser, service) -> None:
    bees = [make_passage(f"b{n}", f"The waggle dance of hive {n} was decoded by Karl von Frisch.") for n in range(30)]
    service.overrides.search = SlowSearch(bees)
    context = browser.new_context(base_url=service.url)
    page = context.new_page()
    ask(page)
    expect(page.locator("#rounds li").first).to_be_visible()
    context.set_offline(True)
    expect(page.locator("#connection")).to_be_visible(timeout=20_000)
    context.set_offline(False)
    expect(page.locator("#connection")).to_be_hidden()
    expect_report(page)
    expect(page.locator("#answer")).to_contain_text("Karl von Frisch")
    context.set_offline(True)
    page.goto("/#/runs")
    expect(page.locator("#problem")).to_contain_text("cannot be reached")
    context.set_offline(False)
    expect(page.locator("#runs a").first).to_be_visible()
    expect(page.locator("#problem")).to_be_hidden()
    context.close()


def test_time_goes_on_while_the_answer_is_made(page: Page, service) -> None:
    service.overrides.search = SlowSearch([make_passage("b1", "The waggle dance was decoded by Karl von Frisch.")])
    service.overrides.search.seconds = 4.0
    ask(page)
    expect(page.locator("#elapsed")).to_have_text("1 s")
    expect(page.locator("#elapsed")).to_have_text("3 s")
    page.click("#cancel")
    expect(page.locator("#cancel")).to_be_hidden()


@pytest.fixture
def otters(browser: Browser, service) -> Iterator[None]:
    """A PDF file and a Word file in the collection of the service."""
    folder = Path(service.worker.collections["default"][0])
    sheet = browser.new_page()
    sheet.set_content(
        "<title>Survey</title>" + "<p>Nothing happened.</p>" * 20 + "<p>The wardens counted 41 otters.</p>"
    )
    sheet.pdf(path=folder / "survey.pdf")
    sheet.close()
    words = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in (("Heading2", "Safety"), ("", "The ferry carries 60 passengers."))
    )
    with zipfile.ZipFile(folder / "ferry.docx", "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {words}><w:body>{body}</w:body></w:document>")
    yield
    (folder / "survey.pdf").unlink()
    (folder / "ferry.docx").unlink()


def test_a_pdf_opens_as_its_page_with_the_words_marked(page: Page, otters: None) -> None:
    ask(page, "How many otters did the wardens count?")
    expect_report(page)
    page.locator("#answer .cite").first.click()
    expect(page.locator("#source-1 .sheet img")).to_be_visible()
    assert page.locator("#source-1 .sheet img").evaluate("picture => picture.naturalWidth") > 600
    mark = page.locator("#source-1 .sheet mark").first
    expect(mark).to_be_in_viewport()
    # The words are dark on the picture: the box of the mark has ink, and the same box beside the text has none.
    ink = """mark => {
        const picture = mark.parentElement.querySelector("img"), canvas = document.createElement("canvas");
        canvas.width = picture.naturalWidth, canvas.height = picture.naturalHeight;
        const context = canvas.getContext("2d");
        context.drawImage(picture, 0, 0);
        const [left, top, width, height] = ["left", "top", "width", "height"].map((side) => parseFloat(mark.style[side]) / 100);
        const at = (x) => [x * canvas.width, top * canvas.height, Math.min(width, 0.09) * canvas.width, height * canvas.height];
        const count = (x) => context.getImageData(...at(x))
            .data.filter((value, index) => index % 4 === 0 && value < 128).length;
        return [count(left), count(0.9)];
    }"""
    inside, beside = mark.evaluate(ink)
    assert inside > 0
    assert beside == 0
    page.click("#source-1 .page-text summary")
    expect(page.locator("#source-1 .page-text")).to_contain_text("41 otters")
    assert violations(page) == []


def test_a_word_file_is_laid_out(page: Page, otters: None) -> None:
    ask(page, "How many passengers does the ferry carry?")
    expect_report(page)
    page.locator("#answer .cite").first.click()
    expect(page.locator("#source-1 .reader h3")).to_have_text("Safety")
    expect(page.locator("#source-1 .reader mark").first).to_contain_text("60")
    expect(page.locator("#source-1")).not_to_contain_text("##")


def test_the_page_describes_what_it_searches(page: Page, otters: None) -> None:
    page.goto("/")
    expect(page.locator("#where label")).to_contain_text("4 files, newest")
    expect(page.locator("#model-line")).to_contain_text("No language model")
    example = page.locator(".example").first
    question = example.inner_text()
    assert "What do the documents say about “" in question
    example.click()
    expect(page.locator("#question")).to_have_value(question)


def test_at_most_two_examples_are_offered_and_none_for_files_without_a_title(tmp_path: Path) -> None:
    for name in ("lease", "licence", "minutes"):
        (tmp_path / f"{name}.md").write_text(f"# The {name}\n\nIt ends in May.\n")
    examples = _describe_collections({"default": [str(tmp_path)]})["examples"]
    assert examples == [f"What do the documents say about “The {name}”?" for name in ("lease", "licence")]
    for path in tmp_path.iterdir():
        path.write_text("It ends in May, and begins in June.\n")
    assert _describe_collections({"default": [str(tmp_path)]})["examples"] == []


def test_the_settings_wait_for_their_choices(page: Page) -> None:
    held: list[Route] = []
    page.route("**/parts", lambda route: held.append(route))
    with page.expect_request("**/parts"):
        page.goto("/")
    expect(page.locator("#settings-button")).to_be_disabled()
    expect(page.locator("#ask button.main")).to_be_disabled()
    held[0].continue_()
    page.click("#settings-button")
    expect(page.locator("#tier option")).to_have_count(4)
    expect(page.locator("#settings")).to_be_visible()


def test_skills_and_breadth_can_be_chosen(page: Page) -> None:
    page.goto("/")
    page.fill("#question", QUESTION)
    page.click(".skill:text('/timeline')")
    expect(page.locator("#question")).to_have_value(f"/timeline {QUESTION}")
    page.fill("#question", QUESTION)
    page.click("#settings-button")
    expect(page.locator("#memory")).to_be_hidden()
    page.select_option("#breadth", "broad")
    page.click("#settings-done")
    page.click("text=Find out")
    expect_report(page)
    page.click("#why > summary")
    expect(page.locator("#why")).to_contain_text("Read as a broad question")
    expect(page.locator("nav [aria-current]")).to_have_count(0)


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
    expect(page.locator("#runs li").first).to_contain_text("answered")
    page.locator("#runs a", has_text=QUESTION).first.click()
    expect_report(page)


def test_an_earlier_run_can_be_deleted(page: Page, service) -> None:
    run = service.run("Who opened the Forth Bridge in 1890?").headers["x-run"]
    page.goto("/#/runs")
    row = page.locator("#runs li", has_text="opened the Forth Bridge")
    row.get_by_role("button").click()
    expect(row).to_be_visible()
    row.get_by_role("button").click()
    expect(row).to_have_count(0)
    assert service.client.get(f"/jobs/{run}").status_code == 404


def test_another_gate_can_be_tried(page: Page, service) -> None:
    task = "When did Karl von Frisch decode the dance, and who designed the Eiffel Tower?"
    run = service.run(task, options={"stop": "fixed(2)", "alpha": 1, "k": 1}).headers["x-run"]
    page.goto(f"/#/runs/{run}")
    expect_report(page)
    page.click("#why > summary")
    page.click("#whatif > summary")
    page.select_option("#gate", "fixed")
    page.locator("#dial-k").fill("1")
    expect(page.locator("#expression")).to_have_value("fixed(k=1)")
    expect(page.locator("#whatif-result")).to_contain_text("fixed(1) would have stopped it after round 1")
    expect(page.locator("#whatif-chart svg")).to_be_visible()
    assert violations(page) == []
    assert page.locator("#whatif-chart svg").get_attribute("viewBox").startswith("0 0 760"), "not the chart for phones"
    page.fill("#expression", "fixed(k=2) | exhaustion(p=3)")
    expect(page.locator("#dials input").first).to_have_value("2")
    expect(page.locator("#dials")).to_contain_text("exhaustion: p3")
    page.locator("#dials input").first.fill("1")
    expect(page.locator("#expression")).to_have_value("fixed(k=1) | exhaustion(p=3)")
    page.fill("#expression", "nonsense(")
    expect(page.locator("#whatif-result")).to_contain_text("nonsense")
    page.fill("#expression", "worth(file='/etc/passwd')")
    expect(page.locator("#whatif-result")).to_contain_text("file")


def test_of_a_run_of_one_round_is_said_that_no_gate_ends_it_sooner(page: Page) -> None:
    ask(page)
    expect_report(page)
    page.click("#why > summary")
    page.click("#whatif > summary")
    page.select_option("#gate", "fixed")
    expect(page.locator("#whatif-result")).to_contain_text("With 1 round no rule could end this run sooner")
    expect(page.locator("#whatif-chart svg")).to_have_count(0)


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
    page.keyboard.type("Who decoded")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("the waggle dance?")
    expect(page.locator("#question")).to_have_value("Who decoded\nthe waggle dance?")
    page.keyboard.press("Enter")
    expect_report(page)
    for fold in ("#why", "#whatif"):
        page.locator(f"{fold} > summary").focus()
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
    page.click("text=Advanced")
    page.fill("#stop", "nonsense(")
    page.click("#settings-done")
    page.click("text=Find out")
    expect(page.locator("#problem")).to_contain_text("nonsense")
    page.goto("/#/runs/no-such-run")
    expect(page.locator("#problem")).to_contain_text("no-such-run")
    expect(page.locator("#view-run")).to_be_hidden()
    page.goto("/#/nowhere")
    expect(page.locator("#problem")).to_contain_text("#/nowhere")
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


def test_the_reference_documents_every_route(page: Page, service) -> None:
    page.goto("/docs")
    expect(page.locator("#bodies section").first).to_be_attached()
    shown = page.locator("main").inner_text()
    for path in service.client.get("/openapi.json").json()["paths"]:
        assert f" {path}\n" in shown
    for link in page.locator("#bodies a, #contents a").all():
        assert page.locator(f"[id='{link.get_attribute('href').removeprefix('#')}']").count() == 1
