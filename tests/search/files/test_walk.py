"""Listing of files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from suffice.errors import InputError
from suffice.search.files.walk import list_files


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


@pytest.mark.parametrize(
    ("pattern", "ignored", "kept"),
    [
        ("*.log", "a.log deep/er/b.log", "a.log.md"),
        ("/top.md", "top.md", "deep/top.md"),
        ("deep/", "deep/a.md x/deep/b.md", "deep.md"),
        ("deep/*.md", "deep/a.md", "x/deep/a.md deep/er/a.md"),
        ("**/er/*.md", "er/a.md deep/er/b.md", "deep/er.md"),
        ("deep/**/z.md", "deep/z.md deep/a/b/z.md", "z.md"),
        ("deep/**", "deep/a.md deep/b/c.md", "a.md"),
        ("note[0-9].md", "note1.md", "notex.md"),
        ("note[^0-9].md", "notex.md", "note1.md"),
        (r"\#a.md", "#a.md", "a.md"),
        (r"a\*.md", "a*.md", "ab.md"),
        ("a?c.md  ", "abc.md", "ac.md"),
        ("# a.md", "", "a.md"),
        ("*\n!keep.md", "a.md", "keep.md"),
    ],
)
def test_patterns_mean_what_git_means(tmp_path: Path, pattern: str, ignored: str, kept: str) -> None:
    make(tmp_path, *ignored.split(), *kept.split())
    (tmp_path / ".gitignore").write_text(pattern + "\n")
    assert set(names(tmp_path)) == set(kept.split())


# Each of these kept the program busy, or waiting, for ever; so they are tried in a process that can be ended.
@pytest.mark.attack("hostile folders")
@pytest.mark.parametrize("kind", ["stars", "folders", "pipe", "device", "huge"])
def test_a_hostile_gitignore_neither_hangs_nor_hides_the_files_beside_it(tmp_path: Path, kind: str) -> None:
    make(tmp_path, "a" * 250, "good.md")
    gitignore = tmp_path / ".gitignore"
    if kind == "stars":
        gitignore.write_text("a*" * 25 + "b\n")
    elif kind == "folders":
        make(tmp_path, "a/" * 60 + "deep.md")
        gitignore.write_text("**/a/" * 25 + "b\n")
    elif kind == "pipe":
        os.mkfifo(gitignore)
    elif kind == "device":
        gitignore.symlink_to("/dev/zero")
    else:
        gitignore.write_text("*.md\n" * 100_000)
    code = "import sys, pathlib, suffice.search.files.walk as f; print(f.list_files([pathlib.Path(sys.argv[1])]))"
    command = [sys.executable, "-c", code, str(tmp_path)]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert "good.md" in completed.stdout, completed.stderr
    assert (kind in ("pipe", "device", "huge")) == ("its patterns are not used" in completed.stdout)


@pytest.mark.attack("hostile folders")
def test_deeply_nested_folders_do_not_hide_the_files_beside_them(tmp_path: Path) -> None:
    make(tmp_path, "good.md")
    start, depth = os.getcwd(), 1_200
    os.chdir(tmp_path)
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
    try:
        found = list_files([tmp_path])
    finally:  # By hand, because shutil.rmtree recurses.
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")
        os.chdir(start)
    assert [path.name for path in found.files] == ["good.md"]
