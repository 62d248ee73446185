"""Listing of files."""

from pathlib import Path

import pytest

from suffice.errors import InputError
from suffice.search.files import list_files


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")


def names(root: Path, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
    return [path.relative_to(root).as_posix() for path in list_files([root], include, exclude).files]


def test_listing_is_sorted_without_hidden_generated_or_binary_files(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.txt", "a/c.py", ".env", ".git/config", "node_modules/x.js", "a/__pycache__/c.pyc")
    make(tmp_path, "env/pyvenv.cfg", "env/lib/x.py", "logo.PNG", "lib.so")
    found = list_files([tmp_path])
    assert [p.relative_to(tmp_path).as_posix() for p in found.files] == ["a/c.py", "a/z.txt", "b.md"]
    assert found.skipped == ()


def test_nested_gitignore_files_and_negation(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "keep.log", "build/x.txt", "sub/a.log", "sub/b.txt", "sub/deep/b.txt")
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\nbuild/\n")
    (tmp_path / "sub/.gitignore").write_text("/b.txt\n!a.log\n")
    assert names(tmp_path) == ["keep.log", "sub/a.log", "sub/deep/b.txt"]


def test_gitignore_files_of_the_enclosing_checkout_apply(tmp_path: Path) -> None:
    make(tmp_path, "repo/.git/HEAD", "repo/docs/a.md", "repo/docs/a.tmp", "repo/docs/a.bak")
    (tmp_path / ".gitignore").write_text("*.md\n")
    (tmp_path / "repo/.gitignore").write_text("*.tmp\ndocs/*.bak\n")
    assert names(tmp_path / "repo/docs") == ["a.md"]


def test_named_root_is_listed_even_if_hidden_ignored_or_binary(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "out/a.md", ".notes.md", "x.png")
    (tmp_path / ".gitignore").write_text("out/\n")
    roots = [tmp_path / "out", tmp_path / ".notes.md", tmp_path / "x.png"]
    assert list_files(roots).files == (tmp_path / "out/a.md", tmp_path / ".notes.md", tmp_path / "x.png")


def test_include_and_exclude_are_gitignore_patterns(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "a.txt", "docs/b.md", "docs/old/c.md")
    assert names(tmp_path, include=("*.md",)) == ["a.md", "docs/b.md", "docs/old/c.md"]
    assert names(tmp_path, include=("docs/",), exclude=("old/",)) == ["docs/b.md"]


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "in/a.md", "out/secret.md")
    (tmp_path / "in/loop").symlink_to(tmp_path / "in")
    (tmp_path / "in/twin.md").symlink_to(tmp_path / "in/a.md")
    (tmp_path / "in/leak.md").symlink_to(tmp_path / "out/secret.md")
    (tmp_path / "in/broken").symlink_to(tmp_path / "nowhere")
    found = list_files([tmp_path / "in"])
    assert found.files == (tmp_path / "in/a.md",)
    assert [skipped.path.name for skipped in found.skipped] == ["broken", "leak.md"]
    (tmp_path / "door").symlink_to(tmp_path / "in")
    assert list_files([tmp_path / "door"]).files == (tmp_path / "door/a.md",)


def test_overlapping_roots_list_a_file_once(tmp_path: Path) -> None:
    make(tmp_path, "d/a.md", "d/b.md")
    assert list_files([tmp_path / "d/b.md", tmp_path / "d"]).files == (tmp_path / "d/b.md", tmp_path / "d/a.md")


def test_files_that_cannot_be_read_are_skipped_with_advice(tmp_path: Path) -> None:
    make(tmp_path, "backup.tar.gz", "old.doc", "plan.xlsx", "notes.md.gz", "photo.png.gz")
    listed = list_files([tmp_path])
    assert [path.name for path in listed.files] == ["notes.md.gz", "plan.xlsx"]
    assert {skipped.path.name: skipped.why for skipped in listed.skipped} == {
        "backup.tar.gz": ".tar files cannot be read; unpack it and name the folder",
        "old.doc": ".doc files cannot be read; save it as .docx or PDF",
    }


def test_missing_root_raises_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing does not exist"):
        list_files([tmp_path / "missing"])
