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


def stems(index: BM25Index, text: str) -> list[str]:
    return [stem for _, stem in index.extract_terms(text)]


def test_terms_are_distinct_and_normalised() -> None:
    index = BM25Index(None)
    assert stems(index, "Running RUNS, the café's cafe\u0301!") == ["run", "cafe"]
    assert stems(index, "who was the who") == ["who", "was", "the"]
    assert stems(index, "東京都") == ["東京", "京都"]
    assert stems(index, "x" * 65 + " ok") == ["ok"]


def find(index: BM25Index, query: str) -> list[str]:
    return [index.get_entry(address).text for _, address in index.search(index.extract_terms(query), 5)]


GERMAN = "Die Häuser am Fluss wurden von den Bewohnern der Stadt gebaut."
FRENCH = "Le serveur garde les bases de données dans un dossier de l'utilisateur."
SPANISH = "Los paquetes se instalan con las configuraciones que el usuario ha elegido."
ENGLISH = "The houses by the river were built by the people of the town."


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Haus", GERMAN),
        ("Wer hat das Haus in der Stadt gebaut?", GERMAN),
        ("base de donnée", FRENCH),
        ("Où sont les données de l'utilisateur ?", FRENCH),
        ("configuración de un paquete", SPANISH),
        ("Who built the house?", ENGLISH),
    ],
)
def test_a_word_is_found_in_another_form_in_its_language(query: str, expected: str) -> None:
    index = filled(
        BM25Index(None), **{f"f{n}": [chunk(text)] for n, text in enumerate([GERMAN, FRENCH, SPANISH, ENGLISH])}
    )
    assert find(index, query)[0] == expected
    assert index.count_languages() == {"english": 1, "french": 1, "german": 1, "spanish": 1}


def test_chinese_and_japanese_are_found_by_their_characters() -> None:
    index = filled(
        BM25Index(None), a=[chunk("東京都の人口は約千四百万人です。")], b=[chunk("数据库保存在用户的文件夹中。")]
    )
    assert find(index, "人口")[0].startswith("東京都")
    assert find(index, "数据库在哪里？")[0].startswith("数据库")


@pytest.mark.parametrize(
    "query", ["thread pool executor", "ThreadPoolExecutor", "max workers", "max_workers", "maxWorkers"]
)
def test_identifiers_are_found_by_their_parts_and_as_a_whole(query: str) -> None:
    code = chunk("class ThreadPoolExecutor:\n    def __init__(self, max_workers=None): ...")
    index = filled(BM25Index(None), a=[code], b=[chunk("The kitchen table is made of oak.")])
    assert find(index, query) == [code.text]


def test_every_entry_has_its_static_vector() -> None:
    index = filled(BM25Index(None), f=[chunk("A heron waits"), chunk("")])
    assert [len(index.get_entry(address).vector) for address in index.list_addresses()] == [256, 256]


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
    assert index.get_entry(index.list_addresses()[0]).text == "heron \ufffd waits"


def test_order_of_equals_does_not_depend_on_the_order_of_writing() -> None:
    one = filled(BM25Index(None), a=[chunk("heron")], b=[chunk("heron")], c=[chunk("heron")])
    two = filled(BM25Index(None), c=[chunk("heron")], b=[chunk("heron")], a=[chunk("heron")])
    ranked = [
        [index.get_entry(address).file for _, address in index.search(index.extract_terms("heron"), 3)]
        for index in (one, two)
    ]
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
