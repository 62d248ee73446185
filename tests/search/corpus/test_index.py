"""The word index: terms, entries, order and errors."""

import errno
from pathlib import Path

import pytest

from suffice.search.corpus.index import BM25Index
from suffice.search.files.chunk import DocumentChunk
from suffice.storage.corruption import CorruptCache, translate_tantivy_errors


def chunk(text: str, **more: object) -> DocumentChunk:
    return DocumentChunk(text, "Title", "text", **more)  # type: ignore[arg-type]


def filled(index: BM25Index, **files: list[DocumentChunk]) -> BM25Index:
    with index.open_writer() as writer:
        for file, chunks in files.items():
            writer.add(file, chunks, lambda: None)
        writer.commit()
    index.refresh()
    return index


def test_terms_are_distinct_and_normalised() -> None:
    index = BM25Index(None)
    assert index.extract_terms("Running RUNS, the café's cafe\u0301!") == ["run", "cafe"]
    assert index.extract_terms("who was the who") == ["who", "was", "the"]
    assert index.extract_terms("東京都") == ["東京", "京都"]
    assert index.extract_terms("x" * 65 + " ok") == ["ok"]


def test_entry_round_trips() -> None:
    chunks = [chunk("A heron\nwaits", lines=(3, 4)), chunk("heron", page=2), chunk("heron", page=2)]
    index = filled(BM25Index(None), f=chunks)
    entries = [index.get_entry(address) for address in index.list_addresses()]
    assert [(entry.text, entry.lines, entry.page, entry.part) for entry in entries] == [
        ("A heron\nwaits", (3, 4), None, 1),
        ("heron", None, 2, 1),
        ("heron", None, 2, 2),
    ]


def test_lone_surrogate_is_replaced() -> None:
    index = filled(BM25Index(None), f=[chunk("heron \ud83d waits", id="a\udc00")])
    assert index.get_entry(index.list_addresses()[0]).text == "heron ? waits"


def test_order_of_equals_does_not_depend_on_the_order_of_writing() -> None:
    one = filled(BM25Index(None), a=[chunk("heron")], b=[chunk("heron")], c=[chunk("heron")])
    two = filled(BM25Index(None), c=[chunk("heron")], b=[chunk("heron")], a=[chunk("heron")])
    ranked = [[index.get_entry(address).file for _, address in index.search(["heron"], 3)] for index in (one, two)]
    assert ranked[0] == ranked[1]


def test_find_files_with_id() -> None:
    index = filled(BM25Index(None), a=[chunk("x", id="1"), chunk("y", id="2")], b=[chunk("z", id="1")])
    assert sorted(index.find_files_with_id("1")) == ["a", "b"]
    assert index.find_files_with_id("2") == []


def test_interrupted_writer_leaves_nothing_behind(tmp_path: Path) -> None:
    index = filled(BM25Index(tmp_path), a=[chunk("heron")])
    before = {path.name for path in tmp_path.iterdir()}

    checks = iter([None, None])

    with pytest.raises(StopIteration), index.open_writer() as writer:
        writer.add("b", [chunk(f"otter {i}") for i in range(5000)], lambda: next(checks))
    assert {path.name for path in tmp_path.iterdir()} == before
    assert filled(index, d=[chunk("heron")]).size == 2


def test_full_disk_is_not_corruption() -> None:
    with pytest.raises(OSError, match="No space left") as full, translate_tantivy_errors():
        raise ValueError('IoError { io_error: Os { code: 28, kind: StorageFull, message: "No space left on device" } }')
    assert full.value.errno == errno.ENOSPC
    with pytest.raises(CorruptCache), translate_tantivy_errors():
        raise ValueError("Data corrupted: meta.json")
