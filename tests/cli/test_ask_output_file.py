"""An output file named in the question: recognised only as an instruction, and never outside the folder or over a file."""

import os
import resource
from pathlib import Path

import pytest

from suffice.cli.ask import extract_output_file
from suffice.cli.output import write_file
from suffice.errors import InputError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("task", "question", "path"),
    [
        ("Who built it? Save it to bridge.md", "Who built it?", "bridge.md"),
        ("Who built it, and save the report to notes/bridge.html.", "Who built it", "notes/bridge.html"),
        ("List the rivers and write to `out.json`", "List the rivers", "out.json"),
        ("Compare both. Please save as “a.md”", "Compare both.", "a.md"),
    ],
)
def test_an_instruction_at_the_end_names_the_file(task, question, path):
    assert extract_output_file(task) == (question, Path(path))


@pytest.mark.parametrize(
    "task",
    [
        "How do I write to config.json?",
        "Does it read and write to settings.json?",
        "What does save to bridge.md do in the editor?",
        "Save it to bridge.md",
        "Why is README.md so long",
        "Who built it? Save it to bridge.exe",
    ],
)
def test_any_other_text_is_part_of_the_question(task):
    assert extract_output_file(task) == (task, None)


@pytest.mark.parametrize("path", ["../x.md", "/tmp/x.md", "a/../../x.md", "link/x.md"])
def test_a_file_outside_the_working_directory_is_rejected(path, folder):
    (folder / "link").symlink_to("/tmp")
    with pytest.raises(InputError, match="outside the working directory"):
        extract_output_file(f"Who built it? Save it to {path}")


def test_an_existing_file_is_not_overwritten(folder):
    (folder / "mine.md").write_text("precious")
    with pytest.raises(InputError, match=r"mine\.md.*exists"):
        extract_output_file("Who built it? Save it to mine.md")
    assert (folder / "mine.md").read_text() == "precious"


def test_a_full_disk_leaves_the_earlier_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    write_file(path, "the earlier report\n")
    path.chmod(0o640)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(InputError, match=r"report\.md cannot be written"):
            write_file(path, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_text(encoding="utf-8") == "the earlier report\n"
    assert os.listdir(tmp_path) == ["report.md"]
    write_file(path, "the new report\n")
    assert (path.read_text(encoding="utf-8"), path.stat().st_mode & 0o777) == ("the new report\n", 0o640)


def test_a_link_and_a_pipe_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to(tmp_path / "report.md")
    write_file(tmp_path / "link.md", "text")
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == "text"
    write_file(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()
