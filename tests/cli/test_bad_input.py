"""Input that cannot be used: one line that says what is wrong, exit 2, no traceback."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

QUESTION = "Who decoded the waggle dance?"


def refused(ended: object, *words: str) -> None:
    status, out, err = ended.status, ended.out, ended.err  # type: ignore[attr-defined]
    assert status == 2, err
    assert err.count("\n") == 1, err
    assert err.startswith("suffice: ")
    assert "Traceback" not in err
    assert "this is a bug" not in err
    assert out == ""
    for word in words:
        assert word in err


@pytest.fixture
def bad(tmp_path: Path) -> Callable[[str], Path]:
    """A file or folder that nothing can be read from."""

    def make(what: str) -> Path:
        path = tmp_path / what
        if what == "folder":
            path.mkdir()
            (path / "picture.png").write_bytes(b"\x89PNG\x00")
        elif what.startswith("huge"):
            with path.open("wb") as file:
                file.truncate(200 * 1024 * 1024)
        elif what != "missing.txt":
            path.write_bytes(CONTENTS[what])
        return path

    return make


CONTENTS = {
    "empty.txt": b"",
    "white.txt": b" \n\t\n ",
    "binary.txt": bytes(range(256)) * 4,
    "unnamed": b"\x7fELF\x00\x01\x02\x00",
    "broken.pdf": b"%PDF-1.7\nthis is no PDF",
    "broken.docx": b"PK\x03\x04 this is no archive",
    "old.doc": b"\xd0\xcf\x11\xe0",
}


@pytest.mark.parametrize("what", ["missing.txt", "huge.txt", "huge.pdf", "huge.jsonl", *CONTENTS])
def test_a_file_that_cannot_be_read(suffice: Callable, bad: Callable, what: str) -> None:
    refused(suffice("ask", QUESTION, "--docs", bad(what), "--alpha", 1), what)


def test_a_folder_without_text(suffice: Callable, bad: Callable) -> None:
    refused(suffice("ask", QUESTION, "--docs", bad("folder"), "--alpha", 1), "folder")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(suffice: Callable, docs: Path) -> None:
    (docs / "bees.md").chmod(0)
    refused(suffice("ask", QUESTION, "--docs", docs / "bees.md", "--alpha", 1), "permission")


def test_a_missing_folder_beside_a_good_one(suffice: Callable, docs: Path) -> None:
    refused(suffice("ask", QUESTION, "--docs", docs, "--docs", "nowhere", "--alpha", 1), "nowhere")


@pytest.mark.parametrize("question", ["", "   ", "\n\t ", "?!", "a" * 100_000])
def test_a_question_that_is_none(suffice: Callable, docs: Path, question: str) -> None:
    refused(suffice("ask", question, "--docs", docs, "--alpha", 1), "question")


def test_nothing_to_search(suffice: Callable) -> None:
    refused(suffice("ask", QUESTION), "--docs")
    refused(suffice("search", QUESTION), "--docs")


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [
        ("--strategy", "nope", "auto"),
        ("--model", "nope", "extractive"),
        ("--model", "openai:x", "openai:x"),
        ("--tier", "nope", "standard"),
        ("--memory", "nope", "trajectory"),
        ("--provider", "nope", "searxng"),
        ("--alpha", "1.5", "alpha"),
        ("--alpha", "-0.1", "alpha"),
        ("--alpha", "nan", "alpha"),
        ("--alpha", "half", "alpha"),
        ("-k", "0", "-k"),
        ("-k", "-3", "-k"),
        ("-k", "few", "-k"),
        ("--per-round", "0", "--per-round"),
        ("--seed", "x", "--seed"),
        ("--out", "report.docx", ".html"),
        ("--out", "report", ".html"),
        ("--out", "nowhere/report.md", "nowhere"),
        ("--trace", "nowhere/trace.jsonl", "nowhere"),
        ("--trace", "docs", "docs"),
    ],
)
def test_an_option_with_a_value_that_cannot_be_used(
    suffice: Callable, docs: Path, option: str, value: str, hint: str
) -> None:
    refused(suffice("ask", QUESTION, "--docs", docs, option, value), hint)


def test_out_into_a_folder(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "report.md").mkdir()
    refused(suffice("ask", QUESTION, "--docs", docs, "--out", "report.md"), "folder")


@pytest.mark.parametrize("option", ["--nope", "--panel"])
def test_an_option_that_does_not_exist(suffice: Callable, docs: Path, option: str) -> None:
    refused(suffice("ask", QUESTION, "--docs", docs, option), option)


@pytest.mark.parametrize("value", ["0", "-1", "x", "nan"])
@pytest.mark.parametrize("bound", ["rounds", "queries", "sources", "seconds", "tokens", "cost"])
def test_a_bound_that_allows_nothing(suffice: Callable, docs: Path, bound: str, value: str) -> None:
    refused(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, f"--max-{bound}", value))


@pytest.mark.parametrize("value", ["0", "-1", "many", "nan"])
@pytest.mark.parametrize(
    "name",
    [
        "RESEARCH_MAX_ITERS",
        "RESEARCH_MAX_QUERIES",
        "RESEARCH_MAX_SOURCES",
        "RESEARCH_MAX_EXECUTION_TIME_S",
        "RESEARCH_TOKEN_BUDGET",
        "RESEARCH_MAX_COST_USD",
    ],
)
def test_a_bound_in_the_environment_that_allows_nothing(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    refused(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1), name)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        " ",
        "budget(",
        "budget(rounds=0)",
        "budget(rounds=-1)",
        "budget(nope=1)",
        "nope",
        "exhaustion |",
        "| exhaustion",
        "exhaustion exhaustion",
        "exhaustion(p=0)",
        "fixed",
        "fixed(0)",
        "saturation.nope(1)",
        "saturation.after(-1)",
        "exhaustion) | budget(rounds=1",
        "__import__('os').system('true')",
        "(" * 3000,
        "exhaustion" + " | exhaustion" * 1000 + " |",
    ],
)
def test_a_stop_that_is_no_gate(suffice: Callable, docs: Path, expression: str) -> None:
    refused(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--stop", expression))


def test_a_command_that_does_not_exist(suffice: Callable) -> None:
    refused(suffice("nope"), "nope")


def test_a_missing_question(suffice: Callable) -> None:
    refused(suffice("ask"), "QUESTION")


def test_a_model_from_the_environment_that_does_not_exist(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUFFICE_MODEL", "nope")
    refused(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1), "nope")


def test_bad_input_leaves_an_earlier_trace_alone(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--trace", trace)
    before = trace.read_bytes()
    refused(suffice("ask", "", "--docs", docs, "--alpha", 1, "--trace", trace))
    assert trace.read_bytes() == before


@pytest.mark.parametrize("stdin", [b"", b" \n "])
def test_nothing_on_standard_input(suffice: Callable, stdin: bytes) -> None:
    refused(suffice("ask", QUESTION, "--docs", "-", "--alpha", 1, stdin=stdin), "standard input")


def test_binary_on_standard_input(suffice: Callable) -> None:
    refused(suffice("ask", QUESTION, "--docs", "-", "--alpha", 1, stdin=bytes(range(256)) * 9), "standard input")


def test_closed_standard_input(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    refused(suffice("ask", QUESTION, "--docs", "-", "--alpha", 1), "standard input")


def test_a_disk_that_is_full(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    """Exit 1 belongs to ``check``, and a full disk is no bug of ours."""
    target = tmp_path / "report.md"
    target.symlink_to("/dev/full")
    for option in ("--out", "--trace"):
        ended = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, option, target)
        assert ended.status != 1
        assert "this is a bug" not in ended.err
        assert "report.md" in ended.err


def test_debug_shows_the_traceback(program: Callable) -> None:
    ended = program("ask", QUESTION, "--docs", "missing.txt", "--debug")
    assert "Traceback" in ended.err
