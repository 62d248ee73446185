"""``suffice check``: verdicts, exit status, and files it cannot read."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_llm import FakeLlm, Say

from suffice.search.isolation.jobs import Limits

TRUE = "# Bees\n\nKarl von Frisch decoded the dance in 1927.\n\n- A hive holds one queen.\n- Why is that?\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def write(text: str) -> Path:
        path = tmp_path / "report.md"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_supported_text(suffice: Callable, docs: Path, write: Callable) -> None:
    result = suffice("check", write(TRUE), "--docs", docs, "--alpha", 1)
    assert result.status == 0, result.err
    assert "2 supported · 1 unknown" in result.out
    assert "docs/bees.md:" in result.out


@pytest.mark.parametrize("width", [40, 80])
def test_only_a_terminal_shortens_long_places(
    suffice: Callable, tmp_path: Path, write: Callable, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    folder = Path("company/department of very long names/archive of the year")
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "dances.md").write_text(TRUE)
    monkeypatch.setenv("COLUMNS", str(width))
    place = f"{folder}/dances.md:3-"
    assert place in suffice("check", write(TRUE), "--docs", "company", "--alpha", 1).out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    shown = suffice("check", write(TRUE), "--docs", "company", "--alpha", 1).out
    assert place not in shown
    assert "…/" in shown


@pytest.mark.parametrize(
    ("sentence", "verdict"),
    [
        ("Karl von Frisch decoded the dance in 1972.", "contradicted"),
        ("Karl von Frisch did not decode the dance in 1927.", "contradicted"),
        ("A hive holds forty golden thrones of Byzantium.", "unsupported"),
        ("## Notes\n\nKarl von Frisch decoded the dance in 1972.", "contradicted"),
    ],
)
def test_one_wrong_sentence_exits_with_status_1(
    suffice: Callable, docs: Path, write: Callable, sentence: str, verdict: str
) -> None:
    file = write(f"{TRUE}\n{sentence}\n")
    result = suffice("check", file, "--docs", docs, "--alpha", 1, "--json")
    assert result.status == 1
    claims = json.loads(result.out)["claims"]
    assert [claim["support"] for claim in claims] == ["supported", "supported", "unknown", verdict]
    assert claims[-1]["text"] == sentence.removeprefix("## Notes\n\n")
    assert all(claim["text"] in file.read_text() for claim in claims)
    for claim in claims[:2]:
        [span] = claim["spans"]
        assert span["stance"] == "supports"
        assert span["quote"] in (docs / "bees.md").read_text()


def test_a_citation_of_the_wrong_source_is_unsupported(suffice: Callable, docs: Path, write: Callable) -> None:
    listed = "\n\n## Sources\n\n[1] Bees — docs/bees.md:1-5\n\n[2] Bridge — docs/bridge.txt:1-2\n"
    right = suffice("check", write(f"A hive holds one queen [1].{listed}"), "--docs", docs, "--alpha", 1)
    assert right.status == 0, right.out
    moved = suffice("check", write(f"A hive holds one queen [2].{listed}"), "--docs", docs, "--alpha", 1, "--json")
    assert moved.status == 1
    [claim] = json.loads(moved.out)["claims"]
    assert claim["support"] == "unsupported"
    assert "another one does" in claim["note"]
    assert claim["spans"][0]["source"] == "[1]"


def test_a_report_of_suffice_passes(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    report = tmp_path / "own.md"
    asked = suffice("ask", "Who decoded the waggle dance?", "--docs", docs, "--alpha", 1, "--out", report, "-q")
    assert asked.status == 0
    result = suffice("check", report, "--docs", docs, "--alpha", 1)
    assert result.status == 0, result.out


@pytest.mark.parametrize("name", ["report.json", "rows.csv"])
def test_data_is_rejected(suffice: Callable, docs: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("A hive holds one queen.")
    result = suffice("check", tmp_path / name, "--docs", docs, "--alpha", 1)
    assert result.status == 2
    assert name in result.err
    assert "runs export" in result.err


@pytest.mark.parametrize("name", ["report.pdf", "notes.DOCX"])
def test_a_broken_document_is_rejected(suffice: Callable, docs: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("A hive holds one queen.")
    result = suffice("check", tmp_path / name, "--docs", docs, "--alpha", 1)
    assert result.status == 2
    assert name in result.err


def test_the_text_of_an_html_file_is_checked(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<html><body><p>A hive holds one queen. Karl von Frisch decoded the dance in 1972.</p></body></html>"
    )
    result = suffice("check", page, "--docs", docs, "--alpha", 1, "--json")
    assert [claim["support"] for claim in json.loads(result.out)["claims"]] == ["supported", "contradicted"]


def test_each_claim_shows_its_evidence_in_context(suffice: Callable, docs: Path, write: Callable) -> None:
    result = suffice(
        "check", write("Karl von Frisch decoded the dance in 1972.\n"), "--docs", docs, "--alpha", 1, "--json"
    )
    [claim] = json.loads(result.out)["claims"]
    evidence = claim["evidence"]
    [[start, end]] = evidence["highlight"]
    assert evidence["text"][start:end] == claim["spans"][0]["quote"]
    assert evidence["location"].startswith("docs/bees.md")
    assert (claim["checker"], claim["probability"]) == ("figures", None)
    assert claim["note"] == "the source says 1927, not 1972"


def test_a_mended_text_passes(suffice: Callable, docs: Path, write: Callable, tmp_path: Path) -> None:
    true = "# Bees\n\n- A hive holds one queen.\n- Why is that?\n"
    wrong = "Karl von Frisch decoded the dance in 1972.\n\nA hive holds forty golden thrones of Byzantium.\n"
    file, mended = write(f"{true}\n{wrong}"), tmp_path / "mended.md"
    result = suffice("check", file, "--docs", docs, "--alpha", 1, "--fix", mended)
    assert result.status == 1
    assert "2 left out" in result.err
    assert re.search(
        r"left out: “Karl von Frisch decoded .* 1972.”; a source says “.*1927.*” \(docs/bees.md", result.err
    )
    assert "left out: “A hive holds forty golden thrones of Byzantium.”" in result.err
    assert file.read_text() == f"{true}\n{wrong}"
    text = mended.read_text()
    assert text.startswith(true)
    assert "1972" not in text
    assert "Byzantium" not in text
    assert suffice("check", mended, "--docs", docs, "--alpha", 1).status == 0


def test_a_mended_file_keeps_its_line_ends_and_marks(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    file, mended = tmp_path / "dos.md", tmp_path / "mended.md"
    wrong = "A hive holds forty golden thrones of Byzantium.\r\n\r\n"
    file.write_bytes(b"\xef\xbb\xbf" + f"# Bees\r\n\r\n{wrong}- A hive holds one queen. \U0001f41d".encode())
    suffice("check", file, "--docs", docs, "--alpha", 1, "--fix", mended)
    assert mended.read_bytes() == file.read_bytes().replace(wrong.encode(), b"")


def test_several_files_are_mended_into_a_folder(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.md", tmp_path / "two.md"
    one.write_text(TRUE)
    two.write_text("A hive holds forty golden thrones of Byzantium.\n")
    result = suffice("check", one, two, "--docs", docs, "--alpha", 1, "--json", "--fix", tmp_path / "mended")
    assert result.status == 1
    assert [len(file["claims"]) for file in json.loads(result.out)["files"]] == [3, 1]
    assert (tmp_path / "mended" / "one.md").read_text() == TRUE
    assert (tmp_path / "mended" / "two.md").read_text() == "\n"
    assert suffice("check", one, two, "--docs", docs, "--alpha", 1, "--fix", one).status == 2


def test_a_file_is_not_checked_against_itself(suffice: Callable, docs: Path) -> None:
    own = docs / "claims.md"
    own.write_text("A hive holds forty golden thrones of Byzantium.\n")
    assert suffice("check", own, "--docs", docs, "--alpha", 1).status == 1


def test_standard_input(suffice: Callable, docs: Path) -> None:
    result = suffice("check", "-", "--docs", docs, "--alpha", 1, stdin=TRUE.encode())
    assert result.status == 0, result.err


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("missing.md", "No such file"),
        ("docs", "docs/*.md"),
        ("empty.md", "empty"),
        ("", "name"),
        ("bytes.md", "binary"),
    ],
)
def test_a_file_that_cannot_be_checked(suffice: Callable, docs: Path, tmp_path: Path, file: str, said: str) -> None:
    (tmp_path / "empty.md").write_text("\n")
    (tmp_path / "bytes.md").write_bytes(bytes(range(256)) * 8)
    result = suffice("check", file, "--docs", docs)
    assert result.status == 2
    assert said in result.err
    assert result.err.count("\n") == 1


def test_a_mended_text_goes_to_standard_output(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    text = "A hive holds one queen. A hive holds forty golden thrones of Byzantium.\n"
    check = ("check", "-", "--docs", docs, "--alpha", 1, "--fix", "-")
    result = suffice(*check, stdin=text.encode())
    assert (result.status, result.out) == (1, "A hive holds one queen.\n")
    assert "left out" in result.err
    assert not (tmp_path / "-").exists()
    assert suffice(*check, "--json", stdin=text.encode()).status == 2


def test_every_verdict_names_its_checker(suffice: Callable, docs: Path, write: Callable) -> None:
    text = "A hive holds one queen.\n\nKarl von Frisch decoded the dance in 1972.\n\nThe dance was decoded by Frisch.\n"
    out = " ".join(suffice("check", write(text), "--docs", docs, "--alpha", 1).out.split())
    assert "word for word" in out
    assert "by figures" in out
    assert "says the reader" in out


def test_nothing_to_check_against(suffice: Callable, write: Callable) -> None:
    result = suffice("check", write(TRUE))
    assert result.status == 2
    assert "--docs" in result.err


def test_a_text_without_claims(suffice: Callable, docs: Path, write: Callable) -> None:
    result = suffice("check", write("# Only a heading\n"), "--docs", docs, "--alpha", 1)
    assert result.status == 0
    assert "no claim" in result.err


def test_a_named_model_checks_all_claims_in_one_call(
    suffice: Callable, docs: Path, write: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Karl von Frisch was proud of decoding the dance in 1927.\n\nBees are the cause of all rain.\n"
    check = ("check", write(text), "--docs", docs, "--alpha", 1, "--json")
    stated = {"number": 1, "role": "stated", "source": "[1]", "words": "decoded the dance in 1927", "reason": ""}
    wrong = {"number": 2, "role": "not_supported", "source": "", "words": "", "reason": "no source says it"}
    with FakeLlm([Say(json.dumps({"statements": [stated, wrong]})), Say("out of order", status=401)]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        named = suffice(*check, "--model", "openai:fake-model")
        claims = json.loads(named.out)["claims"]
        assert (claims[0]["support"], claims[0]["checker"]) == ("supported", "model"), named.err
        assert claims[1]["support"] == "unsupported"
        assert claims[0]["spans"][0]["quote"] == "decoded the dance in 1927"
        assert len(server.requests) == 1
        assert "bees" in json.dumps(server.requests[0]["messages"]).lower()
        failed = suffice(*check, "--model", "openai:fake-model")
        assert "out of order" in failed.err
        assert "without the model" in failed.err
        assert suffice(*check).status in (0, 1)
        assert len(server.requests) == 2


@pytest.mark.attack("hostile texts")
def test_a_sentence_of_100_kb_is_not_checked_and_the_others_are(suffice: Callable, docs: Path, write: Callable) -> None:
    result = suffice(
        "check", write(f"A hive holds one queen.\n\nIt is {'not ' * 25_000}so.\n"), "--docs", docs, "--json"
    )
    assert result.status == 0, result.err
    supports = [claim["support"] for claim in json.loads(result.out)["claims"]]
    assert supports == ["supported", "unknown"]


@pytest.mark.attack("hostile texts")
def test_a_text_that_takes_too_long_to_split_is_refused(
    suffice: Callable, docs: Path, write: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("suffice.claims.audit._SPLIT_LIMITS", Limits(1 << 30, 5, 0.0001, 1 << 20))
    result = suffice("check", write(TRUE), "--docs", docs)
    assert result.status == 2
    assert "report.md cannot be split into claims" in result.err
    assert result.err.count("\n") == 1
