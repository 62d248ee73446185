"""Bad input: one line that says what is wrong, exit status 2, no traceback."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

QUESTION = "Who decoded the waggle dance?"


def assert_rejected(result: object, *words: str) -> None:
    """Check for exit status 2 and one line of error that holds the words."""
    status, out, err = result.status, result.out, result.err  # type: ignore[attr-defined]
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
    """Create a file or folder that cannot be read as text."""

    def make(name: str) -> Path:
        path = tmp_path / name
        if name == "folder":
            path.mkdir()
            (path / "picture.png").write_bytes(b"\x89PNG\x00")
        elif name.startswith("huge"):
            with path.open("wb") as file:
                file.truncate(200 * 1024 * 1024)
        elif name != "missing.txt":
            path.write_bytes(CONTENTS[name])
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


@pytest.mark.parametrize("name", ["missing.txt", "huge.txt", "huge.pdf", "huge.jsonl", *CONTENTS])
def test_a_file_that_cannot_be_read(suffice: Callable, bad: Callable, name: str) -> None:
    assert_rejected(suffice("ask", QUESTION, "--docs", bad(name), "--alpha", 1), name)


def test_a_folder_without_text(suffice: Callable, bad: Callable) -> None:
    assert_rejected(suffice("ask", QUESTION, "--docs", bad("folder"), "--alpha", 1), "folder")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(suffice: Callable, docs: Path) -> None:
    (docs / "bees.md").chmod(0)
    assert_rejected(suffice("ask", QUESTION, "--docs", docs / "bees.md", "--alpha", 1), "permission")


def test_a_missing_folder_beside_a_good_one(suffice: Callable, docs: Path) -> None:
    assert_rejected(suffice("ask", QUESTION, "--docs", docs, "--docs", "nowhere", "--alpha", 1), "nowhere")


def test_a_question_that_is_too_long(suffice: Callable, docs: Path) -> None:
    assert_rejected(suffice("ask", "1" * 4_001, "--docs", docs), "4,001 characters", "at most 4,000")


@pytest.mark.parametrize("question", ["", "   ", "\n\t ", "?!", "a" * 100_000])
def test_an_empty_question(suffice: Callable, docs: Path, question: str) -> None:
    assert_rejected(suffice("ask", question, "--docs", docs, "--alpha", 1), "question")


def test_nothing_to_search(suffice: Callable) -> None:
    assert_rejected(suffice("ask", QUESTION), "--docs")
    assert_rejected(suffice("search", QUESTION), "--docs")


@pytest.mark.parametrize(
    ("option", "value", "hint"),
    [
        ("--strategy", "nope", "auto"),
        ("--model", "nope", "extractive"),
        ("--model", "openai:x", "openai:x"),
        ("--tier", "nope", "standard"),
        ("--memory", "nope", "rolling"),
        ("--memory", "unheard-of", "trajectory"),
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
def test_an_option_with_an_invalid_value(suffice: Callable, docs: Path, option: str, value: str, hint: str) -> None:
    assert_rejected(suffice("ask", QUESTION, "--docs", docs, option, value), hint)


def test_the_question_names_a_file_in_a_missing_folder(suffice: Callable, docs: Path) -> None:
    result = suffice("ask", f"{QUESTION} Save it to out/notes.md", "--docs", docs, "--alpha", 1)
    assert_rejected(result, "question", "out/notes.md", "does not exist")
    assert "--out" not in result.err


def test_out_must_not_be_a_folder(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "report.md").mkdir()
    assert_rejected(suffice("ask", QUESTION, "--docs", docs, "--out", "report.md"), "folder")


@pytest.mark.parametrize("option", ["--nope", "--panel"])
def test_an_option_that_does_not_exist(suffice: Callable, docs: Path, option: str) -> None:
    assert_rejected(suffice("ask", QUESTION, "--docs", docs, option), option)


@pytest.mark.parametrize("value", ["0", "-1", "x", "nan"])
@pytest.mark.parametrize("limit", ["rounds", "queries", "sources", "seconds", "tokens", "cost"])
def test_a_limit_that_allows_nothing(suffice: Callable, docs: Path, limit: str, value: str) -> None:
    assert_rejected(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, f"--max-{limit}", value), f"--max-{limit}")


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
def test_a_limit_of_the_environment_that_allows_nothing(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert_rejected(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1), name)


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
def test_an_invalid_stop_rule(suffice: Callable, docs: Path, expression: str) -> None:
    assert_rejected(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--stop", expression))


def test_a_command_that_does_not_exist(suffice: Callable) -> None:
    assert_rejected(suffice("nope"), "nope")


def test_a_missing_question(suffice: Callable) -> None:
    assert_rejected(suffice("ask"), "QUESTION")


def test_a_model_from_the_environment_that_does_not_exist(
    suffice: Callable, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUFFICE_MODEL", "nope")
    assert_rejected(suffice("ask", QUESTION, "--docs", docs, "--alpha", 1), "nope")


def test_bad_input_does_not_change_an_earlier_trace(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, "--trace", trace)
    before = trace.read_bytes()
    assert_rejected(suffice("ask", "", "--docs", docs, "--alpha", 1, "--trace", trace))
    assert trace.read_bytes() == before


@pytest.mark.parametrize("stdin", [b"", b" \n "])
def test_empty_standard_input(suffice: Callable, stdin: bytes) -> None:
    assert_rejected(suffice("ask", QUESTION, "--docs", "-", "--alpha", 1, stdin=stdin), "standard input")


def test_binary_standard_input(suffice: Callable) -> None:
    assert_rejected(
        suffice("ask", QUESTION, "--docs", "-", "--alpha", 1, stdin=bytes(range(256)) * 9), "standard input"
    )


def test_closed_standard_input(suffice: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    assert_rejected(suffice("ask", QUESTION, "--docs", "-", "--alpha", 1), "standard input")


def test_a_full_disk(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    """Status 1 belongs to ``check``, and a full disk is not reported as a bug."""
    target = tmp_path / "report.md"
    target.symlink_to("/dev/full")
    for option in ("--out", "--trace"):
        result = suffice("ask", QUESTION, "--docs", docs, "--alpha", 1, option, target)
        assert result.status != 1
        assert "this is a bug" not in result.err
        assert "report.md" in result.err


def test_debug_shows_the_traceback(program: Callable) -> None:
    result = program("ask", QUESTION, "--docs", "missing.txt", "--debug")
    assert "Traceback" in result.err


def test_a_folder_that_is_missing_stops_the_mcp_server(suffice: Callable) -> None:
    assert_rejected(suffice("mcp", "--docs", "nowhere"), "nowhere")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", QUESTION, "--docs", ".", "--with", "narrow"), "no intervention 'narrow'"),
        (("ask", QUESTION, "--docs", ".", "--stop", "worth(preview=0.1)"), "'preview'; it takes price"),
        (("ask", QUESTION, "--docs", ".", "--stop", "worth | barren"), "no gate named 'barren'"),
        (("lab", "calibrate", "runs.jsonl", "--rounds", "2", "--preview", "0.1"), "No such option: --preview"),
    ],
)
def test_withdrawn_names_are_answered_with_one_sentence(suffice: Callable, arguments: tuple, words: str) -> None:
    assert_rejected(suffice(*arguments), words)
