"""The word index by itself: what it spells alike, what it keeps, what it calls damaged."""

import errno
from pathlib import Path

import pytest

from suffice.search.corpus.index import BM25Index
from suffice.search.files.chunk import DocumentChunk
from suffice.storage.corruption import CorruptCache, translate_tantivy_errors


def piece(text: str, **more: object) -> DocumentChunk:
    return DocumentChunk(text, "Title", "text", **more)  # type: ignore[arg-type]


def filled(index: BM25Index, **files: list[DocumentChunk]) -> BM25Index:
    with index.open_writer() as writer:
        for file, pieces in files.items():
            writer.add(file, pieces, lambda: None)
        writer.commit()
    index.refresh()
    return index


def test_terms_are_distinct_and_spelled_as_in_the_index() -> None:
    index = BM25Index(None)
    assert index.extract_terms("Running RUNS, the café's cafe\u0301!") == ["run", "cafe"]
    assert index.extract_terms("who was the who") == ["who", "was", "the"]
    assert index.extract_terms("東京都") == ["東京", "京都"]
    assert index.extract_terms("x" * 65 + " ok") == ["ok"]


def test_an_entry_comes_back_as_it_went_in() -> None:
    pieces = [piece("A heron\nwaits", lines=(3, 4)), piece("heron", page=2), piece("heron", page=2)]
    index = filled(BM25Index(None), f=pieces)
    entries = [index.get_entry(address) for address in index.list_addresses()]
    assert [(entry.text, entry.lines, entry.page, entry.part) for entry in entries] == [
        ("A heron\nwaits", (3, 4), None, 1),
        ("heron", None, 2, 1),
        ("heron", None, 2, 2),
    ]


def test_half_a_surrogate_pair_is_no_obstacle() -> None:
    index = filled(BM25Index(None), f=[piece("heron \ud83d waits", id="a\udc00")])
    assert index.get_entry(index.list_addresses()[0]).text == "heron ? waits"


def test_equals_are_ranked_alike_whatever_order_they_were_written_in() -> None:
    one = filled(BM25Index(None), a=[piece("heron")], b=[piece("heron")], c=[piece("heron")])
    two = filled(BM25Index(None), c=[piece("heron")], b=[piece("heron")], a=[piece("heron")])
    ranked = [[index.get_entry(address).file for _, address in index.search(["heron"], 3)] for index in (one, two)]
    assert ranked[0] == ranked[1]


def test_files_that_share_an_id() -> None:
    index = filled(BM25Index(None), a=[piece("x", id="1"), piece("y", id="2")], b=[piece("z", id="1")])
    assert sorted(index.find_files_with_id("1")) == ["a", "b"]
    assert index.find_files_with_id("2") == []


def test_an_interrupted_writer_leaves_nothing_behind(tmp_path: Path) -> None:
    index = filled(BM25Index(tmp_path), a=[piece("heron")])
    before = {path.name for path in tmp_path.iterdir()}

    checks = iter([None, None])

    with pytest.raises(StopIteration), index.open_writer() as writer:
        writer.add("b", [piece(f"otter {i}") for i in range(5000)], lambda: next(checks))
    assert {path.name for path in tmp_path.iterdir()} == before
    assert filled(index, d=[piece("heron")]).size == 2


def test_a_full_disk_is_not_damage() -> None:
    with pytest.raises(OSError, match="No space left") as full, translate_tantivy_errors():
        raise ValueError('IoError { io_error: Os { code: 28, kind: StorageFull, message: "No space left on device" } }')
    assert full.value.errno == errno.ENOSPC
    with pytest.raises(CorruptCache), translate_tantivy_errors():
        raise ValueError("Data corrupted: meta.json")
