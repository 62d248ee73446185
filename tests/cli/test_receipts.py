"""``suffice check`` in pipelines: SARIF, GitHub annotations, baselines and receipts; and ``suffice recheck``."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from suffice.models.reader.model import ReaderModel

ROOT = Path(__file__).parents[2]
TRUE = "A hive holds one queen."
WRONG = "Karl von Frisch decoded the dance in 1972."
INVENTED = "A hive holds forty golden thrones of Byzantium."


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "my notes.md"
    path.write_text(f"# Bees\n\n{TRUE} {WRONG}\n\n{INVENTED}\n", encoding="utf-8")
    return path


@pytest.fixture
def check(suffice: Callable, docs: Path) -> Callable:
    return lambda *arguments: suffice("check", *arguments, "--docs", docs, "--alpha", 1)


@pytest.fixture
def pairs_read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The pairs of claim and text that the reader reads from now on."""
    found: list[tuple[str, str]] = []
    judge = ReaderModel.judge

    def count(reader: ReaderModel, pairs):
        found.extend(pairs)
        return judge(reader, pairs)

    monkeypatch.setattr(ReaderModel, "judge", count)
    return found


def check_sarif_schema(log: dict) -> None:
    """Check what the schema of SARIF 2.1.0 requires of the parts that are used, and their types."""
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    for run in log["runs"]:
        driver = run["tool"]["driver"]
        assert driver["name"]
        assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
        assert all(rule["id"] and rule["shortDescription"]["text"] for rule in driver["rules"])
        levels = {"none", "note", "warning", "error"}
        assert all(rule["defaultConfiguration"]["level"] in levels for rule in driver["rules"])
        for result in run["results"]:
            assert result["message"]["text"]
            assert result["ruleId"] in {rule["id"] for rule in driver["rules"]}
            assert result["level"] in levels
            assert result.get("baselineState", "new") in ("new", "unchanged", "updated", "absent")
            assert all(isinstance(value, str) for value in result["partialFingerprints"].values())
            for location in result["locations"] + result["relatedLocations"]:
                uri = location["physicalLocation"]["artifactLocation"]["uri"]
                assert re.fullmatch(r"[\w.~:/?#\[\]@!$&'()*+,;=%-]+", uri), "a URI reference"
                region = location["physicalLocation"].get("region", {})
                assert all(isinstance(value, int) and value >= 1 for value in region.values())


def test_sarif_names_the_place_of_each_finding(check: Callable, text: Path) -> None:
    result = check(text, "--format", "sarif")
    assert result.status == 1
    log = json.loads(result.out)
    check_sarif_schema(log)
    wrong, invented = log["runs"][0]["results"]
    assert (wrong["ruleId"], wrong["level"]) == ("contradicted", "error")
    assert (invented["ruleId"], invented["level"]) == ("unsupported", "warning")
    place = wrong["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20notes.md"
    start = len(TRUE) + 2
    assert place["region"] == {
        "startLine": 3,
        "startColumn": start,
        "endLine": 3,
        "endColumn": start + len(WRONG),
    }
    assert invented["locations"][0]["physicalLocation"]["region"]["startLine"] == 5
    [source] = wrong["relatedLocations"]
    assert source["physicalLocation"] == {
        "artifactLocation": {"uri": "docs/bees.md"},
        "region": {"startLine": 5, "endLine": 5},
    }
    assert "1927" in source["message"]["text"]
    assert "1927" in wrong["message"]["text"]


def test_sarif_of_a_supported_text_has_no_results(check: Callable, tmp_path: Path) -> None:
    (tmp_path / "true.md").write_text(TRUE)
    result = check("true.md", "--format", "sarif")
    assert result.status == 0
    check_sarif_schema(json.loads(result.out))
    assert json.loads(result.out)["runs"][0]["results"] == []


def test_a_text_without_lines_of_its_own_has_no_region(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<html><body><p>{WRONG}</p></body></html>")
    check = ("check", "page.html", "-", "--docs", docs, "--alpha", 1, "--format")
    log = json.loads(suffice(*check, "sarif", stdin=WRONG.encode()).out)
    check_sarif_schema(log)
    page, stdin = log["runs"][0]["results"]
    assert page["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "page.html"}}}]
    assert stdin["locations"] == []
    lines = suffice(*check, "github", stdin=WRONG.encode()).out.splitlines()
    assert [("file=page.html" in line, "line=" in line) for line in lines] == [(True, False), (False, False)]


def test_github_annotations(check: Callable, tmp_path: Path) -> None:
    (tmp_path / "a,b.md").write_text("Karl von Frisch decoded\n100% of the dance in 1972.\n")
    result = check("a,b.md", "--format", "github")
    assert result.status == 1
    [line] = result.out.splitlines()
    command, properties, message = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
    assert command in ("error", "warning")
    assert "file=a%2Cb.md" in properties
    assert "line=1,endLine=2" in properties
    assert "100%25 of the dance" in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "xml"], "xml"),
        (["--format", "sarif", "--json"], "leave one out"),
        (["--format", "github", "--fix", "-"], "mended text"),
    ],
)
def test_formats_that_cannot_be(check: Callable, text: Path, options: list[str], said: str) -> None:
    result = check(text, *options)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert said in result.err


@pytest.mark.parametrize("kind", ["receipt", "json"])
def test_old_findings_do_not_block(check: Callable, text: Path, tmp_path: Path, kind: str) -> None:
    if kind == "receipt":
        check(text, "--receipt", "base.json")
    else:
        (tmp_path / "base.json").write_text(check(text, "--format", "json").out)
    options = (text, "--baseline", "base.json")
    text.write_text(f"A new first line moves all.\n\n{text.read_text()}".replace("A new first line moves all.", TRUE))
    assert check(*options).status == 0
    assert "0 new" in check(*options).out
    assert check(*options, "--format", "github").out == ""
    states = json.loads(check(*options, "--format", "sarif").out)["runs"][0]["results"]
    assert [one["baselineState"] for one in states] == ["unchanged", "unchanged"]
    text.write_text(f"{text.read_text()}\nThe Forth Bridge was opened in 1899.\n")
    changed = check(*options, "--format", "json")
    assert changed.status == 1
    assert json.loads(changed.out)["new"] == ["The Forth Bridge was opened in 1899."]
    assert len(check(*options, "--format", "github").out.splitlines()) == 1


def test_an_old_finding_with_a_new_verdict_blocks(check: Callable, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "tower.md").write_text("The Velburg tower was opened in 1899.\n")
    check("tower.md", "--receipt", "base.json")
    (docs / "tower.md").write_text("The Velburg tower was opened in 1902.\n")
    assert json.loads(check("tower.md", "--json").out)["claims"][0]["support"] == "contradicted"
    assert check("tower.md", "--baseline", "base.json").status == 1


BROKEN = {
    "no JSON": ("A hive", "not a JSON file"),
    "no object": ("[1]", "not a receipt"),
    "another file": ('{"name": "x", "files": [{"claims": 1}]}', "receipt"),
    "other JSON": ('{"name": "x"}', "receipt"),
    "no receipt": ('{"receipt": 1, "files": 3}', "receipt"),
    "another version": ('{"receipt": 99, "files": []}', "version 99"),
}


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("--baseline", "missing"),
        *((option, kind) for option in ("--baseline", "--receipt", "recheck") for kind in BROKEN),
    ],
)
def test_a_broken_receipt_or_baseline(
    suffice: Callable, check: Callable, text: Path, tmp_path: Path, option: str, kind: str
) -> None:
    content, said = BROKEN.get(kind, (None, "cannot be read"))
    file = tmp_path / "old.json"
    if content is not None:
        file.write_text(content)
    result = suffice("recheck", "old.json") if option == "recheck" else check(text, option, "old.json")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert said in result.err
    assert "old.json" in result.err
    assert content is None or file.read_text() == content, "a file that is no receipt is not overwritten"


def test_a_receipt_that_cannot_be_written_is_refused_before_the_check(check: Callable, text: Path) -> None:
    result = check(text, "--receipt", "no/receipt.json")
    assert (result.status, result.out) == (2, "")
    assert "does not exist" in result.err


def test_a_receipt_has_spans_hashes_and_verdicts(check: Callable, text: Path, docs: Path, tmp_path: Path) -> None:
    check(text, "--receipt", "receipt.json")
    [file] = json.loads((tmp_path / "receipt.json").read_text())["files"]
    assert file["file"] == text.name
    true, wrong, invented = file["claims"]
    assert [claim["support"] for claim in (true, wrong, invented)] == ["supported", "contradicted", "unsupported"]
    [span] = true["spans"]
    assert span["quote"] == TRUE
    assert span["location"] == "docs/bees.md:9-9"
    assert span["source"] == "docs/bees.md"
    assert file["hashes"]["docs/bees.md"] == hashlib.sha256((docs / "bees.md").read_bytes()).hexdigest()


def test_the_next_check_reads_only_what_changed(
    check: Callable, text: Path, docs: Path, pairs_read: list[tuple[str, str]]
) -> None:
    first = check(text, "--receipt", "receipt.json")
    assert pairs_read
    pairs_read.clear()
    again = check(text, "--receipt", "receipt.json")
    assert pairs_read == []
    assert again.out == first.out
    assert "0 of 3 claims were read anew, 0 verdicts changed" in again.err
    (docs / "bees.md").write_text((docs / "bees.md").read_text().replace("in 1927", "in 1972"))
    changed = check(text, "--receipt", "receipt.json")
    assert "1 verdict changed" in changed.err
    assert f"“{WRONG}” was contradicted, is supported" in changed.err
    pairs_read.clear()
    text.write_text(f"{text.read_text()}\nThe bridge near Edinburgh was designed by Fowler and Baker.\n")
    check(text, "--receipt", "receipt.json")
    assert {claim for claim, _ in pairs_read} == {"The bridge near Edinburgh was designed by Fowler and Baker."}


def test_a_receipt_keeps_the_texts_that_are_not_checked_this_time(check: Callable, text: Path, tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(TRUE)
    check(text, "other.md", "--receipt", "receipt.json")
    check("other.md", "--receipt", "receipt.json")
    files = json.loads((tmp_path / "receipt.json").read_text())["files"]
    assert [file["file"] for file in files] == ["my notes.md", "other.md"]


def test_recheck_finds_changed_moved_and_vanished_sources(
    suffice: Callable, check: Callable, docs: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes.md").write_text(
        f"The dance was decoded by Karl von Frisch in 1927.\n\n{TRUE}\n\n"
        "Workers live six weeks in summer.\n\nThe Forth Bridge was opened in 1890.\n"
    )
    assert check("notes.md", "--receipt", "receipt.json").status == 0
    same = suffice("recheck", "receipt.json")
    assert (same.status, same.out) == (0, "No source of the 4 claims that rest on one changed.\n")
    bees = docs / "bees.md"
    moved = bees.read_text().replace("# Bees", "# Bees\n\nBees fly.")
    bees.write_text(moved)
    result = suffice("recheck", "receipt.json")
    assert result.status == 0
    assert "Of 4 claims with a source, 3 have one not as it was (3 moved); none no longer holds." in result.out
    assert "docs/bees.md:9-9 → docs/bees.md:11-11" in result.out
    bees.write_text(moved.replace("1927", "1972").replace("six weeks in summer", "about six weeks during the summer"))
    (docs / "bridge.txt").unlink()
    result = suffice("recheck", "receipt.json")
    assert result.status == 1
    assert "(1 moved, 2 changed, 1 vanished); 2 no longer hold." in result.out
    assert "now contradicted: the source says 1972, not 1927" in result.out
    assert re.search(r"six weeks in summer.”; still supported", result.out)
    assert re.search(r"vanished +“The Forth Bridge was opened in 1890.”", result.out)
    bees.write_text("")
    assert "(3 changed, 1 vanished); 4 no longer hold." in suffice("recheck", "receipt.json").out


def test_recheck_of_a_stored_run(
    suffice: Callable, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert suffice("ask", "Who decoded the waggle dance?", "--docs", "docs", "--alpha", 1, "-q").status == 0
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    same = suffice("recheck", "last")
    assert same.status == 0
    assert same.out.startswith("No source of")
    bees = docs / "bees.md"
    bees.write_text(f"New.\n\n{bees.read_text()}")
    assert re.search(r"\(\d moved\); none", suffice("recheck", "last").out)
    bees.write_text("# Bees\n\nThe bumblebee is furry.\n")
    changed = suffice("recheck", "last")
    assert changed.status == 1
    assert "no longer" in changed.out
    bees.unlink()
    assert "vanished" in suffice("recheck", "last").out


def test_recheck_of_an_unknown_run(suffice: Callable) -> None:
    result = suffice("recheck", "20200101")
    assert (result.status, result.err.count("\n")) == (2, 1)
    assert "20200101" in result.err


def test_sources_that_are_no_files_are_not_looked_at(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text(TRUE)
    check = ("check", "notes.md", "--docs", "-", "--alpha", 1, "--receipt", "receipt.json")
    assert suffice(*check, stdin=(docs / "bees.md").read_bytes()).status == 0
    result = suffice("recheck", "receipt.json")
    assert result.status == 0
    assert "1 rest on sources that are not files of this machine" in result.out


def test_the_pre_commit_hook_is_the_command(suffice: Callable, docs: Path, text: Path) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {"id", "name", "entry", "language"} <= hook.keys(), "what pre-commit requires"
    assert hook["require_serial"], "one process writes the receipt"
    program, *words = hook["entry"].split()
    assert program == "suffice"
    assert suffice(*words, "--docs", "docs", "--alpha", 1, text.name).status == 1
