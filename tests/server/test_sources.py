"""Opening the sources of a run, its report in other formats, follow-ups, and the reference of the interface."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from little_web import pdf

from suffice.search.files.chunk import UnreadableFile
from suffice.search.files.isolated import draw_isolated
from suffice.server.sources import CHANGED_REMARK, STORED_REMARK, _find_text
from suffice.testing import WordSearch, make_passage


@pytest.fixture
def run(service) -> str:
    return service.run().headers["x-run"]


@pytest.fixture
def bees(service) -> Iterator[Path]:
    """The cited file; what a test does to it is undone."""
    path = Path(service.worker.collections["default"][0]) / "bees.txt"
    text = path.read_text(encoding="utf-8")
    yield path
    path.unlink()
    path.write_text(text, encoding="utf-8")


def test_a_source_is_opened_at_its_lines_with_the_deciding_words_marked(service, run) -> None:
    source = service.client.get(f"/jobs/{run}/sources/1").json()
    assert source["location"].endswith("bees.txt:1-1")
    assert source["remark"] is None
    (line,) = (line for line in source["lines"] if line["cited"])
    assert line["number"] == 1
    marked = [line["text"][start:end] for start, end in line["marks"]]
    assert any("dance" in words for words in marked)


@pytest.mark.parametrize(("number", "status"), [(99, 404), (0, 422), ("x", 422)])
def test_only_cited_sources_can_be_opened(service, run, number, status) -> None:
    response = service.client.get(f"/jobs/{run}/sources/{number}")
    assert response.status_code == status
    assert service.client.get("/jobs/20200101T000000-00000000/sources/1").status_code == 404


def test_a_changed_file_shows_the_passage_as_it_was_cited(service, run, bees: Path) -> None:
    bees.write_text("Something else.\n", encoding="utf-8")
    source = service.client.get(f"/jobs/{run}/sources/1").json()
    assert source["remark"] == CHANGED_REMARK
    assert "Karl von Frisch" in source["lines"][0]["text"]
    assert "Something else" not in str(source)


def test_a_file_outside_of_the_collections_is_not_read(service, run, bees: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text(bees.read_text(encoding="utf-8") + "The password is sesame.\n", encoding="utf-8")
    bees.unlink()
    bees.symlink_to(outside)
    source = service.client.get(f"/jobs/{run}/sources/1").json()
    assert source["remark"] == STORED_REMARK
    assert "sesame" not in str(source)


def test_a_source_of_a_search_without_files_is_shown_as_it_was_read(service) -> None:
    service.overrides.search = WordSearch([make_passage("w1", "Karl von Frisch decoded the waggle dance.")])
    run = service.run().headers["x-run"]
    source = service.client.get(f"/jobs/{run}/sources/1").json()
    assert source["remark"] == STORED_REMARK
    assert [line["text"] for line in source["lines"]] == ["Karl von Frisch decoded the waggle dance."]


def test_words_are_found_across_line_ends_and_emphasis() -> None:
    text = "He wrote:\n**Karl von\n  Frisch** decoded the `waggle` dance."
    start, end = _find_text(text, "Karl von Frisch decoded the waggle dance") or (0, 0)
    assert text[start:end] == "Karl von\n  Frisch** decoded the `waggle` dance"
    assert _find_text(text, "Karl von Frisch danced") is None
    assert _find_text(text, "* _") is None


@pytest.mark.attack("hostile documents")
def test_a_document_of_underscores_does_not_stop_the_service() -> None:
    """It took longer than anyone waits, so it is tried in a process that can be ended."""
    code = "from suffice.server.sources import _find_text; print(_find_text('_' * 300, '_ ' * 34 + 'end'))"
    completed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert completed.stdout.strip() == "None", completed.stderr


@pytest.fixture
def page_of_bees(service) -> Iterator[Path]:
    """A PDF file of one page in the collection."""
    path = Path(service.worker.collections["default"][0]) / "swarms.pdf"
    path.write_bytes(pdf(["Swarms in May", "Anna Weber counted 17 swarms", "in the orchard."]))
    yield path
    path.unlink()


def test_a_page_of_a_pdf_is_drawn_with_the_boxes_of_the_quoted_words(service, page_of_bees: Path) -> None:
    run = service.run("How many swarms did Anna Weber count?").headers["x-run"]
    assert service.client.get(f"/jobs/{run}/sources/1").json()["page"] is None
    page = service.client.get(f"/jobs/{run}/sources/1", params={"page": True}).json()["page"]
    assert page["image"].startswith("data:image/png;base64,iVBORw0KGgo")
    assert 1.3 < page["height"] / page["width"] < 1.5
    second = [box for box in page["boxes"] if 0.09 < box[1] < 0.13]
    assert second, "none in the second line"
    for left, _, width, height in second:
        assert 0.05 < left < 0.5, "not inside the line"
        assert 0 < width < 0.5
        assert 0 < height < 0.03
    page_of_bees.write_bytes(b"%PDF-1.4 broken")
    broken = service.client.get(f"/jobs/{run}/sources/1", params={"page": True}).json()
    assert broken["page"] is None
    assert broken["remark"] == CHANGED_REMARK


@pytest.mark.attack("hostile documents")
def test_a_page_of_many_metres_is_drawn_small(tmp_path: Path) -> None:
    (tmp_path / "long.pdf").write_bytes(pdf(["Long"]).replace(b"[0 0 595 842]", b"[0 0 2 14400]"))
    drawn = draw_isolated(tmp_path / "long.pdf", 1, [])
    assert drawn.width * drawn.height < 4_000_000
    with pytest.raises(UnreadableFile):
        draw_isolated(tmp_path / "long.pdf", 2, [])


def test_the_report_is_also_markdown(service, run) -> None:
    response = service.client.get(f"/jobs/{run}/report.md")
    assert response.headers["content-type"].startswith("text/markdown")
    assert response.text.startswith("# Who decoded the waggle dance?")


def test_a_follow_up_starts_from_the_evidence_of_its_run(service, run) -> None:
    report = service.run("And who designed the Forth Bridge?", options={"continues": run}).json()
    assert report["metadata"]["continues"] == run
    assert "Benjamin Baker" in report["final_answer"]
    (_, _, continued), *_ = (
        event for event in service.read_events(f"/jobs/{report['run']}/events") if event[1] == "continued"
    )
    assert continued["earlier"]["task"] == "Who decoded the waggle dance?"
    assert continued["earlier"]["evidence"]
    assert service.run(options={"continues": "20200101T000000-00000000"}).status_code == 404


def test_runs_are_found_by_words_of_their_question(service, run) -> None:
    service.run("Who designed the Forth Bridge?")
    found = service.client.get("/jobs", params={"q": "FORTH who", "limit": 1}).json()["jobs"]
    assert ["Forth" in job["task"] for job in found] == [True]
    assert service.client.get("/jobs", params={"q": "zebra"}).json() == {"jobs": [], "next": None}
