"""Formats that are not plain text: PDF, Word, notebooks, JSONL."""

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from suffice.search.files.chunk import UnreadableFile
from suffice.search.files.read import read_document, read_text

DATA = Path(__file__).parents[3].parent / "shared" / "data"


def make_pdf(pages: list[str], title: str = "") -> bytes:
    """Return a minimal PDF: a catalogue, a font, and the lines of text on each page."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, words in enumerate(pages):
        lines = ") Tj T* (".join(words.split("\n"))
        stream = f"BT /F1 12 Tf 14 TL 50 700 Td ({lines}) Tj ET" if words else ""
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * n} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = (
        f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{len(out)}\n%%EOF"
    )
    return out + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def test_pdf_headings_are_set_apart_and_begin_a_chunk(tmp_path: Path) -> None:
    line = "The ferry leaves the harbour every morning at eight and comes back before dark."
    body = "\n".join([line] * 6)
    split = "A ticket for the ferry costs ten crowns, and a car that is not longer than\nFive metres costs forty."
    (tmp_path / "a.pdf").write_bytes(make_pdf([f"Sorrel Island\nTimetable\n{body}\nFares\n{split}"]))
    assert [chunk.text for chunk in read_document(tmp_path / "a.pdf").chunks] == [
        f"Sorrel Island\nTimetable\n\n{body}",
        f"Fares\n\n{split}",
    ]


def test_a_numbered_line_of_a_pdf_is_a_heading_whatever_follows_it(tmp_path: Path) -> None:
    body = "\n".join(["The ferry leaves the harbour every morning at eight and comes back before dark."] * 6)
    tail = "dredge is the tool that keeps the harbour deep enough for the ferry and for the boats."
    (tmp_path / "a.pdf").write_bytes(make_pdf([f"{body}\n2.1 Dredging tools [old]\n{tail}"]))
    assert [chunk.text for chunk in read_document(tmp_path / "a.pdf").chunks] == [
        body,
        f"2.1 Dredging tools [old]\n\n{tail}",
    ]


def test_pdf_chunks_have_page_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(make_pdf(["First page here", "", "Third page there"], "My Paper"))
    assert [(p.text.strip(), p.page, p.title, p.kind) for p in read_document(path).chunks] == [
        ("First page here", 1, "My Paper, page 1", "pdf"),
        ("Third page there", 3, "My Paper, page 3", "pdf"),
    ]


def test_titles_and_numbers_at_the_edge_of_most_pages_are_not_text(tmp_path: Path) -> None:
    """A line that stands there once is, and so is one that is all a page has."""
    texts = ["The ferry leaves at eight.", "It costs 10 crowns.\n12", "It costs 40 crowns.", "Timetable 2024"]
    pages = [f"Sorrel Island ferry\nTimetable {2020 + n}\n{text}\nPage {n} of 4" for n, text in enumerate(texts, 1)]
    (tmp_path / "a.pdf").write_bytes(make_pdf([*pages[:3], "Sorrel Island ferry\nTimetable 2024"]))
    assert [chunk.text for chunk in read_document(tmp_path / "a.pdf").chunks] == [
        *texts[:3],
        "Sorrel Island ferry\nTimetable 2024",
    ]
    (tmp_path / "b.pdf").write_bytes(make_pdf(pages[:2]))
    assert "Page 1 of 4" in read_document(tmp_path / "b.pdf").chunks[0].text


def test_a_line_with_the_number_of_its_page_is_not_text(tmp_path: Path) -> None:
    """Numbers of pages need not begin at 1, and the title beside them may change with each section."""
    titles = ["8 Fares", "Crossings 9", "10 Fares", "The crew 11"]
    texts = [
        "It costs 10 crowns.\nA car costs 40",
        "It takes an hour.",
        "Children travel free.",
        "They are six.\nIn 2020 five",
    ]
    (tmp_path / "a.pdf").write_bytes(make_pdf([f"{a}\n{b}" for a, b in zip(titles, texts, strict=True)]))
    assert [chunk.text for chunk in read_document(tmp_path / "a.pdf").chunks] == texts


def test_rows_at_the_edge_of_most_pages_are_text(tmp_path: Path) -> None:
    """They are alike but for their figures, or end in small numbers, of which some fit the number of their page."""
    goods = ["Bolt", "Clamp", "Hinge", "Nail", "Valve", "Screw", "Washer", "Bracket"]
    stock = [[7, 1, 9, 8], [3, 2, 5, 9], [6, 8, 3, 1], [4, 7, 2, 5]]
    for rows in (
        [[f"Article {100 * page + i} costs {3 * i + page * page} crowns" for i in range(4)] for page in range(4)],
        [[f"{goods[(3 * page + i) % 8]} {'ABCD'[page]} {own[i]}" for i in range(4)] for page, own in enumerate(stock)],
    ):
        (tmp_path / "a.pdf").write_bytes(make_pdf(["\n".join(own) for own in rows]))
        assert [chunk.text.split("\n") for chunk in read_document(tmp_path / "a.pdf").chunks] == rows


def test_pages_of_a_pdf_whose_font_does_not_say_what_its_signs_are_are_remarked(tmp_path: Path) -> None:
    plain = make_pdf(["The rate was 40 per cent"])
    lost = (
        b"/Type0 /BaseFont /Lost /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2"
        b" /BaseFont /Lost /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>]"
    )
    for data, begins in (
        (plain, ""),
        (plain.replace(b"/Type1 /BaseFont /Helvetica", lost), "page 1 looks damaged: a font does not say"),
    ):
        (tmp_path / "a.pdf").write_bytes(data)
        remark = read_document(tmp_path / "a.pdf").remark
        assert remark.startswith(begins)
        assert bool(remark) == bool(begins)


@pytest.mark.parametrize(("data", "cause"), [(b"%PDF-1.4 broken", "not a valid PDF"), (make_pdf([""]), "run OCR")])
def test_unreadable_pdf_names_the_cause(tmp_path: Path, data: bytes, cause: str) -> None:
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(UnreadableFile, match=cause):
        read_document(tmp_path / "a.pdf")


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def make_docx(path: Path, body: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
        style = '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
        archive.writestr("word/styles.xml", f"<w:styles {W}>{style}</w:styles>")


def paragraph(text: str, style: str = "") -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'


def test_docx_chunks_follow_headings(tmp_path: Path) -> None:
    cells = "".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in ("a", "b"))
    body = paragraph("One", "berschrift1") + paragraph("words") + paragraph("") + f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"
    body += paragraph("Two", "Heading1") + paragraph("Deep", "Heading2") + paragraph("more")
    make_docx(tmp_path / "a.docx", body)
    assert [(p.text, p.title, p.record) for p in read_document(tmp_path / "a.docx").chunks] == [
        ("# One\n\nwords\n\n| a | b |\n| --- | --- |", "One", "para-1"),
        ("# Two\n\n## Deep\n\nmore", "Two > Deep", "para-4"),
    ]


def test_broken_docx_raises_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(UnreadableFile, match="not a valid Word document"):
        read_document(tmp_path / "a.docx")
    make_docx(tmp_path / "b.docx", paragraph(""))
    with pytest.raises(UnreadableFile, match="no text"):
        read_document(tmp_path / "b.docx")


def test_notebook_cells_have_shortened_outputs() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Intro\n", "words"]},
        {"cell_type": "raw", "source": ""},
        {"cell_type": "code", "source": "print(x)", "outputs": [{"output_type": "stream", "text": ["9" * 900]}]},
    ]
    first, second = read_text(json.dumps({"cells": cells}), "n.ipynb")
    assert (first.text, first.record, first.title) == ("# Intro\nwords", "cell-1", "Intro")
    assert second.record == "cell-3"
    assert second.text.startswith("```python\nprint(x)\n```\n\n```\n999")
    assert second.text.endswith(" …\n```")
    assert len(second.text) < 600


def test_broken_notebook_raises_unreadable_file() -> None:
    for text in ('{"cells": [', '{"a": 1}'):
        with pytest.raises(UnreadableFile, match="not a valid notebook"):
            read_text(text, "n.ipynb")


@pytest.mark.parametrize("zipped", [False, True])
def test_records_keep_their_ids_and_long_ones_are_split(tmp_path: Path, zipped: bool) -> None:
    rows = [{"id": "a", "title": "A", "text": "x" * 1600}, {"id": 7, "text": "A sentence. " * 200}, {"text": "no id"}]
    data = "\n".join(json.dumps(row) for row in rows).encode()
    path = tmp_path / ("c.jsonl.gz" if zipped else "c.jsonl")
    path.write_bytes(gzip.compress(data) if zipped else data)
    chunks = read_document(path).chunks
    assert [p.id for p in chunks] == ["a", "7", "7#2", "line-3"]
    assert [p.record for p in chunks][1:3] == ["7", "7"]
    assert chunks[0].text == "x" * 1600
    assert chunks[0].title == "A"
    assert {p.kind for p in chunks} == {"record"}


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{oops", "line 2 is not valid JSON"),
        ("[1]", "line 2 is not a JSON object"),
        ('{"id": "b"}', "line 2 has no text"),
        ('{"id": [1], "text": "x"}', "line 2 has an id"),
        ('{"id": "a", "text": "x"}', "line 2 repeats the id 'a' of line 1"),
    ],
)
def test_bad_record_is_named_by_its_line(tmp_path: Path, line: str, cause: str) -> None:
    (tmp_path / "c.jsonl").write_text('{"id": "a", "text": "fine"}\n' + line + "\n")
    with pytest.raises(UnreadableFile, match=cause):
        read_document(tmp_path / "c.jsonl")


def test_a_record_in_another_encoding_is_read(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_bytes(b'{"id": "a", "text": "caf\xe9 noir"}\n')
    assert read_document(tmp_path / "c.jsonl").chunks[0].text == "café noir"


def test_encrypted_pdf_raises_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pypdfium2

    def refuse(_: bytes) -> None:
        raise pypdfium2.PdfiumError("Failed to load document (PDFium: Incorrect password error).")

    monkeypatch.setattr(pypdfium2, "PdfDocument", refuse)
    (tmp_path / "a.pdf").write_bytes(make_pdf(["x"]))
    with pytest.raises(UnreadableFile, match="encrypted"):
        read_document(tmp_path / "a.pdf")


def test_truncated_gzip_raises_unreadable_file(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(b'{"id": "a", "text": "fine"}\n' * 50)[:-12])
    with pytest.raises(UnreadableFile, match="gzip"):
        read_document(tmp_path / "c.jsonl.gz")


@pytest.mark.skipif(not DATA.exists(), reason="the shared evaluation data is not here")
def test_shared_corpus_keeps_every_id() -> None:
    chunks = read_document(DATA / "musique" / "corpus.jsonl").chunks
    assert len({p.id for p in chunks}) == len(chunks)
    assert len({p.record for p in chunks}) == 7690
