"""An output file named in the question: recognised only as an instruction, and never outside the folder or over a file."""

from pathlib import Path

import pytest

from suffice.cli.ask import extract_output_file
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
