"""Files that LibreOffice and a mail program wrote (``fixtures/make.py`` says how): texts, places and titles of their chunks."""

import gzip
import zipfile
from pathlib import Path

import pytest

from suffice.search.files import ocr
from suffice.search.files.chunk import DocumentChunk, UnreadableFile
from suffice.search.files.isolated import read_isolated
from suffice.search.files.read import guess_format, read_document
from suffice.types import Place

FIXTURES = Path(__file__).parent / "fixtures"


def locate(name: str, chunk: DocumentChunk) -> str:
    return str(Place(name, chunk.lines, chunk.page, chunk.record, section=chunk.section))


def read(name: str) -> dict[str, DocumentChunk]:
    return {locate(name, chunk): chunk for chunk in read_document(FIXTURES / name).chunks}


@pytest.mark.parametrize("suffix", ["docx", "odt"])
def test_text_documents_keep_headings_tables_and_lists(suffix: str) -> None:
    chunks = read(f"handbook.{suffix}")
    fees = chunks[f"handbook.{suffix}#para-3"]
    assert (fees.kind, fees.title) == (suffix, "Harbour handbook > Fees")
    assert "| Length | Fee |\n| --- | --- |\n| up to 8 m | 12 euros |\n| over 8 m | 19 euros |" in fees.text
    arrival = chunks[f"handbook.{suffix}#para-8"].text
    assert "Before you enter:\n\n1. Call the harbour master on channel 12.\n2. Wait for the green light." in arrival
    assert "Never enter with:\n\n- a sail set\n- more than three knots" in arrival


def test_rtf_keeps_tables_and_lists() -> None:
    (chunk,) = read("handbook.rtf").values()
    assert chunk.kind == "rtf"
    assert "| over 8 m | 19 euros |" in chunk.text
    assert "2. Wait for the green light." in chunk.text
    assert "- a sail set" in chunk.text


@pytest.mark.parametrize("suffix", ["pptx", "odp"])
def test_slides_have_numbers_titles_and_notes(suffix: str) -> None:
    chunks = read(f"deck.{suffix}")
    assert list(chunks) == [f"deck.{suffix}:slide 1", f"deck.{suffix}:slide 2"]
    second = chunks[f"deck.{suffix}:slide 2"]
    assert (second.kind, second.title) == (suffix, f"deck.{suffix}, slide 2: Schedule")
    assert second.text == (
        "# Schedule\n\n- Foundation: March 2027\n- Lamp: October 2027\n\nNotes: The council votes in May."
    )


@pytest.mark.parametrize(("suffix", "kind"), [("xlsx", "xlsx"), ("xls", "xlsx"), ("ods", "ods")])
def test_rows_of_each_sheet_are_records(suffix: str, kind: str) -> None:
    name = f"budget.{suffix}"
    chunks = read(name)
    assert chunks[f"{name}:sheet Q1 row 3"].text == "Item: Buoys\nCost: 1250.5\nOwner: Ada Kovalenko\nDue: 2026-05-01"
    assert chunks[f"{name}:sheet Q2 plan row 2"].text == "Item: Crane\nCost: 48000"
    assert chunks[f"{name}:sheet Q1 row 1"].text == "Budget of the harbour"
    assert {chunk.kind for chunk in chunks.values()} == {kind}


def test_chapters_of_a_book() -> None:
    chunks = read("handbook.epub")
    assert list(chunks) == ["handbook.epub:chapter 1"]
    (chapter,) = chunks.values()
    assert chapter.kind == "epub"
    assert chapter.title.startswith("Sorrel papers")
    assert "opens at six in the morning" in chapter.text


def test_message_begins_with_its_headers() -> None:
    (chunk,) = read("report.eml").values()
    assert chunk.kind == "email"
    assert chunk.text.startswith("From: Zoë Müller <zoe@example.org>\n")
    assert "\nSubject: Ferry timetable for Köln\n\nThe ferry leaves at 07:40 from pier 3." in chunk.text
    assert chunk.text.endswith("Attachments: timetable.pdf")


def test_messages_of_a_mailbox_are_numbered() -> None:
    chunks = read("thread.mbox")
    assert list(chunks) == ["thread.mbox:message 1", "thread.mbox:message 2"]
    assert "\nFrom April on it runs hourly." in chunks["thread.mbox:message 1"].text
    assert "From pier 4, since the storm." in chunks["thread.mbox:message 2"].text
    assert chunks["thread.mbox:message 2"].title == "Re: Ferry (ben@example.org, 4 March 2026)"
    assert chunks["thread.mbox:message 1"].title == "Ferry timetable for Köln (Zoë Müller, 3 March 2026)"


@pytest.mark.parametrize(
    ("headers", "title"),
    [
        ("From: Ann\nDate: soon\nSubject: Hi", "Hi (Ann, soon)"),
        ("Date: Mon, 5 May 2025 09:00 +0200\nSubject: Hi", "Hi (5 May 2025)"),
        ("From: ann@example.org", "(no subject) (ann@example.org)"),
        ("Subject: Hi", "Hi"),
    ],
)
def test_a_message_is_titled_by_subject_sender_and_day(tmp_path: Path, headers: str, title: str) -> None:
    (tmp_path / "a.eml").write_text(f"{headers}\n\nIt leaves at nine.")
    assert [chunk.title for chunk in read_document(tmp_path / "a.eml").chunks] == [title]


def test_long_message_repeats_its_headers(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_text("From: ann@example.org\nSubject: Long\n\n" + "A sentence of words. " * 200)
    chunks = read_document(tmp_path / "a.eml").chunks
    assert len(chunks) > 2
    assert all(chunk.text.startswith("From: ann@example.org\nSubject: Long\n\nA sentence") for chunk in chunks)


@pytest.mark.parametrize("name", ["handbook.docx", "deck.pptx", "budget.xlsx", "report.eml"])
def test_gzip_of_any_format_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress((FIXTURES / name).read_bytes()))
    assert [chunk.text for chunk in read_document(tmp_path / f"{name}.gz").chunks] == [
        c.text for c in read_document(FIXTURES / name).chunks
    ]


def test_gzip_of_a_note_has_the_lines_of_the_note(tmp_path: Path) -> None:
    (tmp_path / "notes.md.gz").write_bytes(gzip.compress(b"# Heron\n\nThe heron waits.\n"))
    (chunk,) = read_document(tmp_path / "notes.md.gz").chunks
    assert (chunk.kind, chunk.title, chunk.lines) == ("markdown", "Heron", (1, 3))


def test_gzip_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.search.files.decode.MAX_BYTES", 10_000)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"x " * 10_000))
    with pytest.raises(UnreadableFile, match=r"a\.txt\.gz unpacks to more than"):
        read_document(tmp_path / "a.txt.gz")


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tar.gz", "a.tgz", "a.7z"])
def test_archive_is_refused_with_advice(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(UnreadableFile, match="unpack it and name the folder"):
        read_document(tmp_path / name)
    assert guess_format(name) == "unsupported"


@pytest.mark.parametrize("suffix", "docx odt rtf pptx odp xlsx ods epub eml mbox".split())
def test_broken_file_names_the_cause(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(UnreadableFile, match=r"a\.\w+ (is not a valid|contains no)"):
        read_document(path)


@pytest.mark.parametrize("suffix", "docx odt pptx epub".split())
def test_truncated_package_names_the_cause(tmp_path: Path, suffix: str) -> None:
    whole = next(FIXTURES.glob(f"*.{suffix}")).read_bytes()
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UnreadableFile, match="not a valid"):
        read_document(path)


def test_package_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.search.files.package.MAX_BYTES", 100_000)
    with zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", " " * 200_000)
    with pytest.raises(UnreadableFile, match="unpacks to more than"):
        read_document(tmp_path / "a.docx")


def test_document_type_with_entities_is_refused(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><x>&b;</x>'
    with zipfile.ZipFile(tmp_path / "a.pptx", "w") as archive:
        archive.writestr("ppt/presentation.xml", bomb)
    with pytest.raises(UnreadableFile, match="declares a document type"):
        read_document(tmp_path / "a.pptx")


def test_deeply_nested_document_is_refused(tmp_path: Path) -> None:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = (
        f'<w:document xmlns:w="{word}"><w:body>' + "<w:sdt>" * 20_000 + "</w:sdt>" * 20_000 + "</w:body></w:document>"
    )
    with zipfile.ZipFile(tmp_path / "a.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", body)
    with pytest.raises(UnreadableFile, match="nested too deeply"):
        read_document(tmp_path / "a.docx")


def test_scanned_pdf_is_named_as_such() -> None:
    with pytest.raises(UnreadableFile, match=r"looks scanned.*suffice\[ocr\]"):
        read_document(FIXTURES / "scanned.pdf")


def test_scanned_pages_of_a_pdf_are_remarked() -> None:
    document = read_document(FIXTURES / "partly-scanned.pdf")
    assert [chunk.page for chunk in document.chunks] == [2]
    assert document.remark.startswith("page 1 looks scanned")


@pytest.mark.skipif(not ocr.is_installed(), reason="needs the extra ocr")
def test_ocr_reads_scanned_pages() -> None:
    (chunk,) = read_isolated(FIXTURES / "scanned.pdf").chunks
    assert (chunk.page, chunk.title) == (1, "scanned.pdf, page 1 (OCR)")
    assert "Call the harbour master on channel 12." in chunk.text
