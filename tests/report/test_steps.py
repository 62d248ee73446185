"""The report lets a reader step through the rounds: without a script, with it, by mouse and by keyboard."""

from dataclasses import replace

import pytest

from suffice.report import html


@pytest.fixture
def told(stop):
    rounds = [
        replace(record, found=(f"Page {record.index} (a.py:1-2)",), belief=("Old note.", f"Note {record.index}."))
        for record in stop.rounds
    ]
    rounds[0] = replace(rounds[0], open=("Who calls it? <script>alert(1)</script>",))
    return replace(stop, rounds=tuple(rounds))


def test_every_round_tells_what_it_asked_found_and_left_believed(told):
    page = html.render_steps(told)
    assert page.count('<details class="step"') == 5
    assert page.count(" open>") == 1
    for record in told.rounds:
        assert record.queries[0] in page
        assert f"Page {record.index} (a.py:1-2)" in page
        assert f'<span class="handle">new</span> Note {record.index}.' in page
    assert page.count("new</span> Old note.") == 1, "what was believed before is not new"
    assert page.count("1 earlier note is no longer shown") == 4


def test_what_documents_and_models_wrote_is_text(told):
    assert "<script" not in html.render_steps(told)


def test_a_report_that_kept_no_steps_has_no_such_section(stop, report):
    assert html.render_steps(stop) == ""
    assert 'id="steps"' not in html.render_html(report)


def test_buttons_and_arrow_keys_step_through(told, report, tmp_path, browser):
    path = tmp_path / "report.html"
    path.write_text(html.render_html(replace(report, stop=told)), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    section = page.locator("#steps")

    def shown():
        open_steps = section.locator("details.step[open] summary")
        assert open_steps.count() == 1
        return open_steps.inner_text().split(" · ")[0]

    assert shown() == "Round 1"
    section.get_by_role("button", name="Next").click()
    assert shown() == "Round 2"
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    assert shown() == "Round 5"
    assert section.get_by_role("status").inner_text() == "Round 5 of 5"
    page.keyboard.press("ArrowLeft")
    assert shown() == "Round 4"
    still = browser.new_context(java_script_enabled=False).new_page()
    still.goto(path.as_uri())
    assert not still.get_by_role("button", name="Next").is_visible()
    still.locator("details.step summary").nth(2).click()
    assert still.locator("details.step[open]").count() == 1
    assert still.get_by_text("Page 3 (a.py:1-2)").is_visible()
    browser.close()
