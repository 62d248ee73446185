"""Hostile and broken files: each is skipped and named, and the rest of the collection is read."""

import asyncio
import json
import os
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path

import msgspec
import pytest

from suffice.errors import InputError
from suffice.search.corpus.search import CorpusSearch
from suffice.search.files import html, isolated, ocr
from suffice.search.files.chunk import UnreadableFile
from suffice.search.files.isolated import read_documents, read_isolated
from suffice.search.isolation.jobs import IsolatedJob, JobFailed, Limits
from suffice.types import Query

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can reach without harm to the machine."""
    limits = Limits(memory_bytes=500 << 20, cpu_seconds=1, seconds=120.0, output_bytes=8 << 20)
    monkeypatch.setattr(isolated, "get_limits", lambda size: limits)
    monkeypatch.setattr(ocr, "is_installed", lambda: False)


def make_expanding_pdf() -> bytes:
    """Return a PDF of about 50 KB whose page draws 15 million characters."""
    words = zlib.compress(
        b"BT /F 1 Tf " + b"(a b c d e f g h i j k l m n o p q r s t u v w x y z) Tj " * 300_000 + b"ET", 9
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        f"<< /Filter /FlateDecode /Length {len(words)} >>\nstream\n".encode() + words + b"\nendstream",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    xref = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    tail = f"xref\n0 6\n0000000000 65535 f \n{xref}trailer << /Size 6 /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    return out + tail.encode()


def make_nested_docx(path: Path) -> None:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = (
        f'<w:document xmlns:w="{word}"><w:body>' + "<w:sdt>" * 300_000 + "</w:sdt>" * 300_000 + "</w:body></w:document>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", body)


def make_sparse_sheet(path: Path) -> None:
    """Write a sheet with a cell in the last corner, which is 17 billion cells when it is filled up."""
    with zipfile.ZipFile(FIXTURES / "budget.xlsx") as whole, zipfile.ZipFile(path, "w") as archive:
        for name in whole.namelist():
            corner = b'<row r="1048576"><c r="XFD1048576"><v>2</v></c></row></sheetData>'
            archive.writestr(name, whole.read(name).replace(b"</sheetData>", corner))


@pytest.mark.usefixtures("low_limits")
def test_hostile_files_do_not_disable_a_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Heron\n\nThe heron waits at the pond.\n")
    (docs / "expands.pdf").write_bytes(make_expanding_pdf())
    make_nested_docx(docs / "nested.docx")
    make_sparse_sheet(docs / "sparse.xlsx")
    (docs / "odd.ipynb").write_text(json.dumps({"cells": [{"cell_type": "heading", "level": "x", "source": 1}, None]}))
    (docs / "deep.json").write_text("[" * 100_000)
    (docs / "comments.html").write_text("<!--" * 100_000)
    (docs / "z.md").write_text("# Crane\n\nThe crane waits at the heron's pond.\n")
    corpus = asyncio.run(CorpusSearch.open([docs], cache_dir=tmp_path / "cache", alpha=1.0))
    found = asyncio.run(corpus(Query("heron pond"), 5))
    assert {Path(passage.place.path).name for passage in found} == {"a.md", "z.md"}
    why = {skipped.path.name: skipped.why for skipped in corpus.skipped}
    assert {"expands.pdf", "nested.docx", "sparse.xlsx", "odd.ipynb"} <= why.keys()
    assert all(why.values())
    assert capfd.readouterr() == ("", "")
    again = asyncio.run(CorpusSearch.open([docs], cache_dir=tmp_path / "cache", alpha=1.0))
    assert {skipped.path.name: skipped.why for skipped in again.skipped} == why


@pytest.mark.usefixtures("low_limits")
def test_a_named_hostile_file_is_an_input_error(tmp_path: Path) -> None:
    make_sparse_sheet(tmp_path / "sparse.xlsx")
    with pytest.raises(InputError, match=r"sparse\.xlsx"):
        asyncio.run(CorpusSearch.open([tmp_path / "sparse.xlsx"], cache_dir=None, alpha=1.0))


def test_limits_grow_with_the_file() -> None:
    small, large = isolated.get_limits(10_000), isolated.get_limits(90 << 20)
    assert small.cpu_seconds < large.cpu_seconds
    assert small.memory_bytes < large.memory_bytes
    assert msgspec.structs.asdict(large)["memory_bytes"] <= 4 << 30


def test_results_are_those_of_the_readers_in_order(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number:02}.txt").write_text(f"Note {number}")
    (tmp_path / "10.txt").write_bytes(b"")
    results = list(read_documents(sorted(tmp_path.iterdir())))
    assert isinstance(results[10], UnreadableFile)
    texts = [result.chunks[0].text for result in results if not isinstance(result, UnreadableFile)]
    assert texts == [f"Note {number}" for number in range(30) if number != 10]


def test_relative_paths_are_those_of_the_present_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "note.txt").write_text(f"Note {name}")
        monkeypatch.chdir(tmp_path / name)
        assert read_isolated(Path("note.txt")).chunks[0].text == f"Note {name}"


def test_pipe_of_the_shell_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"The heron waits.")
    os.close(writing)
    try:
        assert read_isolated(Path(f"/dev/fd/{reading}")).chunks[0].text == "The heron waits."
    finally:
        os.close(reading)


def test_partly_scanned_file_is_indexed_and_remarked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: False)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.pdf").write_bytes((FIXTURES / "partly-scanned.pdf").read_bytes())
    for _ in range(2):
        corpus = asyncio.run(CorpusSearch.open([tmp_path / "docs"], cache_dir=tmp_path / "cache", alpha=1.0))
        assert [path.name for path in corpus.files] == ["a.pdf"]
        assert not corpus.skipped
        assert "page 1 looks scanned" in corpus.partly_read[0].why


def test_ocr_does_not_wait_for_the_workers_of_the_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: True)
    monkeypatch.setattr(ocr, "OCR_SECONDS", 0)  # It need not succeed.
    monkeypatch.setattr(isolated, "choose_worker_count", lambda jobs: 100)
    (tmp_path / "b.pdf").write_bytes((FIXTURES / "partly-scanned.pdf").read_bytes())
    # The first job ends after the scanned file is read, and the jobs behind it are then running in all workers.
    seconds = {"a.txt": 3.0} | {f"c{number}.txt": 0.5 for number in range(4 * isolated.get_pool().size + 2)}
    make_job, end = isolated._make_job, time.monotonic() + 300

    def make_slow_job(path: Path) -> IsolatedJob:
        job = make_job(path)
        return job if path.suffix == ".pdf" else IsolatedJob("time:sleep", (seconds[path.name],), job.limits)

    def check_cancelled() -> None:
        assert time.monotonic() < end, "waits for itself"

    monkeypatch.setattr(isolated, "_make_job", make_slow_job)
    paths = [tmp_path / name for name in sorted([*seconds, "b.pdf"])]
    assert len(list(read_documents(paths, check_cancelled))) == len(paths)


def test_script_without_a_main_guard(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Heron\n\nThe heron waits.\n")
    (tmp_path / "script.py").write_text(
        "from pathlib import Path\nfrom suffice.search.files.isolated import read_isolated\n"
        "print(read_isolated(Path('docs/a.md')).chunks[0].title)\n"
    )
    completed = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False
    )
    assert (completed.stdout, completed.stderr) == ("Heron\n", "")


@pytest.mark.attack("hostile folders")
def test_slow_files_share_a_budget_and_the_others_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolated, "_SLOW_FILE_SECONDS", 0)
    monkeypatch.setattr(isolated, "_SHORT_CPU_SECONDS", 1)
    make_job = isolated._make_job

    def make_slow_job(path: Path) -> IsolatedJob:
        job = make_job(path)
        return msgspec.structs.replace(job, function="isolated_jobs:burn", args=()) if "slow" in path.name else job

    monkeypatch.setattr(isolated, "_make_job", make_slow_job)
    paths = [tmp_path / "slow.md", tmp_path / "good.md"]
    for path in paths:
        path.write_text("The heron waits at the pond.\n")
    slow, good = read_documents(paths)
    assert isinstance(slow, UnreadableFile)
    assert "slow.md takes longer than 1 s to parse" in str(slow)
    assert "name it alone" in str(slow)
    assert not isinstance(good, UnreadableFile)


def test_a_file_has_its_whole_time_until_slow_files_have_used_up_theirs(tmp_path: Path) -> None:
    budget, tried = isolated._SlowFileBudget(), 0
    usual = isolated._make_job(tmp_path / "a.md")
    while budget.limit(usual) == usual:
        tried += 1
        budget.check_result(JobFailed.from_limit("time", usual.limits), "a.md")
    assert tried == 6
    assert budget.limit(usual).limits.cpu_seconds == 2


@pytest.mark.attack("hostile folders")
def test_files_that_wait_for_a_worker_get_what_is_left_of_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(isolated, "_SLOW_FILE_SECONDS", 3)
    monkeypatch.setattr(isolated, "_SHORT_CPU_SECONDS", 1)
    monkeypatch.setattr(isolated, "_WALL_CLOCK_FACTOR", 0.2)
    slow = IsolatedJob("time:sleep", (60,), isolated._make_limits(1 << 30, 3))
    monkeypatch.setattr(isolated, "_make_job", lambda path: slow)
    paths = [tmp_path / f"{number}.md" for number in range(5)]  # All of them are sent to the pool at once.
    first, *others, last = list(read_documents(paths))
    assert "takes longer than 3 s" in str(first)
    assert "takes longer than 1 s" in str(last)
    assert sum("name it alone" in str(other) for other in others) >= len(others) - 1


@pytest.mark.attack("hostile folders")
@pytest.mark.parametrize(
    "markup",
    ["[<div ", "<div ", "<!--", "<p a=", '<p a="', "<a =", "</", "<?", "&", "<div>", "<table><tr>", "<td>x"],
    ids="div-in-text div comment attribute quote equals end instruction ampersand nested table cell".split(),
)
def test_markup_without_an_end_is_read_in_proportion_to_its_length(markup: str) -> None:
    page = "<p>The heron waits at the pond.</p>\n"

    def measure(length: int) -> float:
        start = time.process_time()
        chunks = html.parse(page + markup * (length // len(markup)), "a.html")
        assert chunks[0].text.startswith("The heron waits at the pond.")
        return time.process_time() - start

    measure(1_000)
    assert measure(120_000) < 8 * measure(30_000) + 0.3


@pytest.mark.parametrize("unfinished", ["<!-- A note", "<p class='", "</p", "<?php", "<![CDATA[ "])
def test_text_after_markup_without_an_end_is_read(unfinished: str) -> None:
    page = f"<p>The heron waits.</p>{unfinished}\n<p>The crane sleeps.</p>\n<p>The stork eats.</p>"
    text = "\n".join(chunk.text for chunk in html.parse(page, "a.html"))
    assert [bird in text for bird in ("heron waits.", "crane sleeps.", "stork eats.")] == [True] * 3


def test_end_tags_of_elements_nested_too_deep_close_nothing_above_the_page() -> None:
    page = (
        "<p>The heron waits.</p>" + "<div>" * 5_000 + "<p>The crane sleeps." + "</div>" * 5_000 + "<p>The stork eats."
    )
    text = "\n".join(chunk.text for chunk in html.parse(page, "a.html"))
    assert text.split("\n\n") == ["The heron waits.", "The crane sleeps.", "The stork eats."]
