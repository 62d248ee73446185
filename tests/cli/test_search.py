"""``suffice search`` and ``suffice index``."""

import json
import time
from collections.abc import Callable
from pathlib import Path


def test_search_shows_where_each_passage_stands(suffice: Callable, docs: Path) -> None:
    ended = suffice("search", "waggle dance", "--docs", "docs", "--alpha", 1)
    assert ended.status == 0
    assert "docs/bees.md:1-9" in ended.out
    assert "Karl von Frisch" in ended.out


def test_search_as_json(suffice: Callable, docs: Path) -> None:
    ended = suffice("search", "Forth Bridge", "--docs", docs, "--json", "-k", 1)
    found = json.loads(ended.out)
    [passage] = found["passages"]
    assert ended.status == 0
    assert found["query"] == "Forth Bridge"
    assert set(passage) >= {"id", "title", "location", "score", "text"}
    assert passage["text"] == (docs / "bridge.txt").read_text().strip()


def test_search_that_finds_nothing(suffice: Callable, docs: Path) -> None:
    ended = suffice("search", "zyzzyva", "--docs", docs, "--alpha", 1, "--json")
    assert ended.status == 3
    assert json.loads(ended.out)["passages"] == []


def test_search_shows_square_brackets_as_they_are(suffice: Callable, tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("The dance [red]is[/red] a [link=x]list[1][/link].\n")
    ended = suffice("search", "dance", "--docs", "odd.txt", "--alpha", 1)
    assert "The dance [red]is[/red] a [link=x]list[1][/link]." in ended.out


def test_index_says_what_it_holds_and_is_quick_the_second_time(suffice: Callable, docs: Path) -> None:
    first = suffice("index", docs)
    began = time.monotonic()
    second = suffice("index", docs)
    assert time.monotonic() - began < 2
    for ended in (first, second):
        assert ended.status == 0, ended.err
        assert "2 passages from 2 files" in ended.out


def test_index_sees_a_change(suffice: Callable, docs: Path) -> None:
    suffice("index", docs)
    (docs / "more.txt").write_text("A drone has no sting.\n")
    assert "3 passages from 3 files" in suffice("index", docs).out
    (docs / "more.txt").unlink()
    assert "2 passages from 2 files" in suffice("index", docs).out


def test_index_names_what_it_passed_over(suffice: Callable, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    ended = suffice("index", docs)
    assert ended.status == 0, ended.err
    assert (ended.out + ended.err).count("broken.pdf") == 1


def test_a_question_uses_the_index(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    suffice("index", docs)
    before = sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_dir())
    ended = suffice("ask", "Who decoded the waggle dance?", "--docs", docs, "--alpha", 1)
    assert ended.status == 0
    assert sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_dir()) == before
