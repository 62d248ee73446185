"""``suffice search`` and ``suffice index``: results, locations and an index that follows changes."""

import json
from collections.abc import Callable
from pathlib import Path


def test_search_shows_the_location_of_each_passage(suffice: Callable, docs: Path) -> None:
    result = suffice("search", "waggle dance", "--docs", "docs", "--alpha", 1)
    assert result.status == 0
    assert "docs/bees.md:1-9" in result.out
    assert "Karl von Frisch" in result.out


def test_search_as_json(suffice: Callable, docs: Path) -> None:
    result = suffice("search", "Forth Bridge", "--docs", docs, "--json", "-k", 1)
    found = json.loads(result.out)
    [passage] = found["passages"]
    assert result.status == 0
    assert found["query"] == "Forth Bridge"
    assert set(passage) >= {"id", "title", "location", "score", "text"}
    assert passage["text"] == (docs / "bridge.txt").read_text().strip()


def test_search_that_finds_nothing(suffice: Callable, docs: Path) -> None:
    result = suffice("search", "zyzzyva", "--docs", docs, "--alpha", 1, "--json")
    assert result.status == 3
    assert json.loads(result.out)["passages"] == []


def test_search_shows_square_brackets_unchanged(suffice: Callable, tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("The dance [red]is[/red] a [link=x]list[1][/link].\n")
    result = suffice("search", "dance", "--docs", "odd.txt", "--alpha", 1)
    assert "The dance [red]is[/red] a [link=x]list[1][/link]." in result.out


def test_index_twice(suffice: Callable, docs: Path) -> None:
    for result in (suffice("index", docs), suffice("index", docs)):
        assert result.status == 0, result.err
        assert "2 passages from 2 files" in result.out


def test_index_takes_documents_like_other_commands(suffice: Callable, docs: Path) -> None:
    named = suffice("index", "--docs", docs)
    assert (named.status, named.out) == (0, suffice("index", docs).out)
    empty = suffice("index")
    assert (empty.status, "--docs" in empty.err) == (2, True)


def test_index_follows_changes(suffice: Callable, docs: Path) -> None:
    suffice("index", docs)
    (docs / "more.txt").write_text("A drone has no sting.\n")
    assert "3 passages from 3 files" in suffice("index", docs).out
    (docs / "more.txt").unlink()
    assert "2 passages from 2 files" in suffice("index", docs).out


def test_index_names_skipped_files(suffice: Callable, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    result = suffice("index", docs)
    assert result.status == 0, result.err
    assert (result.out + result.err).count("broken.pdf") == 1


def test_a_question_uses_the_index(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    suffice("index", docs)
    before = sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_dir())
    result = suffice("ask", "Who decoded the waggle dance?", "--docs", docs, "--alpha", 1)
    assert result.status == 0
    assert sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_dir()) == before
